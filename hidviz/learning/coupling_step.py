"""One coupling in one step of learning, in numbers: before + change = after, and the slope that it followed.

Gradient ascent adds rate × slope, unless a bound stops it; other optimisers choose the change from more than the slope
of this one coupling.
"""

from __future__ import annotations

from typing import NamedTuple

from hidviz.learning.snapshot import Snapshot
from hidviz.network import Gauge, regauge


class CouplingStep(NamedTuple):
    """What one step did to one coupling; slopes in nats per bin.

    Args:
        before: the coupling before the step.
        after: the coupling after it.
        data_slope: derivative of the objective per bin before the step.
        shrinkage: what an L2 penalty takes from that slope.
        next_slope: derivative of the objective per bin after the step, at the beliefs of that snapshot.
        optimiser: that made the step.
        rate: of the optimiser.
    """

    before: float
    after: float
    data_slope: float
    shrinkage: float
    next_slope: float
    optimiser: str
    rate: float

    @property
    def change(self) -> float:
        """What was added."""
        return self.after - self.before

    @property
    def slope(self) -> float:
        """The slope that was followed, of the objective per bin less the penalty."""
        return self.data_slope - self.shrinkage


def coupling_step(
    snapshot: Snapshot, n_transitions: int, block: str, row: int, column: int, gauge: Gauge | None = None
) -> CouplingStep | None:
    """What the step that led to a snapshot did to one coupling; None if none was made.

    Args:
        snapshot: after the step.
        n_transitions: of the learner.
        block: of the coupling.
        row: its receiver.
        column: its sender.
        gauge: under which hidden units are labelled and all numbers told; the snapshot's own if left out.
    """
    origin = snapshot.origin
    if origin is None:
        return None
    before, after, gradient, following = (
        float(getattr(each if gauge is None else regauge(each, gauge), block)[row, column])
        for each in (origin.couplings, snapshot.couplings, origin.gradient, snapshot.estimate.gradient)
    )
    return CouplingStep(
        before=before,
        after=after,
        data_slope=gradient / n_transitions,
        shrinkage=origin.penalty.weights.get(block, 0.0) * before,
        next_slope=following / n_transitions,
        optimiser=origin.optimiser,
        rate=origin.rate,
    )
