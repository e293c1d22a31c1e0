"""A simulated network follows its own transition probabilities, and the same seed gives the same numbers."""

import itertools

import numpy as np
import pytest

from hidviz.background.checkpoint import paced
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.simulation import iter_simulation, simulate


def network(n_visible, n_hidden, seed=0, **switches):
    return random_couplings(n_visible, n_hidden, np.random.default_rng(seed), **{"bias": 0.3, **switches})


def simulated(couplings, n_steps, seed=1, **options):
    return simulate(couplings, n_steps, np.random.default_rng(seed), **options)


def stacked(couplings):
    W = np.block([[couplings.J, couplings.K], [couplings.L, couplings.M]])
    return W, np.concatenate([couplings.h, couplings.g])


def test_joint_states_are_visited_as_the_stationary_distribution_says():
    truth = network(2, 2, hidden_hidden=True, variance=0.5)
    W, bias = stacked(truth)
    states = np.array(list(itertools.product([-1, 1], repeat=4)))
    probability = np.ones((16, 16))
    for x, y in itertools.product(range(16), repeat=2):
        field = bias + W @ states[x]
        probability[x, y] = np.prod(np.exp(states[y] * field) / (2.0 * np.cosh(field)))
    stationary = np.linalg.matrix_power(probability, 200)[0]

    recording, hidden = simulated(truth, 200_001)
    path = np.hstack([recording.trials[0], hidden])
    index = ((path + 1) // 2) @ (8, 4, 2, 1)
    counts = np.zeros((16, 16))
    np.add.at(counts, (index[:-1], index[1:]), 1)
    expected = counts.sum(axis=1, keepdims=True) * probability
    seen = expected > 5.0
    chi_square = ((counts - expected)[seen] ** 2 / expected[seen]).sum()
    freedom = seen.sum() - 16
    assert abs(chi_square - freedom) < 4.0 * np.sqrt(2.0 * freedom)
    # Bins are correlated over a few steps, so the error is some times that of independent draws.
    error = np.sqrt(stationary * (1.0 - stationary) / 200_000)
    assert (np.abs(counts.sum(axis=0) / 200_000 - stationary) < 12.0 * error).all()


@pytest.mark.parametrize("hidden", ["stochastic", "continuous"])
def test_units_follow_their_fields_in_large_networks(hidden):
    # Twenty thousand bins of 25 units: cut into segments. Standardised residuals must be uncorrelated with the past.
    truth = network(20, 5, hidden_hidden=True, variance=0.5)
    recording, states = simulated(truth, 20_001, hidden=hidden)
    path = np.hstack([recording.trials[0], states])
    W, bias = stacked(truth)
    chance = np.tanh(bias + path[:-1] @ W.T)
    n = 20 if hidden == "continuous" else 25
    residual = (path[1:] - chance)[:, :n] / np.sqrt(1.0 - chance[:, :n] ** 2)
    assert np.abs(residual.T @ path[:-1] / np.sqrt(20_000)).max() < 5.0  # 625 normal numbers
    assert np.abs(residual.sum(axis=0) / np.sqrt(20_000)).max() < 4.0
    if hidden == "continuous":
        np.testing.assert_allclose(path[1:, 20:], chance[:, 20:], rtol=0, atol=1e-11)


@pytest.mark.parametrize("hidden", ["stochastic", "continuous"])
@pytest.mark.parametrize("sizes", [(4, 3), (25, 25)], ids=["forgets", "never forgets"])
def test_a_longer_simulation_begins_with_the_shorter_one(hidden, sizes):
    truth = network(*sizes, hidden_hidden=True)
    long, hidden_long = simulated(truth, 18_000, hidden=hidden)
    for n_steps in (2, 3, 65, 66, 9_000):
        short, hidden_short = simulated(truth, n_steps, hidden=hidden)
        np.testing.assert_array_equal(short.trials[0], long.trials[0][:n_steps])
        np.testing.assert_array_equal(hidden_short, hidden_long[:n_steps])


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    truth = network(5, 2)
    first, again, other = (simulated(truth, 300, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.recording.trials[0], again.recording.trials[0])
    np.testing.assert_array_equal(first.hidden, again.hidden)
    assert (first.recording.trials[0] != other.recording.trials[0]).any()


def test_the_generator_tells_its_progress_and_returns_the_same():
    truth = network(5, 2)
    steps, fractions = iter_simulation(truth, 5_000, np.random.default_rng(1)), []
    while True:
        try:
            fractions.append(next(steps))
        except StopIteration as end:
            result = end.value
            break
    assert np.all(np.diff([0.0, *fractions]) > 0.0)
    assert fractions[-1] == 1.0
    np.testing.assert_array_equal(result.recording.trials[0], simulated(truth, 5_000).recording.trials[0])


def test_it_can_be_stopped_between_chunks():
    class Stop(Exception):
        pass

    def stop():
        raise Stop

    with paced(stop), pytest.raises(Stop):
        simulated(network(5, 2), 100_000)


def test_the_start_is_even_for_binary_units_and_zero_for_continuous_ones():
    truth = network(3, 2)
    starts = [simulated(truth, 2, seed) for seed in range(400)]
    first = np.array([np.hstack([run.recording.trials[0][0], run.hidden[0]]) for run in starts])
    assert (np.abs(first) == 1).all()
    assert np.abs(first.sum(axis=0)).max() < 4.0 * np.sqrt(400)
    assert not simulated(truth, 2, hidden="continuous").hidden[0].any()


def test_biases_push():
    pushed = Couplings(
        J=np.zeros((2, 2)), K=np.zeros((2, 2)), L=np.zeros((2, 2)), h=np.array([0.5, -0.5]), g=np.array([1.0, -2.0])
    )
    recording, sigma = simulated(pushed, 20_001)
    means = np.hstack([recording.trials[0], sigma])[1:].mean(axis=0)
    expected = np.tanh([0.5, -0.5, 1.0, -2.0])
    assert (np.abs(means - expected) < 4.0 * np.sqrt((1.0 - expected**2) / 20_000)).all()
    mu = simulated(pushed, 20, hidden="continuous").hidden
    np.testing.assert_allclose(mu[1:], np.tile(np.tanh([1.0, -2.0]), (19, 1)), rtol=1e-14)


def test_huge_couplings_and_no_hidden_units_are_fine():
    certain = Couplings(J=-1e6 * np.eye(3), K=np.zeros((3, 0)), L=np.zeros((0, 3)))
    recording, hidden = simulated(certain, 9_000)
    (s,) = recording.trials
    assert (s[1:] == -s[:-1]).all()
    assert hidden.shape == (9_000, 0)


def test_kinds_of_numbers_are_as_promised():
    truth = network(3, 2)
    stochastic, continuous = simulated(truth, 50), simulated(truth, 50, hidden="continuous")
    assert (stochastic.recording.trials[0].dtype, stochastic.hidden.dtype) == (np.int8, np.int8)
    assert (continuous.recording.trials[0].dtype, continuous.hidden.dtype) == (np.int8, np.float64)
    assert stochastic.recording.n_bins == len(stochastic.hidden) == 50


@pytest.mark.parametrize("n_steps", [1, 0, -5, 10.0, True, "ten"])
def test_numbers_of_steps_out_of_range_are_refused(n_steps):
    with pytest.raises(ValueError, match="n_steps must be a whole number of time bins, 2 or more, got"):
        iter_simulation(network(3, 2), n_steps, np.random.default_rng(0))


def test_unknown_kinds_of_hidden_units_are_refused():
    with pytest.raises(ValueError, match="hidden must be one of stochastic, continuous, got 'binary'"):
        simulated(network(3, 2), 10, hidden="binary")


def test_a_seed_in_the_place_of_a_generator_is_refused():
    for draw in (simulate, iter_simulation):
        with pytest.raises(ValueError, match=r"rng must be a numpy\.random\.Generator, got 5"):
            draw(random_couplings(3, 1, np.random.default_rng(0)), 10, 5)
