"""Finished figures of a run, and the bundle that holds them."""

import io
import struct
import zipfile
from xml.etree import ElementTree

import pytest

from hidviz import Experiment
from hidviz.experiments.bundle import load_bundle, save_bundle
from hidviz.experiments.frame import Frame, regauge_frame
from hidviz.experiments.run import iter_run
from hidviz.ui.export.button import kept
from hidviz.ui.export.run_figures import draw_run
from tests.loops import run_aside

SMALL = Experiment(n_visible=5, n_hidden=2, n_steps=400, n_held_out=100, seed=4, max_steps=6)


@pytest.fixture(scope="module")
def frame():
    return [item for item in iter_run(SMALL) if isinstance(item, Frame)][-1]


@pytest.fixture(scope="module")
def files(frame):
    return draw_run(frame)


def texts(svg):
    return [
        "".join(each.itertext()).strip()
        for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ]


@pytest.mark.slow
def test_figures_are_whole_pictures_and_say_what_they_show(frame, files):
    assert set(files) == {f"{name}.{kind}" for name in ("costs", "errors", "couplings") for kind in ("svg", "png")}
    for name, content in files.items():
        if name.endswith(".png"):
            assert content[:8] == b"\x89PNG\r\n\x1a\n"
            assert min(struct.unpack(">II", content[16:24])) > 400
        else:
            assert any("seed 4. Back-propagation, step 6" in text for text in texts(content))
    costs, errors, couplings = (texts(files[f"{name}.svg"]) for name in ("costs", "errors", "couplings"))
    assert f"training {frame.snapshot.cost:.4f}" in costs
    assert f"truth {frame.setup.cost_at_truth:.4f}" in costs
    assert f"K {frame.trace['aligned_K'][-1]:.4f} aligned" in errors
    assert {"True couplings", "Found", "Found − true"} <= set(couplings)


def test_alignment_has_a_row_of_its_own_where_it_changes_something(frame, files):
    assert not frame.gauge.is_identity
    assert {"Aligned − true", "Alignment flips hidden unit 1."} <= set(texts(files["couplings.svg"]))
    straight = regauge_frame(frame, frame.gauge)
    assert straight.gauge.is_identity
    assert "Aligned − true" not in texts(draw_run(straight)["couplings.svg"])


@pytest.mark.slow
def test_the_same_run_gives_the_same_bytes_and_the_settings_are_put_back(frame, files):
    import matplotlib as mpl

    before = dict(mpl.rcParams)
    assert draw_run(frame) == files
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("knobs", [{"n_hidden": 0}, {"hidden_hidden": True, "n_hidden_assumed": 3, "n_held_out": 0}])
def test_every_kind_of_run_is_drawn(knobs):
    experiment = Experiment(n_visible=4, n_steps=60, max_steps=1, **{"n_hidden": 2, "n_held_out": 60} | knobs)
    frame = [item for item in iter_run(experiment) if isinstance(item, Frame)][-1]
    assert len(draw_run(frame)) == 6


def test_a_bundle_with_figures_is_made_aside_and_opens_to_the_same_run(frame, files):
    content = run_aside(kept(frame))
    with zipfile.ZipFile(content) as archive:
        stored = {name: archive.read(name) for name in archive.namelist()}
    assert {name: stored[name] for name in files} == files
    content.seek(0)
    bundle = load_bundle(content)
    assert (bundle.experiment, bundle.couplings) == (SMALL, frame.snapshot.couplings)
    plain = io.BytesIO()
    save_bundle(plain, frame)
    with zipfile.ZipFile(plain) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            n: c for n, c in stored.items() if n not in files
        }


def test_a_figure_cannot_take_the_place_of_the_numbers(frame):
    with pytest.raises(ValueError, match=r"names of their own, got settings\.json"):
        save_bundle(io.BytesIO(), frame, {"settings.json": b"{}"})
