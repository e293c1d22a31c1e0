import numpy as np
import pytest

from hidviz import LEARNERS, Couplings, Recording, learn, log_likelihood, random_couplings, random_start, simulate
from hidviz.background import return_value
from hidviz.evaluation.effective_parameters import (
    effective_parameters_of_rows,
    iter_effective_parameters,
    score_products,
)
from hidviz.evaluation.information import information
from hidviz.evaluation.information_by_row import information_by_row
from hidviz.learners import logistic_fit

LEARNER = {"stochastic": "exact", "continuous": "backprop"}


def effective(couplings, recording, **settings):
    return return_value(iter_effective_parameters(couplings, recording, **settings))


def products_of_slopes(couplings, recording, learner, *, n_hidden, bias):
    """Each transition's score is what one more bin adds to the learner's slope."""
    total = 0.0
    for trial in recording.trials:
        slopes = [0.0]
        for n in range(2, len(trial) + 1):
            prepared = LEARNERS[learner](Recording(trial[:n]), n_hidden=n_hidden, bias=bias)
            slopes.append(prepared(couplings).gradient.vector(prepared.learned))
        scores = np.diff(np.array([np.zeros_like(slopes[-1]), *slopes[1:]]), axis=0)
        total += scores.T @ scores
    return total


@pytest.mark.parametrize("hidden", ["stochastic", "continuous"])
@pytest.mark.parametrize("bias", [False, True])
def test_products_of_scores_are_those_of_what_each_bin_adds_to_the_slope(hidden, bias):
    couplings = random_couplings(3, 2, np.random.default_rng(0), variance=2.0, bias=0.4 * bias)
    recording = Recording([np.random.default_rng(k).choice([-1, 1], (n, 3)) for k, n in ((1, 30), (2, 12))])
    found = return_value(score_products(couplings, recording, hidden=hidden, bias=bias))
    expected = products_of_slopes(couplings, recording, LEARNER[hidden], n_hidden=2, bias=bias)
    np.testing.assert_allclose(found, expected, atol=1e-10)


@pytest.mark.parametrize("lags", [1, 2])
def test_rows_without_hidden_units_are_counted_by_the_same_trace(lags):
    truth = random_couplings(3, 2, np.random.default_rng(0), variance=3.0)
    recording, _ = simulate(truth, 400, np.random.default_rng(1))
    couplings = logistic_fit(recording, lags=lags, bias=True, penalty=1e-6).couplings
    n_hidden, learner = (3, "visible-lag2") if lags == 2 else (0, "visible")
    products = products_of_slopes(couplings, recording, learner, n_hidden=n_hidden, bias=True)
    prepared, step = LEARNERS[learner](recording, n_hidden=n_hidden, bias=True), 1e-5
    theta = couplings.vector(prepared.learned)

    def slope(vector):
        return prepared(couplings.with_vector(vector, prepared.learned)).gradient.vector(prepared.learned)

    unit = step * np.eye(len(theta))
    curvature = np.array([slope(theta - each) - slope(theta + each) for each in unit]) / (2.0 * step)
    weights = np.linspace(0.0, 0.1, len(theta))
    for penalty in (0.0, weights):
        ridge = 399 * np.diag(np.broadcast_to(penalty, len(theta)))
        found = effective_parameters_of_rows(couplings, recording, lags=lags, bias=True, penalty=penalty)
        assert found == pytest.approx(np.trace(np.linalg.solve(curvature + ridge, products)), rel=1e-6)
    if lags == 1:
        rows = return_value(information_by_row(couplings, recording, bias=True))
        assert np.isclose(sum(np.trace(row) for row in rows), np.trace(curvature), rtol=1e-6)


@pytest.mark.parametrize("hidden", ["stochastic", "continuous"])
def test_at_the_true_couplings_every_parameter_counts_once(hidden):
    """The information identity, which 40 000 bins obey to a few per cent."""
    truth = random_couplings(4, 2, np.random.default_rng(0), variance=2.0)
    recording, _ = simulate(truth, 40_000, np.random.default_rng(1), hidden=hidden)
    assert effective(truth, recording, hidden=hidden) == pytest.approx(32.0, rel=0.04)


def test_a_penalty_counts_as_far_as_it_holds():
    truth = random_couplings(4, 2, np.random.default_rng(1), variance=2.0)
    recording, _ = simulate(truth, 2000, np.random.default_rng(2))
    counts = [effective(truth, recording, penalty=weight) for weight in (0.0, 0.02, 1e6)]
    assert counts[0] > counts[1] + 3.0
    assert counts[2] < 1e-3
    alone = np.where(np.arange(32) < 16, 0.0, 1e6)  # J alone is left free
    assert effective(truth, recording, penalty=alone) == pytest.approx(16.0, rel=0.15)


def test_none_is_stated_away_from_a_maximum_or_out_of_reach():
    rng = np.random.default_rng(0)
    recording = Recording(rng.choice([-1, 1], (60, 4)))
    wild = random_couplings(4, 3, rng, variance=9.0)
    assert np.linalg.eigvalsh(return_value(information(wild, recording)))[0] < 0.0
    assert effective(wild, recording) is None
    coupled = Couplings(wild.J, wild.K, wild.L, np.eye(3))
    assert effective(coupled, recording) is None
    long = Recording(rng.choice([-1, 1], (20_000, 12)))
    assert effective(random_couplings(12, 14, rng), long) is None


def optimism(n_true, n_fitted, seeds):
    """For each network: how much better its fit explains 3000 training bins than other data, less the truth's; N*."""
    found = []
    for seed in seeds:
        truth = random_couplings(6, n_true, np.random.default_rng(seed))
        recording, other = (simulate(truth, n, np.random.default_rng([seed, n]))[0] for n in (3000, 40_000))
        learner = LEARNERS["exact"](recording, n_hidden=n_fitted)
        start = random_start(6, n_fitted, np.random.default_rng([seed, 3]), scale=0.3, learned=learner.learned)
        *_, last = learn(learner, start, penalty="learned", max_steps=600)
        share = recording.n_transitions / other.n_transitions
        ahead = [log_likelihood(c, recording) - share * log_likelihood(c, other) for c in (last.couplings, truth)]
        count = effective(last.couplings, recording, penalty=last.penalty.vector(last.couplings, learner.learned))
        found.append((ahead[0] - ahead[1], np.nan if count is None else count))
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("n_true", "n_fitted"), [(2, 2), (1, 3)])
def test_with_a_learned_penalty_the_effective_number_is_the_measured_optimism(n_true, n_fitted):
    """Over 16 networks the mean optimism is known to about 3; without a penalty it is 95 at 1 + 2 units to spare."""
    measured, counted = optimism(n_true, n_fitted, range(16)).T
    assert np.isfinite(counted).sum() >= 14
    assert abs(measured.mean() - np.nanmean(counted)) < 3.0 * measured.std(ddof=1) / 4.0
    assert np.nanmean(counted) < 12 * n_fitted + 36
