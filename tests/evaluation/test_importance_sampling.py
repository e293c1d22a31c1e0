import numpy as np
import pytest

from hidviz.background.checkpoint import paced
from hidviz.evaluation.importance_sampling import sampled_log_likelihood
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.recording import Recording
from tests.oracle import sampling


def case(*, n_visible=4, n_hidden=3, lengths=(150, 2, 100), bias=0.4, seed=0):
    """Couplings, a recording, its exact log likelihood and its exact posterior means."""
    rng = np.random.default_rng(seed)
    c = random_couplings(n_visible, n_hidden, rng, variance=1.5, bias=bias)
    trials = [rng.choice([-1.0, 1.0], (n_bins, n_visible)) for n_bins in lengths]
    exact = [sampling.independent_bins(c.J, c.K, c.L, c.h, c.g, s) for s in trials]
    evidence, means = (np.concatenate(parts) for parts in zip(*exact, strict=True))
    return c, Recording(trials), evidence.sum(), means


def test_the_oracle_of_single_bins_agrees_with_all_histories():
    c, recording, exact, means = case(n_hidden=2, lengths=(5,))
    every, probability, evidence = sampling.posterior(c.J, c.K, c.L, c.M, c.h, c.g, recording.trials[0])
    assert np.isclose(evidence, exact, rtol=1e-13)
    np.testing.assert_allclose(np.tensordot(probability, every, axes=1), means, atol=1e-13)


@pytest.mark.parametrize("proposal", ["posterior", "flat", "certain"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_estimate_covers_the_exact_log_likelihood(proposal, seed):
    c, recording, exact, means = case(seed=seed)
    mu = {"posterior": means, "flat": np.zeros_like(means), "certain": np.clip(np.sign(means), -0.8, 0.8)}[proposal]
    value, error = sampled_log_likelihood(c, recording, mu, np.random.default_rng(seed), n_samples=800)
    assert abs(value - exact) < 4.0 * error
    assert 0.0 < error < 6.0


def test_the_error_is_the_scatter_and_the_bias_of_the_logarithm_is_gone():
    c, recording, exact, means = case(seed=4)
    seeds = [np.random.default_rng(seed) for seed in range(60)]
    draws = [sampled_log_likelihood(c, recording, 0.5 * means, rng, n_samples=60) for rng in seeds]
    values, errors = np.array(draws).T
    error = errors.mean() / 60**0.5
    assert 0.75 < values.std(ddof=1) / errors.mean() < 1.3  # sixty draws tell a scatter to 9 %
    assert abs(values.mean() - exact) < 3.0 * error
    assert 0.5 * errors.mean() ** 2 > 4.0 * error  # what the plain logarithm of a mean would fall short by


def test_the_posterior_as_proposal_beats_a_flat_one():
    c, recording, _, means = case(seed=5)
    errors = [sampled_log_likelihood(c, recording, mu, np.random.default_rng(0))[1] for mu in (means, 0.0 * means)]
    assert errors[0] < 0.5 * errors[1]


def test_the_prior_is_exact_when_nothing_is_sent_back():
    """Without K the weights are all equal: no error, whatever is drawn."""
    c, recording, _, _ = case(bias=0.0)
    c = Couplings(c.J, np.zeros_like(c.K), 0.2 * c.L)
    parts = [sampling.independent_bins(c.J, c.K, c.L, c.h, c.g, trial.astype(float)) for trial in recording.trials]
    evidence, means = (np.concatenate(part) for part in zip(*parts, strict=True))
    value, error = sampled_log_likelihood(c, recording, means, np.random.default_rng(0), n_samples=5)
    assert np.isclose(value, evidence.sum(), rtol=1e-13)
    assert error < 1e-12


def test_without_hidden_units_it_is_the_visible_model():
    c, recording, exact, means = case(n_hidden=0)
    value, error = sampled_log_likelihood(c, recording, means, np.random.default_rng(0))
    assert np.isclose(value, exact, rtol=1e-13)
    assert error < 1e-12


def test_magnetisations_of_one_and_strong_fields_are_survived():
    c, recording, exact, means = case()
    strong = Couplings(1000.0 * c.J, c.K, c.L)
    value, error = sampled_log_likelihood(strong, recording, np.sign(means), np.random.default_rng(0))
    assert np.isfinite([value, error]).all()
    assert value < exact


def test_the_same_randomness_gives_the_same_value_and_inputs_stay():
    c, recording, _, means = case()
    before = means.copy()
    first, second = (sampled_log_likelihood(c, recording, means, np.random.default_rng(3)) for _ in range(2))
    assert first == second
    assert np.array_equal(before, means)


def test_hidden_to_hidden_couplings_are_refused():
    c, recording, _, means = case()
    coupled = Couplings(c.J, c.K, c.L, np.eye(3))
    with pytest.raises(ValueError, match="needs M = 0, got M with 3 couplings"):
        sampled_log_likelihood(coupled, recording, means, np.random.default_rng(0))


def test_a_wrong_shape_and_a_single_sample_are_refused():
    c, recording, _, means = case()
    with pytest.raises(ValueError, match=r"must have shape \(249, 3\)"):
        sampled_log_likelihood(c, recording, means[1:], np.random.default_rng(0))
    with pytest.raises(ValueError, match="at least 2"):
        sampled_log_likelihood(c, recording, means, np.random.default_rng(0), n_samples=1)


def test_a_pause_is_offered_between_blocks():
    c, recording, _, means = case()
    calls = []
    with paced(lambda: calls.append(1)):
        sampled_log_likelihood(c, recording, means, np.random.default_rng(0), n_samples=800)
    assert len(calls) > 3
