"""The numbers of one coupling are those of its step: before + change = after, and the slope is the slope."""

from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from hidviz.learners import prepare
from hidviz.learning import OPTIMISERS, coupling_step, learn, random_start, regauge_snapshot, with_couplings
from hidviz.network import Gauge
from hidviz.network.couplings import random_couplings
from hidviz.network.simulation import simulate

PLACES = [("J", 2, 1), ("K", 3, 1), ("L", 0, 2)]
of_every_learner = pytest.mark.parametrize("name", ["backprop", "exact", "mean-field"])


@cache
def prepared(name):
    recording, _ = simulate(random_couplings(4, 2, np.random.default_rng(0)), 300, np.random.default_rng(1))
    learner = prepare(name, recording, n_hidden=2)
    return learner, random_start(4, 2, np.random.default_rng(2), learned=learner.learned)


def steps(name, n=3, **settings):
    learner, start = prepared(name)
    return list(learn(learner, start, max_steps=n, **settings))


def told(snapshot, name, *place, gauge=None):
    return coupling_step(snapshot, prepared(name)[0].n_transitions, *place, gauge)


def nudged(couplings, block, row, column, by):
    """The same couplings with one of them changed."""
    changed = getattr(couplings, block).copy()
    changed[row, column] += by
    return replace(couplings, **{block: changed})


@pytest.mark.parametrize("optimiser", OPTIMISERS)
@pytest.mark.parametrize("place", PLACES)
def test_before_and_after_are_the_couplings_of_the_snapshots(optimiser, place):
    block, *cell = place
    snapshots = steps("exact", optimiser=optimiser)
    assert told(snapshots[0], "exact", *place) is None
    for before, after in pairwise(snapshots):
        step = told(after, "exact", *place)
        assert step.before == getattr(before.couplings, block)[tuple(cell)]
        assert step.after == getattr(after.couplings, block)[tuple(cell)]
        assert step.before + step.change == pytest.approx(step.after, abs=1e-15)
        assert step.optimiser == optimiser
        assert step.change != 0.0


@of_every_learner
@pytest.mark.parametrize("place", PLACES)
def test_gradient_ascent_adds_rate_times_slope(name, place):
    for snapshot in steps(name, optimiser="gradient", rate=0.07, penalty=0.1)[1:]:
        step = told(snapshot, name, *place)
        assert step.rate == 0.07
        assert step.shrinkage == pytest.approx(0.1 * step.before, rel=1e-14)
        assert step.change == pytest.approx(step.rate * step.slope, rel=1e-10)


@of_every_learner
@pytest.mark.parametrize("place", PLACES)
def test_the_slope_is_a_difference_quotient_of_the_objective_per_bin(name, place):
    """Mean field is settled anew on either side: at its solution the beliefs do not add to the slope."""
    learner, _ = prepared(name)
    before, after = steps(name, n=1, optimiser="gradient")
    step, by = told(after, name, *place), 1e-5
    for slope, at in ((step.data_slope, before), (step.next_slope, after)):
        up, down = (
            learner(nudged(at.couplings, *place, sign * by), at.estimate.beliefs).objective for sign in (1.0, -1.0)
        )
        assert slope == pytest.approx((up - down) / (2.0 * by * learner.n_transitions), rel=1e-4, abs=1e-7)


def test_the_rate_is_that_of_the_step_though_it_was_changed_since():
    learner, _ = prepared("exact")
    last = steps("exact", optimiser="gradient", rate=0.07)[-1]
    first = next(learn(learner, last, optimiser="gradient", rate=0.5))
    assert told(first, "exact", *PLACES[0]).rate == 0.07


def test_half_a_step_has_the_numbers_of_the_whole_and_the_slope_at_old_beliefs():
    _, half, whole, *_ = steps("mean-field", halves=True, optimiser="gradient")
    one, other = (told(each, "mean-field", *PLACES[1]) for each in (half, whole))
    assert one._replace(next_slope=0.0) == other._replace(next_slope=0.0)
    assert one.next_slope != other.next_slope


def test_a_flipped_unit_has_all_its_numbers_flipped():
    learner, _ = prepared("exact")
    last = steps("exact")[-1]
    gauge = Gauge([1, 0], [1.0, -1.0])
    flipped = regauge_snapshot(last, gauge, learner.learned)
    for place in PLACES:
        assert told(flipped, "exact", *place) == told(last, "exact", *place, gauge=gauge)
    assert told(flipped, "exact", "K", 3, 1).slope == -told(last, "exact", "K", 3, 0).slope != 0.0


def test_couplings_that_were_put_in_come_from_no_step():
    learner, start = prepared("exact")
    assert told(with_couplings(steps("exact")[-1], start, learner, None), "exact", *PLACES[0]) is None


def test_an_origin_shares_its_arrays_with_the_snapshot_before_and_leads_no_further():
    before, after = steps("exact")[-2:]
    assert after.origin.couplings is before.couplings
    assert after.origin.gradient is before.estimate.gradient
    assert not hasattr(after.origin, "origin")
