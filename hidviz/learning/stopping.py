"""Stopping: when learning ends, and the sentence that says why.

A run ends when it has converged, when the held-out cost no longer falls, when as many steps are made as were asked for,
or when it diverges; then it goes back to its best step. The paper names no rule; these decide what its figures show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hidviz.learners import Estimate
from hidviz.learning.snapshot import Snapshot, State
from hidviz.network import BLOCKS, Couplings

RUNAWAY = 4.0  # a coupling of this size is far outside every ensemble with fields of order one (MODEL: weak, dense)
RISES, RISE = 10, 0.01  # rises of the cost in a row, and their share of it, that count as divergence


def ended(snapshot: Snapshot, tolerance: float | None, patience: int | None, max_steps: int | None) -> Snapshot:
    """The snapshot with the reason why learning ends here, or as it is to go on; `learn` explains the arguments."""
    best = snapshot.best
    if tolerance is not None and snapshot.steepness <= tolerance:
        return _end(snapshot, "converged", f"Converged: no slope above {tolerance:g} nats per bin.")
    if patience is not None and best is not None and snapshot.step >= best.step + patience:
        reason = f"Stopped: the held-out cost was best at step {best.step}, {best.cost:.5f} nats per bin."
        return _end(snapshot, "finished", reason)
    if max_steps is not None and snapshot.step >= max_steps:
        return _end(snapshot, "finished", f"Finished: {max_steps} steps made.")
    return snapshot


def _end(snapshot: Snapshot, state: State, reason: str) -> Snapshot:
    """The end of a run; a warning about its last step is kept."""
    return replace(snapshot, state=state, message=f"{reason} {snapshot.message}".rstrip())


def diverged(cost: float, lowest: float, rises: int) -> bool:
    """Whether a cost per bin is beyond hope: twice the lowest so far, or rising on and on above it.

    Momentum may raise the cost for a while as it swings through a valley; that alone is no divergence.
    """
    return cost > 1.0 + 2.0 * abs(lowest) or (rises >= RISES and cost > lowest + RISE * (1.0 + abs(lowest)))


def going_back(lowest: Snapshot, rate: float) -> Snapshot:
    """The end of a run that diverged: its best step."""
    message = (
        f"Diverged: the rate {rate:g} is too large. The last good step, {lowest.step}, is kept; "
        "take a smaller rate, or L-BFGS, which needs none."
    )
    return replace(lowest, state="diverged", message=message)


def warning(couplings: Couplings, estimate: Estimate) -> str:
    """A sentence about what a person should know of this step, or nothing."""
    largest = max(float(np.abs(getattr(couplings, name)).max(initial=0.0)) for name in BLOCKS)
    if largest > RUNAWAY:
        return (
            f"Runaway: a coupling has reached {largest:.1f}, where fields of order one need far less. "
            "Stop at the best held-out cost, or set a box or a penalty."
        )
    if estimate.unconverged:
        bins = "1 bin" if estimate.unconverged == 1 else f"{estimate.unconverged:,} bins"
        return (
            f"The E-step lost its fixed point in {bins} (residual {estimate.residual:.1g}). "
            "Set a box or a penalty, or take the gibbs learner."
        )
    return ""
