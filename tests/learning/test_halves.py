"""A step of a learner with an E-step can be seen in two halves, and is the same step."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_resumed, iter_run
from hidviz.learners import LEARNERS, prepare
from hidviz.learning import learn
from hidviz.learning.snapshot import regauge_snapshot
from hidviz.learning.starts import random_start
from hidviz.network.couplings import random_couplings
from hidviz.network.gauge import Gauge
from hidviz.network.simulation import simulate
from tests.toys import assert_same

IN_HALVES = [name for name in LEARNERS if LEARNERS[name].phases]
MEAN_FIELD = [name for name in IN_HALVES if not LEARNERS[name].stochastic]
of_every_learner_in_halves = pytest.mark.parametrize("name", IN_HALVES)


@cache
def prepared(name):
    truth = random_couplings(5, 2, np.random.default_rng(0), hidden_hidden=True, bias=0.2)
    data = [simulate(truth, n, np.random.default_rng(n))[0] for n in (300, 200)]
    learner, held_out = (
        prepare(each, recording, n_hidden=2, hidden_hidden=True, bias=True)
        for each, recording in zip((name, "exact"), data, strict=True)
    )
    return learner, held_out, random_start(5, 2, np.random.default_rng(1), learned=learner.learned)


def course(name, start=None, **settings):
    learner, held_out, beginning = prepared(name)
    return list(learn(learner, start or beginning, held_out=held_out, **settings))


def whole(snapshots):
    return [snapshot for snapshot in snapshots if snapshot.phase == "E"]


def rules(name):
    return ("adam",) if LEARNERS[name].stochastic else ("l-bfgs", "gradient", "adam")


@of_every_learner_in_halves
def test_whole_steps_are_those_of_the_normal_course_bit_by_bit(name):
    for optimiser in rules(name):
        settings = {"optimiser": optimiser, "max_steps": 6}
        halves = course(name, halves=True, **settings)
        assert [snapshot.phase for snapshot in halves] == ["E", *"ME" * 6]
        for one, other in zip(whole(halves), course(name, **settings), strict=True):
            assert_same(one, other)


@of_every_learner_in_halves
def test_half_a_step_has_moved_the_couplings_and_left_the_beliefs(name):
    halves = course(name, halves=True, max_steps=3)
    learner, _, _ = prepared(name)
    for before, half, after in zip(halves[::2], halves[1::2], halves[2::2], strict=False):
        assert half.couplings == after.couplings != before.couplings
        np.testing.assert_allclose(half.estimate.beliefs.hidden, before.estimate.beliefs.hidden, atol=1e-15)
        assert not np.allclose(half.estimate.beliefs.hidden, after.estimate.beliefs.hidden)
        assert half.settled.estimate is after.estimate
        assert (half.step, half.held_out, half.best) == (after.step, after.held_out, after.best)
        assert half.cost == -half.estimate.objective / learner.n_transitions


@pytest.mark.parametrize("name", MEAN_FIELD)
def test_both_halves_of_a_small_step_climb(name):
    """Gradient ascent raises A at fixed beliefs, settling raises it at fixed couplings; .05 is a small rate here."""
    costs = [snapshot.cost for snapshot in course(name, halves=True, optimiser="gradient", rate=0.05, max_steps=8)]
    assert np.diff(costs).max() < 0.0


@pytest.mark.parametrize("name", MEAN_FIELD)
def test_old_beliefs_violate_the_equations_at_new_couplings_until_they_settle(name):
    for half in course(name, halves=True, max_steps=3)[1::2]:
        assert half.estimate.residual > 1e-4
        assert half.estimate.unconverged > 100
        assert half.settled.estimate.residual <= 1e-8
        assert half.settled.estimate.unconverged == 0


@of_every_learner_in_halves
def test_a_run_goes_on_from_half_a_step_as_if_nothing_had_happened(name):
    halves, plain = course(name, halves=True, max_steps=5), course(name, max_steps=5)
    again = course(name, halves[3], max_steps=5)
    assert again[0] is halves[3]
    for one, other in zip(again[1:], plain[2:], strict=True):
        assert_same(one, other)


def test_a_box_that_is_new_at_half_a_step_acts_at_once():
    half = course("mean-field", halves=True, max_steps=5)[3]
    boxed = course("mean-field", half, max_steps=5, box=0.05)
    assert all(np.abs(snapshot.couplings.vector()).max() <= 0.05 for snapshot in boxed)
    assert whole(boxed) == boxed


def test_half_a_step_is_flipped_with_the_step_it_becomes():
    gauge, half = Gauge([1, 0], [-1.0, 1.0]), course("mean-field", halves=True, max_steps=2)[1]
    learner, _, _ = prepared("mean-field")
    flipped = regauge_snapshot(half, gauge, learner.learned)
    assert_same(flipped.settled, regauge_snapshot(half.settled, gauge, learner.learned))
    assert flipped.settled.couplings == flipped.couplings != half.couplings


@pytest.mark.parametrize("name", [name for name in LEARNERS if name not in IN_HALVES])
def test_a_learner_without_an_e_step_has_whole_steps_only(name):
    recording, _ = simulate(random_couplings(4, 2, np.random.default_rng(0)), 100, np.random.default_rng(1))
    n_hidden = {"visible": 0, "visible-lag2": 4}.get(name, 2)
    learner = prepare(name, recording, n_hidden=n_hidden)
    start = random_start(4, n_hidden, np.random.default_rng(1), learned=learner.learned)
    steps = list(learn(learner, start, halves=True, max_steps=3))
    assert [(snapshot.step, snapshot.phase) for snapshot in steps] == [(k, "E") for k in range(4)]


# The live view

SMALL = Experiment(
    n_visible=5, n_hidden=2, n_steps=300, n_held_out=200, model="stochastic", learner="mean-field", max_steps=4
)


def frames(experiment, *, halves=False):
    """All frames of a run, or of the same run in halves from its first frame on."""
    whole = [item for item in iter_run(experiment) if isinstance(item, Frame)]
    return resumed(whole[0], halves=True) if halves else whole


def resumed(frame, **settings):
    return [item for item in iter_resumed(frame, **settings) if isinstance(item, Frame)]


def rows(trace):
    return np.column_stack([trace[name] for name in trace.names])


@pytest.mark.parametrize("learner", ["mean-field", "gibbs"])
def test_the_trace_keeps_whole_steps_and_ends_with_the_half_that_is_seen(learner):
    experiment = replace(SMALL, learner=learner)
    halves, plain = frames(experiment, halves=True), frames(experiment)
    assert np.array_equal(rows(halves[-1].trace), rows(plain[-1].trace))
    for half, after in zip(halves[1::2], plain[1:], strict=True):
        assert len(half.trace) == len(after.trace)
        assert half.trace["cost"][-1] == half.snapshot.cost != after.trace["cost"][-1]
        assert half.trace["aligned_J"][-1] == after.trace["aligned_J"][-1]
        assert np.array_equal(rows(half.trace)[:-1], rows(after.trace)[:-1])


def test_going_on_from_half_a_step_replaces_its_row():
    half, plain = frames(SMALL, halves=True)[3], frames(SMALL)
    for again in (resumed(half), resumed(half, halves=True)):
        assert again[0] is half
        assert np.array_equal(rows(again[-1].trace), rows(plain[-1].trace))
