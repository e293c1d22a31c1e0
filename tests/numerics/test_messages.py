"""Messages against the sum over every path, for any cut of time into segments and in both arithmetics."""

import itertools

import numpy as np
import pytest

from hidviz.numerics import backward, best_scores, forward, kernel, smooth, trace_back
from hidviz.numerics.messages import SIDE_BY_SIDE, WIDEST

N_STATES, N_STEPS = 3, 6
STARTS = np.array([True, False, False, True, False, False])  # two trials
ENDS = np.append(STARTS[1:], True)


def chain(width, seed=1):
    """log C_t(z) and log Q, whose columns have the largest entry 0 and the range `width`."""
    rng = np.random.default_rng(seed)
    log_Q = -width * rng.random((N_STATES, N_STATES))
    log_Q -= log_Q.max(axis=0)
    return rng.normal(0.0, 1.0, (N_STEPS, N_STATES)), log_Q


def weights(log_C, log_Q):
    """(path, log weight) of every path; nothing passes from one trial to the next."""
    for path in itertools.product(range(N_STATES), repeat=N_STEPS):
        log_weight = sum(log_C[t, z] for t, z in enumerate(path)) - 2 * np.log(N_STATES)
        log_weight += sum(log_Q[path[t + 1], path[t]] for t in range(N_STEPS - 1) if not ENDS[t])
        yield path, log_weight


def cut(array, n_segments):
    """(time, …) → (step, segment, …)."""
    return np.ascontiguousarray(array.reshape(n_segments, -1, *array.shape[1:]).swapaxes(0, 1))


def in_time(array):
    return array.swapaxes(0, 1).reshape(-1, *array.shape[2:])


@pytest.mark.parametrize("n_segments", [1, 2, 3, 6])
@pytest.mark.parametrize("width", [2.0, 1.5 * WIDEST], ids=["scaled", "logarithms"])
def test_smoothing_is_the_sum_over_all_paths(width, n_segments):
    log_C, log_Q = chain(width)
    paths = list(weights(log_C, log_Q))
    top = max(log_weight for _, log_weight in paths)
    P, pairs, total = np.zeros((N_STEPS, N_STATES)), np.zeros((N_STATES, N_STATES)), 0.0
    for path, log_weight in paths:
        weight = np.exp(log_weight - top)
        total += weight
        P[np.arange(N_STEPS), path] += weight
        for t in np.flatnonzero(~ENDS):
            pairs[path[t + 1], path[t]] += weight

    arithmetic = kernel(log_Q)
    factors = arithmetic.factor(cut(log_C, n_segments))
    u = forward(arithmetic, factors, cut(STARTS, n_segments), None)
    v = backward(arithmetic, factors, cut(ENDS, n_segments), None)
    smoothed, joined = smooth(arithmetic, u, v, None, cut(ENDS, n_segments))
    assert u.log_norm.sum() == pytest.approx(np.log(total) + top, rel=1e-12)
    np.testing.assert_allclose(in_time(smoothed), P / total, atol=1e-12)
    np.testing.assert_allclose(joined, pairs / total, atol=1e-12)


@pytest.mark.parametrize("at", [1, 2, 4])
def test_a_block_goes_on_from_the_one_before(at):
    log_C, log_Q = chain(2.0)
    arithmetic = kernel(log_Q)
    whole = forward(arithmetic, np.exp(log_C)[:, None], STARTS[:, None], None)
    first = forward(arithmetic, np.exp(log_C[:at])[:, None], STARTS[:at, None], None)
    second = forward(arithmetic, np.exp(log_C[at:])[:, None], STARTS[at:, None], first.sent[-1, -1])
    np.testing.assert_allclose(np.concatenate([first.sent, second.sent]), whole.sent, rtol=1e-13)
    later = backward(arithmetic, np.exp(log_C[at:])[:, None], ENDS[at:, None], None)
    earlier = backward(arithmetic, np.exp(log_C[:at])[:, None], ENDS[:at, None], later.sent[0, 0])
    back = backward(arithmetic, np.exp(log_C)[:, None], ENDS[:, None], None)
    np.testing.assert_allclose(np.concatenate([earlier.sent, later.sent]), back.sent, rtol=1e-13)


@pytest.mark.parametrize("n_segments", [2, 5, 20])
def test_segments_agree_even_where_nothing_is_forgotten(n_segments):
    """A chain that only turns round keeps its start for ever, and the burn-in of every segment is wrong."""
    n = 20 * (SIDE_BY_SIDE + 2)
    log_Q = np.log(np.full((N_STATES, N_STATES), 1e-30))
    log_Q[(np.arange(N_STATES) + 1) % N_STATES, np.arange(N_STATES)] = 0.0
    factors = np.ones((n, N_STATES))
    factors[0] = [0.7, 0.2, 0.1]
    starts = np.arange(n) == 0
    whole = forward(kernel(log_Q), factors[:, None], starts[:, None], None)
    parts = forward(kernel(log_Q), cut(factors, n_segments), cut(starts, n_segments), None)
    np.testing.assert_allclose(in_time(parts.sent), whole.sent[:, 0], rtol=1e-11)


def test_the_best_path_has_the_largest_weight():
    log_C, log_Q = chain(3.0, seed=5)
    best = max(weights(log_C, log_Q), key=lambda each: each[1])[0]
    scores = best_scores(log_C, STARTS, log_Q, None)
    np.testing.assert_array_equal(trace_back(scores, STARTS, log_Q, None), best)
