"""Optimisers: each turns what a learner says about one point into the next point, one step at a time.

They minimise a cost per bin, f(θ) with gradient f'(θ), over the flat vector θ of all learned couplings:

    gradient   θ ← θ - rate f'                        the paper's rule: small steps uphill on the likelihood
    momentum   v ← 0.9 v - rate f',  θ ← θ + v        heavy ball
    l-bfgs     θ ← θ - α H f'                         H from the last ten steps, α by a weak Wolfe line search
    adam       θ ← θ - rate_k m̂ / (√v̂ + 1e-8)         decaying steps, for gradients that are random estimates

L-BFGS is written here, and not taken from SciPy, because it must stop after every step, be flipped with the hidden
units, and go on. A box |θ| ≤ b is kept by projection.

With an L1 penalty Σ λ_k |θ_k| the cost has a slope wherever no sign changes, so a step of L-BFGS stays in one orthant
(Andrew and Gao, ICML 2007): that of θ, and of -f' for entries at zero. There λ_k sign_k is added to the slope, so that
an entry at zero leaves it only where f' is steeper than λ_k, and one that would change its sign is set to zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from hidviz.numerics import Array

HISTORY = 10  # pairs that L-BFGS remembers; more gained nothing in trials
ARMIJO, CURVATURE = 1e-4, 0.9  # the usual constants of the weak Wolfe conditions
MAX_TRIALS = 20  # halvings or doublings before a line search gives up

Extra = TypeVar("Extra")


@dataclass(frozen=True, eq=False)
class Point(Generic[Extra]):
    """A point, the cost and gradient there, and whatever else the evaluation said.

    The cost counts an L1 penalty, the gradient does not.
    """

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
        l1: weight of |θ| of each entry; None for no L1 penalty; l-bfgs alone knows of it.
    """

    rate: float
    box: float | None = None
    horizon: int = 800
    l1: Array | None = None


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


@dataclass(frozen=True, eq=False)
class _Room(Generic[Extra]):
    """Where a step may go, low ≤ θ ≤ high, and what the L1 penalty adds to the slope there."""

    low: Array
    high: Array
    tilt: Array

    @classmethod
    def around(cls, point: Point[Extra], box: float | None, l1: Array | None) -> _Room[Extra]:
        """The box, and of each entry with an L1 penalty the side of zero on which the cost falls."""
        high = np.full(point.theta.shape, np.inf if box is None else box)
        if l1 is None:
            return cls(-high, high, np.zeros_like(high))
        side = np.where(point.theta != 0.0, np.sign(point.theta), -np.sign(point.gradient))
        free = l1 == 0.0
        return cls(np.where(free | (side < 0.0), -high, 0.0), np.where(free | (side > 0.0), high, 0.0), l1 * side)

    def inside(self, theta: Array) -> Array:
        return np.clip(theta, self.low, self.high)

    def held(self, theta: Array, direction: Array) -> NDArray[np.bool_]:
        """Entries that cannot move in this direction."""
        return ((theta <= self.low) & (direction < 0.0)) | ((theta >= self.high) & (direction > 0.0))

    def seen(self, point: Point[Extra]) -> Point[Extra]:
        """The point with the slope of the whole cost."""
        return replace(point, gradient=point.gradient + self.tilt)

    def pushing(self, seen: Point[Extra]) -> NDArray[np.bool_]:
        """Entries whose slope drives them against a bound."""
        return self.held(seen.theta, -seen.gradient)


def largest_gradient(point: Point[Extra], box: float | None = None, l1: Array | None = None) -> float:
    """Infinity norm of the projected gradient, the largest entry left free: convergence goes by it.

    With an L1 penalty it is the distance of zero from the subgradients: at an optimum f' = -λ_k sign θ_k for entries
    that are not zero, and |f'| ≤ λ_k for those that are.
    """
    room: _Room[Extra] = _Room.around(point, box, l1)
    seen = room.seen(point)
    return float(np.abs(seen.gradient[~room.pushing(seen)]).max(initial=0.0))


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
    pairs, room = memory.vectors, _Room.around(point, schedule.box, schedule.l1)
    found, evaluations = _descend(evaluate, point, pairs, room)
    if found is point and pairs:  # the pairs have become useless: start again from steepest descent
        pairs = ()
        found, more = _descend(evaluate, point, pairs, room)
        evaluations += more
    step, change = found.theta - point.theta, found.gradient - point.gradient
    if step @ change > 1e-12 * np.sqrt((step @ step) * (change @ change)):
        pairs = (*pairs, step, change)[-2 * HISTORY :]
    return found, Memory(vectors=pairs, steps=memory.steps + 1), evaluations


def _descend(
    evaluate: Evaluate[Extra], point: Point[Extra], pairs: tuple[Array, ...], room: _Room[Extra]
) -> tuple[Point[Extra], int]:
    """Search along the quasi-Newton direction, with the entries held that a bound stops at once."""
    seen = room.seen(point)
    pushing = room.pushing(seen)
    free = np.where(pushing, 0.0, seen.gradient)
    direction = -_quasi_newton(free, pairs)
    direction[pushing | room.held(point.theta, direction)] = 0.0
    if not direction @ free < 0.0:
        return point, 0
    first = 1.0 if pairs else min(1.0, 1.0 / float(np.abs(free).sum()))
    return _line_search(evaluate, point, direction, first, room)


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
    evaluate: Evaluate[Extra], point: Point[Extra], direction: Array, first: float, room: _Room[Extra]
) -> tuple[Point[Extra], int]:
    """A step length that lowers the cost enough and is not too short; the same point if there is none.

    Brackets by doubling, then narrows by quadratic interpolation kept away from the ends. The path bends where an entry
    meets a bound; the slope is then that of the entries still moving.
    """
    low, high, length = 0.0, np.inf, first
    uphill = room.seen(point).gradient
    best, slope = point, float(uphill @ direction)
    low_cost, low_slope = point.cost, slope
    for trial in range(1, MAX_TRIALS + 1):
        theta = room.inside(point.theta + length * direction)
        found = evaluate(theta, point)
        descent = float(uphill @ (theta - point.theta))
        if not (descent < 0.0 and found.cost < point.cost and found.cost <= point.cost + ARMIJO * descent):
            high = length
            rise = found.cost - low_cost - low_slope * (length - low)
            guess = 0.5 * -low_slope * (length - low) ** 2 / rise if 0.0 < rise < np.inf else 0.0
            length = low + float(np.clip(guess, 0.1 * (high - low), 0.5 * (high - low)))
            continue
        best = found
        found_slope = float(room.seen(found).gradient @ np.where(room.held(theta, direction), 0.0, direction))
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
