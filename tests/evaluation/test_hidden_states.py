import numpy as np
import pytest

from hidviz.evaluation import hidden_states
from hidviz.evaluation.hidden_states import (
    hidden_magnetisations,
    hidden_state_error,
    iter_hidden_magnetisations,
    iter_told_states,
    told_states,
    wrong_signs,
)
from hidviz.network.couplings import BLOCKS, random_couplings
from hidviz.network.gauge import Gauge, regauge
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate
from tests.oracle.histories import magnetisations as by_histories


def simulated(n_visible=8, n_hidden=3, n_bins=2000, variance=1.0, seed=1):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), variance=variance)
    return truth, simulate(truth, n_bins, np.random.default_rng(seed + 1), hidden="stochastic")


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
def test_magnetisations_are_those_of_all_histories(hidden_hidden):
    rng = np.random.default_rng(3)
    couplings = random_couplings(3, 2, rng, hidden_hidden=hidden_hidden, bias=0.3)
    trials = [rng.choice([-1, 1], (length, 3)) for length in (5, 3)]
    blocks = {name: getattr(couplings, name) for name in BLOCKS}
    np.testing.assert_allclose(
        hidden_magnetisations(couplings, Recording(trials)), by_histories(trials, **blocks), atol=1e-12
    )


def test_samples_tell_the_same_as_the_exact_posterior(monkeypatch):
    truth, run = simulated()
    exact = hidden_magnetisations(truth, run.recording)
    monkeypatch.setattr(hidden_states, "_MOST_NUMBERS", 0)
    sampled = hidden_magnetisations(truth, run.recording, seed=4)
    assert np.sqrt(np.mean((sampled - exact) ** 2)) < 0.05  # 600 samples of ±1: at most .04, more as they hang together
    told, by_samples = (wrong_signs(mu, run.hidden[:-1]) for mu in (exact, sampled))
    assert abs(told - by_samples) < 0.02


@pytest.mark.parametrize(("n_hidden", "n_bins", "sweeps"), [(30, 50, 630), (200, 10_000, 130)])
def test_a_sweep_that_costs_more_is_made_less_often(monkeypatch, n_hidden, n_bins, sweeps):
    monkeypatch.setattr(hidden_states, "_MOST_NUMBERS", 0)
    truth = random_couplings(40, n_hidden, np.random.default_rng(1))
    recording, _ = simulate(truth, n_bins, np.random.default_rng(2))
    assert next(done for done in iter_hidden_magnetisations(truth, recording) if done) == pytest.approx(1 / sweeps)


def test_no_guess_is_better_than_the_sign_of_the_posterior():
    """The share that is wrong is what the posterior itself expects, and other couplings do worse."""
    truth, run = simulated(n_bins=20_000)
    mu = hidden_magnetisations(truth, run.recording)
    told = wrong_signs(mu, run.hidden[:-1])
    expected = 0.5 * (1.0 - np.abs(mu))
    assert told == pytest.approx(expected.mean(), abs=4.0 * 0.5 / mu.size**0.5)
    spoilt = truth.with_vector(truth.vector() * np.random.default_rng(0).uniform(0.0, 2.0, truth.vector().size))
    assert hidden_state_error(spoilt, truth, run.recording, run.hidden) > told + 0.005


def test_stronger_couplings_and_more_visible_units_tell_more():
    weak, middle, strong, many = (
        hidden_state_error(truth, truth, run.recording, run.hidden)
        for truth, run in (simulated(variance=v, n_visible=n) for v, n in ((0.25, 8), (1.0, 8), (4.0, 8), (1.0, 24)))
    )
    assert 0.5 > weak > middle > strong > 0.0
    assert middle > many


def test_the_gauge_of_learned_couplings_does_not_matter():
    truth, run = simulated()
    gauge = Gauge([2, 0, 1], [1.0, -1.0, -1.0])
    here, there = (hidden_state_error(c, truth, run.recording, run.hidden) for c in (truth, regauge(truth, gauge)))
    assert here == there


def test_magnetisations_of_nothing_are_half_wrong():
    assert wrong_signs(np.zeros((4, 2)), np.ones((4, 2))) == 0.5
    assert wrong_signs(np.array([[0.1, -0.3]]), np.array([[1, 1]])) == 0.5
    assert wrong_signs(np.array([[0.1, -0.3]]), np.array([[1, -1]])) == 0.0


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="leave out the last bin"):
        wrong_signs(np.zeros((3, 2)), np.ones((4, 2)))
    truth, _ = simulated(n_bins=10)
    with pytest.raises(ValueError, match="are for 8 visible units, the data have 2"):
        hidden_magnetisations(truth, Recording(np.ones((4, 2))))


def test_states_are_told_in_the_gauge_of_the_truth_and_measured_against_the_best_that_can_be_done():
    truth, run = simulated()
    gauge = Gauge([2, 0, 1], [1.0, -1.0, -1.0])
    told = told_states(regauge(truth, gauge), truth, run.recording, run.hidden, kind="stochastic")
    np.testing.assert_allclose(told.states, hidden_magnetisations(truth, run.recording), atol=1e-12)
    assert told.wrong == told.wrong_at_truth == hidden_state_error(truth, truth, run.recording, run.hidden)
    assert told.rms == pytest.approx(np.sqrt(np.mean((told.states - run.hidden[:-1]) ** 2)))


def test_continuous_states_are_known_but_for_the_couplings_and_have_no_wrong_signs():
    truth = random_couplings(8, 3, np.random.default_rng(1), variance=1.0)
    run = simulate(truth, 500, np.random.default_rng(2), hidden="continuous")
    exact = told_states(truth, truth, run.recording, run.hidden, kind="continuous")
    np.testing.assert_allclose(exact.states[1:], run.hidden[1:-1], atol=1e-12)
    assert (exact.wrong, exact.wrong_at_truth) == (None, None)
    other = told_states(random_couplings(8, 3, np.random.default_rng(9)), truth, run.recording, run.hidden,
                        kind="continuous")  # fmt: skip
    assert other.rms > 0.3 > exact.rms


@pytest.mark.parametrize("n_found", [0, 2, 5])
def test_units_too_few_tell_nothing_of_the_others_and_those_too_many_are_left_out(n_found):
    truth, run = simulated(n_bins=300)
    found = random_couplings(8, n_found, np.random.default_rng(5))
    told = told_states(found, truth, run.recording, run.hidden, kind="stochastic")
    assert told.states.shape == (299, 3)
    assert np.sum(np.any(told.states != 0.0, axis=0)) == min(n_found, 3)


def test_the_fraction_done_grows_to_the_end(monkeypatch):
    truth, run = simulated(n_bins=100)
    monkeypatch.setattr(hidden_states, "_MOST_NUMBERS", 0)
    steps = iter_told_states(truth, truth, run.recording, run.hidden, kind="stochastic")
    done = list(steps)
    assert done[0] == 0.0
    assert done == sorted(done)
    assert 0.9 < done[-1] < 1.0
