"""Optimisers: each turns what a learner says about one point into the next point, one step at a time.

They minimise a cost per bin, f(θ) with gradient f'(θ), over the flat vector θ of all learned couplings:

    gradient   θ ← θ - rate f'                        the paper's rule: small steps uphill on the likelihood
    momentum   v ← 0.9 v - rate f',  θ ← θ + v        heavy ball
    l-bfgs     θ ← θ - α H f'                         H from the last ten steps, α by a weak Wolfe line search
    adam       θ ← θ - rate_k m̂ / (√v̂ + 1e-8)         decaying steps, for gradients that are random estimates

L-BFGS is written here, and not taken from SciPy, because it must stop after every step, be flipped with the hidden
units, and go on. A box |θ| ≤ b is kept by projection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np

from hidviz.numerics import Array

HISTORY = 10  # pairs that L-BFGS remembers; more gained nothing in trials
ARMIJO, CURVATURE = 1e-4, 0.9  # the usual constants of the weak Wolfe conditions
MAX_TRIALS = 20  # halvings or doublings before a line search gives up

Extra = TypeVar("Extra")


@dataclass(frozen=True, eq=False)
class Point(Generic[Extra]):
    """A point, the cost and gradient there, and whatever else the evaluation said."""

    theta: Array
    cost: float
    gradient: Array
    extra: Extra


@dataclass(frozen=True, eq=False)
class Memory:
    """What an optimiser remembers between steps; every vector lives in the space of θ.

    Args:
        vectors: signed directions, such as a velocity or the steps of L-BFGS.
        scales: magnitudes entry by entry, such as Adam's mean square gradient.
        steps: how many steps were made.
    """

    vectors: tuple[Array, ...] = ()
    scales: tuple[Array, ...] = ()
    steps: int = 0

    def moved(self, move: Callable[[Array], Array]) -> Memory:
        """This memory after a signed permutation of θ, given as a function of vectors."""
        return replace(
            self,
            vectors=tuple(move(v) for v in self.vectors),
            scales=tuple(np.abs(move(v)) for v in self.scales),
        )


@dataclass(frozen=True)
class Schedule:
    """How long and how fast: the numbers an optimiser may use.

    Args:
        rate: step size, per unit of gradient of the cost per bin (gradient, momentum), or per entry (adam).
        box: largest allowed |θ|, or None.
        horizon: number of steps over which decaying steps (adam) decay.
    """

    rate: float
    box: float | None = None
    horizon: int = 800


Evaluate = Callable[[Array, Point[Extra]], Point[Extra]]


@dataclass(frozen=True)
class Optimiser:
    """A named rule for steps.

    Args:
        title: a short name for menus.
        summary: one sentence for a user who must choose.
        default_rate: the rate used when none is given.
        uses_rate: whether the rate matters.
        step: (evaluate, point, memory, schedule) → (next point, memory, number of evaluations); the same point
            comes back when no lower cost can be found.
    """

    title: str
    summary: str
    default_rate: float
    uses_rate: bool
    step: Callable[[Evaluate[Extra], Point[Extra], Memory, Schedule], tuple[Point[Extra], Memory, int]] = field(
        repr=False
    )


def _boxed(theta: Array, box: float | None) -> Array:
    return theta if box is None else np.clip(theta, -box, box)


def _free_gradient(point: Point[Extra], box: float | None) -> Array:
    """The gradient with the entries that push against the box set to zero."""
    if box is None:
        return point.gradient
    blocked = (np.abs(point.theta) >= box) & (point.theta * point.gradient < 0.0)
    return np.where(blocked, 0.0, point.gradient)


def largest_gradient(point: Point[Extra], box: float | None = None) -> float:
    """Infinity norm of the projected gradient, the largest entry that the box leaves free: convergence goes by it."""
    return float(np.abs(_free_gradient(point, box)).max(initial=0.0))


def _gradient_step(
    evaluate: Evaluate[Extra], point: Point[Extra], memory: Memory, schedule: Schedule
) -> tuple[Point[Extra], Memory, int]:
    theta = _boxed(point.theta - schedule.rate * point.gradient, schedule.box)
    return evaluate(theta, point), replace(memory, steps=memory.steps + 1), 1


def _momentum_step(
    evaluate: Evaluate[Extra], point: Point[Extra], memory: Memory, schedule: Schedule
) -> tuple[Point[Extra], Memory, int]:
    velocity = memory.vectors[0] if memory.vectors else np.zeros_like(point.theta)
    velocity = 0.9 * velocity - schedule.rate * point.gradient
    theta = _boxed(point.theta + velocity, schedule.box)
    return evaluate(theta, point), Memory(vectors=(theta - point.theta,), steps=memory.steps + 1), 1


def _adam_step(
    evaluate: Evaluate[Extra], point: Point[Extra], memory: Memory, schedule: Schedule
) -> tuple[Point[Extra], Memory, int]:
    steps = memory.steps + 1
    drift = memory.vectors[0] if memory.vectors else np.zeros_like(point.theta)
    power = memory.scales[0] if memory.scales else np.zeros_like(point.theta)
    drift = 0.9 * drift + 0.1 * point.gradient
    power = 0.99 * power + 0.01 * point.gradient**2
    rate = schedule.rate * max(1.0 - steps / (schedule.horizon + 1.0), 0.02)
    move = drift / (1.0 - 0.9**steps) / (np.sqrt(power / (1.0 - 0.99**steps)) + 1e-8)
    theta = _boxed(point.theta - rate * move, schedule.box)
    return evaluate(theta, point), Memory(vectors=(drift,), scales=(power,), steps=steps), 1


def _lbfgs_step(
    evaluate: Evaluate[Extra], point: Point[Extra], memory: Memory, schedule: Schedule
) -> tuple[Point[Extra], Memory, int]:
    pairs = memory.vectors
    found, evaluations = _descend(evaluate, point, pairs, schedule.box)
    if found is point and pairs:  # the pairs have become useless: start again from steepest descent
        pairs = ()
        found, more = _descend(evaluate, point, pairs, schedule.box)
        evaluations += more
    step, change = found.theta - point.theta, found.gradient - point.gradient
    if step @ change > 1e-12 * np.sqrt((step @ step) * (change @ change)):
        pairs = (*pairs, step, change)[-2 * HISTORY :]
    return found, Memory(vectors=pairs, steps=memory.steps + 1), evaluations


def _descend(
    evaluate: Evaluate[Extra], point: Point[Extra], pairs: tuple[Array, ...], box: float | None
) -> tuple[Point[Extra], int]:
    """Search along the quasi-Newton direction, with the entries held that the box stops at once."""
    free = _free_gradient(point, box)
    direction = -_quasi_newton(free, pairs)
    if box is not None:
        held = (np.abs(point.theta) >= box) & ((point.theta * point.gradient < 0.0) | (point.theta * direction > 0.0))
        direction[held] = 0.0
    if not direction @ free < 0.0:
        return point, 0
    first = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(free).sum()))
    return _line_search(evaluate, point, direction, first, box)


def _quasi_newton(gradient: Array, pairs: tuple[Array, ...]) -> Array:
    """Two-loop recursion: the inverse Hessian of the remembered pairs (step, change of gradient) times a gradient."""
    steps, changes = pairs[::2], pairs[1::2]
    result = gradient.copy()
    weights: list[float] = []
    for s, y in zip(reversed(steps), reversed(changes), strict=True):
        weights.append(float(s @ result) / float(s @ y))
        result -= weights[-1] * y
    if steps:
        result *= float(steps[-1] @ changes[-1]) / float(changes[-1] @ changes[-1])
    for s, y, weight in zip(steps, changes, reversed(weights), strict=True):
        result += (weight - float(y @ result) / float(s @ y)) * s
    return result


def _line_search(
    evaluate: Evaluate[Extra], point: Point[Extra], direction: Array, first: float, box: float | None
) -> tuple[Point[Extra], int]:
    """A step length that lowers the cost enough and is not too short; the same point if there is none.

    Brackets by doubling, then narrows by quadratic interpolation kept away from the ends. With a box the path bends
    where an entry meets it; the slope is then that of the entries still moving.
    """
    low, high, length = 0.0, np.inf, first
    best, slope = point, float(point.gradient @ direction)
    low_cost, low_slope = point.cost, slope
    for trial in range(1, MAX_TRIALS + 1):
        theta = _boxed(point.theta + length * direction, box)
        found = evaluate(theta, point)
        descent = float(point.gradient @ (theta - point.theta))
        if not (descent < 0.0 and found.cost < point.cost and found.cost <= point.cost + ARMIJO * descent):
            high = length
            rise = found.cost - low_cost - low_slope * (length - low)
            guess = 0.5 * -low_slope * (length - low) ** 2 / rise if 0.0 < rise < np.inf else 0.0
            length = low + float(np.clip(guess, 0.1 * (high - low), 0.5 * (high - low)))
            continue
        best = found
        moving = direction if box is None else np.where(np.abs(theta) < box, direction, 0.0)
        found_slope = float(found.gradient @ moving)
        if found_slope >= CURVATURE * slope:
            return best, trial
        low, low_cost, low_slope = length, found.cost, found_slope
        length = 2.0 * low if np.isinf(high) else 0.5 * (low + high)
    return best, MAX_TRIALS


OPTIMISERS: Mapping[str, Optimiser] = MappingProxyType(
    {
        "l-bfgs": Optimiser(
            "L-BFGS", "Remembers the curvature of the last ten steps: the fastest here, with no rate to choose.",
            1.0, False, _lbfgs_step,
        ),
        "gradient": Optimiser(
            "Gradient ascent", "The paper's rule, small steps uphill on the likelihood: slow and plain.",
            0.2, True, _gradient_step,
        ),
        "momentum": Optimiser(
            "Momentum", "Gradient ascent that keeps nine tenths of its last step.", 0.1, True, _momentum_step
        ),
        "adam": Optimiser(
            "Adam, decaying", "Steps of equal size that shrink to nothing: for learners whose gradient is sampled.",
            0.03, True, _adam_step,
        ),
    }
)  # fmt: skip
