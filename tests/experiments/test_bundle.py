"""A bundle opens to what was saved, reproduces its run, and answers any damage with one sentence."""

import csv
import io
import json
import os
import subprocess
import sys
import time
import tracemalloc
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from hidviz import Experiment
from hidviz.experiments.archive import DamagedError
from hidviz.experiments.bundle import LARGEST_FILE, Ending, _checked_experiment, load_bundle, save_bundle
from hidviz.experiments.frame import Frame, regauge_frame
from hidviz.experiments.reopen import ASSETS, iter_reopened, shipped_frame
from hidviz.experiments.run import iter_resumed, iter_run, with_knobs
from hidviz.experiments.trace import MOST_ROWS, Trace
from hidviz.network.gauge import flip

SMALL = Experiment(n_visible=5, n_hidden=2, n_steps=400, n_held_out=100, seed=4, max_steps=12)
ROOT = Path(__file__).parents[2]


def frames(experiment):
    return [item for item in iter_run(experiment) if isinstance(item, Frame)]


def saved(frame):
    file = io.BytesIO()
    save_bundle(file, frame)
    return file.getvalue()


@pytest.fixture(scope="module")
def last():
    return frames(SMALL)[-1]


@pytest.fixture(scope="module")
def packed(last):
    return saved(last)


def repacked(content, changes):
    """The same archive with some members replaced by other bytes, or left out by None."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()} | changes
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, member in members.items():
            if member is not None:
                archive.writestr(name, member)
    return file.getvalue()


def with_settings(content, **changes):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        settings = json.loads(archive.read("settings.json"))
    return repacked(content, {"settings.json": json.dumps(settings | changes).encode()})


def with_arrays(content, **changes):
    with zipfile.ZipFile(io.BytesIO(content)) as archive, np.load(io.BytesIO(archive.read("arrays.npz"))) as stored:
        arrays = {name: stored[name] for name in stored} | changes
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return repacked(content, {"arrays.npz": file.getvalue()})


def refusal(content):
    with pytest.raises(ValueError, match=r"^This file is not a bundle that can be opened: .*\.$") as caught:
        load_bundle(io.BytesIO(content))
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_bundle_opens_to_what_was_saved(last, packed, tmp_path):
    (tmp_path / "run.zip").write_bytes(packed)
    for source in (io.BytesIO(packed), tmp_path / "run.zip", str(tmp_path / "run.zip")):
        experiment, couplings, trace, ending = load_bundle(source)
        assert ending == (last.snapshot.state, last.snapshot.message, last.snapshot.evaluations)
        assert experiment == SMALL
        assert couplings == last.snapshot.couplings
        assert trace.names == last.trace.names
        assert all(np.array_equal(trace[name], last.trace[name]) for name in trace.names)


def test_same_run_gives_the_same_bytes(last, packed):
    time.sleep(2.1)  # longer than the two seconds to which a zip archive dates its members
    assert saved(last) == packed


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_hidden": 0},
        {"hidden_hidden": True, "bias": 0.2, "n_hidden_assumed": 3, "n_held_out": 0},
        {"learner": "visible-lag2", "max_steps": 3},
        {"model": "stochastic", "learner": "gibbs", "max_steps": 3},
    ],
    ids=str,
)
def test_every_kind_of_run_can_be_kept(knobs):
    experiment = replace(SMALL, **knobs)
    frame = frames(experiment)[-1]
    kept = load_bundle(io.BytesIO(saved(frame)))
    assert kept.experiment == experiment
    assert kept.couplings == frame.snapshot.couplings


UNITS = {
    "J": ("visible", "visible"),
    "K": ("visible", "hidden"),
    "L": ("hidden", "visible"),
    "M": ("hidden", "hidden"),
}


def test_tables_name_units_and_hold_every_digit(last, packed):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        for block in "JKLM":
            head, *rows = csv.reader(io.StringIO(archive.read(f"{block}.csv").decode()))
            values = getattr(last.snapshot.couplings, block)
            assert np.array_equal(np.array([row[1:] for row in rows], dtype=float), values)
            to, since = UNITS[block]
            assert head == ["to / from", *(f"{since} {k + 1}" for k in range(values.shape[1]))]
            assert [row[0] for row in rows] == [f"{to} {k + 1}" for k in range(len(values))]
        names, *rows = csv.reader(io.StringIO(archive.read("trace.csv").decode()))
        text = archive.read("settings.json").decode()
        settings = json.loads(text)
    assert text.startswith('{\n  "kind": "hidviz run",\n'), "for people to read"
    assert Ending() == ("learning", "", 0)
    assert [float(row[names.index("cost")]) for row in rows] == last.trace["cost"].tolist()
    assert settings["experiment"]["seed"] == 4
    assert settings["run"]["cost"] == last.snapshot.cost
    assert set(settings["versions"]) == {"hidviz", "numpy", "scipy", "python"}


def run_script(content, folder):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-W", "error", str(folder / "script.py")],
        env=environment, cwd="/", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_script_reproduces_a_run_that_was_flipped_midway(tmp_path):
    begun = frames(replace(SMALL, max_steps=5))[-1]
    flipped = regauge_frame(with_knobs(begun, max_steps=12), flip(2, 1))
    done = run_script(saved(list(iter_resumed(flipped))[-1]), tmp_path)
    assert done.stderr == ""
    assert "Reproduced 14 costs" in done.stdout  # 0 … 12, and step 5 once more after the flip
    assert done.returncode == 0


def test_script_says_where_a_run_parts_from_its_knobs(last, tmp_path):
    rows = np.column_stack([last.trace[name] for name in last.trace.names])
    rows[7:, last.trace.names.index("cost")] += 1e-6
    done = run_script(with_arrays(saved(last), trace=rows), tmp_path)
    assert "part at step 7" in done.stderr
    assert done.returncode == 1


def test_reopened_run_stands_where_it_stood_and_goes_on(last, packed):
    bundle = load_bundle(io.BytesIO(packed))
    again = [item for item in iter_reopened(bundle) if isinstance(item, Frame)]
    assert len(again) == 1  # all its steps had been made
    assert np.array_equal(again[0].trace["step"], last.trace["step"])
    assert again[0].snapshot.cost == pytest.approx(last.snapshot.cost, abs=1e-12)
    assert again[0].snapshot.held_out == pytest.approx(last.snapshot.held_out, abs=1e-12)
    assert (again[0].snapshot.step, again[0].gauge) == (12, last.gauge)
    longer = bundle._replace(experiment=replace(SMALL, max_steps=15, patience=3))
    further = [item for item in iter_reopened(longer) if isinstance(item, Frame)]
    assert [frame.snapshot.step for frame in further] == [12, 13, 14, 15]
    assert len(further[-1].trace) == len(last.trace) + 3
    assert further[-1].snapshot.cost < last.snapshot.cost


def test_trace_with_other_columns_is_not_gone_on_with(packed):
    bundle = load_bundle(io.BytesIO(packed))
    with pytest.raises(ValueError, match="A run with these knobs records"):
        list(iter_reopened(bundle._replace(experiment=replace(SMALL, n_held_out=0))))


def long_run(last, n_steps):
    """The frame of a run that went on for this many steps, with numbers in every column that do not compress."""
    rows = np.random.default_rng(0).normal(size=(n_steps, len(last.trace.names)))
    rows[:, 0] = np.arange(n_steps)
    return replace(last, trace=Trace.of(last.trace.names, rows))


def test_a_run_of_any_length_can_be_opened_again(last):
    frame = long_run(last, 206_000)
    packed = saved(frame)
    assert len(packed) < LARGEST_FILE / 2
    trace = load_bundle(io.BytesIO(packed)).trace
    assert MOST_ROWS / 2 <= len(trace) <= MOST_ROWS
    steps = trace["step"].astype(int)
    assert (steps[0], steps[-1], np.diff(steps).max()) == (0, 205_999, 16)
    for name in trace.names:
        assert np.array_equal(trace[name], frame.trace[name])


def test_script_compares_the_steps_that_were_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("hidviz.experiments.trace.MOST_ROWS", 5)
    last = frames(SMALL)[-1]
    assert len(last.trace) <= 5 < last.snapshot.step
    done = run_script(saved(last), tmp_path)
    assert f"Reproduced {len(last.trace)} costs" in done.stdout, done.stderr


def test_one_limit_holds_for_writing_and_reading(last, tmp_path):
    noise = {"noise.png": np.random.default_rng(0).bytes(LARGEST_FILE)}
    with pytest.raises(ValueError, match=r"A bundle may have 20 MB, this one has 20\.\d MB"):
        save_bundle(tmp_path / "run.zip", last, noise)
    assert list(tmp_path.iterdir()) == []
    assert "it must have at most 20 MB" in refusal(bytes(LARGEST_FILE + 1))


def test_a_bundle_of_just_the_largest_size_is_written_and_read(last, packed, monkeypatch):
    monkeypatch.setattr("hidviz.experiments.bundle.LARGEST_FILE", len(packed))
    assert saved(last) == packed
    assert load_bundle(io.BytesIO(packed)).experiment == SMALL
    monkeypatch.setattr("hidviz.experiments.bundle.LARGEST_FILE", len(packed) - 1)
    with pytest.raises(ValueError, match="A bundle may have"):
        saved(last)
    assert "at most 0 MB" in refusal(packed)


def test_a_figure_does_not_take_the_place_of_a_number(last):
    with pytest.raises(ValueError, match=r"names of their own, got J\.csv, script\.py\.$"):
        save_bundle(io.BytesIO(), last, {"script.py": b"", "J.csv": b"", "mine.svg": b""})


def two_columns(packed, n_rows):
    """The bundle with so many rows of step and cost alone."""
    rows = np.column_stack([np.arange(n_rows), np.zeros(n_rows)])
    return with_arrays(with_settings(packed, columns=["step", "cost"]), trace=rows)


def test_a_trace_may_be_as_long_as_earlier_versions_wrote_and_not_longer(packed):
    assert len(load_bundle(io.BytesIO(two_columns(packed, 200_000))).trace) > MOST_ROWS / 2
    assert "trace.npy in it must unpack to at most 3.05 MB" in refusal(two_columns(packed, 200_057))


def test_the_arrays_together_may_be_as_large_as_their_sum(packed):
    large = repacked(two_columns(packed, 10), {"arrays.npz": bytes(4 * 2**20)})
    assert "arrays.npz in it must unpack to at most 3.08 MB" in refusal(large)  # 400,112 numbers, 13 headers


def test_shipped_run_is_a_bundle_and_stands_at_its_end():
    frame, bundle = shipped_frame("fig3"), load_bundle(ASSETS / "fig3.zip")
    assert bundle.experiment == Experiment()
    assert frame.snapshot.state == bundle.ending.state == "converged"
    assert frame.snapshot.message.startswith("Converged")
    assert frame.snapshot.cost == pytest.approx(frame.trace["cost"][-1], abs=1e-12)
    assert frame.snapshot.step == frame.trace["step"][-1] == len(frame.trace) - 1


@pytest.mark.parametrize("cut", [0, 1, 100, -1, -30])
def test_cut_bundle_is_refused(packed, cut):
    refusal(packed[:cut])


def opened(content):
    """The bundle, or the sentence that refuses it."""
    try:
        return load_bundle(io.BytesIO(content))
    except ValueError as error:
        return str(error)


def test_broken_bytes_are_refused_or_leave_everything_as_it_was(packed, last):
    rng = np.random.default_rng(0)
    for place in rng.integers(0, len(packed), 100):
        broken = bytearray(packed)
        broken[place] ^= 1 << int(rng.integers(8))
        found = opened(bytes(broken))
        if isinstance(found, str):
            assert found.startswith("This file is not a bundle that can be opened: ")
        else:  # a byte that nobody reads
            assert (found.experiment, found.couplings) == (SMALL, last.snapshot.couplings)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"schema": 2}, "schema must be 1, got 2"),
        ({"schema": None}, "schema must be 1"),
        ({"kind": "a holiday"}, "settings must be those of a hidviz run"),
        ({"experiment": []}, "every knob"),
        ({"experiment": asdict(SMALL) | {"n_visible": -3}}, "n_visible must lie between 1 and 200, got -3"),
        ({"experiment": asdict(SMALL) | {"n_visible": {}}}, "n_visible must be a whole number"),
        ({"experiment": asdict(SMALL) | {"learner": ["exact"]}}, "learner must be one of"),
        ({"experiment": asdict(SMALL) | {"variance": float("nan")}}, "variance must lie between"),
        ({"experiment": asdict(SMALL) | {"evil": 1}}, "every knob"),
        ({"experiment": asdict(SMALL) | {"n_visible": 6}}, r"found_J must have shape \(6, 6\)"),
        ({"run": None}, "how the run ended"),
        ({"run": {"state": "won", "message": "", "evaluations": 1}}, "how the run ended"),
        ({"run": {"state": "learning", "message": "x" * 2001, "evaluations": 1}}, "how the run ended"),
        ({"run": {"state": "learning", "message": "", "evaluations": -1}}, "how often"),
        ({"run": {"state": "learning", "message": "", "evaluations": 10**12 + 1}}, "how often"),
        ({"run": {"state": "learning", "message": "", "evaluations": True}}, "how often"),
        ({"run": {"state": "learning", "message": 1, "evaluations": 1}}, "how the run ended"),
        ({"schema": "x" * 100}, f"got {'x' * 20}\\.$"),
        ({"columns": ["step"]}, "its columns must be"),
        ({"columns": ["cost", "step"]}, "its columns must be"),
        ({"columns": ["step", "cost", "cost"]}, "its columns must be"),
        ({"columns": ["step", "cost", 1]}, "its columns must be"),
        ({"columns": ["step", "cost", "<script>"]}, "its columns must be"),
        ({"columns": "cost"}, "its columns must be"),
        ({"columns": ["step", "cost"]}, "its trace must have shape"),
    ],
    ids=str,
)
def test_settings_that_do_not_fit_are_refused(packed, changes, reason):
    with pytest.raises(ValueError, match=reason):
        load_bundle(io.BytesIO(with_settings(packed, **changes)))
    refusal(with_settings(packed, **changes))


@pytest.mark.parametrize("text", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"1" * 10_000, b"null"])
def test_settings_that_are_no_settings_are_refused(packed, text):
    assert "settings" in refusal(repacked(packed, {"settings.json": text}))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"found_K": None}, "its arrays must be"),
        ({"more": np.zeros(1)}, "its arrays must be"),
        ({"found_K": np.full((5, 2), np.nan)}, "found_K must hold finite numbers"),
        ({"found_K": np.full((5, 2), 1e9)}, "couplings must not be larger than 1000"),
        ({"found_K": np.zeros((2, 5))}, "found_K must have shape (5, 2)"),
        ({"true_M": np.zeros((2, 2), dtype=np.float32)}, "true_M must hold as many 64-bit floats"),
        ({"true_M": np.array([[None, print], [1, 2]])}, "true_M"),
        ({"trace": np.zeros((0, 15))}, "its trace must have shape"),
        ({"found_K": np.full((5, 2), -1000.5)}, "couplings must not be larger than 1000"),
        ({"trace": np.zeros(15)}, "its trace must have shape"),
        ({"trace": np.zeros((3, 14))}, "its trace must have shape (steps, 15), got (3, 14)."),
        ({"trace": np.full((3, 15), 1e9 + 1.0)}, "whole numbers"),
        ({"trace": np.full((3, 15), 0.5)}, "whole numbers"),
        ({"trace": np.full((3, 15), -1.0)}, "whole numbers"),
    ],
    ids=str,
)
def test_arrays_that_do_not_fit_are_refused(packed, changes, reason):
    assert reason in refusal(with_arrays(packed, **changes))


def test_what_is_just_within_the_bounds_is_read(packed):
    found = np.full((5, 2), -1000.0)
    content = with_arrays(packed, found_K=found, trace=np.full((3, 15), 1e9))
    for evaluations in (0, 10**12):
        run = {"state": "learning", "message": "x" * 2000, "evaluations": evaluations}
        kept = load_bundle(io.BytesIO(with_settings(content, run=run)))
        assert kept.ending == ("learning", "x" * 2000, evaluations)
        assert np.array_equal(kept.couplings.K, found)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        settings = archive.read("settings.json")
    assert load_bundle(io.BytesIO(repacked(packed, {"settings.json": settings.ljust(2**20)}))).experiment == SMALL


def test_what_a_refusal_quotes_from_the_file_is_cut():
    with pytest.raises(ValueError, match="learner must be one of") as plain:
        replace(SMALL, learner="x")
    room = 400 - len(str(plain.value)) + 1

    def said(n):
        with pytest.raises(DamagedError) as caught:
            _checked_experiment(asdict(SMALL) | {"learner": "x" * n})
        return str(caught.value)

    with pytest.raises(ValueError, match="learner must be one of") as longest:
        replace(SMALL, learner="x" * room)
    assert said(room) == str(longest.value)
    assert len(said(room)) == 400
    assert said(room + 1) == f"{said(room + 1)[:400]} …."


def npy(shape):
    """An array file whose header promises this shape and which holds nothing."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return file.getvalue()


@pytest.mark.parametrize("shape", [(10**12,), (-1,), (2**62, 4), (1,), ()])
def test_header_that_promises_more_than_there_is_is_refused(packed, shape):
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        inner = repacked(archive.read("arrays.npz"), {"trace.npy": npy(shape)})
    assert "its array trace" in refusal(repacked(packed, {"arrays.npz": inner}))


def test_a_member_that_unpacks_to_too_much_is_refused_with_what_it_may(packed):
    large = repacked(packed, {"settings.json": bytes(2**20 + 1)})
    assert "settings.json in it must unpack to at most 1 MB" in refusal(large)


@pytest.mark.slow
def test_bombs_are_refused_before_they_unpack(packed):
    """Each member alone, and thirteen of them that together are much: no more is unpacked than the knobs allow."""
    zeros = bytes(64 * 2**20 - 128)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        inner = archive.read("arrays.npz")
    with zipfile.ZipFile(io.BytesIO(inner)) as archive:
        names = archive.namelist()
    bombs = {
        "settings.json in it must unpack to at most 1 MB": {"settings.json": zeros},
        "trace.npy in it must unpack to at most": {"arrays.npz": repacked(inner, {"trace.npy": zeros})},
        "arrays.npz in it must unpack to at most": {"arrays.npz": zeros},
        "in it must unpack to at most 0.00": {
            "arrays.npz": repacked(inner, {name: npy((8 * 2**20 - 16,))[:128] + zeros for name in names[::-1]})
        },
    }
    for sentence, changes in bombs.items():
        content = repacked(packed, changes)
        tracemalloc.start()
        try:
            assert sentence in refusal(content)
            assert tracemalloc.get_traced_memory()[1] < 60e6
        finally:
            tracemalloc.stop()


def test_missing_members_are_named_and_a_missing_file_is_one(packed, tmp_path):
    assert "one settings.json, got 0" in refusal(repacked(packed, {"settings.json": None}))
    assert "one arrays.npz, got 0" in refusal(repacked(packed, {"arrays.npz": None}))
    load_bundle(io.BytesIO(repacked(packed, {"script.py": None, "trace.csv": None})))  # these are for people
    with pytest.raises(FileNotFoundError):
        load_bundle(tmp_path / "none.zip")
