"""Stopping advice: when to stop each learner at each size, with the reason; no run takes it by itself.

The paper names neither a stopping rule nor a penalty, and they decide what its figures show. What is advised here was
measured: mean field on small networks runs away and must be stopped; the likelihood of few data is largest at infinite
couplings; of many data the converged fit is better than the stopped one; sampled steps must shrink to an end.
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
PLENTY = {"none": 20, "continuous": 100, "stochastic": 1000}  # bins per coupling of a unit that make stopping needless
LARGE, LONG = 40, 3000  # visible units, at most a quarter as many hidden, and bins, from which mean field stays put


@dataclass(frozen=True)
class Advice:
    """When to stop, and why.

    Args:
        knobs: values of the Experiment's patience, penalty, box and max_steps.
        reason: one sentence.
    """

    knobs: Mapping[str, float | None]
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "knobs", MappingProxyType(dict(self.knobs)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Advice, (dict(self.knobs), self.reason)


def advice(experiment: Experiment) -> Advice:
    """The knobs that decide when this experiment stops, as they are best for its learner and size."""
    by_family = {"sampling": _for_samples, "likelihood": _for_likelihoods, "mean-field": _for_mean_field}
    return by_family.get(LEARNERS[experiment.learner].family, _for_others)(experiment)


def _advice(reason: str, **knobs: float | None) -> Advice:
    plain: dict[str, float | None] = {"patience": None, "penalty": 0.0, "box": None, "max_steps": None}
    return Advice(plain | knobs, reason)


def _bins_per_coupling(experiment: Experiment) -> float:
    """Bins for each of the Nv + 2 Nh couplings that one visible unit's worth of data must determine."""
    units = experiment.n_hidden_learned
    return experiment.n_steps / (experiment.n_visible + 2 * units)


def _prior(experiment: Experiment) -> float:
    """The penalty that couplings of the size of 1/√Nv, fields of order one, are worth among so many bins."""
    return round(min(experiment.n_visible / experiment.n_steps, 10.0), 6)


def _judged(experiment: Experiment) -> bool:
    """Whether each step can be judged on held-out data."""
    units, n = experiment.n_hidden_learned, experiment.n_held_out
    return n > 0 and is_affordable(experiment.learner, experiment.n_visible, units, n, experiment.hidden_hidden)


def _for_samples(experiment: Experiment) -> Advice:
    if _bins_per_coupling(experiment) < 0.1 * PLENTY["stochastic"]:
        return _advice(
            f"{experiment.n_steps:,} bins are few for this network, and their likelihood is largest at infinite "
            f"couplings: the penalty expects fields of order one; the steps shrink over {SAMPLED_STEPS}.",
            penalty=_prior(experiment),
            max_steps=SAMPLED_STEPS,
        )
    return _advice(
        f"Its steps are noisy, so they shrink over {SAMPLED_STEPS} and the last fifth is averaged; a held-out cost "
        "that jitters is no reason to end earlier.",
        max_steps=SAMPLED_STEPS,
    )


def _for_likelihoods(experiment: Experiment) -> Advice:
    hidden = LEARNERS[experiment.learner].hidden
    if _bins_per_coupling(experiment) >= PLENTY[hidden]:
        return _advice(
            f"{experiment.n_steps:,} bins are enough for this network: the converged fit is better than a stopped one."
        )
    few = f"{experiment.n_steps:,} bins are few for this network, and learning to the end fits their noise: "
    if _judged(experiment):
        return _advice(few + "stop at the best held-out cost.", patience=PATIENCE)
    return _advice(
        few + "without an affordable held-out cost, a penalty that expects fields of order one holds the couplings.",
        penalty=_prior(experiment),
    )


def _for_mean_field(experiment: Experiment) -> Advice:
    n_visible, n_hidden = experiment.n_visible, experiment.n_hidden_learned
    safe = n_visible >= max(LARGE, 4 * n_hidden) and experiment.n_steps >= LONG
    if safe and not LEARNERS[experiment.learner].runs_away:
        return _advice("With this many visible units for each hidden one, mean field converges without running away.")
    if _judged(experiment):
        return _advice(
            f"Mean field runs away from networks like {n_visible} + {n_hidden} if it is left to converge: stop at the "
            "best held-out cost.",
            patience=PATIENCE,
        )
    box = round(max(0.7, 4.0 / max(min(n_visible, n_hidden), 1) ** 0.5), 1)
    return _advice(
        f"At {n_visible} + {n_hidden} single couplings of mean field run off and no held-out cost is affordable: a "
        f"box of {box:g}, several times the size of a typical coupling, holds them.",
        box=box,
    )


def _for_others(experiment: Experiment) -> Advice:
    title = LEARNERS[experiment.learner].title
    if _judged(experiment):
        reason = f"How far {title} may be left to converge is not known: stop at the best held-out cost."
        return _advice(reason, patience=PATIENCE)
    return _advice(
        f"How far {title} may be left to converge is not known, and no held-out cost is affordable: a penalty that "
        "expects fields of order one holds the couplings.",
        penalty=_prior(experiment),
    )
