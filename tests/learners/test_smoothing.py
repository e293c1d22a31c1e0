import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.background.checkpoint import paced
from hidviz.learners import exact
from hidviz.learners.parts import hidden_chain as driven
from hidviz.learners.protocol import Infeasible
from hidviz.learners.smoothing import hidden_posterior, log_likelihood, prepare_chain
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.numerics import messages as chain
from tests.oracle import histories
from tests.oracle.slope import slope

ROUNDING = 1e-12  # sums of some hundred terms of order 1


def blocks(couplings):
    return {name: np.array(getattr(couplings, name)) for name in BLOCKS}


def noise(rng, n_bins, n_visible):
    return rng.choice(np.array([-1, 1], dtype=np.int8), (n_bins, n_visible))


@pytest.fixture
def case():
    rng = np.random.default_rng(1)
    trials = [noise(rng, 5, 3), noise(rng, 4, 3)]
    return random_couplings(3, 2, rng, hidden_hidden=True, bias=0.5), trials, Recording(trials)


def enlarged(couplings, scale):
    return Couplings(**{name: scale * block for name, block in blocks(couplings).items()})


def test_likelihood_is_the_sum_over_all_hidden_histories(case):
    couplings, trials, recording = case
    expected = histories.log_likelihood(trials, **blocks(couplings))
    learner = prepare_chain(recording, n_hidden=2)
    assert learner(couplings).objective == pytest.approx(expected, rel=ROUNDING)
    assert log_likelihood(couplings, recording) == pytest.approx(expected, rel=ROUNDING)


@pytest.mark.parametrize("scale", [1.0, 200.0], ids=["scaled", "logs"])
def test_gradient_is_the_slope(case, scale):
    couplings, _, recording = case
    couplings = enlarged(couplings, scale)
    gradient = prepare_chain(recording, n_hidden=2, bias=True)(couplings).gradient
    expected = slope(lambda **moved: log_likelihood(Couplings(**moved), recording), blocks(couplings))
    for name, block in expected.items():
        # central differences: step² from the third derivative, and rounding of a value of order `scale` over the step
        np.testing.assert_allclose(getattr(gradient, name), block, atol=1e-6 + 1e-9 * scale, err_msg=name)


def test_printed_rule_for_hidden_to_hidden_couplings_is_not_the_slope(case):
    couplings, trials, recording = case
    gradient = prepare_chain(recording, n_hidden=2)(couplings).gradient
    right, printed = np.zeros((2, 2)), np.zeros((2, 2))
    for trial in trials:
        every, logs = histories.histories(trial, **blocks(couplings))
        for history, p in zip(every, np.exp(logs - np.logaddexp.reduce(logs)), strict=True):
            for t in range(len(history) - 1):
                tanh = np.tanh(couplings.g + couplings.L @ trial[t] + couplings.M @ history[t])
                now, after = history[t], history[t + 1]
                right += p * np.outer(after - tanh, now)
                printed += p * (after[None, :] - tanh[:, None]) * now[None, :]
    np.testing.assert_allclose(gradient.M, right, atol=ROUNDING)
    assert np.abs(gradient.M - printed).max() > 0.5 * np.abs(gradient.M).max()


def test_without_being_asked_for_there_is_no_bias():
    assert set(prepare_chain(Recording(np.ones((30, 3))), n_hidden=1).learned) == {"J", "K", "L", "M"}


def test_a_posterior_that_would_take_too_long_is_refused():
    with pytest.raises(Infeasible, match=r"4\*\*12 transitions a step"):
        hidden_posterior(random_couplings(3, 12, np.random.default_rng(1)), Recording(np.ones((30, 3))))


def test_posterior_is_that_of_all_hidden_histories(case):
    couplings, trials, recording = case
    posterior = hidden_posterior(couplings, recording)
    given_blocks = blocks(couplings)
    smoothed = histories.magnetisations(trials, **given_blocks)
    np.testing.assert_allclose(posterior.smoothed, smoothed, atol=ROUNDING)
    np.testing.assert_allclose(
        posterior.filtered, histories.filtered_magnetisations(trials, **given_blocks), atol=ROUNDING
    )
    np.testing.assert_array_equal(posterior.path, histories.best_histories(trials, **given_blocks))
    assert posterior.log_likelihood == pytest.approx(log_likelihood(couplings, recording), rel=ROUNDING)
    beliefs = prepare_chain(recording, n_hidden=2)(couplings).beliefs
    np.testing.assert_allclose(beliefs.hidden, smoothed, atol=ROUNDING)


@pytest.mark.parametrize("scale", [10.0, 50.0, 1000.0])
def test_couplings_of_any_size_give_the_sum_over_all_hidden_histories(case, scale):
    couplings, trials, recording = case
    couplings = enlarged(couplings, scale)
    expected = histories.log_likelihood(trials, **blocks(couplings))
    assert prepare_chain(recording, n_hidden=2)(couplings).objective == pytest.approx(expected, rel=ROUNDING)
    posterior = hidden_posterior(couplings, recording)
    # fields of order `scale` are rounded before they are exponentiated
    smoothed = histories.magnetisations(trials, **blocks(couplings))
    np.testing.assert_allclose(posterior.smoothed, smoothed, atol=ROUNDING * scale)
    filtered = histories.filtered_magnetisations(trials, **blocks(couplings))
    np.testing.assert_allclose(posterior.filtered, filtered, atol=ROUNDING * scale)


def test_without_memory_of_the_hidden_units_it_is_the_exact_sum():
    rng = np.random.default_rng(2)
    couplings = random_couplings(4, 3, rng, bias=0.5)
    recording = Recording([noise(rng, n, 4) for n in (400, 2, 130)])
    chained = prepare_chain(recording, n_hidden=3, bias=True)(couplings)
    independent = exact.prepare_independent(recording, n_hidden=3, bias=True)(couplings)
    assert chained.objective == pytest.approx(independent.objective, rel=ROUNDING)
    np.testing.assert_allclose(chained.beliefs.hidden, independent.beliefs.hidden, atol=ROUNDING)
    for name in ("J", "K", "L", "h", "g"):
        # sums of five hundred terms of order 1
        np.testing.assert_allclose(getattr(chained.gradient, name), getattr(independent.gradient, name), atol=1e-11)


def test_exact_method_picks_the_chain_only_where_hidden_units_are_coupled(case):
    couplings, _, recording = case
    method = exact.method(prepare_chain)
    assert method(recording, n_hidden=2).learned == ("J", "K", "L")
    assert method(recording, n_hidden=2, hidden_hidden=True, bias=True).learned == BLOCKS
    estimate = method(recording, n_hidden=2, hidden_hidden=True)(couplings)
    assert estimate.objective == pytest.approx(log_likelihood(couplings, recording), rel=ROUNDING)
    assert not estimate.gradient.h.any()
    assert not estimate.gradient.g.any()


def chain_case(memory):
    """A driven chain of 4 states, and the log range of its Q: the larger, the longer its memory."""
    rng = np.random.default_rng(3)
    log_Q = memory * (np.eye(4) - 1.0)
    starts = rng.random((20, 50)) < 0.002
    starts[0, 0] = True
    ends = np.append(starts.T.ravel()[1:], True).reshape(50, 20).T
    return log_Q, rng.uniform(-1.0, 0.0, (20, 50, 4)), starts, ends


@pytest.mark.parametrize("memory", [0.5, 3.0, 12.0, 400.0], ids=["short", "longer", "endless", "in logs"])
def test_segments_side_by_side_equal_one_pass(memory):
    log_Q, log_factors, starts, ends = chain_case(memory)
    kernel = chain.kernel(log_Q)
    cut = kernel.factor(log_factors.copy())
    whole = cut.swapaxes(0, 1).reshape(1000, 1, 4)
    in_one = [flags.T.reshape(1000, 1) for flags in (starts, ends)]
    u, v = chain.forward(kernel, cut, starts, None), chain.backward(kernel, cut, ends, None)
    u_one = chain.forward(kernel, whole, in_one[0], None)
    v_one = chain.backward(kernel, whole, in_one[1], None)
    for ours, sequential in ((u, u_one), (v, v_one)):
        expected = sequential.sent.reshape(50, 20, 4).swapaxes(0, 1)
        # seams agree to 1e-13 relative; logarithms of up to some hundreds carry as many more roundings
        np.testing.assert_allclose(ours.sent, expected, rtol=5e-13, atol=1e-13)
        np.testing.assert_allclose(ours.log_norm.sum(), sequential.log_norm.sum(), rtol=1e-13)
    P, pairs = chain.smooth(kernel, u, v, None, ends)
    P_one, pairs_one = chain.smooth(kernel, u_one, v_one, None, in_one[1])
    np.testing.assert_allclose(P, P_one.reshape(50, 20, 4).swapaxes(0, 1), atol=1e-12)
    np.testing.assert_allclose(pairs, pairs_one, rtol=1e-12)


def test_pairs_sum_to_the_states_they_begin_in():
    log_Q, log_factors, starts, ends = chain_case(3.0)
    kernel = chain.kernel(log_Q)
    factors = kernel.factor(log_factors)
    u, v = chain.forward(kernel, factors, starts, None), chain.backward(kernel, factors, ends, None)
    P, pairs = chain.smooth(kernel, u, v, None, ends)
    np.testing.assert_allclose(P.sum(axis=2), 1.0, atol=ROUNDING)
    np.testing.assert_allclose(pairs.sum(axis=0), P[~ends].sum(axis=0), rtol=ROUNDING)
    np.testing.assert_allclose(pairs.sum(axis=1), P[~starts].sum(axis=0), rtol=ROUNDING)


def test_blocks_of_time_change_nothing(monkeypatch):
    rng = np.random.default_rng(4)
    couplings = random_couplings(3, 2, rng, hidden_hidden=True, bias=0.3)
    recording = Recording([noise(rng, n, 3) for n in (700, 2, 3, 500)])
    whole, posterior = prepare_chain(recording, n_hidden=2)(couplings), hidden_posterior(couplings, recording)
    monkeypatch.setattr(driven, "BLOCK_NUMBERS", 2**9)
    assert len(tuple(driven.cut(recording, 2))) > 8
    cut, posterior_cut = prepare_chain(recording, n_hidden=2)(couplings), hidden_posterior(couplings, recording)
    assert cut.objective == pytest.approx(whole.objective, rel=ROUNDING)
    assert log_likelihood(couplings, recording) == pytest.approx(whole.objective, rel=ROUNDING)
    # sums of a thousand terms of order 1
    np.testing.assert_allclose(cut.gradient.vector(), whole.gradient.vector(), atol=1e-10)
    np.testing.assert_allclose(posterior_cut.smoothed, posterior.smoothed, atol=ROUNDING)
    np.testing.assert_allclose(posterior_cut.filtered, posterior.filtered, atol=ROUNDING)
    np.testing.assert_array_equal(posterior_cut.path, posterior.path)


def test_without_hidden_influence_it_is_the_lag_one_logistic_likelihood(case):
    couplings, trials, recording = case
    alone = Couplings(J=couplings.J, h=couplings.h, K=np.zeros((3, 2)), L=np.zeros((2, 3)))
    fields = np.concatenate([trial[:-1] @ couplings.J.T + couplings.h for trial in trials])
    expected = -np.logaddexp(0.0, -2.0 * np.concatenate([trial[1:] for trial in trials]) * fields).sum()
    assert log_likelihood(alone, recording) == pytest.approx(expected, rel=ROUNDING)


@settings(derandomize=True, max_examples=10, deadline=None)
@given(order=st.permutations(range(3)), signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=3, max_size=3))
def test_flips_and_relabellings_of_hidden_units_change_nothing_seen(order, signs):
    rng = np.random.default_rng(5)
    c = random_couplings(3, 3, rng, hidden_hidden=True, bias=0.5)
    recording = Recording(noise(rng, 50, 3))
    s = np.array(signs)
    turned = Couplings(
        J=c.J,
        h=c.h,
        K=c.K[:, order] * s,
        L=c.L[order] * s[:, None],
        M=c.M[np.ix_(order, order)] * np.outer(s, s),
        g=c.g[order] * s,
    )
    assert log_likelihood(turned, recording) == pytest.approx(log_likelihood(c, recording), rel=1e-10)


def test_a_long_evaluation_can_be_stopped_between_its_blocks(case):
    couplings, _, recording = case

    class Stopped(Exception):
        pass

    def stop():
        raise Stopped

    with paced(stop), pytest.raises(Stopped):
        prepare_chain(recording, n_hidden=2)(couplings)


def test_what_would_take_too_long_is_refused_with_its_number():
    recording = Recording(noise(np.random.default_rng(6), 10, 3))
    with pytest.raises(Infeasible, match=r"4\*\*14 transitions a step.*at most 10 hidden units"):
        prepare_chain(recording, n_hidden=14)
