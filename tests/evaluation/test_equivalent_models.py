"""Equivalent models cost the same, broken ones do not, and scale is nearly free where couplings are weak."""

from math import factorial

import numpy as np
import pytest

from hidviz.evaluation.equivalent_models import (
    all_gauges,
    cost_per_bin,
    flip_half,
    gauge_label,
    iter_equivalents,
    rescale,
    scale_valley,
)
from hidviz.learners import Beliefs, Estimate, Infeasible, Learner, prepare
from hidviz.network.couplings import random_couplings
from hidviz.network.gauge import Gauge, flip, regauge
from hidviz.network.simulation import simulate
from hidviz.ui.plots.scale_valley import FACTORS, flat_stretch

LEARNED = {"backprop": "continuous", "exact": "stochastic"}


def setting(name, n_hidden, *, hidden_hidden=False, bias=0.0, variance=1.0, seed=3, n_bins=400):
    """A learner of this name on a network of its own model, with the true couplings."""
    rng = np.random.default_rng(seed)
    truth = random_couplings(6, n_hidden, rng, variance=variance, hidden_hidden=hidden_hidden, bias=bias)
    recording, _ = simulate(truth, n_bins, rng, hidden=LEARNED[name])
    return prepare(name, recording, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=bias > 0), truth


@pytest.mark.parametrize("n_hidden", [0, 1, 2, 3])
def test_gauges_are_all_there_once_with_the_identity_first(n_hidden):
    gauges = list(all_gauges(n_hidden))
    assert len(set(gauges)) == len(gauges) == 2**n_hidden * factorial(n_hidden)
    assert gauges[0].is_identity


def test_four_units_are_refused_with_the_number():
    with pytest.raises(Infeasible, match="4 hidden units have 384 equivalent models"):
        all_gauges(4)


@pytest.mark.parametrize("name", LEARNED)
@pytest.mark.parametrize(("hidden_hidden", "bias"), [(False, 0.0), (True, 0.3)])
def test_all_equivalents_cost_the_same(name, hidden_hidden, bias):
    learner, truth = setting(name, 3, hidden_hidden=hidden_hidden, bias=bias)
    models = list(iter_equivalents(learner, truth))
    costs = np.array([model.cost for model in models])
    assert len(models) == 48
    assert models[0].couplings == truth
    assert np.ptp(costs) < 1e-12  # nats per bin: rounding only, sums are taken in another order
    assert all(regauge(truth, model.gauge) == model.couplings for model in models)


def test_beliefs_move_with_their_units():
    truth = random_couplings(4, 2, np.random.default_rng(1))
    hidden = np.random.default_rng(2).normal(size=(30, 2))

    def drive(couplings, beliefs):
        return Estimate(float(((beliefs.hidden @ couplings.K.T) ** 2).sum()), couplings, beliefs)

    costs = [m.cost for m in iter_equivalents(Learner(drive, 4, 2, 30, ("K",)), truth, Beliefs(hidden))]
    assert np.ptp(costs) < 1e-12  # a field made of K and beliefs stays only if both move


@pytest.mark.parametrize("name", LEARNED)
def test_half_a_flip_costs_and_both_halves_cost_alike_without_m(name):
    learner, truth = setting(name, 2)
    here = cost_per_bin(learner, truth)
    halves = [cost_per_bin(learner, flip_half(truth, 0, block)) for block in "KL"]
    assert min(halves) > here + 0.01
    assert halves[0] == pytest.approx(halves[1], abs=1e-12)


def test_two_halves_make_a_whole_flip():
    truth = random_couplings(5, 3, np.random.default_rng(0))
    assert flip_half(flip_half(truth, 1, "K"), 1, "L") == regauge(truth, flip(3, 1))


def test_scale_of_minus_one_is_the_flip():
    truth = random_couplings(5, 3, np.random.default_rng(0), hidden_hidden=True, bias=0.5)
    assert rescale(truth, -1.0, unit=2) == regauge(truth, flip(3, 2))
    assert rescale(truth, -1.0) == regauge(truth, Gauge(range(3), -np.ones(3)))


@pytest.mark.parametrize("name", LEARNED)
def test_valley_is_flat_where_couplings_are_weak(name):
    factors = np.geomspace(0.5, 2.0, 5)
    depth = {}
    for scale in (1.0, 1e-2):
        learner, truth = setting(name, 2, variance=scale, hidden_hidden=True, bias=0.1 * scale)
        costs = scale_valley(learner, truth, factors)
        depth[scale] = np.ptp(costs)
        assert costs[2] == cost_per_bin(learner, truth)
    assert depth[1.0] > 1e-3
    assert depth[1e-2] < 1e-2 * depth[1.0]  # the departure is of third order in the fields, or higher


def test_valley_of_one_unit_leaves_the_others():
    learner, truth = setting("backprop", 2)
    one, other, both = (scale_valley(learner, truth, [2.0], unit)[0] for unit in (0, 1, None))
    assert len({one, other, both}) == 3
    assert scale_valley(learner, truth, [-1.0], 0)[0] == pytest.approx(cost_per_bin(learner, truth), abs=1e-12)


def test_gauge_in_short_names_units_and_signs():
    assert gauge_label(Gauge([1, 0], [1, -1])) == "+2 −1"
    assert gauge_label(Gauge([], [])) == ""


def test_flat_stretch_ends_where_a_parabola_passes_the_level():
    log_c = np.log(FACTORS)
    low, high = flat_stretch(3.0 + 0.1 * log_c**2, level=1e-2)
    width = np.sqrt(0.1)
    assert np.log([low, high]) == pytest.approx([-width, width], rel=0.01)  # straight lines between the factors
    assert flat_stretch(np.zeros(len(FACTORS))) == pytest.approx((FACTORS[0], FACTORS[-1]))
