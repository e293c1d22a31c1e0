"""Benches: everything that is prepared once per run, the learner and whatever its costs are compared with.

An exact cost where that is affordable at every step, else one sampled now and then where M = 0; the cost of the true
couplings; the costs of models without hidden units.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from hidviz.evaluation import Sampler, baselines, sampler
from hidviz.frames import Bench, World, cost_of
from hidviz.learners import LEARNERS, Infeasible, Learner, prepare
from hidviz.network import Recording

AFFORDABLE = 0.25  # seconds: an exact cost that takes longer than this is not shown beside every step


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
        if recording is None or not is_affordable(
            name, recording.n_visible, units, recording.n_transitions, hidden_hidden
        ):
            return None
        try:
            return prepare(name, recording, n_hidden=units, **settings)
        except Infeasible:
            return None

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
    return baselines.seconds(world.recording.n_visible, world.recording.n_transitions)


def with_baselines(world: World, bench: Bench, *, bias: bool) -> Bench:
    """A bench that knows the held-out costs of the models without hidden units.

    Args:
        world: truth and data; without held-out data nothing is found.
        bench: what is prepared.
        bias: whether the models have biases.
    """
    if world.held_out is None or np.isinf(seconds_to_baselines(world, bench)):
        return bench
    return replace(bench, baselines=baselines.baselines(world.recording, world.held_out, bias=bias))
