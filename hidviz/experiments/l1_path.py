"""L1 path: which couplings of a fit are zero, hidden units and all, by a penalty chosen on the stopping part.

The path begins at a fit without the penalty, which gives each coupling a weight of its own (`learning.l1`), and rises:
each step starts where the last one ended and goes on to the optimum there. So hidden units keep their labels and signs
on the way, and a coupling is the surer the stronger a penalty it outlives.

A penalty that is strong enough to find what is not there shrinks what is. So at each strength the couplings that are
left are learned again under a tenth of it, the others held at zero (relaxed lasso: Meinshausen, Comput. Stat. Data
Anal. 52, 374, 2007). The strength kept is the one whose relaxed fit predicts the stopping part best, none included.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hidviz.evaluation import cost_per_bin
from hidviz.learners import Learner
from hidviz.learning import Snapshot, adaptive_weights, learn, times
from hidviz.network import MATRICES, Couplings
from hidviz.numerics import Array

N_WEIGHTS = 16
LEAST = 2e-3  # of the weight at which no coupling at all is a stationary point
PATIENCE = 4  # weights in a row that predict worse than one before, which end the path
TOLERANCE = 1e-5  # largest free entry of the gradient, nats per bin
RELAXED = 0.1  # of its weight, that remains on a coupling which is not zero
HELD = 1e6  # weight under which no coupling leaves zero

Strength = float | Literal["chosen"]


@dataclass(frozen=True, eq=False)
class L1Path:
    """The strength kept, and the path that led to it.

    Args:
        couplings: the estimate; those the penalty sets to zero are exactly zero.
        weight: λ kept, nats per bin: the weight of a coupling of median size; 0 for no penalty.
        weights: those tried, rising.
        stop: cost of each relaxed fit on the stopping part, nats per bin; infinite where there is none.
        n_zero: block → how many of its couplings are zero.
        outlives: of each coupling the largest λ tried at which it is not zero, before it is relaxed; 0 if none.
        without: cost on the stopping part of the fit that the path began at; infinite where there is none.
        last: the last step of learning at the weight kept; None for no penalty.
    """

    couplings: Couplings
    weight: float
    weights: Array
    stop: Array
    n_zero: dict[str, int]
    outlives: Couplings
    without: float
    last: Snapshot | None

    def plain(self) -> dict[str, Any]:
        """Plain values, for a file: the weight kept, those tried with their costs, and how many couplings are zero."""
        return {
            "weight": self.weight,
            "weights": self.weights.tolist(),
            "stop": [cost if np.isfinite(cost) else None for cost in self.stop.tolist()],
            "zero": {name: [n, getattr(self.couplings, name).size] for name, n in self.n_zero.items()},
            "unconnected": self.unconnected,
        }

    @property
    def n_kept(self) -> tuple[int, int]:
        """How many couplings are not zero, and of how many; biases are no couplings."""
        size = sum(getattr(self.couplings, name).size for name in self.n_zero)
        return size - sum(self.n_zero.values()), size

    @property
    def unconnected(self) -> list[int]:
        """Hidden units, counted from 0, that no longer reach a visible one; copies of visible units are none."""
        if "L" not in self.n_zero:
            return []
        return [int(a) for a in np.flatnonzero(~_reaching(self.couplings))]


def iter_l1_path(
    learner: Learner,
    stop: Learner | None,
    first: Couplings,
    strength: Strength,
    *,
    penalty: float | Literal["learned"] = 0.0,
    box: float | None = None,
    max_steps: int = 300,
) -> Generator[tuple[int, Snapshot], None, L1Path]:
    """Follow the path from a fit without the penalty, yielding every step of learning and at which strength it is.

    Args:
        learner: prepared on the part to learn from.
        stop: its likelihood on the part to stop by.
        first: the fit without the penalty.
        strength: λ, or "chosen" on the stopping part.
        penalty: weight of the L2 penalty per bin; "learned" for one in each block that follows from the data.
        box: largest allowed size of a coupling; None for no box.
        max_steps: most steps at each weight.

    Raises:
        ValueError: the strength is to be chosen, and there is nothing to choose it by.
    """
    if strength == "chosen" and stop is None:
        raise ValueError(
            "The strength of an L1 penalty is chosen by the likelihood of a held-out part, and there is none here: "
            "give a number, or fewer hidden units."
        )
    alike = adaptive_weights(first, learner.learned)
    weights = path_weights(learner, first, alike) if strength == "chosen" else np.array([float(strength)])

    def learned(start: Couplings, l1: Couplings) -> Generator[tuple[int, Snapshot], None, Snapshot]:
        for last in learn(
            learner, start, penalty=penalty, l1=l1, box=box, tolerance=TOLERANCE, max_steps=max_steps
        ):  # fmt: skip
            yield len(costs), last
        return last

    found, path, ends, costs = first, list[Couplings](), list[Snapshot](), list[float]()
    for weight in weights:
        found = (yield from learned(found, times(alike, float(weight)))).couplings
        path.append(found)
        ends.append((yield from learned(found, relaxed(found, times(alike, RELAXED * float(weight))))))
        cost = cost_per_bin(stop, ends[-1].couplings)
        costs.append(np.inf if cost is None else cost)
        if len(costs) > int(np.argmin(costs)) + PATIENCE:
            break
    best = int(np.argmin(costs))
    before = cost_per_bin(stop, first)
    without = np.inf if before is None else before
    needed = strength != "chosen" or costs[best] < without
    kept = ends[best].couplings if needed else first
    return L1Path(
        couplings=kept,
        weight=float(weights[best]) if needed else 0.0,
        weights=weights[: len(ends)],
        stop=np.array(costs),
        n_zero={name: int((getattr(kept, name) == 0.0).sum()) for name in MATRICES if name in learner.learned},
        outlives=_outlived(weights[: len(path)], path),
        without=without,
        last=ends[best] if needed else None,
    )


def strength_in_words(place: int, strength: Strength) -> str:
    """At which strength a path is, counted from 0."""
    return f"L1 penalty, strength {place + 1} of at most {N_WEIGHTS}" if strength == "chosen" else "L1 penalty"


def relaxed(found: Couplings, weights: Couplings) -> Couplings:
    """Weights of an L1 penalty that holds the couplings at zero which are there.

    Args:
        found: couplings, some of them zero.
        weights: for the others, and for those that the penalty leaves free.
    """
    held = (found.vector() == 0.0) & (weights.vector() > 0.0)
    return weights.with_vector(np.where(held, HELD, weights.vector()))


def path_weights(learner: Learner, first: Couplings, alike: Couplings) -> Array:
    """Rising λ, up to where no coupling at all is a stationary point of the penalised cost.

    Args:
        learner: prepared on the part to learn from.
        first: the fit without the penalty.
        alike: the weight of each coupling at λ = 1.
    """
    nothing = first.with_vector(np.zeros(alike.vector(MATRICES).size), MATRICES)
    *_, alone = learn(learner, nothing, l1=times(alike, HELD), tolerance=TOLERANCE)  # biases
    slopes = alone.estimate.gradient.vector(MATRICES) / learner.n_transitions
    weights = alike.vector(MATRICES)
    top = float(np.max(np.abs(slopes[weights > 0.0]) / weights[weights > 0.0]))
    return top * np.geomspace(LEAST, 1.0, N_WEIGHTS)


def _outlived(weights: Array, found: list[Couplings]) -> Couplings:
    matrices = [couplings.vector(MATRICES) != 0.0 for couplings in found]
    nothing = found[0].with_vector(np.zeros(found[0].vector().size))
    return nothing.with_vector(np.max(weights[:, None] * matrices, axis=0), MATRICES)


def _reaching(couplings: Couplings) -> NDArray[np.bool_]:
    """Which hidden units act on a visible one, by way of others too."""
    acts, on_hidden = couplings.K != 0.0, couplings.M != 0.0
    reaching = np.asarray(acts.any(axis=0))
    for _ in range(couplings.n_hidden):
        reaching = np.asarray(reaching | on_hidden[reaching].any(axis=0))
    return reaching
