"""Snapshot: everything about one step of learning, enough to resume from, to flip, and to look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from hidviz.learners import Estimate, regauge_beliefs
from hidviz.learning.optimisers import Memory
from hidviz.learning.regularisation import Penalty
from hidviz.learning.remarks import Remark, State
from hidviz.network import Couplings, Gauge, regauge
from hidviz.numerics import Array


@dataclass(frozen=True, eq=False)
class Best:
    """The step with the lowest held-out cost so far.

    Args:
        step: its number.
        cost: its held-out cost, nats per bin.
        couplings: its couplings.
    """

    step: int
    cost: float
    couplings: Couplings


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a step came from, to tell how it was made; it shares its arrays with the snapshot before.

    Args:
        couplings: before the step.
        gradient: of the learner's objective there, summed over all transitions.
        penalty: in force during the step.
        optimiser: that made it.
        rate: its step size, whether it uses one or not.
    """

    couplings: Couplings
    gradient: Couplings
    penalty: Penalty
    optimiser: str
    rate: float

    def regauged(self, gauge: Gauge) -> Origin:
        """The same after hidden units were relabelled and flipped."""
        return replace(
            self,
            couplings=regauge(self.couplings, gauge),
            gradient=regauge(self.gradient, gauge),
            penalty=self.penalty.regauged(gauge),
        )


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything about one step of learning; enough to resume from.

    Args:
        step: number of steps made since the start; snapshot 0 is the start.
        evaluations: how often the learner was called so far.
        couplings: the estimate.
        estimate: what the learner says about it.
        cost: training cost, nats per bin, without the penalty.
        largest_gradient: infinity norm of the projected gradient of the penalised cost per bin: the largest entry that
            the box leaves free.
        held_out: cost on held-out data, nats per bin; None without such data.
        best: the best held-out step so far; None without held-out data.
        memory: what the optimiser remembers.
        optimiser: whose memory that is.
        penalty: the weight of the L2 penalty in each block, how many of its couplings the data determine, and the
            weights of an L1 penalty.
        state: "learning"; "converged" (largest gradient below the tolerance); "stuck" (it is not, and no lower cost is
            found); "diverged" (this is the last good step); "finished" (as many steps as asked for, or held-out cost no
            longer falling).
        remarks: why learning ended, if it has, then what a user should know of this step and of the data.
        average: running mean of the couplings over the last fifth of a stochastic run, and its number of steps.
        lowest: the snapshot of the lowest penalised cost so far; None if this is the one.
        rises: how many steps in a row have raised the penalised cost.
        settled: of a half step, in which the couplings have moved and the beliefs not yet, the whole step that it
            becomes once the beliefs have settled; None for a whole step.
        origin: where the step came from; None where none was made: at a start, or couplings that were put in.
    """

    step: int
    evaluations: int
    couplings: Couplings
    estimate: Estimate
    cost: float
    largest_gradient: float
    held_out: float | None
    best: Best | None
    memory: Memory
    optimiser: str
    penalty: Penalty
    state: State = "learning"
    remarks: tuple[Remark, ...] = ()
    average: tuple[Couplings, int] | None = None
    lowest: Snapshot | None = None
    rises: int = 0
    settled: Snapshot | None = None
    origin: Origin | None = None

    @property
    def message(self) -> str:
        """The sentences of all remarks; empty while all is well."""
        return " ".join(remark.sentence for remark in self.remarks)

    @property
    def phase(self) -> Literal["E", "M"]:
        """What was done last: "M" after half a step, couplings moved at fixed beliefs; "E" once beliefs settled."""
        return "E" if self.settled is None else "M"


def regauge_snapshot(snapshot: Snapshot, gauge: Gauge, learned: tuple[str, ...]) -> Snapshot:
    """The equivalent snapshot with hidden units relabelled and flipped, in couplings, beliefs and memory alike.

    Args:
        snapshot: any snapshot.
        gauge: for as many hidden units as the estimate has.
        learned: the blocks that the optimiser's vectors cover, `Learner.learned`.
    """
    couplings, estimate = snapshot.couplings, snapshot.estimate

    def move(vector: Array) -> Array:
        return regauge(couplings.with_vector(vector, learned), gauge).vector(learned)

    beliefs = estimate.beliefs and regauge_beliefs(estimate.beliefs, gauge)
    return replace(
        snapshot,
        couplings=regauge(couplings, gauge),
        estimate=replace(estimate, gradient=regauge(estimate.gradient, gauge), beliefs=beliefs),
        best=snapshot.best and replace(snapshot.best, couplings=regauge(snapshot.best.couplings, gauge)),
        memory=snapshot.memory.moved(move),
        penalty=snapshot.penalty.regauged(gauge),
        average=snapshot.average and (regauge(snapshot.average[0], gauge), snapshot.average[1]),
        lowest=snapshot.lowest and regauge_snapshot(snapshot.lowest, gauge, learned),
        settled=snapshot.settled and regauge_snapshot(snapshot.settled, gauge, learned),
        origin=snapshot.origin and snapshot.origin.regauged(gauge),
    )


def result(snapshot: Snapshot) -> Couplings:
    """The couplings to report: best on held-out data, else the average of a stochastic run, else the current ones."""
    if snapshot.best is not None:
        return snapshot.best.couplings
    return snapshot.average[0] if snapshot.average is not None else snapshot.couplings


def better(best: Best | None, step: int, held_out: float | None, couplings: Couplings) -> Best | None:
    """The best held-out step so far, once this one is known too."""
    if held_out is None or (best is not None and best.cost <= held_out):
        return best
    return Best(step, held_out, couplings)


def averaged(before: tuple[Couplings, int] | None, couplings: Couplings) -> tuple[Couplings, int]:
    """A running mean of couplings and its number of steps, with one more."""
    if before is None:
        return couplings, 1
    mean, n = before
    return couplings.with_vector((n * mean.vector() + couplings.vector()) / (n + 1)), n + 1
