"""Stopping: when learning ends and why, and what a user should know on the way.

A run ends when it has converged, when the held-out cost no longer falls, when as many steps are made as were asked for,
when no lower cost is found, or when it diverges; then it goes back to its best step. The tolerance alone decides
whether it has converged. The paper names no rule; these decide what its figures show.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from hidviz.learners import Estimate, Learner
from hidviz.learning.remarks import Cure, Remark, State
from hidviz.learning.snapshot import Snapshot
from hidviz.network import BLOCKS, Couplings

RUNAWAY = 4.0  # a coupling of this size is far outside every ensemble with fields of order one (MODEL: weak, dense)
RISES, RISE = 10, 0.01  # rises of the cost in a row, and their share of it, that count as divergence
FEW = 10.0  # observed states for each parameter, below which a fit is mostly noise
LISTED = 5  # units that a sentence names one by one
WIDE, NARROW = 2.0, 0.7  # boxes: well beyond couplings of order one; where the E-step keeps its fixed point


@dataclass(frozen=True)
class Limits:
    """What decides when a run ends; `learn` explains each.

    Args:
        tolerance: largest free entry of the gradient at which a run has converged; None for a stochastic learner.
        patience: steps without a lower held-out cost; None for never.
        max_steps: most steps; None for no limit.
        box: largest allowed size of a coupling; None for no box.
        rate: step size.
    """

    tolerance: float | None
    patience: int | None
    max_steps: int | None
    box: float | None
    rate: float

    def ended(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot with the reason why learning ends here, or as it is to go on."""
        best, patience = snapshot.best, self.patience
        settled = snapshot.penalty.settled
        if self.tolerance is not None and settled and snapshot.largest_gradient <= self.tolerance:
            sentence = f"Converged: largest gradient below {self.tolerance:g} nats per bin."
            return _end(snapshot, "converged", Remark("converged", sentence))
        since = snapshot.penalty.since  # only at its last weights is it known where a learned penalty leads
        if patience is not None and best is not None and settled and snapshot.step >= max(best.step, since) + patience:
            sentence = f"Stopped: the held-out cost was best at step {best.step}, {best.cost:.5f} nats per bin."
            more = Cure("Learn on to convergence", {"patience": None})
            return _end(snapshot, "finished", Remark("stopped", sentence, more))
        if self.max_steps is not None and snapshot.step >= self.max_steps:
            sentence = f"Finished: {self.max_steps} steps made."
            knobs = {"max_steps": 2 * max(self.max_steps, 1)}
            longer = None if self.tolerance is None else Cure("Allow twice as many steps", knobs)
            return _end(snapshot, "finished", Remark("finished", sentence, longer))
        return snapshot

    def stuck(self, snapshot: Snapshot, *, has_e_step: bool) -> Snapshot:
        """The end of a run whose last step found no lower cost, although the gradient is above the tolerance.

        Args:
            snapshot: the last step.
            has_e_step: whether the learner settles beliefs, so that its objective may jump.
        """
        gradient = snapshot.largest_gradient
        sentence = f"Stuck at gradient {gradient:.2g} nats per bin: no lower cost was found along it"
        if has_e_step:
            sentence += ". The E-step may jump between solutions here, or lose them: set a box or a penalty, or stop "
            sentence += "at the best held-out cost."
            return _end(snapshot, "stuck", Remark("stuck", sentence, _box(NARROW, self.box)))
        sentence += f", within rounding error. The tolerance of {self.tolerance:g} may be finer than that."
        return _end(snapshot, "stuck", Remark("stuck", sentence))

    def going_back(self, lowest: Snapshot, *, stochastic: bool) -> Snapshot:
        """The end of a run that diverged: its best step."""
        sentence = f"Diverged: the rate {self.rate:g} is too large. The last good step, {lowest.step}, is kept; take a "
        if stochastic:
            remark = Remark("diverged", f"{sentence}smaller rate.", Cure("Use a tenth", {"rate": 0.1 * self.rate}))
        else:
            cure = Cure("Use L-BFGS", {"optimiser": "l-bfgs", "rate": None})
            remark = Remark("diverged", f"{sentence}smaller rate, or L-BFGS, which needs none.", cure)
        return replace(lowest, state="diverged", remarks=(remark,))

    def warnings(self, couplings: Couplings, estimate: Estimate) -> Iterator[Remark]:
        """What a user should know of one step."""
        largest = max(float(np.abs(getattr(couplings, name)).max(initial=0.0)) for name in BLOCKS)
        if largest > RUNAWAY:
            sentence = (
                f"Runaway: a coupling has reached {largest:.1f}, where fields of order one need far less. "
                "Stop at the best held-out cost, or set a box or a penalty."
            )
            yield Remark("runaway", sentence, _box(WIDE, self.box))
        if estimate.unconverged:
            bins = "1 bin" if estimate.unconverged == 1 else f"{estimate.unconverged:,} bins"
            sentence = (
                f"The E-step lost its fixed point in {bins} (residual {estimate.residual:.1g}). "
                "Set a box or a penalty, or use Monte Carlo EM."
            )
            yield Remark(
                "lost e-step", sentence, _box(NARROW, self.box) or Cure("Use Monte Carlo EM", {"learner": "gibbs"})
            )


def data_warnings(learner: Learner) -> tuple[Remark, ...]:
    """What a user should know of the data before anything is learned from them, and after."""
    found = []
    n_states, n_parameters = learner.n_transitions * learner.n_visible, learner.n_parameters
    if n_states < FEW * n_parameters:
        sentence = f"Few data: {n_states:,} observed states for {n_parameters:,} parameters, so that the couplings are "
        sentence += "mostly noise. Record longer, or set a penalty."
        found.append(Remark("few data", sentence, Cure("Set a penalty of 0.01", {"penalty": 0.01})))
    if units := learner.unchanging:
        found.append(Remark("unchanging units", _unchanging(units, learner.n_visible)))
    return tuple(found)


def _unchanging(units: tuple[int, ...], n_visible: int) -> str:
    if len(units) == n_visible:
        return "No unit ever changes in these data, so nothing can be learned from them."
    which = ", ".join(str(unit + 1) for unit in units[:LISTED]) + (" …" if len(units) > LISTED else "")
    what = f"Visible unit {which} never changes" if len(units) == 1 else f"{len(units)} units ({which}) never change"
    return f"{what}: no finite couplings fit that best. Leave such units out, or set a penalty."


def _box(size: float, present: float | None) -> Cure | None:
    """A box of this size, unless there is one as small already."""
    return Cure(f"Set a box of {size:g}", {"box": size}) if present is None or present > size else None


def _end(snapshot: Snapshot, state: State, reason: Remark) -> Snapshot:
    """The end of a run; warnings about its last step are kept."""
    return replace(snapshot, state=state, remarks=(reason, *snapshot.remarks))


def diverged(cost: float, lowest: float, rises: int) -> bool:
    """Whether a cost per bin is beyond hope: twice the lowest so far, or rising on and on above it.

    Momentum may raise the cost for a while as it swings through a valley; that alone is no divergence.
    """
    return cost > 1.0 + 2.0 * abs(lowest) or (rises >= RISES and cost > lowest + RISE * (1.0 + abs(lowest)))
