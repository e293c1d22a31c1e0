"""The checks and the export of My data: the numbers of the engine, words that do not promise more, and whole files."""

import io
import json
import time
import zipfile
from dataclasses import asdict

import numpy as np
import pytest

from hidviz import Recording, examine, hide_unit, random_couplings, simulate
from hidviz.evaluation.shared_state import shared_states
from hidviz.experiments.hide_unit import HiddenUnit, busiest, hide_units
from hidviz.learners import hidden_posterior
from hidviz.network import Couplings
from hidviz.ui.export.own_results import packed
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_checks import iter_checks
from hidviz.ui.state.own_files import How, Source, iter_look
from hidviz.ui.state.own_scan import Plan, iter_scan
from hidviz.ui.text.own_checks import checks_in_words, hidden_in_words, hidden_table, shared_in_words, verdict


def source(array):
    content = io.BytesIO()
    np.save(content, array)
    return Source({"small.npy": content.getvalue()}, How())


@pytest.fixture(scope="module")
def scanned():
    truth = random_couplings(4, 1, np.random.default_rng(3), bias=0.2, variance=2.0)
    recording = simulate(truth, 3000, np.random.default_rng(3), hidden="stochastic").recording
    looked = next(iter_look(source(recording.trials[0]), 0.02))
    return list(iter_scan(looked, Plan(most=1, coupled="no", starts=1, steps=40)))[-1]


@pytest.fixture(scope="module")
def checked(scanned):
    return list(iter_checks(scanned, scanned.table.rows[1]))


def test_checks_arrive_one_after_another_with_the_numbers_of_the_engine(scanned, checked):
    assert [each.n_done for each in checked] == [0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert checked[-1].doing == ""
    last, row, parts = checked[-1], scanned.table.rows[1], scanned.parts
    known = list(examine(row, parts, scanned.table.rows[0], checks=("free_run", "halves")))[-1]
    assert last.free_run.synchrony_error == known.free_run.synchrony_error
    np.testing.assert_equal(last.halves.correlation, known.halves.correlation)
    assert [each.name for each in last.hidden] == list(busiest(scanned.parts))
    assert len(last.hidden) == 3  # one of four is left to infer them from
    hidden = hide_unit(parts, last.hidden[0].name, n_hidden=1, hidden_hidden=False, max_steps=40)
    assert asdict(last.hidden[0]) == asdict(hidden)
    assert np.abs(last.shared.posterior) == pytest.approx(
        np.abs(hidden_posterior(row.couplings, scanned.recording).smoothed)
    )


def in_words(checked):
    return checks_in_words(checked.doing, checked.n_done, checked.n, checked.predicted, checked.seconds_left)


def test_seconds_are_predicted_for_each_check_before_it_is_made(checked):
    first, *later = checked
    assert first.seconds is None
    assert in_words(first) == "Measuring the speed of this machine: 0 of 7 are there."
    assert all(each.seconds == later[0].seconds for each in later)
    assert min(later[0].seconds) > 0.0
    left = [each.seconds_left for each in later]
    assert left[0] == pytest.approx(sum(later[0].seconds[:3]) + 3 * later[0].seconds.hide)
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0.0
    said = in_words(later[0])
    for part in ("free run", "hidden units", "two halves", "hiding 3 units"):
        assert part in said


def test_the_units_to_hide_are_those_that_were_chosen(scanned):
    row = scanned.table.rows[1]
    assert [each.name for each in list(iter_checks(scanned, row, ["u3"]))[-1].hidden] == ["u3"]
    *_, none = iter_checks(scanned, row, [])
    assert (none.n, none.hidden) == (4, ())
    assert [each.name for each in hide_units(scanned.parts, ["u1", 2], max_steps=5)] == ["u1", "u3"]
    with pytest.raises(ValueError, match="no unit x; there are"):
        hide_units(scanned.parts, ["x"])


def test_a_model_without_hidden_units_is_only_let_run_free(scanned):
    found = list(iter_checks(scanned, scanned.table.rows[0]))
    assert (found[-1].n, found[-1].n_done) == (1, 1)
    assert found[-1].free_run is not None
    assert found[-1].hidden == ()


def test_a_state_that_follows_the_population_is_told_as_such():
    # One hidden unit that drives all others, up for 10 bins in the mean: counts follow it one bin later.
    stay = np.arctanh(0.8)
    truth = Couplings(
        J=np.zeros((6, 6)), K=np.full((6, 1), 1.2), L=np.zeros((1, 6)), M=np.array([[stay]]), h=np.full(6, -0.8)
    )
    recording = simulate(truth, 20_000, np.random.default_rng(1), hidden="stochastic").recording
    found = shared_states(truth, recording)
    assert found.up == pytest.approx([0.5], abs=0.05)
    assert found.bins_up == pytest.approx([10.0], rel=0.25)  # the posterior smooths the shortest stretches away
    assert found.fire_up[0] > 2.0 * found.fire_down[0]
    flipped = Couplings(J=truth.J, K=-truth.K, L=-truth.L, M=truth.M, h=truth.h)
    assert shared_states(flipped, recording).posterior == pytest.approx(found.posterior)
    said = shared_in_words(found, 0.02)
    assert said.startswith("<b>Hidden unit 1</b> is a shared state that is up in ")
    assert "unseen" not in said


def test_stretches_do_not_cross_trials():
    truth = Couplings(J=np.zeros((2, 2)), K=np.array([[3.0], [3.0]]), L=np.zeros((1, 2)), M=np.zeros((1, 1)))
    on = np.ones((6, 2))
    one, two = shared_states(truth, Recording([on])), shared_states(truth, Recording([on, on]))
    assert one.bins_up == two.bins_up == pytest.approx([5.0])


def unit(r, partial, chance=0.02):
    return HiddenUnit("<u1>", r, chance, 0.5, partial, 0.9, 0.6, 100)


def test_an_unseen_unit_is_said_only_where_half_of_r_survives_the_control():
    assert verdict(unit(0.4, 0.05)) == "a shared state"
    assert verdict(unit(0.4, 0.21)) == "an unseen unit"
    assert verdict(unit(0.03, 0.02)) == "neither: within chance"
    assert "not the missing cell" in hidden_in_words([unit(0.4, 0.05)])
    assert "1 of 2 came back as an unseen unit" in hidden_in_words([unit(0.4, 0.05), unit(0.4, 0.3)])
    assert "&lt;u1&gt;" in hidden_table([unit(0.4, 0.05)])
    assert hidden_in_words([]) == ""


def test_what_is_exported_is_what_was_found(scanned, checked):
    row = scanned.table.rows[1]
    with zipfile.ZipFile(io.BytesIO(packed(scanned, row, checked[-1]))) as archive:
        assert set(archive.namelist()) == {"model.npz", "couplings.csv", "scan.csv", "hidden.csv", "settings.json"}
        arrays = np.load(io.BytesIO(archive.read("model.npz")), allow_pickle=False)
        settings = json.loads(archive.read("settings.json"))
        couplings, rows = (archive.read(f"{name}.csv").decode().splitlines() for name in ("couplings", "scan"))
    for block in "JKLMhg":
        np.testing.assert_array_equal(arrays[block], getattr(row.couplings, block))
    assert arrays["posterior"].shape == (scanned.recording.n_transitions, 1)
    assert couplings[0] == "block,to,from,value,first_half,second_half"
    assert len(couplings) == 1 + 16 + 4 + 4 + 4 + 1
    assert len(rows) == 1 + 2
    assert settings["files_sha256"] == scanned.looked.source.digest
    assert settings["command"].startswith("hidviz fit small.npy --hidden 0-1 --hidden-hidden no")
    assert settings["scan"][1]["gain"] == row.gain.mean
    with zipfile.ZipFile(io.BytesIO(packed(scanned, row, None))) as archive:
        assert archive.read("couplings.csv").decode().startswith("block,to,from,value\n")


def test_checks_can_be_stopped_and_keep_what_is_there(scanned):
    data = MyData()
    data.scanned = scanned
    data.check(scanned.table.rows[1])
    deadline = time.monotonic() + 60
    while data.checked is None or not data.checked.n_done:
        assert time.monotonic() < deadline
        data.poll()
        time.sleep(0.002)
    data.stop_checks()
    data.poll()
    assert not data.checking
    assert data.checked.n_done >= 1
    assert not data.check_problem
    data.close()
