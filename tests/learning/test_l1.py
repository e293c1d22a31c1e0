"""L1 penalties with hidden units: optimal at their weights, exactly zero, and the same in every gauge."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Couplings, Recording, prepare, random_couplings, simulate
from hidviz.experiments.sparse import sparse_couplings
from hidviz.learning import adaptive_weights, learn, regauge_snapshot, times
from hidviz.learning.l1 import l1_weights
from hidviz.learning.optimisers import Point, largest_gradient
from hidviz.network import BLOCKS, MATRICES, flip, regauge, swap

WEIGHT = 0.02


@pytest.fixture(scope="module")
def recording():
    truth = random_couplings(5, 2, np.random.default_rng(1), variance=1.0, hidden_hidden=True, bias=0.2)
    return simulate(truth, 500, np.random.default_rng(2)).recording


def prepared(recording, name="exact", hidden_hidden=True):
    return prepare(name, recording, n_hidden=2, hidden_hidden=hidden_hidden, bias=True)


def begun(learner, seed=3):
    return random_couplings(
        learner.n_visible, 2, np.random.default_rng(seed), variance=0.3, hidden_hidden="M" in learner.learned
    )


def ended(learner, start, **settings):
    *_, last = learn(learner, start, max_steps=500, **settings)
    return last


def penalised(learner, couplings, weights):
    """Cost and penalty, nats per bin: written out again."""
    sizes = sum(float((getattr(weights, name) * np.abs(getattr(couplings, name))).sum()) for name in MATRICES)
    return learner.per_bin(learner(couplings)) + sizes


@pytest.mark.parametrize("name", ["exact", pytest.param("mean-field", marks=pytest.mark.slow), "backprop"])
def test_an_optimum_meets_the_conditions_of_the_subgradient(recording, name):
    learner = prepared(recording, name, hidden_hidden=name != "mean-field")
    last = ended(learner, begun(learner), l1=WEIGHT, tolerance=1e-6)
    assert last.state == "converged"
    found, slopes = last.couplings, last.estimate.gradient
    n_zero = 0
    for block in BLOCKS:
        value, slope = getattr(found, block), getattr(slopes, block) / learner.n_transitions
        if block in ("h", "g") or block not in learner.learned:
            assert np.abs(slope).max(initial=0.0) <= 2e-6
            continue
        zero = value == 0.0
        n_zero += int(zero.sum())
        np.testing.assert_allclose(slope[~zero], WEIGHT * np.sign(value[~zero]), rtol=0, atol=2e-6)
        assert np.abs(slope[zero]).max(initial=0.0) <= WEIGHT + 2e-6
    assert 5 < n_zero < found.vector(MATRICES).size
    assert np.abs(found.h).max() > 0.01


def test_the_largest_gradient_is_the_slope_of_the_penalised_cost(recording):
    learner = prepared(recording)
    start = begun(learner)
    weights = times(adaptive_weights(begun(learner, 4), learner.learned), WEIGHT)
    first = next(learn(learner, start, l1=weights))
    theta, step, slopes = start.vector(learner.learned), 1e-5, []
    assert np.abs(start.vector([b for b in learner.learned if b in MATRICES])).min() > step
    for k in range(theta.size):
        moved = [theta.copy(), theta.copy()]
        moved[0][k] += step
        moved[1][k] -= step
        up, down = (penalised(learner, start.with_vector(each, learner.learned), weights) for each in moved)
        slopes.append((up - down) / (2.0 * step))
    assert first.largest_gradient == pytest.approx(np.abs(slopes).max(), rel=1e-6)


def test_a_slope_at_zero_counts_as_far_as_it_overcomes_the_penalty():
    point = Point(np.zeros(4), 0.0, np.array([0.5, -0.5, 1.7, -2.0]), None)
    assert largest_gradient(point, l1=np.ones(4)) == 1.0
    assert largest_gradient(point, l1=np.full(4, 3.0)) == 0.0


def test_every_step_lowers_the_penalised_cost_and_none_crosses_zero(recording):
    learner = prepared(recording)
    before = None
    for step in learn(learner, begun(learner), l1=WEIGHT, max_steps=60):
        if before is not None and step.state == "learning":
            old, new = (each.couplings.vector(MATRICES) for each in (before, step))
            assert (old * new >= 0.0).all()
            weights = l1_weights(WEIGHT, learner, "l-bfgs")
            assert penalised(learner, step.couplings, weights) < penalised(learner, before.couplings, weights)
        before = step


def test_without_hidden_units_it_ends_where_coordinate_descent_does(recording):
    learner = prepare("visible", recording, n_hidden=0, bias=True)
    nothing = Couplings(np.zeros((5, 5)), np.zeros((5, 0)), np.zeros((0, 5)))
    weights = np.random.default_rng(5).uniform(0.005, 0.05, (5, 5))
    other = sparse_couplings(recording, weights, start=nothing)
    last = ended(learner, nothing, l1=replace(nothing, J=weights), tolerance=1e-7)
    np.testing.assert_allclose(last.couplings.J, other.J, atol=2e-6)
    np.testing.assert_array_equal(last.couplings.J == 0.0, other.J == 0.0)


def test_proximal_steps_find_nothing_lower(recording):
    learner = prepared(recording)
    weights = l1_weights(WEIGHT, learner, "l-bfgs")
    last = ended(learner, begun(learner), l1=WEIGHT, tolerance=1e-7)
    found, lowest = last.couplings, penalised(learner, last.couplings, weights)
    theta, sizes = found.vector(learner.learned), 0.2 * weights.vector(learner.learned)
    for _ in range(200):
        slope = learner(found.with_vector(theta, learner.learned)).gradient.vector(learner.learned)
        theta = theta + 0.2 * slope / learner.n_transitions
        theta = np.sign(theta) * np.maximum(np.abs(theta) - sizes, 0.0)
    np.testing.assert_allclose(theta, found.vector(learner.learned), atol=1e-3)  # the scale of K against L is soft
    assert penalised(learner, found.with_vector(theta, learner.learned), weights) > lowest - 1e-9


@pytest.mark.parametrize("gauge", [flip(2, 1), swap(2, 0, 1), swap(2, 0, 1).then(flip(2, 0))])
def test_the_penalty_is_the_same_in_every_gauge(recording, gauge):
    learner = prepared(recording)
    start = begun(learner)
    weights = times(adaptive_weights(begun(learner, 4), learner.learned), WEIGHT)
    moved = regauge(weights, gauge)
    moved = moved.with_vector(np.abs(moved.vector()))
    plain, other = (
        ended(learner, at, l1=l1, tolerance=1e-6) for at, l1 in ((start, weights), (regauge(start, gauge), moved))
    )
    assert (plain.couplings.vector() == 0.0).sum() > 5
    np.testing.assert_allclose(other.couplings.vector(), regauge(plain.couplings, gauge).vector(), atol=1e-4)
    assert penalised(learner, other.couplings, moved) == pytest.approx(penalised(learner, plain.couplings, weights))


def test_a_run_goes_on_after_a_relabelling_with_the_weights_relabelled(recording):
    learner, gauge = prepared(recording), swap(2, 0, 1).then(flip(2, 0))
    weights = times(adaptive_weights(begun(learner, 4), learner.learned), WEIGHT)
    *_, half = learn(learner, begun(learner), l1=weights, max_steps=10)
    half = replace(half, state="learning", remarks=())
    moved = regauge_snapshot(half, gauge, learner.learned)
    l1 = moved.penalty.l1
    np.testing.assert_array_equal(l1.K, weights.K[:, gauge.order])
    assert (l1.vector() >= 0.0).all()
    straight, around = (ended(learner, at, l1=at.penalty.l1, tolerance=1e-6).couplings for at in (half, moved))
    np.testing.assert_allclose(around.vector(), regauge(straight, gauge).vector(), atol=1e-4)


def test_a_box_and_an_l2_penalty_hold_beside_it(recording):
    learner = prepared(recording)
    last = ended(learner, begun(learner), l1=WEIGHT, box=0.3, penalty=0.05, tolerance=1e-6)
    assert last.state == "converged"
    theta = last.couplings.vector(learner.learned)
    slopes = -last.estimate.gradient.vector(learner.learned) / learner.n_transitions
    weights = l1_weights(WEIGHT, learner, "l-bfgs").vector(learner.learned)
    slopes += last.penalty.vector(last.couplings, learner.learned) * theta
    at_the_box, zero = np.abs(theta) == 0.3, theta == 0.0
    assert at_the_box.any()
    assert zero.any()
    assert np.abs(theta).max() <= 0.3
    inner = ~at_the_box & ~zero
    np.testing.assert_allclose(slopes[inner], -(weights * np.sign(theta))[inner], atol=2e-6)
    assert (np.abs(slopes[zero]) <= weights[zero] + 2e-6).all()
    assert ((slopes + weights * np.sign(theta))[at_the_box] * theta[at_the_box] <= 0.0).all()


def test_couplings_of_hidden_units_that_have_gone_do_not_come_back(recording):
    learner = prepared(recording)
    gone = replace(begun(learner), K=np.zeros((5, 2)), L=np.zeros((2, 5)), M=np.zeros((2, 2)))
    last = ended(learner, gone, l1=1e-4)
    assert [remark.kind for remark in last.remarks] == ["converged"]  # no scale is open where there is none
    assert not last.couplings.vector(["K", "L", "M"]).any()


def test_adaptive_weights_fall_with_the_size_of_the_first_estimate(recording):
    learner = prepared(recording, hidden_hidden=False)
    first = begun(learner)
    weights = adaptive_weights(first, learner.learned)
    order = np.argsort(np.abs(first.vector(["J", "K", "L"])))
    assert (np.diff(weights.vector(["J", "K", "L"])[order]) <= 0.0).all()
    assert np.median(weights.vector(["J", "K", "L"])) == pytest.approx(1.0, rel=0.05)
    assert not weights.vector(["M", "h", "g"]).any()


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        ("gibbs", {"l1": 0.1}, "needs exact gradients, and this learner's are sampled: take the exact"),
        ("exact", {"l1": 0.1, "optimiser": "momentum"}, "minimised by L-BFGS alone, got optimiser='momentum'"),
        ("exact", {"l1": -1.0}, "must be a number not below 0, got -1"),
        ("exact", {"l1": float("nan")}, "must be a number not below 0, got nan"),
        ("exact", {"l1": Couplings(np.ones((3, 3)), np.ones((3, 0)), np.ones((0, 3)))}, "got 3 and 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(name, settings, sentence):
    states = np.where(np.random.default_rng(0).random((50, 5)) < 0.5, 1, -1)
    learner = prepare(name, Recording(states), n_hidden=2, hidden_hidden=True, bias=True)
    with pytest.raises(ValueError, match=sentence):
        next(learn(learner, begun(learner), **settings))
