"""Learning: one generator that turns a learner, a start and an optimiser into snapshots, one a step.

    for snapshot in learn(learner, start):
        print(snapshot.step, snapshot.cost)

Whoever consumes the generator decides the pace: pausing is not asking for the next snapshot. A snapshot holds all that
is needed to resume from it, so a run is flipped, rewound or resumed by calling `learn` again with another snapshot.

A cost is -objective / n_transitions, in nats per bin. What is minimised is the cost plus penalty/2 · Σ θ²
over all couplings, and Σ l1 |θ| where an L1 penalty is asked for; biases are free. A learned penalty is updated between
two steps, near the optimum at the present weights: see `regularisation`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hidviz.background import keep_freed_memory, on_one_blas_thread
from hidviz.learners import Estimate, Learner
from hidviz.learning.checks import check_settings
from hidviz.learning.l1 import l1_weights
from hidviz.learning.optimisers import OPTIMISERS, Memory, Point, Schedule, largest_gradient
from hidviz.learning.regularisation import Choice, Penalty, changed_pairs, first_penalty, updated
from hidviz.learning.remarks import Remark
from hidviz.learning.scales import with_scales
from hidviz.learning.snapshot import Best, Origin, Snapshot, averaged, better
from hidviz.learning.stopping import Limits, data_warnings, diverged
from hidviz.network import Couplings, largest_field
from hidviz.numerics import Array

FARTHEST = 150.0  # a step to fields beyond this, odds of e**300, is not evaluated: its cost counts as infinite


@on_one_blas_thread
def learn(
    learner: Learner,
    start: Couplings | Snapshot,
    *,
    optimiser: str | None = None,
    rate: float | None = None,
    penalty: float | Literal["learned"] = 0.0,
    l1: float | Couplings = 0.0,
    box: float | None = None,
    held_out: Learner | None = None,
    patience: int | None = None,
    tolerance: float = 1e-6,
    max_steps: int | None = None,
    halves: bool = False,
) -> Generator[Snapshot]:
    """Learn couplings step by step; snapshot 0 is the start, the last one says why learning ended.

    Args:
        learner: a prepared learner.
        start: couplings to start from, or a snapshot to resume from.
        optimiser: a name in OPTIMISERS; "l-bfgs" when left out, "adam" for a stochastic learner.
        rate: step size; the optimiser's own default when left out.
        penalty: weight of the L2 penalty, penalty/2 · Σ θ² over all couplings added to the cost per bin; "learned"
            for a weight in each block of couplings that follows from the data. Biases are free.
        l1: weight of the L1 penalty, l1 · Σ |θ| over all couplings added to the cost per bin, which sets couplings to
            exactly zero; or a weight of each coupling in its place, 0 for those left free. For L-BFGS alone.
        box: largest allowed size of a coupling, or None.
        held_out: the same kind of learner, prepared on data that is not learned from; its cost is reported.
        patience: end when the held-out cost has not fallen for this many steps; None for never.
        tolerance: end when no free entry of the gradient of the cost per bin is larger. The gap to the optimum is
            then about tolerance² · n_parameters / (2 · least curvature), below 1e-6 nats per bin for 1e-6.
        max_steps: end after this many steps; None for no limit (a stochastic learner: 800).
        halves: show every step of a learner with an E-step in two halves: first the couplings moved at the old beliefs
            (`Snapshot.phase` "M"), then the beliefs settled there ("E"), which is the snapshot of the whole step.

    Raises:
        ValueError: an argument is out of range; the message says what must hold.
    """
    keep_freed_memory()
    name = optimiser or ("adam" if learner.stochastic else "l-bfgs")
    if learner.stochastic and max_steps is None:
        max_steps = 800
    check_settings(learner, name, rate, penalty, box, held_out, patience, tolerance, max_steps)
    sizes = l1_weights(l1, learner, name)
    rule = OPTIMISERS[name]
    schedule = Schedule(rule.default_rate if rate is None else rate, box, max_steps or 800)
    limits = Limits(None if learner.stochastic else tolerance, patience, max_steps, box, schedule.rate)
    task = _Task(learner, held_out, penalty, sizes, name, limits, data_warnings(learner))

    snapshot = task.resumed(start) if isinstance(start, Snapshot) else task.first(start)
    if snapshot.settled is not None:
        yield snapshot
        snapshot = snapshot.settled
    while True:
        if snapshot.state == "learning":
            snapshot = with_scales(limits.ended(task.reweighed(snapshot, schedule.horizon)), learner)
        yield snapshot
        if snapshot.state != "learning":
            return
        point, lowest = task.point(snapshot), snapshot.lowest or snapshot
        here = replace(schedule, l1=snapshot.penalty.l1_vector(learner.learned))
        found, memory, evaluations = rule.step(task.evaluate(snapshot), point, snapshot.memory, here)
        if found is point:
            snapshot = task.stuck(snapshot, evaluations)
            continue
        after = task.next(snapshot, found, memory, evaluations) if np.isfinite(found.cost) else None
        if after is None or (not learner.stochastic and diverged(found.cost, task.point(lowest).cost, after.rises)):
            after = limits.going_back(lowest, stochastic=learner.stochastic)
        elif halves and learner.held is not None:
            yield task.halfway(snapshot, after)
        snapshot = after


def with_couplings(snapshot: Snapshot, couplings: Couplings, learner: Learner, held_out: Learner | None) -> Snapshot:
    """The same step of the same run at other couplings, evaluated anew; the optimiser forgets what it knew."""
    fresh = next(learn(learner, couplings, optimiser=snapshot.optimiser, held_out=held_out))
    return replace(
        fresh,
        penalty=snapshot.penalty,
        step=snapshot.step,
        evaluations=snapshot.evaluations + fresh.evaluations,
        state="learning",
        remarks=(),
        best=better(snapshot.best, snapshot.step, fresh.held_out, couplings),
    )


@dataclass(frozen=True)
class _Task:
    """What stays the same throughout one run of `learn`."""

    learner: Learner
    held_out: Learner | None
    penalty: Choice
    l1: Couplings | None
    optimiser: str
    limits: Limits
    of_data: tuple[Remark, ...]

    @property
    def box(self) -> float | None:
        """Largest allowed size of a coupling."""
        return self.limits.box

    def evaluate(self, snapshot: Snapshot) -> Callable[[Array, Point[Estimate]], Point[Estimate]]:
        """The cost, penalised as in a snapshot, as a function of the learned entries; the others are taken from it."""
        frame, penalty = snapshot.couplings, snapshot.penalty
        weights, l1 = self._weights(penalty, frame), self._l1(penalty)
        bound = max(FARTHEST, largest_field(frame))

        def at(theta: Array, near: Point[Estimate]) -> Point[Estimate]:
            if not np.abs(theta).max(initial=0.0) <= bound:
                return replace(near, cost=np.inf)
            couplings = frame.with_vector(theta, self.learner.learned)
            if largest_field(couplings) > bound:
                return replace(near, cost=np.inf)
            return self._point(theta, self.learner(couplings, near.extra.beliefs), weights, l1)

        return at

    def point(self, snapshot: Snapshot) -> Point[Estimate]:
        """The optimiser's view of a snapshot."""
        weights, l1 = self._weights(snapshot.penalty, snapshot.couplings), self._l1(snapshot.penalty)
        return self._point(snapshot.couplings.vector(self.learner.learned), snapshot.estimate, weights, l1)

    def _weights(self, penalty: Penalty, couplings: Couplings) -> Array:
        return penalty.vector(couplings, self.learner.learned)

    def _l1(self, penalty: Penalty) -> Array | None:
        return penalty.l1_vector(self.learner.learned)

    def _point(self, theta: Array, estimate: Estimate, weights: Array, l1: Array | None) -> Point[Estimate]:
        cost = self.learner.per_bin(estimate) + 0.5 * float(theta @ (weights * theta))
        cost += 0.0 if l1 is None else float(l1 @ np.abs(theta))
        gradient = weights * theta - estimate.gradient.vector(self.learner.learned) / self.learner.n_transitions
        return Point(theta, cost if np.isfinite(cost) else np.inf, gradient, estimate)

    def first(self, couplings: Couplings) -> Snapshot:
        """Snapshot 0."""
        couplings = self._inside(couplings)
        penalty, estimate = first_penalty(self.penalty, self.learner, self.l1), self.learner(couplings)
        theta, weights = couplings.vector(self.learner.learned), self._weights(penalty, couplings)
        point = self._point(theta, estimate, weights, self._l1(penalty))
        return self._snapshot(0, 1, couplings, point, Memory(), None, penalty)

    def resumed(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot as this task sees it: itself, unless box, penalty or optimiser were others."""
        if snapshot.settled is not None:
            after = self.resumed(snapshot.settled)
            return snapshot if after is snapshot.settled else after
        if snapshot.state != "learning":
            return snapshot
        if not (self.penalty == "learned" and snapshot.penalty.learned):
            penalty = first_penalty(self.penalty, self.learner, self.l1)
            snapshot = snapshot if penalty == snapshot.penalty else replace(snapshot, penalty=penalty)
        inside = self._inside(snapshot.couplings)
        if inside is not snapshot.couplings:
            point = self.evaluate(snapshot)(inside.vector(self.learner.learned), self.point(snapshot))
            count = snapshot.evaluations + 1
            return self._snapshot(snapshot.step, count, inside, point, Memory(), None, snapshot.penalty)
        gradient = largest_gradient(self.point(snapshot), self.box, self._l1(snapshot.penalty))
        if (gradient, self.optimiser) == (snapshot.largest_gradient, snapshot.optimiser):
            return snapshot
        memory = snapshot.memory if self.optimiser == snapshot.optimiser else Memory()
        return replace(
            snapshot, largest_gradient=gradient, optimiser=self.optimiser, memory=memory, lowest=None, rises=0
        )

    def next(self, before: Snapshot, found: Point[Estimate], memory: Memory, evaluations: int) -> Snapshot:
        """The snapshot after a step of the optimiser."""
        couplings = before.couplings.with_vector(found.theta, self.learner.learned)
        count = before.evaluations + evaluations
        gradient, penalty = before.estimate.gradient, before.penalty
        origin = Origin(before.couplings, gradient, penalty, self.optimiser, self.limits.rate)
        after = self._snapshot(before.step + 1, count, couplings, found, memory, before.best, penalty, origin)
        lowest, cost = before.lowest or before, self.point(before).cost
        if found.cost > self.point(lowest).cost:
            after = replace(after, lowest=lowest, rises=before.rises + 1 if found.cost > cost else 0)
        if self.learner.stochastic and after.step > 0.8 * (self.limits.max_steps or np.inf):
            after = replace(after, average=averaged(before.average, couplings))
        return after

    def reweighed(self, snapshot: Snapshot, horizon: int) -> Snapshot:
        """The snapshot with the weights of a learned penalty updated, if that is due here."""
        sampled = horizon if self.learner.stochastic else None
        due = snapshot.penalty.is_due(snapshot.step, snapshot.largest_gradient, sampled)
        return self._reweighed(snapshot) if due else snapshot

    def _reweighed(self, snapshot: Snapshot) -> Snapshot:
        before = snapshot.penalty
        penalty, evaluations = updated(before, self.learner, snapshot.couplings, snapshot.estimate, snapshot.step)
        memory = snapshot.memory
        if self.optimiser == "l-bfgs":
            change = self._weights(penalty, snapshot.couplings) - self._weights(before, snapshot.couplings)
            memory = replace(memory, vectors=changed_pairs(memory.vectors, change))
        count = snapshot.evaluations + evaluations
        after = replace(snapshot, penalty=penalty, evaluations=count, memory=memory, lowest=None, rises=0)
        return replace(after, largest_gradient=largest_gradient(self.point(after), self.box, self._l1(penalty)))

    def halfway(self, before: Snapshot, after: Snapshot) -> Snapshot:
        """Half of the step between two snapshots: the couplings of the later one, the beliefs of the earlier one."""
        assert self.learner.held is not None
        assert before.estimate.beliefs is not None
        estimate = self.learner.held(after.couplings, before.estimate.beliefs)
        point = self.point(replace(after, estimate=estimate))
        return replace(
            after,
            estimate=estimate,
            cost=self.learner.per_bin(estimate),
            largest_gradient=largest_gradient(point, self.box, self._l1(after.penalty)),
            remarks=(),
            settled=after,
        )

    def stuck(self, before: Snapshot, evaluations: int) -> Snapshot:
        """The snapshot after a step that found nothing better: the last one, unless the penalty has more to learn."""
        last = replace(before, step=before.step + 1, evaluations=before.evaluations + evaluations)
        if last.penalty.learned and not last.penalty.settled:
            other = self._reweighed(last)
            if other.penalty.weights != last.penalty.weights:
                return replace(other, memory=Memory())
        return self.limits.stuck(last, has_e_step=self.learner.held is not None)

    def _inside(self, couplings: Couplings) -> Couplings:
        """The couplings, moved into the box if they are not."""
        theta = couplings.vector(self.learner.learned)
        if self.box is None or np.abs(theta).max(initial=0.0) <= self.box:
            return couplings
        return couplings.with_vector(np.clip(theta, -self.box, self.box), self.learner.learned)

    def _snapshot(
        self,
        step: int,
        evaluations: int,
        couplings: Couplings,
        point: Point[Estimate],
        memory: Memory,
        best: Best | None,
        penalty: Penalty,
        origin: Origin | None = None,
    ) -> Snapshot:
        held_out = None if self.held_out is None else self.held_out.per_bin(self.held_out(couplings))
        return Snapshot(
            step=step,
            evaluations=evaluations,
            couplings=couplings,
            estimate=point.extra,
            cost=self.learner.per_bin(point.extra),
            largest_gradient=largest_gradient(point, self.box, self._l1(penalty)),
            held_out=held_out,
            best=better(best, step, held_out, couplings),
            memory=memory,
            optimiser=self.optimiser,
            penalty=penalty,
            origin=origin,
            remarks=(*self.limits.warnings(couplings, point.extra), *self.of_data),
        )
