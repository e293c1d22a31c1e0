"""Back-propagation is the exact likelihood and gradient of continuous hidden units, however time is cut."""

import numpy as np
import pytest

from hidviz.learners.backprop import BACKPROP, hidden_states
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate
from tests.oracle.continuous import backprop, gradient_by_paths, hidden_path, log_likelihood
from tests.oracle.slope import slope


def network(n_visible, n_hidden, *, seed=0, **switches):
    return random_couplings(n_visible, n_hidden, np.random.default_rng(seed), **{"bias": 0.3, **switches})


def coins(n_bins, n_units, seed=1):
    return np.where(np.random.default_rng(seed).random((n_bins, n_units)) < 0.5, -1, 1)


def blocks(couplings):
    return {name: getattr(couplings, name) for name in BLOCKS}


def learner(recording, n_hidden):
    return BACKPROP(recording, n_hidden=n_hidden, hidden_hidden=True, bias=True)


TRIALS = [coins(6, 3, 1), coins(2, 3, 2), coins(7, 3, 3)]


@pytest.mark.parametrize("trials", [TRIALS[:1], TRIALS], ids=["one trial", "three trials"])
@pytest.mark.parametrize("hidden_hidden", [False, True])
def test_gradient_is_the_sum_over_all_paths(trials, hidden_hidden):
    truth = network(3, 2, hidden_hidden=hidden_hidden)
    estimate = learner(Recording(trials), 2)(truth)
    # A hundred terms of order one in either sum.
    assert estimate.objective == pytest.approx(log_likelihood(trials, **blocks(truth)), rel=1e-13)
    for name, expected in gradient_by_paths(trials, **blocks(truth)).items():
        np.testing.assert_allclose(getattr(estimate.gradient, name), expected, rtol=0, atol=1e-12)


def test_gradient_is_the_slope():
    truth = network(3, 2, hidden_hidden=True)
    recording = Recording(TRIALS)
    evaluate = learner(recording, 2)
    expected = slope(lambda **moved: evaluate(Couplings(**moved)).objective, blocks(truth))
    for name in BLOCKS:  # central differences with a step of 1e-5
        np.testing.assert_allclose(getattr(evaluate(truth).gradient, name), expected[name], rtol=0, atol=1e-7)


@pytest.mark.parametrize("n_hidden", [1, 4])
@pytest.mark.parametrize("n_bins", [2, 3, 17, 100, 1501])
def test_segments_side_by_side_equal_the_plain_recursion(n_bins, n_hidden):
    truth = network(5, n_hidden, hidden_hidden=True)
    s = coins(n_bins, 5)
    estimate = learner(Recording(s), n_hidden)(truth)
    assert estimate.objective == pytest.approx(log_likelihood([s], **blocks(truth)), rel=1e-13)
    for name, expected in backprop(s, **blocks(truth)).items():  # sums of n_bins terms of order one
        np.testing.assert_allclose(getattr(estimate.gradient, name), expected, rtol=0, atol=1e-13 * n_bins)
    mu = hidden_path(s, truth.L, truth.M, truth.g)[:-1]
    np.testing.assert_allclose(estimate.beliefs.hidden, mu, rtol=0, atol=1e-13)


def test_networks_that_never_forget_are_right_too():
    # One hidden unit that holds its sign for ever: no segment can guess what came before it.
    latch = Couplings(J=np.eye(2), K=np.full((2, 1), 0.4), L=np.full((1, 2), 1e-9), M=np.full((1, 1), 1.5))
    s = np.vstack([np.ones((1, 2), int), coins(400, 2)])
    mu = hidden_path(s, latch.L, latch.M, latch.g)[:-1]
    assert mu[-1, 0] > 0.8
    np.testing.assert_allclose(hidden_states(latch, Recording(s)), mu, rtol=0, atol=1e-9)
    estimate = learner(Recording(s), 1)(latch)
    for name, expected in backprop(s, **blocks(latch)).items():
        # the growth of 1e-9 to one multiplies rounding by as much
        np.testing.assert_allclose(getattr(estimate.gradient, name), expected, rtol=1e-6, atol=1e-6)


def test_a_learner_without_m_obeys_an_m_that_it_is_given():
    truth = network(4, 3, hidden_hidden=True)
    recording = Recording([coins(40, 4), coins(30, 4, 2)])
    fixed = BACKPROP(recording, n_hidden=3)(truth)
    free = learner(recording, 3)(truth)
    assert fixed.objective == pytest.approx(free.objective, rel=1e-13)
    np.testing.assert_allclose(fixed.gradient.L, free.gradient.L, rtol=0, atol=1e-12)
    for name in ("M", "h", "g"):
        assert not getattr(fixed.gradient, name).any()


def test_trials_add_up():
    truth = network(4, 3, hidden_hidden=True)
    trials = [coins(n, 4, seed=n) for n in (2, 9, 30, 5)]
    together = learner(Recording(trials), 3)(truth)
    apart = [learner(Recording(trial), 3)(truth) for trial in trials]
    assert together.objective == pytest.approx(sum(each.objective for each in apart), rel=1e-13)
    for name in BLOCKS:
        expected = sum(getattr(each.gradient, name) for each in apart)
        np.testing.assert_allclose(getattr(together.gradient, name), expected, rtol=0, atol=1e-12)
    hidden = np.concatenate([each.beliefs.hidden for each in apart])
    np.testing.assert_allclose(together.beliefs.hidden, hidden, rtol=0, atol=1e-14)


@pytest.mark.parametrize("scale", [30.0, 300.0, 3e4])
def test_fields_of_any_size_neither_overflow_nor_lose_likelihood(scale):
    truth = network(3, 2)
    large = truth.with_vector(scale * truth.vector(("J", "K")), ("J", "K"))
    s = coins(50, 3)
    estimate = learner(Recording(s), 2)(large)
    assert estimate.objective == pytest.approx(log_likelihood([s], **blocks(large)), rel=1e-13)
    expected = backprop(s, **blocks(large))["J"]
    np.testing.assert_allclose(estimate.gradient.J, expected, rtol=0, atol=1e-11)


def test_many_units_share_one_logarithm_without_overflow():
    # Eighty fields of about -12 each: the product of their normalisers passes 1e308.
    truth = Couplings(J=-12.0 * np.eye(80), K=np.zeros((80, 1)), L=np.zeros((1, 80)))
    s = np.ones((4, 80), int)
    estimate = BACKPROP(Recording(s), n_hidden=1)(truth)
    assert estimate.objective == pytest.approx(log_likelihood([s], **blocks(truth)), rel=1e-13)


def test_without_hidden_units_only_j_is_learned():
    recording = Recording(coins(30, 3))
    evaluate = BACKPROP(recording, n_hidden=0)
    estimate = evaluate(network(3, 0))
    assert evaluate.learned == ("J",)
    assert estimate.gradient.J.any()
    assert estimate.beliefs.hidden.shape == (29, 0)


def test_relabelled_and_flipped_hidden_units_have_the_same_likelihood():
    truth = network(4, 3, hidden_hidden=True)
    order, signs = [2, 0, 1], np.array([1.0, -1.0, -1.0])
    twin = Couplings(
        J=truth.J,
        K=(truth.K * signs)[:, order],
        L=(truth.L * signs[:, None])[order],
        M=(truth.M * np.outer(signs, signs))[np.ix_(order, order)],
        h=truth.h,
        g=(truth.g * signs)[order],
    )
    evaluate = learner(Recording(coins(200, 4)), 3)
    assert evaluate(twin).objective == pytest.approx(evaluate(truth).objective, rel=1e-12)


def test_the_truth_is_nearly_stationary_on_its_own_data():
    truth = network(5, 2, hidden_hidden=True)
    recording = simulate(truth, 20_001, np.random.default_rng(3), hidden="continuous").recording
    gradient = learner(recording, 2)(truth).gradient
    # Each entry is a sum of uncorrelated terms of variance below 1 (for L and M, below the row sums of K²).
    assert np.abs(gradient.vector()).max() < 5.0 * np.sqrt(20_000 * max(1.0, (truth.K**2).sum()))


def test_hidden_states_are_those_of_the_simulation():
    truth = network(5, 3, hidden_hidden=True)
    recording, mu = simulate(truth, 700, np.random.default_rng(4), hidden="continuous")
    np.testing.assert_allclose(hidden_states(truth, recording), mu[:-1], rtol=0, atol=1e-11)


def test_an_answer_depends_on_nothing_but_the_couplings():
    truth = network(4, 3, hidden_hidden=True)
    evaluate = learner(Recording(coins(300, 4)), 3)
    first = evaluate(truth)
    evaluate(network(4, 3, seed=5, hidden_hidden=True), first.beliefs)
    again = evaluate(truth, first.beliefs)
    assert again.objective == first.objective
    assert again.gradient == first.gradient
    np.testing.assert_array_equal(again.beliefs.hidden, first.beliefs.hidden)
