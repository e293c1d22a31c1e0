"""A stimulus that repeats is told from what units do to each other."""

import numpy as np
import pytest

from hidviz import Couplings, Recording, divide, examine, random_couplings, scan, simulate
from hidviz.background import return_value
from hidviz.evaluation.paired import paired
from hidviz.evaluation.repeats import repeats
from hidviz.experiments.fit_recording import Settings, fit_recording
from hidviz.learners import LEARNERS
from hidviz.ui.text.own_scan import answer, called


def driven(n_trials=60, n_bins=100, n_units=6, strength=1.0, seed=1):
    """Uncoupled units that all follow one stimulus, the same in every trial; and their true field."""
    rng = np.random.default_rng(seed)
    slow = np.convolve(rng.normal(size=n_bins + 20), np.ones(8) / 8**0.5, mode="valid")[:n_bins]
    field = -0.6 + strength * slow[:, None] * rng.choice([0.5, 1.0, 1.5], n_units)
    trials = np.where(rng.random((n_trials, n_bins, n_units)) < 1.0 / (1.0 + np.exp(-2.0 * field)), 1, -1)
    return Recording(trials), field


def test_h_of_t_comes_near_the_truth_and_lag_1_adds_nothing_to_it():
    recording, field = driven()
    parts = divide(recording)
    found = repeats(parts)
    true = [np.sum(np.logaddexp(field, -field)[1:] - trial[1:] * field[1:]) / 99 for trial in parts.judge.trials]
    # a parameter for each unit and bin, each from 36 trials: an excess of 6 / (2 · 36) = .083, less with the penalty
    assert 0.0 < np.mean(found.alone - true) < 0.1
    assert abs((found.with_lag1 - found.alone).mean()) < 0.03
    assert found.n == 60


def test_a_hidden_unit_stands_for_the_stimulus_and_the_scan_says_so():
    parts = divide(driven()[0])
    *_, table = scan(parts, hidden=(1,), hidden_hidden=(True,), driven=(False,), starts=1, max_steps=60)
    spurious, (alone, both) = table.rows[1].gain, table.repeats
    assert spurious.mean > 3.0 * spurious.error > 0.0
    assert alone.mean > spurious.mean
    assert both.mean > spurious.mean
    assert "may stand for a stimulus" in table.in_words()


def test_under_h_of_t_it_gains_nothing_and_the_scan_takes_none():
    parts = divide(driven()[0])
    *_, table = scan(parts, hidden=(1,), hidden_hidden=(True,), starts=1, max_steps=60)
    assert [(row.n_hidden, row.driven) for row in table.rows] == [(0, False), (0, True), (1, False), (1, True)]
    share, beside = table.rows[1], table.rows[3]
    assert beside.step.mean < 2.0 * beside.step.error
    assert table.chosen is share
    assert share.gain.mean == pytest.approx(table.repeats[1].mean, abs=0.005)
    assert share.n_parameters == 6 * 7 + 6 * 99
    assert "no hidden unit beside h(t)" in table.sentence()
    assert answer(table, complete=True).startswith("<b>No hidden unit is needed beside h(t):</b>")
    assert called(beside) == "One hidden unit with memory (M) beside h(t)"
    assert beside.name == "1 hidden unit with M, h(t)"
    with pytest.raises(ValueError, match="h\\(t\\) is told from 20 trials or more of one length"):
        next(scan(divide(Recording(parts.learn.trials[:10])), hidden=(), driven=(True,)))


def test_under_an_l1_penalty_lag_1_beside_h_of_t_drops_couplings_as_the_others_may():
    recording, _ = driven()
    parts = divide(recording)
    tables = list(scan(parts, hidden=(), l1="chosen"))
    share, (_, both) = tables[-1].rows[1], tables[-1].repeats
    assert share.path.weight > 0.0
    assert sum(share.path.n_zero.values()) > 18  # of 36 couplings, none of which is there
    assert both == share.gain
    assert share.judged.mean() < repeats(parts).with_lag1.mean()
    assert any(table.doing.startswith("lag 1, h(t), L1 penalty, strength 2 of") for table in tables)
    *_, bare = scan(parts, hidden=(), driven=(False,), l1="chosen")
    assert (len(bare.rows), bare.repeats[1]) == (1, both)
    single = return_value(fit_recording(recording, Settings("visible", 0, repeats=True, starts=1, l1="chosen")))
    assert single.summary["baselines_held_out"]["repeats"] == share.mean


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
@pytest.mark.parametrize(("n_hidden", "hidden_hidden"), [(1, False), (1, True), (2, True)])
def test_the_trap_of_the_stimulus_is_avoided_by_every_number_of_hidden_units(seed, n_hidden, hidden_hidden):
    parts = divide(driven(seed=seed)[0])
    *_, table = scan(parts, hidden=(n_hidden,), hidden_hidden=(hidden_hidden,), driven=(True,), starts=2, max_steps=100)
    added = paired(table.rows[1].judged, table.rows[2].judged)
    assert added.mean < 2.0 * added.error
    assert table.chosen is table.rows[1]


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["mean-field", "mean-field-correlated", "gibbs", "backprop"])
def test_every_kind_of_learner_avoids_it(learner):
    found = []
    for under in (False, True):
        settings = Settings(learner, 1, repeats=under, starts=2, max_steps=100, penalty=1e-3)
        found.append(return_value(fit_recording(driven()[0], settings)).summary)
    if LEARNERS[learner].hidden == "stochastic":  # a continuous one, a function of the past, is not trapped
        assert found[0]["gains"]["visible"] > 0.05
    gain, error = (found[1][name]["repeats"] for name in ("gains", "gain_errors"))
    assert gain < 2.0 * error


def test_units_that_are_coupled_beside_a_stimulus_keep_what_hidden_units_add():
    """A hidden unit that acts is found under h(t) too, and its free run is that of the data."""
    truth = Couplings(
        np.zeros((6, 6)), np.full((6, 1), 0.9), np.zeros((1, 6)), np.array([[1.2]]), np.full(6, -0.6), np.zeros(1)
    )
    field = np.random.default_rng(1).normal(0.0, 0.5, (99, 6))
    rng = np.random.default_rng(2)
    trials = [simulate(truth, 100, rng, external_field=field).recording.trials[0] for _ in range(60)]
    parts = divide(Recording(trials))
    *_, table = scan(parts, hidden=(1,), hidden_hidden=(True,), driven=(True,), starts=1, max_steps=60)
    beside = table.rows[2]
    assert beside.step.mean > 4.0 * beside.step.error
    assert table.chosen is beside
    assert "Of this, hidden units add" in answer(table, complete=True)
    found = next(examine(beside, parts, table.rows[0], checks=("free_run",))).free_run
    assert found.synchrony_error < 0.06
    assert found.rate_error < 0.05
    true = np.abs(np.corrcoef(table.rows[1].external_field.ravel(), field.ravel())[0, 1])
    assert true > 0.7


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_a_stimulus_explains_is_more_than_a_hidden_unit_gains_and_leaves_couplings_nothing(seed):
    parts = divide(driven(seed=seed)[0])
    *_, table = scan(parts, hidden=(1,), hidden_hidden=(True,), driven=(False,), starts=1, max_steps=60)
    spurious, (alone, _) = table.rows[1].gain, table.repeats
    assert 0.06 < spurious.mean < 0.2  # gained by units that have no couplings at all
    assert spurious.mean > 4.0 * spurious.error
    assert alone.mean > 2.0 * spurious.mean
    found = repeats(parts)
    left = paired(found.alone, found.with_lag1)
    assert left.mean < 2.0 * left.error


def test_without_repeats_there_is_no_h_of_t():
    recording, _ = driven(n_trials=19)
    assert repeats(divide(recording)) is None  # too few
    states = simulate(random_couplings(3, 0, np.random.default_rng(1)), 4000, np.random.default_rng(2)).recording
    assert repeats(divide(states)) is None  # 40 blocks of time, of one length
    uneven = Recording([trial[: 50 + k] for k, trial in enumerate(driven(n_trials=30)[0].trials)])
    assert repeats(divide(uneven)) is None


def test_trials_that_share_nothing_gain_nothing_from_h_of_t():
    truth = random_couplings(4, 0, np.random.default_rng(3), variance=2.0, bias=0.2)
    whole = simulate(truth, 6000, np.random.default_rng(4)).recording.trials[0]
    parts = divide(Recording(np.split(whole, 60)))
    found = repeats(parts)
    *_, table = scan(parts, hidden=())
    assert found.with_lag1.mean() == pytest.approx(table.rows[0].mean, abs=0.05)
    assert table.repeats[0].mean < 0.0
