"""What learning finds of a network: the order of the learners, the 1/T line of exact ones, where mean field ends."""

import numpy as np
import pytest

from hidviz import LEARNERS, Recording, fit, judge, random_couplings, random_start, simulate
from hidviz.scores import mean_square_errors


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
    assert abs(gaussian - lowest) < 0.02  # a tenth of what they gain on two lags, and less
    assert max(gaussian, lowest) < lag2 - 0.2
    assert lag2 < lag1 - 0.2


@pytest.mark.slow
def test_errors_of_exact_learning_fall_as_one_over_the_data_and_all_starts_end_at_one_cost():
    """Five visible and five hidden units; the slope of the mean over networks of the log of the error of J."""
    lengths, logs = (10_000, 100_000, 1_000_000), []
    for seed in range(6):
        truth, recording = network(5, 5, seed, lengths[-1])
        for length in lengths:
            learner = LEARNERS["exact"](Recording(recording.trials[0][:length]), n_hidden=5)
            ends = [fit(learner, beginning(learner, seed, k)) for k in range(2)]
            assert all(end.last.state == "converged" for end in ends)
            assert abs(ends[0].last.cost - ends[1].last.cost) < 1e-6
            logs.append(np.log10(errors(ends[0].couplings, truth)[0]))
    slope = np.polyfit([4, 5, 6], np.reshape(logs, (-1, 3)).mean(axis=0), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.1)
