"""What every learner promises, whatever it does inside: one contract, held up to each of them."""

import inspect
import pickle
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.background.checkpoint import paced
from hidviz.learners import LEARNERS, prepare
from hidviz.learning import learn
from hidviz.learning.loop import FARTHEST
from hidviz.learning.snapshot import regauge_snapshot
from hidviz.network.couplings import BLOCKS, Couplings, largest_field, learned_blocks, random_couplings
from hidviz.network.gauge import Gauge, regauge
from hidviz.network.recording import Recording

NV, NH = 4, 2
WITH_HIDDEN = [name for name in LEARNERS if LEARNERS[name].hidden != "none"]
DETERMINISTIC = [name for name in LEARNERS if not LEARNERS[name].stochastic]
every_learner = pytest.mark.parametrize("name", LEARNERS)
plain_and_full = pytest.mark.parametrize("full", [False, True], ids=["plain", "with M and biases"])


def trial(n_bins, seed=0, n_visible=NV):
    return np.where(np.random.default_rng(seed).random((n_bins, n_visible)) < 0.5, -1, 1)


def units(name):
    """Hidden units that a learner of these data must assume."""
    return LEARNERS[name].units(NV, NH)


@cache
def prepared(name, full=False, n_trials=2):
    recording = Recording([trial(20, 1), trial(12, 2)][:n_trials])
    return prepare(name, recording, n_hidden=units(name), hidden_hidden=full, bias=full)


def couplings(name, full=False, seed=0, size=1.0):
    drawn = random_couplings(
        NV, units(name), np.random.default_rng(seed), variance=0.4, hidden_hidden=full, bias=0.3 * full
    )
    return drawn.with_vector(size * drawn.vector())


def bits(estimate):
    hidden = b"" if estimate.beliefs is None else estimate.beliefs.hidden.tobytes()
    return estimate.objective, estimate.gradient.vector().tobytes(), hidden


@every_learner
@plain_and_full
def test_an_estimate_has_the_shapes_of_what_it_is_about(name, full):
    learner = prepared(name, full)
    assert (learner.n_visible, learner.n_hidden, learner.n_transitions) == (NV, units(name), 30)
    assert learner.stochastic == LEARNERS[name].stochastic
    assert learner.continuous == (LEARNERS[name].hidden == "continuous")
    estimate = learner(couplings(name, full))
    assert isinstance(estimate.objective, float)
    assert np.isfinite(estimate.objective)
    for block in BLOCKS:
        assert getattr(estimate.gradient, block).shape == getattr(couplings(name, full), block).shape
    if estimate.beliefs is not None:
        assert estimate.beliefs.hidden.shape == (30, units(name))
        assert np.abs(estimate.beliefs.hidden).max(initial=0.0) <= 1.0
    assert estimate.residual >= 0.0
    assert estimate.unconverged == int(estimate.unconverged) >= 0
    assert estimate.standard_error >= 0.0


@every_learner
def test_neither_M_nor_biases_are_learned_where_they_are_not_asked_for(name):
    learner = LEARNERS[name].prepare(Recording(trial(5)), n_hidden=units(name))
    assert learner.learned == LEARNERS[name].blocks(units(name), hidden_hidden=False, bias=False)


@pytest.mark.parametrize("name", [name for name in WITH_HIDDEN if name in DETERMINISTIC])
def test_an_M_of_nothing_is_next_to_an_M_of_almost_nothing(name):
    """Without M other ways are taken, which must lead to the same."""
    learner, at = prepared(name, full=True), couplings(name, full=True)
    nothing, almost = (learner(replace(at, M=np.full_like(at.M, size))) for size in (0.0, 1e-10))
    assert nothing.objective == pytest.approx(almost.objective, abs=1e-6)
    np.testing.assert_allclose(nothing.gradient.vector(), almost.gradient.vector(), atol=1e-5)
    assert np.abs(nothing.gradient.M).max() > 1e-3


@every_learner
@plain_and_full
def test_only_learned_blocks_have_a_gradient(name, full):
    learner = prepared(name, full)
    expected = set(learner.learned)
    assert learner.learned == LEARNERS[name].blocks(units(name), hidden_hidden=full, bias=full)
    assert {"J"} <= expected <= set(learned_blocks(units(name), hidden_hidden=full, bias=full))
    assert learner.n_parameters == couplings(name, full).vector(learner.learned).size
    gradient = learner(couplings(name, full)).gradient
    for block in BLOCKS:
        assert np.any(getattr(gradient, block)) == (block in expected)


@every_learner
@plain_and_full
def test_the_same_call_gives_the_same_bits(name, full):
    learner, at = prepared(name, full), couplings(name, full)
    first = learner(at)
    learner(couplings(name, full, seed=5))
    assert bits(learner(at)) == bits(first)
    assert bits(learner(at, first.beliefs)) == bits(learner(at, first.beliefs))
    again = prepared.__wrapped__(name, full)
    assert bits(again(at)) == bits(first)


@pytest.mark.parametrize("name", [name for name in LEARNERS if LEARNERS[name].phases])
@plain_and_full
def test_beliefs_that_are_held_are_those_of_the_estimate(name, full):
    learner, at = prepared(name, full), couplings(name, full)
    settled = learner(at)
    held = learner.held(at, settled.beliefs)
    np.testing.assert_allclose(held.beliefs.hidden, settled.beliefs.hidden, atol=1e-15)  # moved inside (-1, 1)
    assert held.beliefs.sweeps == settled.beliefs.sweeps
    assert held.objective == pytest.approx(settled.objective, rel=1e-13)
    np.testing.assert_allclose(held.gradient.vector(), settled.gradient.vector(), atol=1e-12)
    assert held.residual == pytest.approx(settled.residual, abs=1e-12)
    elsewhere = learner.held(couplings(name, full, seed=5), settled.beliefs)
    np.testing.assert_allclose(elsewhere.beliefs.hidden, settled.beliefs.hidden, atol=1e-15)
    assert elsewhere.objective != held.objective


@every_learner
@plain_and_full
def test_nothing_that_goes_in_is_changed_and_nothing_that_came_out(name, full):
    states = [trial(20, 1), trial(12, 2)]
    recording = Recording(states)
    learner = prepare(name, recording, n_hidden=units(name), hidden_hidden=full, bias=full)
    at = couplings(name, full)
    before = at.vector().tobytes()
    first = learner(at)
    kept = bits(first)
    second = learner(at, first.beliefs)
    learner(couplings(name, full, seed=6), second.beliefs)
    assert bits(first) == kept
    assert at.vector().tobytes() == before
    for given_states, kept_states in zip(states, recording.trials, strict=True):
        assert np.array_equal(given_states, kept_states)


@pytest.mark.parametrize("name", DETERMINISTIC)
@plain_and_full
def test_the_gradient_is_the_slope_in_any_direction(name, full):
    learner, at, step = prepared(name, full), couplings(name, full, size=0.5), 1e-4
    start = learner(at)
    along = np.random.default_rng(7).normal(size=at.vector(learner.learned).size)
    theta = at.vector(learner.learned)
    ends = [learner(at.with_vector(theta + sign * step * along, learner.learned), start.beliefs) for sign in (1, -1)]
    slope = (ends[0].objective - ends[1].objective) / (2.0 * step)
    # error of the difference: step² times a third derivative of order n, and an E-step solved to a residual
    assert slope == pytest.approx(start.gradient.vector(learner.learned) @ along, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize("name", DETERMINISTIC)
@plain_and_full
def test_trials_add_up(name, full):
    at = couplings(name, full, size=0.5)
    whole = prepared(name, full)(at)
    parts = [
        prepare(name, Recording(one), n_hidden=units(name), hidden_hidden=full, bias=full)(at)
        for one in (trial(20, 1), trial(12, 2))
    ]
    assert whole.objective == pytest.approx(sum(part.objective for part in parts), rel=1e-8)  # an E-step's residual
    total = sum(part.gradient.vector() for part in parts)
    assert np.allclose(whole.gradient.vector(), total, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", [name for name in WITH_HIDDEN if name in DETERMINISTIC])
@settings(derandomize=True, max_examples=12, deadline=None)
@given(order=st.permutations(range(NH)), signs=st.lists(st.sampled_from((1.0, -1.0)), min_size=NH, max_size=NH))
def test_no_learner_sees_the_gauge(name, order, signs):
    gauge = Gauge(order, signs)
    learner, at = prepared(name, full=True), couplings(name, full=True, size=0.5)
    here, there = learner(at), learner(regauge(at, gauge))
    assert there.objective == pytest.approx(here.objective, rel=1e-10)
    expected = regauge(here.gradient, gauge).vector()
    assert np.allclose(there.gradient.vector(), expected, rtol=0.0, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("name", [name for name in WITH_HIDDEN if name in DETERMINISTIC])
def test_uncoupled_hidden_units_leave_the_likelihood_of_a_visible_network(name):
    J = couplings(name).J
    alone = prepared("visible")(Couplings(J, np.zeros((NV, 0)), np.zeros((0, NV))))
    beside = prepared(name)(Couplings(J, np.zeros((NV, NH)), np.zeros((NH, NV))))
    assert beside.objective == pytest.approx(alone.objective, rel=1e-12)
    assert np.allclose(beside.gradient.J, alone.gradient.J, rtol=0.0, atol=1e-10)
    for block in ("K", "L"):  # a stationary point: never start here
        assert np.allclose(getattr(beside.gradient, block), 0.0, atol=1e-10)


@pytest.mark.parametrize("name", WITH_HIDDEN)
@plain_and_full
def test_no_hidden_units_at_all_is_a_visible_network(name, full):
    recording = Recording([trial(20, 1), trial(12, 2)])
    learner = prepare(name, recording, n_hidden=0, hidden_hidden=full, bias=full)
    at = random_couplings(NV, 0, np.random.default_rng(0), bias=0.3 * full)
    alone = prepared("visible", full)(at)
    assert learner(at).objective == pytest.approx(alone.objective, rel=1e-12)
    assert np.allclose(learner(at).gradient.vector(), alone.gradient.vector(), rtol=0.0, atol=1e-10)


@every_learner
@plain_and_full
def test_couplings_as_large_as_learning_allows_give_finite_numbers(name, full):
    """An optimiser with too large a rate goes there before it is called back; floating point errors are raised here."""
    at = couplings(name, full)
    learner, at = prepared(name, full), at.with_vector(at.vector() * FARTHEST / largest_field(at) * 0.999)
    estimate = learner(at)
    assert np.isfinite(estimate.objective)
    again = learner(at, estimate.beliefs)
    assert np.isfinite(again.gradient.vector()).all()


@every_learner
def test_the_shortest_recording_is_enough(name):
    learner = prepare(name, Recording(trial(2)), n_hidden=units(name))
    estimate = learner(couplings(name))
    assert learner.n_transitions == 1
    assert np.isfinite(estimate.objective)


@every_learner
def test_a_method_says_what_it_is(name):
    method = LEARNERS[name]
    for words in (method.title, method.objective, method.summary, *method.equations):
        assert words.strip()
    assert method.name == name
    assert method.hidden in ("none", "continuous", "stochastic")
    assert LEARNERS[method.judge].likelihood
    assert (method.judge == name) == method.likelihood == (method.family == "likelihood")
    assert method.stochastic == ("seed" in method.options) == (method.family == "sampling")
    assert not method.copies or method.hidden == "none"
    assert len(method.phases) == (0 if prepared(name).held is None else len(method.equations))
    if method.phases:
        assert set("".join(method.phases)) == {"E", "M"}
        assert set(method.phases) <= {"E", "M", "EM"}
    assert 0.0 < method.seconds(10, 2, 1000, False) < method.seconds(10, 2, 100_000, False)


@every_learner
@plain_and_full
def test_an_evaluation_can_be_left_on_its_way(name, full):
    class LeftError(Exception):
        pass

    def leave():
        raise LeftError

    learner = prepared(name, full=full)
    with pytest.raises(LeftError), paced(leave):
        learner(couplings(name, full=full))


@every_learner
def test_what_is_left_out_is_not_learned_whoever_prepares_it(name):
    arguments = inspect.signature(LEARNERS[name].prepare).parameters
    assert {arguments[option].default for option in ("hidden_hidden", "bias")} == {False}


@every_learner
@plain_and_full
def test_it_travels_to_another_process(name, full):
    learner, at = prepared(name, full), couplings(name, full)
    again = pickle.loads(pickle.dumps(learner))
    assert bits(again(at)) == bits(learner(at))
    assert (again.learned, again.n_transitions, again.unchanging) == (
        learner.learned, learner.n_transitions, learner.unchanging,
    )  # fmt: skip
    assert pickle.loads(pickle.dumps(LEARNERS[name])) is LEARNERS[name]


@every_learner
def test_wrong_arguments_are_refused_with_what_must_hold(name):
    recording = Recording(trial(5))
    for wrong in (-1, 1.5, None, True):
        with pytest.raises(ValueError, match="n_hidden must be a whole number, 0 or more"):
            prepare(name, recording, n_hidden=wrong)
    with pytest.raises(ValueError, match=r"takes .*, got flavour"):
        prepare(name, recording, n_hidden=units(name), flavour="sweet")
    other = random_couplings(NV + 1, units(name), np.random.default_rng(0))
    with pytest.raises(ValueError, match=f"prepared for {NV} visible and {units(name)} hidden units"):
        prepared(name)(other)


def test_an_unknown_learner_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match=r"learner must be one of backprop, exact, .*, got 'oracle'"):
        prepare("oracle", Recording(trial(5)), n_hidden=1)


@pytest.mark.parametrize("name", [name for name in WITH_HIDDEN if name in DETERMINISTIC])
def test_learning_goes_on_unmoved_when_the_hidden_units_are_flipped(name):
    learner, gauge = prepared(name, full=True), Gauge([1, 0], [-1.0, 1.0])
    course = list(learn(learner, couplings(name, full=True, size=0.5), penalty=0.05, max_steps=12))
    flipped = list(learn(learner, regauge_snapshot(course[5], gauge, learner.learned), penalty=0.05, max_steps=12))
    for one, other in zip(flipped, course[5:], strict=True):
        assert one.cost == pytest.approx(other.cost, abs=1e-7)  # an E-step's residual, and sums in another order


@every_learner
def test_a_step_leaves_earlier_snapshots_as_they_were(name):
    learner = prepared(name)
    course = learn(learner, couplings(name, size=0.3), penalty=0.05, max_steps=6)
    kept = [
        (snapshot, bits(snapshot.estimate), snapshot.couplings.vector().tobytes()) for snapshot in islice(course, 3)
    ]
    list(course)
    for snapshot, estimate, vector in kept:
        assert bits(snapshot.estimate) == estimate
        assert snapshot.couplings.vector().tobytes() == vector


@pytest.mark.parametrize("name", [name for name in LEARNERS if LEARNERS[name].likelihood])
@plain_and_full
def test_climbing_an_exact_likelihood_never_goes_down(name, full):
    course = list(learn(prepared(name, full), couplings(name, full, size=0.3), max_steps=15))
    assert np.diff([snapshot.cost for snapshot in course]).max() < 1e-12


@every_learner
def test_too_large_a_rate_ends_at_the_last_good_step(name):
    rule = "adam" if LEARNERS[name].stochastic else "gradient"
    last = list(learn(prepared(name), couplings(name, size=0.3), optimiser=rule, rate=1e4, max_steps=20))[-1]
    assert last.state == "diverged"
    assert np.isfinite(last.cost)
    assert "the rate 10000 is too large" in last.message
