"""Rates and correlations of visible units."""

import numpy as np
import pytest

from hidviz.evaluation.correlations import correlations, rates
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate
from tests.oracle.pairs import correlation, left_by, triples

SAME = 1e-10  # a few hundred terms of order one, and the inverse of a well-conditioned matrix


def some_recording():
    rng = np.random.default_rng(3)
    recording, _ = simulate(random_couplings(4, 2, rng), 300, rng)
    return Recording([recording.trials[0][:120], recording.trials[0][120:122], recording.trials[0][122:]])


def expected(recording):
    earlier, middle, later = triples(recording.trials)
    return {
        "lag0": correlation(middle, middle),
        "lag1": correlation(later, middle),
        "lag2": correlation(later, earlier),
        "beyond": correlation(left_by(middle, later), left_by(middle, earlier)),
    }


def test_every_lag_is_the_correlation_of_its_pairs():
    recording = some_recording()
    found = correlations(recording)
    for name, matrix in expected(recording).items():
        np.testing.assert_allclose(getattr(found, name), matrix, rtol=0, atol=SAME, err_msg=name)
    assert found.n == 118 + 0 + 176


def test_blocks_of_any_length_give_the_same():
    recording = some_recording()
    whole = correlations(recording)
    for one, other in zip(whole, correlations(recording, block=84), strict=True):
        np.testing.assert_array_equal(one, other)
    states = np.concatenate(recording.trials)
    np.testing.assert_allclose(rates(states, block=84), (states == 1).mean(axis=0), rtol=1e-14)


def test_a_unit_that_never_changes_correlates_with_nothing():
    states = some_recording().trials[0].copy()
    states[:, 1] = 1
    found = correlations(Recording(states))
    for matrix in (found.lag0, found.lag1, found.lag2, found.beyond):
        assert not matrix[1].any()
        assert not matrix[:, 1].any()
        assert np.abs(matrix).max() <= 1.0 + SAME
    assert rates(states)[1] == 1.0


def test_trials_of_two_bins_hold_no_triple():
    found = correlations(Recording([np.array([[1, -1], [-1, 1]]), np.array([[1, 1], [1, -1]])]))
    assert found.n == 0
    assert not found.lag1.any()


def test_a_copy_of_a_unit_two_bins_later_is_found_beyond_lag_one():
    rng = np.random.default_rng(5)
    first = np.where(rng.random(4000) < 0.5, -1, 1)
    found = correlations(Recording(np.column_stack([first, np.roll(first, 2)])))
    assert found.beyond[1, 0] > 0.99
    assert abs(found.lag1[1, 0]) < 5.0 / np.sqrt(4000)


@pytest.mark.parametrize("hidden", ["continuous", "stochastic"])
def test_hidden_units_leave_a_memory_of_two_bins_that_visible_ones_alone_do_not(hidden):
    rng = np.random.default_rng(7)
    truth = random_couplings(10, 3, rng)
    alone = Couplings(J=truth.J, K=np.zeros_like(truth.K), L=truth.L)
    with_hidden, without = (
        correlations(simulate(couplings, 20_000, np.random.default_rng(8), hidden=hidden).recording)
        for couplings in (truth, alone)
    )
    chance = 1.0 / np.sqrt(with_hidden.n)
    assert np.sqrt((with_hidden.beyond**2).mean()) > 5.0 * chance
    assert np.sqrt((without.beyond**2).mean()) < 2.0 * chance
    assert np.sqrt((without.lag2**2).mean()) > 5.0 * chance


def test_rates_of_continuous_units_are_their_mean_state():
    states = np.array([[0.0, 1.0], [0.5, 1.0], [-0.5, 1.0]])
    np.testing.assert_allclose(rates(states), [0.5, 1.0])
