"""Learning goes on from any snapshot as if nothing had happened, ends with a reason, and never with a NaN."""

from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest
from scipy.optimize import minimize

from hidviz.learners import prepare
from hidviz.learning import learn
from hidviz.learning.fit import fit
from hidviz.learning.loop import with_couplings
from hidviz.learning.optimisers import OPTIMISERS
from hidviz.learning.snapshot import regauge_snapshot, result
from hidviz.learning.starts import random_start
from hidviz.network.couplings import Couplings, largest_field
from hidviz.network.gauge import Gauge, regauge
from tests.toys import assert_same, backprop, history, noisy

EXACT_RULES = ("l-bfgs", "gradient", "momentum", "adam")


@cache
def problem():
    """A learner, a held-out learner and a start."""
    truth, recording = history()
    _, held_out = history(seed=2, n_bins=300)
    learner = backprop(recording, truth.n_hidden)
    return learner, backprop(held_out, truth.n_hidden), beginning(learner)


def beginning(learner, seed=3):
    return random_start(learner.n_visible, learner.n_hidden, np.random.default_rng(seed), learned=learner.learned)


def cost(learner, penalty):
    def value(theta):
        at = beginning(learner).with_vector(theta, learner.learned)
        estimate, n = learner(at), learner.n_transitions
        return (
            -estimate.objective / n + 0.5 * penalty * theta @ theta,
            penalty * theta - estimate.gradient.vector(learner.learned) / n,
        )

    return value


# What is learned


@pytest.mark.parametrize("penalty", [0.0, 0.02])
@pytest.mark.parametrize("box", [None, 0.3])
def test_lbfgs_learns_what_scipy_finds(penalty, box):
    learner, _, start = problem()
    last = list(learn(learner, start, penalty=penalty, box=box, tolerance=1e-8))[-1]
    theta = last.couplings.vector(learner.learned)
    best = minimize(
        cost(learner, penalty), theta + 0.01, jac=True, method="L-BFGS-B", options={"ftol": 0.0, "gtol": 1e-9},
        bounds=[(-box, box)] * len(theta) if box else None,
    )  # fmt: skip
    assert last.state == "converged"
    assert cost(learner, penalty)(theta)[0] == pytest.approx(best.fun, abs=1e-10)


def test_the_cost_never_rises_and_lbfgs_needs_about_one_evaluation_a_step():
    learner, _, start = problem()
    course = list(learn(learner, start))
    assert np.diff([snapshot.cost for snapshot in course]).max() < 1e-12
    assert [snapshot.step for snapshot in course] == list(range(len(course)))
    assert course[-1].evaluations <= 1.2 * len(course) + 5
    assert (course[0].evaluations, course[0].couplings) == (1, start)


def test_the_cost_shown_leaves_the_penalty_out():
    learner, _, start = problem()
    for snapshot in learn(learner, start, penalty=0.1, max_steps=5):
        assert snapshot.cost == -learner(snapshot.couplings).objective / learner.n_transitions


@pytest.mark.parametrize("optimiser", EXACT_RULES)
def test_every_coupling_keeps_to_the_box(optimiser):
    learner, _, start = problem()
    wide = start.with_vector(3.0 * start.vector())
    assert np.abs(wide.vector()).max() > 0.2
    for snapshot in learn(learner, wide, optimiser=optimiser, box=0.2, max_steps=60):
        assert np.abs(snapshot.couplings.vector()).max() <= 0.2


@pytest.mark.parametrize("optimiser", EXACT_RULES)
def test_every_optimiser_learns(optimiser):
    learner, _, start = problem()
    floor = list(learn(learner, start))[-1].cost
    last = fit(learner, start, optimiser=optimiser, max_steps=400).last
    assert last.cost < floor + 0.1


def test_blocks_that_are_not_learned_stay_as_they_were():
    learner, _, start = problem()
    other = replace(start, M=np.ones((2, 2)), h=np.full(5, 0.1))
    last = list(learn(learner, other, max_steps=10))[-1]
    assert np.array_equal(last.couplings.M, other.M)
    assert np.array_equal(last.couplings.h, other.h)
    assert not np.array_equal(last.couplings.L, other.L)


# Going on


@pytest.mark.parametrize("optimiser", EXACT_RULES)
@pytest.mark.parametrize("at", [0, 1, 7, 20, 30])
def test_a_run_resumed_at_any_snapshot_is_the_same_run_bit_by_bit(optimiser, at):
    learner, held_out, start = problem()
    settings = {"optimiser": optimiser, "held_out": held_out, "penalty": 1e-3, "max_steps": 30, "patience": 30}
    course = list(learn(learner, start, **settings))
    assert len(course) == 31
    again = list(learn(learner, course[at], **settings))
    assert again[0] is course[at]
    assert len(again) == len(course) - at
    for one, other in zip(again, course[at:], strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("at", [0, 5, 33, 38])
def test_a_stochastic_run_resumes_bit_by_bit_with_its_average(at):
    truth, recording = history()
    learner = noisy(recording, truth.n_hidden)
    course = list(learn(learner, beginning(learner), max_steps=40))
    again = list(learn(learner, course[at], max_steps=40))
    for one, other in zip(again, course[at:], strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("optimiser", EXACT_RULES)
def test_a_run_that_diverges_does_so_at_the_same_step_when_resumed(optimiser):
    learner, _, start = problem()
    settings = {"optimiser": optimiser, "rate": 3.0, "max_steps": 60}
    course = list(learn(learner, start, **settings))
    again = list(learn(learner, course[-2], **settings))
    for one, other in zip(again, course[-2:], strict=True):
        assert_same(one, other)


@pytest.mark.parametrize(
    ("optimiser", "at", "more"), [("l-bfgs", 30, 40), *((name, 100, 100) for name in EXACT_RULES[1:])]
)
def test_a_run_flipped_half_way_goes_down_the_same_curve(optimiser, at, more):
    learner, held_out, start = problem()
    settings = {"optimiser": optimiser, "held_out": held_out, "max_steps": at + more, "tolerance": 0.0}
    course = list(learn(learner, start, **settings))
    gauge = Gauge([1, 0], [-1.0, 1.0])
    flipped = list(learn(learner, regauge_snapshot(course[at], gauge, learner.learned), **settings))
    for one, other in zip(flipped, course[at:], strict=True):
        assert one.cost == pytest.approx(other.cost, abs=1e-9)  # sums in another order, over many steps
        assert one.held_out == pytest.approx(other.held_out, abs=1e-9)
        assert one.best.step == other.best.step
    assert np.allclose(flipped[-1].couplings.vector(), regauge(course[-1].couplings, gauge).vector(), atol=1e-6)
    assert np.allclose(result(flipped[-1]).vector(), regauge(result(course[-1]), gauge).vector(), atol=1e-6)


def test_regauging_a_snapshot_twice_gives_it_back_bit_by_bit():
    truth, recording = history()
    learner = noisy(recording, truth.n_hidden)
    for snapshot in learn(learner, beginning(learner), max_steps=6):
        gauge = Gauge([1, 0], [-1.0, 1.0])
        back = regauge_snapshot(regauge_snapshot(snapshot, gauge, learner.learned), gauge.inverse(), learner.learned)
        # -0 and 0 are the same number; everything else must be the same bits
        assert back.couplings == snapshot.couplings
        assert back.estimate.gradient == snapshot.estimate.gradient
        assert np.array_equal(back.estimate.beliefs.hidden, snapshot.estimate.beliefs.hidden)
        assert_same(back.memory, snapshot.memory)


def test_snapshots_are_not_changed_by_the_steps_that_follow():
    learner, _, start = problem()
    course = learn(learner, start)
    kept = [(snapshot, snapshot.couplings.vector().copy(), snapshot.cost) for snapshot in islice(course, 5)]
    list(islice(course, 20))
    for snapshot, vector, value in kept:
        assert np.array_equal(snapshot.couplings.vector(), vector)
        assert snapshot.cost == value


@pytest.mark.parametrize("first", EXACT_RULES)
@pytest.mark.parametrize("second", EXACT_RULES)
def test_another_optimiser_may_take_over(first, second):
    learner, _, start = problem()
    middle = list(learn(learner, start, optimiser=first, max_steps=12))[-1]
    course = list(learn(learner, replace(middle, state="learning"), optimiser=second, max_steps=20))
    assert course[-1].step == 20
    assert course[-1].cost < middle.cost


def test_a_box_or_penalty_that_is_new_acts_from_the_next_step():
    learner, held_out, start = problem()
    middle = replace(list(learn(learner, start, held_out=held_out))[-1], state="learning")
    boxed = list(learn(learner, middle, held_out=held_out, box=0.1))
    assert np.abs(middle.couplings.vector()).max() > 0.1
    assert all(np.abs(snapshot.couplings.vector()).max() <= 0.1 for snapshot in boxed)
    assert boxed[0].step == middle.step
    assert boxed[0].best.step >= middle.step
    damped = list(learn(learner, middle, penalty=1.0))
    assert len(damped) > 2
    assert np.linalg.norm(damped[-1].couplings.vector()) < 0.5 * np.linalg.norm(middle.couplings.vector())


@pytest.mark.parametrize(("field", "evaluated"), [(149.9, True), (150.5, False)])
def test_a_step_to_fields_beyond_150_is_not_evaluated(field, evaluated):
    _, recording = history()
    learner = prepare("visible", recording, n_hidden=0)
    nothing = Couplings(np.zeros((5, 5)), np.zeros((5, 0)), np.zeros((0, 5)))
    slope = learner(nothing).gradient
    rate = field * learner.n_transitions / largest_field(slope)
    calls = []

    def counted(couplings, beliefs):
        calls.append(largest_field(couplings))
        return learner.evaluate(couplings, beliefs)

    list(islice(learn(replace(learner, evaluate=counted), nothing, optimiser="gradient", rate=rate), 2))
    assert calls == pytest.approx([0.0, field] if evaluated else [0.0])


def test_steps_of_adam_decay_over_800_where_no_number_is_asked_for():
    learner, _, start = problem()
    plain, asked = (
        list(islice(learn(learner, start, optimiser="adam", max_steps=n), 3))[-1].couplings for n in (None, 800)
    )
    assert plain == asked
    assert asked != list(islice(learn(learner, start, optimiser="adam", max_steps=799), 3))[-1].couplings


def test_what_no_longer_holds_is_forgotten_when_a_run_is_resumed_otherwise():
    learner, _, start = problem()
    first, _, middle = islice(learn(learner, start, optimiser="momentum"), 3)
    risen = replace(middle, lowest=first, rises=7)
    same = next(learn(learner, risen, optimiser="momentum"))
    assert (same.rises, same.lowest.step, same.memory.steps) == (7, 0, 2)
    for settings in ({"optimiser": "adam"}, {"optimiser": "momentum", "penalty": 0.1}):
        other = next(learn(learner, risen, **settings))
        assert (other.rises, other.lowest, other.step) == (0, None, 2)
        assert other.memory.steps == (2 if "penalty" in settings else 0)
        assert other.evaluations == middle.evaluations
    boxed = next(learn(learner, risen, optimiser="momentum", box=0.05))
    assert (boxed.rises, boxed.lowest, boxed.memory.steps) == (0, None, 0)
    assert boxed.evaluations == middle.evaluations + 1
    assert np.array_equal(boxed.couplings.vector(), np.clip(middle.couplings.vector(), -0.05, 0.05))


def test_a_run_within_its_box_is_resumed_without_evaluating_anything():
    learner, _, start = problem()
    *_, middle = islice(learn(learner, start, box=0.7), 4)
    assert np.abs(middle.couplings.vector()).max() < 0.7
    assert next(learn(learner, middle, box=0.7)).evaluations == middle.evaluations
    *_, at_its_edge = islice(learn(learner, start, box=0.1), 4)
    assert np.abs(at_its_edge.couplings.vector()).max() == 0.1
    assert next(learn(learner, at_its_edge, box=0.1)).evaluations == at_its_edge.evaluations


def test_other_weights_of_a_learned_penalty_are_another_cost_to_rise_from():
    learner, _, start = problem()
    course = list(islice(learn(learner, start, penalty="learned"), 60))
    k = next(k for k in range(1, len(course)) if course[k].penalty != course[k - 1].penalty)
    risen = replace(course[k], penalty=course[k - 1].penalty, lowest=course[0], rises=3)
    again = next(learn(learner, risen, penalty="learned"))
    assert again.penalty == course[k].penalty
    assert (again.lowest, again.rises) == (None, 0)
    assert again.evaluations >= risen.evaluations


def test_rises_are_counted_in_a_row_and_the_lowest_step_is_kept():
    """Momentum swings through the valley: where the cost is above the lowest so far, that step is remembered."""
    learner, _, start = problem()
    lowest, rises, n_risen, before = None, 0, 0, None
    for snapshot in islice(learn(learner, start, optimiser="momentum", rate=2.0), 60):
        if lowest is None or snapshot.cost <= lowest.cost:
            lowest, rises = snapshot, 0
            assert snapshot.lowest is None
        else:
            rises = rises + 1 if snapshot.cost > before.cost else 0
            assert snapshot.lowest.step == lowest.step
            n_risen += 1
        assert snapshot.rises == rises
        before = snapshot
    assert n_risen > 5


# The end


def test_a_converged_run_says_so_once():
    learner, _, start = problem()
    course = list(learn(learner, start, tolerance=1e-5))
    assert {snapshot.state for snapshot in course[:-1]} == {"learning"}
    assert course[-1].state == "converged"
    assert course[-1].largest_gradient <= 1e-5 < course[-2].largest_gradient
    assert course[-1].message == "Converged: largest gradient below 1e-05 nats per bin."
    assert list(learn(learner, course[-1])) == [course[-1]]


def test_a_run_that_finds_nothing_lower_is_stuck_and_not_converged():
    learner, _, start = problem()
    course = list(learn(learner, start, tolerance=0.0, max_steps=5000))
    assert course[-1].state == "stuck"
    assert course[-1].message.startswith(f"Stuck at gradient {course[-1].largest_gradient:.2g} nats per bin")
    assert (course[-1].step, course[-1].couplings) == (course[-2].step + 1, course[-2].couplings)
    assert course[-1].largest_gradient < 1e-6  # where the cost, known to 1e-15, no longer tells two points apart


@pytest.mark.parametrize("max_steps", [0, 1, 7])
def test_a_run_makes_as_many_steps_as_asked_for(max_steps):
    learner, _, start = problem()
    course = list(learn(learner, start, max_steps=max_steps))
    assert len(course) == max_steps + 1
    assert (course[-1].state, course[-1].message) == ("finished", f"Finished: {max_steps} steps made.")


def test_the_best_held_out_step_is_kept_and_patience_ends_the_run():
    learner, held_out, start = problem()
    course = list(learn(learner, start, held_out=held_out, patience=8))
    costs = [snapshot.held_out for snapshot in course]
    best = int(np.argmin(costs))
    assert costs[0] == -held_out(start).objective / held_out.n_transitions
    for k, snapshot in enumerate(course):
        assert snapshot.best.step == int(np.argmin(costs[: k + 1]))
        assert snapshot.best.cost == min(costs[: k + 1])
        assert snapshot.best.couplings == course[snapshot.best.step].couplings
    if course[-1].state == "finished":
        assert course[-1].step == best + 8
        assert f"best at step {best}" in course[-1].message
    assert result(course[-1]) == course[best].couplings


def test_patience_ends_a_run_that_overfits():
    """Few bins, so that the held-out cost soon rises."""
    truth, recording = history(n_bins=60)
    _, other = history(seed=2, n_bins=500)
    learner, held_out = backprop(recording, truth.n_hidden), backprop(other, truth.n_hidden)
    outcome = fit(learner, beginning(learner), held_out=held_out, patience=5)
    best = int(np.argmin(outcome.held_out))
    assert outcome.last.state == "finished"
    assert outcome.last.step == best + 5
    assert len(outcome.cost) == len(outcome.held_out) == best + 6
    assert outcome.cost[-1] < outcome.cost[best]
    assert -held_out(outcome.couplings).objective / held_out.n_transitions == outcome.held_out[best]


@pytest.mark.parametrize("optimiser", EXACT_RULES[1:])
@pytest.mark.parametrize("rate", [3.0, 30.0, 1e5, 1e200, 1.7e308])
def test_too_large_a_rate_stops_at_the_last_good_step(optimiser, rate):
    learner, held_out, start = problem()
    course = list(learn(learner, start, optimiser=optimiser, rate=rate, held_out=held_out, max_steps=200))
    numbers = np.array([[snapshot.cost, snapshot.held_out, snapshot.largest_gradient] for snapshot in course])
    assert np.isfinite(numbers).all()
    if rate > 3.0:
        lowest = int(np.argmin(numbers[:-1, 0]))
        assert course[-1].state == "diverged"
        assert course[-1].step == lowest
        assert course[-1].couplings == course[lowest].couplings
        assert f"the rate {rate:g} is too large. The last good step, {lowest}, is kept" in course[-1].message


def test_a_stochastic_run_survives_too_large_a_rate():
    truth, recording = history()
    learner = noisy(recording, truth.n_hidden)
    last = list(learn(learner, beginning(learner), rate=1e9))[-1]
    assert last.state == "diverged"
    assert np.isfinite(last.couplings.vector()).all()


def test_swinging_through_a_valley_is_no_divergence():
    learner, _, start = problem()
    course = list(learn(learner, start, optimiser="adam", rate=0.3, max_steps=700))
    assert course[-1].state != "diverged"


def test_a_run_from_the_optimum_of_a_penalty_may_raise_the_cost_it_shows():
    learner, _, start = problem()
    top = list(learn(learner, start))[-1].couplings
    course = list(learn(learner, top, optimiser="gradient", penalty=0.5, max_steps=100))
    assert course[-1].state != "diverged"
    assert course[-1].cost > course[0].cost


def test_a_stochastic_run_reports_the_average_of_its_last_fifth():
    truth, recording = history()
    learner = noisy(recording, truth.n_hidden)
    course = list(learn(learner, beginning(learner), max_steps=50))
    assert [snapshot.average is not None for snapshot in course] == [step > 40 for step in range(51)]
    mean, n = course[-1].average
    assert n == 10
    expected = np.mean([snapshot.couplings.vector() for snapshot in course[41:]], axis=0)
    assert np.allclose(mean.vector(), expected, rtol=1e-13, atol=1e-15)
    assert result(course[-1]) is mean
    assert fit(learner, beginning(learner), max_steps=50).couplings == mean


def test_a_stochastic_run_has_an_end_of_its_own():
    truth, recording = history(n_bins=20)
    learner = noisy(recording, truth.n_hidden)
    last = list(learn(learner, beginning(learner)))[-1]
    assert (last.step, last.state) == (800, "finished")


def test_runaway_couplings_are_said():
    learner, _, start = problem()
    large = start.with_vector(np.where(np.arange(start.vector().size) == 0, 4.5, start.vector()))
    first = next(learn(learner, large))
    assert "Runaway: a coupling has reached 4.5" in first.message
    assert next(learn(learner, start)).message == ""


def test_a_warning_outlives_the_end_of_the_run():
    learner, _, start = problem()
    large = start.with_vector(np.where(np.arange(start.vector().size) == 0, 4.5, start.vector()))
    message = list(learn(learner, large, max_steps=0))[-1].message
    assert message.startswith("Finished: 0 steps made. Runaway:")


def test_a_start_with_huge_fields_is_led_back():
    learner, _, start = problem()
    far = start.with_vector(400.0 * start.vector())
    course = list(learn(learner, far, penalty=0.5, max_steps=200))
    assert course[-1].state == "converged"
    assert course[-1].largest_gradient < 1e-6


def test_a_lost_fixed_point_is_said():
    learner, _, start = problem()
    lossy = replace(learner, evaluate=lambda c, b: replace(learner.evaluate(c, b), unconverged=3, residual=0.25))
    assert "in 3 bins (residual 0.2)" in next(learn(lossy, start)).message


def test_the_result_is_the_last_step_when_there_is_nothing_better():
    learner, _, start = problem()
    outcome = fit(learner, start, max_steps=4)
    assert outcome.couplings is outcome.last.couplings
    assert outcome.cost.shape == (5,)
    assert outcome.held_out.shape == (0,)


# The doors


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"optimiser": "newton"}, "optimiser must be one of l-bfgs, gradient, momentum, adam, got 'newton'"),
        ({"rate": 0.0}, "rate must be a positive number, got 0.0"),
        ({"rate": np.nan}, "rate must be a positive number, got nan"),
        ({"rate": np.inf}, "rate must be a positive number, got inf"),
        ({"box": -1.0}, "box must be a positive number, got -1.0"),
        ({"penalty": -0.1}, "penalty must be a number not below 0, got -0.1"),
        ({"penalty": np.nan}, "penalty must be a number not below 0, got nan"),
        ({"tolerance": -1.0}, "tolerance must be a number not below 0, got -1.0"),
        ({"max_steps": -1}, "max_steps must be 0 or more, got -1"),
        ({"patience": 3}, "patience waits for the held-out cost: give held_out"),
    ],
)
def test_a_setting_out_of_range_is_refused(settings, sentence):
    learner, _, start = problem()
    with pytest.raises(ValueError, match=sentence):
        next(learn(learner, start, **settings))


def test_patience_must_be_positive():
    learner, held_out, start = problem()
    with pytest.raises(ValueError, match="patience must be 1 or more, got 0"):
        next(learn(learner, start, held_out=held_out, patience=0))


def test_lbfgs_refuses_sampled_gradients():
    truth, recording = history(n_bins=20)
    learner = noisy(recording, truth.n_hidden)
    with pytest.raises(ValueError, match="use optimiser='adam'"):
        next(learn(learner, beginning(learner), optimiser="l-bfgs"))


def test_couplings_of_another_size_are_refused():
    learner, _, _ = problem()
    with pytest.raises(ValueError, match="prepared for 5 visible and 2 hidden units, got couplings for 5 and 1"):
        next(learn(learner, Couplings(np.zeros((5, 5)), np.zeros((5, 1)), np.zeros((1, 5)))))


def test_every_optimiser_has_words_for_a_person_who_must_choose():
    for rule in OPTIMISERS.values():
        assert rule.title
        assert rule.summary.endswith(".")
        assert rule.default_rate > 0.0


@pytest.mark.parametrize("optimiser", EXACT_RULES)
def test_the_evaluations_are_those_that_were_made(optimiser):
    learner, _, start = problem()
    calls = []

    def counted(couplings, beliefs):
        calls.append(1)
        return learner.evaluate(couplings, beliefs)

    counting = replace(learner, evaluate=counted)
    for snapshot in islice(learn(counting, start, optimiser=optimiser), 8):
        assert snapshot.evaluations == len(calls)


def test_other_couplings_stand_at_the_same_step_of_the_same_run():
    learner, held_out, start = problem()
    *_, middle = islice(learn(learner, start, held_out=held_out, penalty=0.01, optimiser="momentum"), 4)
    other = start.with_vector(4.5 * np.sign(start.vector()))
    moved = with_couplings(replace(middle, state="finished"), other, learner, held_out)
    assert (moved.step, moved.state, moved.remarks) == (3, "learning", ())
    assert (moved.couplings, moved.penalty, moved.optimiser) == (other, middle.penalty, "momentum")
    assert moved.evaluations == middle.evaluations + 1
    assert (moved.memory.vectors, moved.memory.steps, moved.lowest, moved.rises) == ((), 0, None, 0)
    assert moved.cost == learner.per_bin(learner(other))
    assert moved.held_out == held_out.per_bin(held_out(other)) > middle.held_out
    assert moved.best == middle.best
