"""Sparse fits: optimal at their weight, zero where nothing is coupled, nearer to a sparse truth than the plain fit."""

import numpy as np
import pytest

from hidviz import Couplings, divide, simulate
from hidviz.experiments.sparse import adaptive_scales, sparse_couplings, sparse_fit, sparse_path
from hidviz.learners import logistic_fit, prepare


def sparse_truth(n=8, seed=1):
    rng = np.random.default_rng(seed)
    J = rng.normal(0.0, 0.5, (n, n)) * (rng.random((n, n)) < 0.15)
    return Couplings(J, np.zeros((n, 0)), np.zeros((0, n)), h=rng.normal(0.0, 0.3, n))


@pytest.fixture(scope="module")
def recorded():
    truth = sparse_truth()
    return truth, simulate(truth, 2500, np.random.default_rng(2)).recording


def test_a_sparse_fit_meets_the_conditions_of_its_optimum(recorded):
    _, recording = recorded
    weight = 0.02
    nothing = Couplings(np.zeros((8, 8)), np.zeros((8, 0)), np.zeros((0, 8)))
    found = sparse_couplings(recording, weight, start=nothing)
    slopes = prepare("visible", recording, n_hidden=0, bias=True)(found).gradient
    J, h = slopes.J / recording.n_transitions, slopes.h / recording.n_transitions
    zero = found.J == 0.0
    assert 0 < zero.sum() < zero.size
    np.testing.assert_allclose(J[~zero], weight * np.sign(found.J[~zero]), rtol=0, atol=1e-6)
    assert np.abs(J[zero]).max() <= weight + 1e-6
    assert np.abs(h).max() < 1e-6


def test_the_path_runs_from_nothing_to_almost_the_plain_fit(recorded):
    _, recording = recorded
    weights, path = sparse_path(recording)
    assert (np.diff(weights) < 0.0).all()
    assert not path[0].J.any()
    assert (path[1].J != 0.0).any()
    plain = logistic_fit(recording, bias=True).couplings
    assert np.abs(path[-1].J - plain.J).max() < 0.01


def test_a_sparse_truth_is_found_better_than_without_the_penalty(recorded):
    truth, recording = recorded
    parts = divide(recording)
    found = sparse_fit(parts)
    both = parts.learn.with_trials([*parts.learn.trials, *parts.stop.trials])
    plain = logistic_fit(both, bias=True).couplings
    errors = [np.sqrt(np.mean((each.J - truth.J) ** 2)) for each in (found.couplings, plain)]
    assert errors[0] < 0.85 * errors[1]
    none = truth.J == 0.0
    assert (found.couplings.J[none] == 0.0).mean() > 0.5
    strong = np.abs(truth.J) > 0.15  # some five standard errors
    assert (found.couplings.J[strong] != 0.0).all()


def area(score, positive):
    """Probability that a coupling that is there scores above one that is not."""
    gaps = score[positive][:, None] - score[~positive][None, :]
    return float(np.mean((gaps > 0) + 0.5 * (gaps == 0)))


def test_the_order_in_which_couplings_enter_tells_those_that_are_there(recorded):
    truth, recording = recorded
    found = sparse_fit(divide(recording))
    strong, none = np.abs(truth.J) > 0.15, truth.J == 0.0
    assert area(found.entered[strong | none], strong[strong | none]) > 0.9
    assert ((found.entered >= found.weight) >= (found.couplings.J != 0.0)).all()
    assert (found.entered > 0.0).mean() > 0.8  # but for the last of the path all have entered


def test_the_judging_part_is_learned_from_only_where_it_is_given_away(recorded):
    _, recording = recorded
    parts = divide(recording)
    for everything, n in ((False, 4), (True, 5)):
        bins = sum(part.n_transitions for part in parts[: 3 if everything else 2])
        found = sparse_fit(parts, everything=everything)
        both = parts.learn.with_trials([t for part in parts[: 3 if everything else 2] for t in part.trials])
        assert both.n_transitions == bins == pytest.approx(n / 5 * recording.n_transitions, rel=0.03)
        again = sparse_couplings(both, found.weight * adaptive_scales(both), start=found.couplings)
        np.testing.assert_allclose(again.J, found.couplings.J, atol=1e-5)


@pytest.mark.slow
def test_weights_of_their_own_come_nearer_to_sparse_truths_than_one_weight_of_all():
    gains, areas = [], []
    for seed in range(6):
        truth = sparse_truth(10, seed)
        recording = simulate(truth, 1500, np.random.default_rng(50 + seed)).recording
        parts, there = divide(recording), truth.J != 0.0
        found = sparse_fit(parts, everything=True)
        both = parts.learn.with_trials([trial for part in parts[:3] for trial in part.trials])
        alike = [
            sparse_couplings(both, weight, start=found.couplings).J for weight in np.geomspace(1e-3, 0.1, 25)
        ]  # the best of them: chosen by the truth, which no fit could
        rms = [np.sqrt(np.mean((J - truth.J) ** 2)) for J in (found.couplings.J, *alike)]
        gains.append(rms[0] / min(rms[1:]))
        areas.append(area(found.entered, there) - area(np.abs(logistic_fit(both, bias=True).couplings.J), there))
    assert np.mean(gains) < 1.0
    assert np.mean(areas) > -0.01
