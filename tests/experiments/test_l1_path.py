"""L1 paths: they rise to nothing, hold zeros at zero, and come nearer to sparse networks with hidden units."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Couplings, HiddenIsing, Settings, divide, fit_recording, prepare, simulate
from hidviz.background import return_value
from hidviz.evaluation import cost_per_bin
from hidviz.experiments.fit_parts import iter_starts
from hidviz.experiments.l1_path import RELAXED, TOLERANCE, iter_l1_path, path_weights
from hidviz.learning import adaptive_weights, learn, times
from hidviz.network import MATRICES
from tests.benchmarks.sparse import above_truth, area, scores, sparse_network


@pytest.fixture(scope="module")
def recorded():
    truth = sparse_network(6, 1, 0.3, seed=4)
    return truth, simulate(truth, 1500, np.random.default_rng(5)).recording


@pytest.fixture(scope="module")
def fitted(recorded):
    """Parts, learner and stopping part, the fit without a penalty, and the path from there."""
    parts = divide(recorded[1])
    learner, stop = (prepare("exact", part, n_hidden=1, bias=True) for part in parts[:2])
    first = return_value(iter_starts(learner, stop, parts.learn, starts=2, seed=1))[0].couplings
    return learner, stop, first, return_value(iter_l1_path(learner, stop, first, "chosen"))


def test_the_path_rises_and_keeps_what_predicts_the_stopping_part_best(fitted):
    _, stop, first, path = fitted
    assert (np.diff(path.weights) > 0.0).all()
    assert path.weight == path.weights[path.stop.argmin()]
    assert cost_per_bin(stop, path.couplings) == path.stop.min() < path.without == cost_per_bin(stop, first)


def test_at_the_end_of_the_path_no_coupling_at_all_is_optimal(fitted):
    learner, _, first, _ = fitted
    alike = adaptive_weights(first, learner.learned)
    top = float(path_weights(learner, first, alike)[-1])
    nothing = replace(first, J=np.zeros((6, 6)), K=np.zeros((6, 1)), L=np.zeros((1, 6)))
    *_, before = learn(learner, nothing, l1=1e3)  # biases alone
    for factor, empty in ((1.001, True), (0.98, False)):
        *_, last = learn(learner, before.couplings, l1=times(alike, factor * top))
        assert last.couplings.vector(MATRICES).any() != empty


def test_what_is_kept_is_optimal_under_the_relaxed_penalty(fitted):
    learner, _, first, path = fitted
    found, rest = path.couplings, RELAXED * path.weight
    weights = times(adaptive_weights(first, learner.learned), rest)
    slopes = learner(found).gradient
    n_kept = 0
    for name in ("J", "K", "L"):
        value, weight = getattr(found, name), getattr(weights, name)
        slope, kept = getattr(slopes, name) / learner.n_transitions, value != 0.0
        n_kept += int(kept.sum())
        np.testing.assert_allclose(slope[kept], (weight * np.sign(value))[kept], rtol=0, atol=2.0 * TOLERANCE)
        assert path.n_zero[name] == int((~kept).sum())
    assert 0 < n_kept < 48


def test_a_coupling_that_is_kept_outlives_the_penalty_kept(fitted):
    path = fitted[-1]
    kept = path.couplings.vector(MATRICES) != 0.0
    outlives = path.outlives.vector(MATRICES)
    assert (outlives[kept] >= path.weight).all()
    assert (outlives[~kept] <= path.weights.max()).all()
    assert (outlives[~kept] < path.weight).mean() > 0.9  # but for those that the relaxed fit sets to zero
    assert not path.outlives.vector(["h", "g"]).any()


def test_hidden_units_that_reach_nothing_are_named(fitted):
    path = fitted[-1]
    zero, one = np.zeros((3, 3)), np.zeros((3, 3))
    one[0, 1] = 0.5  # hidden 1 acts on hidden 0
    K = np.zeros((6, 3))
    K[2, 0] = 0.4
    for M, unconnected in ((zero, [1, 2]), (one, [2])):
        assert replace(path, couplings=Couplings(np.eye(6), K, np.ones((3, 6)), M=M)).unconnected == unconnected


def test_a_fit_tells_which_couplings_are_zero_and_counts_the_others(recorded):
    plain, sparse = (
        return_value(fit_recording(recorded[1], Settings("exact", 1, starts=1, l1=l1))) for l1 in (0.0, "chosen")
    )
    assert plain.l1 is None
    assert plain.summary["l1"] is None
    told, found = sparse.summary["l1"], sparse.couplings
    for name, (n, size) in told["zero"].items():
        assert (n, size) == (int((getattr(found, name) == 0.0).sum()), getattr(found, name).size)
    zeros = sum(n for n, _ in told["zero"].values())
    assert zeros > 10
    assert plain.summary["n_parameters"] - sparse.summary["n_parameters"] == zeros
    assert sparse.summary["held_out"] < plain.summary["held_out"]
    assert plain.summary["starts"] == pytest.approx(sparse.summary["starts"])


def test_the_estimator_takes_it_too(recorded):
    states = recorded[1].trials[0]
    model = HiddenIsing(starts=1, l1=0.05).fit(states)
    zero = model.couplings_.J == 0.0
    assert 5 < zero.sum() < zero.size
    assert model.l1_path_.weight == 0.05
    assert HiddenIsing(starts=1, max_steps=3).fit(states).l1_path_ is None
    with pytest.raises(ValueError, match="give a number"):
        HiddenIsing(starts=1, max_steps=3, blocks=0, l1="chosen").fit(states)


def test_a_strength_of_ones_own_is_kept(recorded):
    fit = return_value(fit_recording(recorded[1], Settings("exact", 1, starts=1, blocks=0, l1=0.05)))
    assert fit.l1.weight == 0.05
    assert sum(fit.l1.n_zero.values()) > 10


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"learner": "gibbs", "l1": 0.1}, "gibbs samples its own: take exact or mean-field"),
        ({"learner": "exact", "l1": "chosen", "blocks": 0}, "chosen on a held-out part"),
        ({"learner": "exact", "l1": -0.1}, "L1 penalty"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Settings(n_hidden=1, **settings)


def test_area_is_one_for_the_right_order_and_a_half_for_none():
    there = np.array([True, False, True, False])
    assert area(np.array([3.0, 1.0, 2.0, 0.0]), there) == 1.0
    assert area(np.zeros(4), there) == 0.5
    assert area(np.array([0.0, 1.0, 0.0, 2.0]), there) == 0.0


@pytest.mark.slow
def test_sparse_networks_with_hidden_units_are_found_better_than_without_the_penalty():
    rms, gained, hits, false = [], [], [], []
    for seed in range(4):
        truth = sparse_network(10, 2, 0.3, seed)
        recording = simulate(truth, 3000, np.random.default_rng([seed, 1])).recording
        judge = divide(recording).judge
        plain, sparse = (
            return_value(fit_recording(recording, Settings("exact", 2, max_steps=300, l1=l1))) for l1 in (0.0, "chosen")
        )
        both = [scores(fit, truth) for fit in (plain, sparse)]
        rms.append([both[1][name].rms / both[0][name].rms for name in "JKL"])
        hits.append([both[1][name].hits for name in "JKL"])
        false.append([both[1][name].false for name in "JKL"])
        gained.append(above_truth(sparse, truth, judge) / above_truth(plain, truth, judge))
    assert (np.mean(rms, axis=0) < 0.85).all()
    assert np.mean(gained) < 0.75
    assert np.mean(hits) > 0.8
    assert np.mean(false) < 0.15
