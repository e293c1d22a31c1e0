"""Setup: everything that is prepared once per run, the learner and whatever its costs are compared with.

An exact cost where that is affordable at every step, else one sampled now and then where M = 0; the cost of the true
couplings; the costs of models without hidden units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hidviz.evaluation import Baselines, Sampler, baseline_seconds, baselines, cost_per_bin, likelihood_for, sampler
from hidviz.learners import LEARNERS, LIKELIHOODS, Learner, prepare
from hidviz.network import Couplings, Recording

AFFORDABLE = 0.25  # seconds: an exact cost that takes longer than this is not shown beside every step


@dataclass(frozen=True, eq=False)
class Data:
    """The true network, and the data it produced.

    Args:
        truth: the true couplings, which no learner sees.
        recording: the visible history to learn from.
        hidden: (T, Nh) the true hidden states.
        held_out: visible history to judge by; None for none.
    """

    truth: Couplings
    recording: Recording
    hidden: NDArray[np.float64] | NDArray[np.int8]
    held_out: Recording | None


@dataclass(frozen=True, eq=False)
class Setup:
    """What is prepared once per run.

    Args:
        learner: the learner, prepared on the recording.
        held_out: the learner's cost on held-out data: its own likelihood, or the exact one; None if not affordable.
        exact: the exact likelihood of the recording beside an approximate learner; None if not affordable, or if the
            learner's objective is that likelihood already.
        cost_at_truth: exact training cost of the true couplings, nats per bin; None if not affordable.
        held_out_cost_at_truth: the same on held-out data.
        sampler: estimates the costs, every so many steps, that no exact sum is affordable for; None if all are exact,
            or if there is none to be estimated.
        baselines: held-out costs without hidden units; None without such data, or until a run has found them.
    """

    learner: Learner
    held_out: Learner | None
    exact: Learner | None
    cost_at_truth: float | None
    held_out_cost_at_truth: float | None
    sampler: Sampler | None = None
    baselines: Baselines | None = None


def is_affordable(learner: str, n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> bool:
    """Whether the likelihood that judges a learner may be shown beside every step."""
    judge = LEARNERS[LEARNERS[learner].judge]
    return judge.seconds(n_visible, n_hidden, n_transitions, hidden_hidden) <= AFFORDABLE


def prepare_setup(
    data: Data,
    learner: str,
    *,
    n_hidden: int,
    model: Literal["continuous", "stochastic"],
    hidden_hidden: bool,
    bias: bool,
    seed: int,
    noise: int,
) -> Setup:
    """Prepare a learner, and the costs to compare with: exact where affordable, else sampled where M = 0.

    Args:
        data: truth and data.
        learner: a name in LEARNERS.
        n_hidden: number of hidden units that it assumes.
        model: how the true hidden units behave.
        hidden_hidden: whether M is learned.
        bias: whether biases are learned.
        seed: of the costs that have to be sampled.
        noise: seed of a learner that draws random numbers itself.

    Raises:
        Infeasible: the learner would take too long; the message gives the number and an alternative.
    """
    method, settings = LEARNERS[learner], {"hidden_hidden": hidden_hidden, "bias": bias}

    def judge(name: str, recording: Recording | None, units: int) -> Learner | None:
        return likelihood_for(name, recording, units, **settings, longest=AFFORDABLE)

    n_true = data.truth.n_hidden
    true_judges = [judge(LIKELIHOODS[model], part, n_true) for part in (data.recording, data.held_out)]
    setup = Setup(
        learner=prepare(learner, data.recording, n_hidden=n_hidden, **settings, **method.seeded(noise)),
        held_out=judge(learner, data.held_out, n_hidden),
        exact=None if method.likelihood else judge(learner, data.recording, n_hidden),
        cost_at_truth=cost_per_bin(true_judges[0], data.truth),
        held_out_cost_at_truth=cost_per_bin(true_judges[1], data.truth),
    )
    if method.likelihood or hidden_hidden:
        return setup
    seconds = method.seconds(setup.learner.n_visible, n_hidden, setup.learner.n_transitions, hidden_hidden)
    return replace(setup, sampler=_sampler(data, setup, seed, seconds))


def _sampler(data: Data, setup: Setup, seed: int, step_seconds: float) -> Sampler | None:
    """What estimates the costs that the setup has no exact sum for."""
    unknown = {} if setup.exact else {"cost": data.recording}
    unknown |= {} if setup.held_out or data.held_out is None else {"held_out": data.held_out}
    return sampler(unknown, n_hidden=setup.learner.n_hidden, seed=seed, step_seconds=step_seconds)


def seconds_to_baselines(data: Data, setup: Setup) -> float:
    """Predicted seconds for `with_baselines`; infinite if nothing is left to find."""
    if setup.baselines is not None or data.held_out is None:
        return np.inf
    return baseline_seconds(data.recording.n_visible, data.recording.n_transitions)


def with_baselines(data: Data, setup: Setup, *, bias: bool) -> Setup:
    """A setup that knows the held-out costs of the models without hidden units.

    Args:
        data: truth and data; without held-out data nothing is found.
        setup: what is prepared.
        bias: whether the models have biases.
    """
    if data.held_out is None or np.isinf(seconds_to_baselines(data, setup)):
        return setup
    return replace(setup, baselines=baselines(data.recording, data.held_out, bias=bias))
