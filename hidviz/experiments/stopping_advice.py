"""Stopping advice: when to stop and how to regularise at each size, with the reason; no run takes it by itself.

The paper names neither a stopping rule nor a penalty, and they decide what its figures show. What is advised here was
measured (`python -m tests.benchmarks.defaults`): a penalty learned from the data is near the best of all rules whatever
the coupling variance, and costs nothing where data are plentiful. The best held-out step is kept besides where mean
field runs away; elsewhere that gains .01 nats a bin of held-out cost or less, and leaves K further from the truth. A
bare box is never advised: it holds single couplings and lets all others fit noise.

Mean field of more than one hidden unit for each four visible ones overrates K by so much in every bin, while a learned
penalty falls as data grow: of 30 + 10 units K ends at .009, .12 and .20 for T = 1,000, 3,000 and 20,000 (variance .1).
Where no held-out cost can stop it either, a weight that does not fall, of .001 for each hidden unit, holds it at .005
and .003; of 40 + 20, T = 3,000, at .006, where a learned one ends at .08.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from hidviz.experiments.experiment import Experiment
from hidviz.experiments.setup import is_affordable
from hidviz.learners import LEARNERS

PATIENCE = 30  # steps: the held-out cost of exact learners may rest for ten before it falls again
SAMPLED_STEPS = 800  # over which the steps of a sampling learner shrink
HELD = 1e-3  # nats per bin and hidden unit: weight of a penalty that holds a mean field which nothing else would stop
CROWDED = 4  # visible units for each hidden one, below which mean field overrates K
LARGE, LONG = 40, 3000  # visible units and bins, from which mean field stays put where they are not crowded

Value = float | str | None


@dataclass(frozen=True)
class Advice:
    """When to stop, and why.

    Args:
        knobs: values of the Experiment's patience, penalty, box and max_steps.
        reason: one sentence.
    """

    knobs: Mapping[str, Value]
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "knobs", MappingProxyType(dict(self.knobs)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Advice, (dict(self.knobs), self.reason)


def advice(experiment: Experiment) -> Advice:
    """The knobs that decide when this experiment stops, as they are best for its learner and size."""
    method = LEARNERS[experiment.learner]
    if method.stochastic:
        return _advice(
            f"The penalty of each block is learned from the data; the noisy steps shrink over {SAMPLED_STEPS} and the "
            "last fifth is averaged.",
            max_steps=SAMPLED_STEPS,
        )
    if not method.likelihood and method.family != "mean-field":
        return _stopped(experiment, f"What {method.title} maximises is no likelihood")
    if not (method.likelihood or _stays_put(experiment)):
        sizes = f"{experiment.n_visible} + {experiment.n_hidden_learned}"
        return _stopped(experiment, f"Mean field runs away from networks like {sizes} if it is left to converge")
    return _advice(
        "The penalty of each block is learned from the data, so that learning may converge: it holds couplings that "
        "the data leave undetermined, and hardly matters for the others."
    )


def _advice(reason: str, **knobs: Value) -> Advice:
    learned: dict[str, Value] = {"patience": None, "penalty": "learned", "box": None, "max_steps": None}
    return Advice(learned | knobs, reason)


def _stopped(experiment: Experiment, why: str) -> Advice:
    """Keep the best held-out step, where each step can be judged."""
    learned = f"{why}: the penalty of each block is learned from the data"
    if _judged(experiment):
        return _advice(f"{learned}, and the best held-out step is kept.", patience=PATIENCE)
    if _overrates(experiment):
        return _advice(
            f"{why}, and no exact held-out cost is affordable to stop by: a penalty that does not fall as data grow "
            "holds it.",
            penalty=round(HELD * experiment.n_hidden_learned, 3),
        )
    return _advice(f"{learned}, since no exact held-out cost is affordable to stop by.")


def _overrates(experiment: Experiment) -> bool:
    """Whether mean field needs a stronger penalty than follows from so many data."""
    mean_field = LEARNERS[experiment.learner].family == "mean-field"
    return mean_field and _crowded(experiment) and experiment.n_steps > 1 / HELD


def _stays_put(experiment: Experiment) -> bool:
    """Whether mean field converges without running away."""
    large = experiment.n_visible >= LARGE and not _crowded(experiment) and experiment.n_steps >= LONG
    return large and not LEARNERS[experiment.learner].runs_away


def _crowded(experiment: Experiment) -> bool:
    return experiment.n_visible < CROWDED * experiment.n_hidden_learned


def _judged(experiment: Experiment) -> bool:
    """Whether each step can be judged on held-out data."""
    units, n = experiment.n_hidden_learned, experiment.n_held_out
    return n > 0 and is_affordable(experiment.learner, experiment.n_visible, units, n, experiment.hidden_hidden)
