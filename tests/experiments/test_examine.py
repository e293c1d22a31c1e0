"""Examination: a true model behaves like its data, halves agree on what the data tell, and each check stands alone."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Recording, divide, examine, free_run, random_couplings, scan, simulate
from hidviz.experiments.check_seconds import predict_checks
from hidviz.experiments.examine import CHECKS, halves, spread
from hidviz.experiments.fit_parts import fit_model


@pytest.fixture(scope="module")
def scanned():
    truth = random_couplings(4, 1, np.random.default_rng(3), variance=1.5, bias=0.2)
    parts = divide(simulate(truth, 12_000, np.random.default_rng(103), hidden="stochastic").recording)
    *_, table = scan(parts, hidden=(1,), hidden_hidden=(False,), starts=2, max_steps=150)
    return truth, parts, table


def test_the_truth_left_to_itself_behaves_like_its_data():
    truth = random_couplings(6, 2, np.random.default_rng(5), bias=0.3)
    recording = simulate(truth, 50_000, np.random.default_rng(6), hidden="stochastic").recording
    found = free_run(truth, recording, np.random.default_rng(7), n_bins=50_000)
    # a rate of 50,000 bins errs by about .5/sqrt(50,000) = .002 in either
    assert found.rate_error < 0.02
    assert found.synchrony_error < 0.02
    assert found.correlation_error(0) < 0.02
    assert found.correlation_error(1) < 0.02


def test_a_model_without_what_makes_units_fire_together_shows_it():
    rng = np.random.default_rng(1)
    together = np.repeat(np.where(rng.random((20_000, 1)) < 0.2, 1, -1), 4, axis=1)
    independent = random_couplings(4, 0, rng, variance=0.0)
    found = free_run(independent, Recording(together), rng, n_bins=20_000)
    # data: .8 none and .2 all; model: binomial of a half, 1/16 each: .8 - 1/16 + .2 - 1/16 is over
    assert found.synchrony_error == pytest.approx(0.875, abs=0.02)


def test_every_check_is_made(scanned):
    _, parts, table = scanned
    stages = list(examine(table.rows[1], parts, table.rows[0], starts=2))
    assert len(stages) == len(CHECKS)
    last = stages[-1]
    assert last.free_run.synchrony_error < 0.05
    assert last.halves.correlation["J"] > 0.9
    assert last.spread.n_agreeing >= 1
    assert last.spread.costs == tuple(sorted(last.spread.costs))
    assert np.median(last.error_bars.standard_errors.J) == pytest.approx(7200**-0.5, rel=1.0)
    assert len(last.stationarity.gains) == 8
    assert last.stationarity.early.mean > 0.0
    assert last.notes == ()


def test_a_model_that_was_sampled_is_fitted_again_by_sampling_in_as_many_steps(scanned):
    _, parts, table = scanned
    row = replace(table.rows[1], sampled=True, max_steps=6)
    found = halves(row, parts)
    half = parts.learn.with_trials(parts.learn.trials[::2])
    options = {"hidden_hidden": False, "starts": 2, "seed": 1}
    sampled, exact = (
        fit_model(half, parts.stop, 1, **options, max_steps=6, sampled=each)[0].couplings for each in (True, False)
    )
    assert found.first == sampled != exact
    runs = fit_model(parts.learn, parts.stop, 1, hidden_hidden=False, starts=2, seed=2, max_steps=6, sampled=True)
    assert spread(row, parts, starts=2).costs == tuple(run.stop for run in runs)


def test_seconds_are_predicted_for_the_learner_that_fits(scanned):
    _, parts, table = scanned
    row = replace(table.rows[1], seconds=30.0, stop=(1.0, 1.1, 1.2))
    exact, sampled = (predict_checks(replace(row, sampled=each), parts, table.rows[0]) for each in (False, True))
    # two starts of 10 s at each half; sums over hidden states look at the stopping part in every step too
    assert sampled.halves == pytest.approx(2 * 2 * 10.0 * 0.5)
    assert exact.halves == pytest.approx(2 * 2 * 10.0 * (0.5 * 3 + 1) / (3 + 1), rel=0.01)


def test_a_check_may_be_asked_for_alone(scanned):
    _, parts, table = scanned
    (only,) = examine(table.rows[1], parts, table.rows[0], checks=("stationarity",))
    assert only.free_run is None
    assert only.stationarity.gains == pytest.approx(table.rows[0].judged - table.rows[1].judged)
    with pytest.raises(ValueError, match="among free_run, stationarity"):
        next(examine(table.rows[1], parts, table.rows[0], checks=("luck",)))
