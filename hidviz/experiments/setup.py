"""Benches: everything that is prepared once per run, the learner and whatever its costs are compared with.

An exact cost where that is affordable at every step, else one sampled now and then where M = 0; the cost of the true
couplings; the costs of models without hidden units.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hidviz.evaluation import Baselines, Sampler, baseline_seconds, baselines, judge_for, sampler
from hidviz.learners import LEARNERS, Learner, prepare
from hidviz.network import Couplings, Recording

AFFORDABLE = 0.25  # seconds: an exact cost that takes longer than this is not shown beside every step


@dataclass(frozen=True, eq=False)
class World:
    """What nature did: the true network, and the data it produced.

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
class Bench:
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
        baselines: held-out costs without hidden units; None without such data, or until a course has found them.
    """

    learner: Learner
    held_out: Learner | None
    exact: Learner | None
    cost_at_truth: float | None
    held_out_cost_at_truth: float | None
    sampler: Sampler | None = None
    baselines: Baselines | None = None


def is_affordable(name: str, n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> bool:
    """Whether the cost of a learner by this name may be shown beside every step."""
    return LEARNERS[name].seconds(n_visible, n_hidden, n_transitions, hidden_hidden) <= AFFORDABLE


def prepared_bench(
    world: World,
    learner: str,
    *,
    n_hidden: int,
    model: Literal["continuous", "stochastic"],
    hidden_hidden: bool,
    bias: bool,
    seed: int,
) -> Bench:
    """Prepare a learner, and the costs to compare with: exact where affordable, else sampled where M = 0.

    Args:
        world: truth and data.
        learner: a name in LEARNERS.
        n_hidden: number of hidden units that it assumes.
        model: how the true hidden units behave.
        hidden_hidden: whether M is learned.
        bias: whether biases are learned.
        seed: of what has to be sampled.

    Raises:
        Infeasible: the learner would take too long; the message gives the number and an alternative.
    """
    method, settings = LEARNERS[learner], {"hidden_hidden": hidden_hidden, "bias": bias}

    def prepared(name: str, recording: Recording | None, units: int) -> Learner | None:
        return judge_for(name, recording, units, **settings, longest=AFFORDABLE)

    judge = learner if method.likelihood else "exact"
    world_judge = "backprop" if model == "continuous" else "exact"
    true_judges = [prepared(world_judge, data, world.truth.n_hidden) for data in (world.recording, world.held_out)]
    bench = Bench(
        learner=prepare(learner, world.recording, n_hidden=n_hidden, **settings),
        held_out=prepared(judge, world.held_out, n_hidden),
        exact=None if method.likelihood else prepared(judge, world.recording, n_hidden),
        cost_at_truth=cost_of(true_judges[0], world.truth),
        held_out_cost_at_truth=cost_of(true_judges[1], world.truth),
    )
    if method.likelihood or hidden_hidden:
        return bench
    seconds = method.seconds(bench.learner.n_visible, n_hidden, bench.learner.n_transitions, hidden_hidden)
    return replace(bench, sampler=_sampler(world, bench, seed, seconds))


def _sampler(world: World, bench: Bench, seed: int, step_seconds: float) -> Sampler | None:
    """What estimates the costs that the bench has no exact sum for."""
    data = {} if bench.exact else {"cost": world.recording}
    data |= {} if bench.held_out or world.held_out is None else {"held_out": world.held_out}
    return sampler(data, n_hidden=bench.learner.n_hidden, seed=seed, step_seconds=step_seconds)


def seconds_to_baselines(world: World, bench: Bench) -> float:
    """Predicted seconds for `with_baselines`; infinite if nothing is left to find."""
    if bench.baselines is not None or world.held_out is None:
        return np.inf
    return baseline_seconds(world.recording.n_visible, world.recording.n_transitions)


def with_baselines(world: World, bench: Bench, *, bias: bool) -> Bench:
    """A bench that knows the held-out costs of the models without hidden units.

    Args:
        world: truth and data; without held-out data nothing is found.
        bench: what is prepared.
        bias: whether the models have biases.
    """
    if world.held_out is None or np.isinf(seconds_to_baselines(world, bench)):
        return bench
    return replace(bench, baselines=baselines(world.recording, world.held_out, bias=bias))


def cost_of(judge: Learner | None, couplings: Couplings) -> float | None:
    """Cost of couplings in nats per bin, or None without a judge."""
    return None if judge is None else -judge(couplings).objective / judge.n_transitions
