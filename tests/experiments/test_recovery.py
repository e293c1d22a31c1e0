"""What learning finds of a network: the order of the learners, the 1/T line of exact ones, where mean field ends."""

import numpy as np
import pytest

from hidviz import LEARNERS, Recording, fit, judge, learn, random_couplings, random_start, simulate
from hidviz.evaluation import error_bars
from hidviz.evaluation.errors import mean_square_errors
from hidviz.evaluation.importance_sampling import sampler


def network(n_visible, n_hidden, seed, *lengths):
    """A true network, and recordings of it."""
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng([seed, 0]))
    data = [simulate(truth, n, np.random.default_rng([seed, k]))[0] for k, n in enumerate(lengths, start=1)]
    return truth, *data


def beginning(learner, *seed, scale=0.2):
    rng = np.random.default_rng([*seed, 100])
    return random_start(learner.n_visible, learner.n_hidden, rng, scale=scale, learned=learner.learned)


def errors(couplings, truth):
    """Aligned mean square errors of J, K and L."""
    found = mean_square_errors(couplings, truth, align=True)
    return np.array([found[name] for name in "JKL"])


@pytest.mark.slow
def test_held_out_costs_are_in_the_order_of_what_the_learners_know():
    """Ten visible and two hidden units, 3000 bins; costs averaged over four networks, each on 10 000 bins.

    All learners are stopped on a second recording of 3000 bins, so that none has seen the bins that judge it.
    """
    names, costs = ("exact", "mean-field-gaussian", "mean-field"), []
    for seed in range(4):
        truth, recording, stopping, judging = network(10, 2, seed, 3000, 3000, 10_000)
        stop = LEARNERS["exact"](stopping, n_hidden=2)
        fits = {}
        for name in names:
            learner = LEARNERS[name](recording, n_hidden=2)
            fits[name] = fit(learner, beginning(learner, seed), held_out=stop, patience=4, max_steps=40).couplings
        *_, table = judge(
            fits, recording, np.random.default_rng(0), learner="exact", held_out=judging, truth=truth
        )  # fmt: skip
        costs.append([candidate.held_out.cost for candidate in table.candidates])
    true, exact, gaussian, lowest, lag1, lag2 = np.mean(costs, axis=0)
    assert true < exact < true + 0.05
    assert exact < min(gaussian, lowest)
    assert abs(gaussian - lowest) < 0.02  # a tenth of what they gain on two lags
    assert max(gaussian, lowest) < lag2 - 0.2
    assert lag2 < lag1 - 0.2


@pytest.mark.slow
def test_errors_of_exact_learning_fall_to_the_line_of_the_information_and_all_starts_end_at_one_cost():
    """Five visible and five hidden units, four networks: their mean logarithm of the error of J, and its Louis line.

    Between 10⁴ and 10⁶ bins the mean slope over six networks was -1.22, steeper than 1/T: few bins lie above the line.
    """
    lengths, logs, ratios = (10_000, 100_000, 1_000_000), [], []
    for seed in range(4):
        truth, recording = network(5, 5, seed, lengths[-1])
        for length in lengths:
            learner = LEARNERS["exact"](Recording(recording.trials[0][:length]), n_hidden=5)
            ends = [fit(learner, beginning(learner, seed, k)) for k in range(2)]
            assert all(end.last.state == "converged" for end in ends)
            assert abs(ends[0].last.cost - ends[1].last.cost) < 1e-6
            logs.append(np.log10(errors(ends[0].couplings, truth)[0]))
        line = error_bars(truth, Recording(recording.trials[0][: lengths[1]])).expected(lengths[-1])
        ratios.append(10.0 ** logs[-1] / line["J"])
    assert np.polyfit([4, 5, 6], np.reshape(logs, (-1, 3)).mean(axis=0), 1)[0] < -0.9
    assert 0.6 < np.mean(ratios) < 1.5  # a hundred couplings tell a mean square to 14 %


@pytest.mark.slow
def test_mean_field_runs_away_where_it_is_not_stopped_and_says_so():
    """Five visible and five hidden units, 10 000 bins: on its way to the maximum of A the exact cost gets worse."""
    for seed in range(2):
        truth, recording = network(5, 5, seed, 10_000)
        learner, exact = (LEARNERS[name](recording, n_hidden=5) for name in ("mean-field", "exact"))
        last = next(
            snapshot
            for snapshot in learn(learner, beginning(learner, seed, scale=0.1), max_steps=100)
            if "Runaway" in snapshot.message
        )
        assert "Stop at the best held-out cost, or set a box or a penalty" in last.message
        assert np.abs(last.couplings.vector()).max() > 4.0
        assert exact(last.couplings).objective < exact(truth).objective - 0.1 * recording.n_transitions
        assert last.estimate.objective > learner(truth).objective


@pytest.mark.slow
def test_mean_field_stopped_on_held_out_data_ends_where_the_paper_shows_it():
    """Five visible and five hidden units, 10 000 bins, mean square errors averaged over three networks.

    They differ from one network to the next: J .008 to .016, K .06 to .10, L .10 to .18 in these.
    """
    found = []
    for seed in range(3):
        truth, recording, held_out = network(5, 5, seed, 10_000, 10_000)
        learner, measure_of = LEARNERS["mean-field"](recording, n_hidden=5), LEARNERS["exact"](held_out, n_hidden=5)
        start = beginning(learner, seed, scale=0.1)
        fitted = fit(learner, start, optimiser="adam", held_out=measure_of, patience=8, max_steps=200)
        assert fitted.last.message.startswith("Stopped: the held-out cost was best")
        found.append(errors(fitted.couplings, truth))
    np.testing.assert_array_less(np.abs(np.log(np.mean(found, axis=0) / [0.01, 0.08, 0.08])), np.log(2.0))


@pytest.mark.slow
def test_monte_carlo_reaches_the_errors_of_exact_maximum_likelihood():
    """Eight visible and eight hidden units, 100 000 bins: from a random start on a tenth of them, then on all."""
    truth, recording = network(8, 8, 0, 100_000)
    exact = fit(LEARNERS["exact"](recording, n_hidden=8), truth).couplings
    found = Recording(recording.trials[0][:10_000])
    learner = LEARNERS["gibbs"](found, n_hidden=8)
    near = fit(learner, beginning(learner, 0, scale=0.1), max_steps=600).couplings
    best = fit(LEARNERS["gibbs"](recording, n_hidden=8), near, rate=0.02, max_steps=250).couplings
    assert (errors(best, truth) < 2.0 * errors(exact, truth)).all()


@pytest.mark.slow
def test_monte_carlo_agrees_with_exact_sums_where_both_are_possible():
    """Eight visible and eight hidden units, 10 000 bins, at the true couplings.

    Two chains that know nothing of each other: the product of their deviations from the exact means, averaged over
    80 000 of them, vanishes but for its error, whatever the noise of each.
    """
    truth, recording = network(8, 8, 1, 10_000)
    exact = LEARNERS["exact"](recording, n_hidden=8)(truth)
    deviations = []
    for seed in (1, 2):
        learner = LEARNERS["gibbs"](recording, n_hidden=8, seed=seed)
        beliefs, total = None, 0.0
        for sweep in range(60):
            beliefs = learner(truth, beliefs).beliefs
            total = total + (sweep >= 20) * beliefs.hidden / 40
        deviations.append(total - exact.beliefs.hidden)
    product = np.multiply(*deviations)
    assert np.abs(deviations).mean() < 0.2
    assert abs(product.mean()) < 4.0 * product.std() / product.size**0.5
    sampled = sampler({"cost": recording}, n_hidden=8, seed=1, step_seconds=1.0).row(truth, 1)
    assert abs(sampled["cost"] + exact.objective / recording.n_transitions) < 4.0 * sampled["cost_error"]
    assert sampled["cost_error"] < 0.002
