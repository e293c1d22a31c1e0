import sys

import numpy as np
import pytest

from hidviz.background.checkpoint import paced
from hidviz.evaluation.importance_sampling import FEWEST, Round, Sampled, Sampler, sampled_log_likelihood
from hidviz.evaluation.importance_weights import annealed_weights, bins_of, mixture_weights
from hidviz.learners import prepare
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.recording import Recording
from tests.benchmarks.coverage import coverage
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
    value, error, *_ = sampled_log_likelihood(c, recording, mu, np.random.default_rng(seed))
    assert abs(value - exact) < 4.0 * error
    assert 0.0 < error < 2.0


def test_the_error_is_the_scatter_and_the_bias_of_the_logarithm_is_gone():
    c, recording, exact, means = case(seed=4, lengths=(60, 2, 40))
    draws = [sampled_log_likelihood(c, recording, 0.5 * means, np.random.default_rng(seed)) for seed in range(60)]
    values, errors = np.array([each[:2] for each in draws]).T
    error = errors.mean() / 60**0.5
    assert 0.75 < values.std(ddof=1) / errors.mean() < 1.3  # sixty draws tell a scatter to 9 %
    assert abs(values.mean() - exact) < 3.0 * error


def test_every_way_to_draw_has_the_probability_of_its_bin_as_mean():
    """Over 20 000 samples, by their own scatter; strong couplings, so that a wrong power of a weight would show."""
    c, recording, _, means = case(lengths=(8, 2))
    strong = Couplings(c.J, 2.0 * c.K, c.L, h=c.h, g=c.g)
    evidence = [sampling.independent_bins(c.J, strong.K, c.L, c.h, c.g, s.astype(float))[0] for s in recording.trials]
    bins, rng = bins_of(strong, recording, means), np.random.default_rng(0)
    for logs in (mixture_weights(bins, rng, 19_998), annealed_weights(bins, rng, 20_000, 5)):
        ratio = np.exp(logs - np.concatenate(evidence))
        assert (np.abs(ratio.mean(axis=0) - 1.0) < 4.0 * ratio.std(axis=0) / len(ratio) ** 0.5).all()


def test_annealing_evens_the_weights_out():
    c, recording, _, means = case()
    bins, rng = bins_of(Couplings(c.J, 4.0 * c.K, c.L), recording, means), np.random.default_rng(0)
    spreads = [np.median(annealed_weights(bins, rng, 60, n).std(axis=0)) for n in (1, 8, 64)]
    assert spreads[0] > 1.5 * spreads[1] > 2.0 * spreads[2]


def test_no_weight_of_the_mixture_exceeds_three_times_that_of_its_first_part():
    """Without K every bin's posterior is its prior: from it alone each weight is p_t, from a third up to 3 p_t."""
    c, recording, _, _ = case(bias=0.0)
    c = Couplings(c.J, np.zeros_like(c.K), 0.2 * c.L)
    parts = [sampling.independent_bins(c.J, c.K, c.L, c.h, c.g, trial.astype(float)) for trial in recording.trials]
    evidence, means = (np.concatenate(part) for part in zip(*parts, strict=True))
    logs = mixture_weights(bins_of(c, recording, means), np.random.default_rng(0), 600) - evidence
    assert logs.max() < np.log(3.0) + 1e-12
    assert logs.max() > np.log(1.2)


def test_without_hidden_units_it_is_the_visible_model():
    c, recording, exact, means = case(n_hidden=0)
    value, error, *_ = sampled_log_likelihood(c, recording, means, np.random.default_rng(0))
    assert np.isclose(value, exact, rtol=1e-13)
    assert error < 1e-12


def test_magnetisations_of_one_and_strong_fields_are_survived():
    c, recording, exact, means = case()
    strong = Couplings(1000.0 * c.J, c.K, c.L)
    value, error, *_ = sampled_log_likelihood(strong, recording, np.sign(means), np.random.default_rng(0))
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


def test_a_wrong_shape_is_refused():
    c, recording, _, means = case()
    with pytest.raises(ValueError, match=r"must have shape \(249, 3\)"):
        sampled_log_likelihood(c, recording, means[1:], np.random.default_rng(0))


def test_a_pause_is_offered_between_blocks():
    c, recording, _, means = case(n_visible=9)
    calls = []
    with paced(lambda: calls.append(1)):
        sampled_log_likelihood(c, recording, means, np.random.default_rng(0))
    assert len(calls) > 3


def deviations(n_visible, n_hidden, variance, seeds):
    """(estimate - exact) / standard error of 400 bins of each network, at the truth, from ten sweeps of mean field."""
    return coverage(n_visible, n_hidden, variance, 400, seeds).deviations


def test_the_error_bar_holds_the_exact_value_at_strong_couplings():
    """All of ten within three standard errors, 97 % likely. From mean field alone half lie outside, up to ten away."""
    assert np.abs(deviations(6, 4, 9.0, range(10))).max() < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("size", [(6, 4), (8, 8)])
@pytest.mark.parametrize("variance", [1.0, 4.0, 9.0])
def test_the_error_bar_covers_the_exact_value(size, variance):
    """Of forty networks 95 % ± 3; fewer than 85 % would be three of these standard errors away."""
    found = deviations(*size, variance, range(40))
    assert len(found) >= 36
    assert np.mean(np.abs(found) < 1.96) >= 0.85


def test_uneven_bins_are_given_more_samples(monkeypatch):
    c, recording, _, means = case()
    strong = Couplings(c.J, 6.0 * c.K, 6.0 * c.L)
    found = sampled_log_likelihood(strong, recording, 0.0 * means, np.random.default_rng(0))
    monkeypatch.setattr(sys.modules["hidviz.evaluation.importance_sampling"], "ROUNDS", (Round(0, 120, 0),))
    once = sampled_log_likelihood(strong, recording, 0.0 * means, np.random.default_rng(0))
    assert 1.0 <= once.fewest < 0.25 * found.fewest
    assert found.standard_error < 0.6 * once.standard_error


def test_a_value_whose_error_rests_on_uneven_bins_is_refused_in_a_sentence():
    assert not Sampled(-10.0, 1.0, 2.0, 0.2).refusal
    refused = Sampled(-10.0, 1.0, 2.0, 0.4).refusal
    assert f"fewer than {FEWEST:g} effective samples" in refused
    assert "got 40 %, and 2.0 in the worst bin" in refused


def test_the_share_of_uneven_bins_is_that_of_the_variance(monkeypatch):
    """Two bins, one of them uneven with 9 times the variance; nothing is drawn."""
    drawn = np.array([-1.0, -2.0]), np.array([0.1, 0.9]), np.array([100.0, 1.0])
    module = sys.modules["hidviz.evaluation.importance_sampling"]
    monkeypatch.setattr(module, "_drawn", lambda *_: drawn)
    monkeypatch.setattr(module, "ROUNDS", module.ROUNDS[-1:])
    c, recording, _, means = case(lengths=(3,))
    found = sampled_log_likelihood(c, recording, means, np.random.default_rng(0))
    assert found[:3] == (-3.0, 1.0, 1.0)
    assert np.isclose(found.uneven, 0.9)
    row = Sampler({"cost": (recording, prepare("mean-field", recording, n_hidden=3))}, 1, 0).row(c, 1)
    assert np.isnan([row["cost"], row["cost_error"]]).all()
    assert row["cost_fewest"] == 1.0
