"""Frames: what a live view sees of a run, each a whole frozen value.

A run is a sequence of Progress while data are made, then of Frames, one a step. A Frame knows its past, so any of them
can be looked at, gone back to, or resumed; and it knows the Experiment that it belongs to, so whoever has a frame has
its knobs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from hidviz.evaluation import cost_per_bin, rms_errors
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.setup import Data, Setup
from hidviz.experiments.trace import Trace
from hidviz.learning import Snapshot, regauge_snapshot
from hidviz.network import Couplings, Gauge, best_gauge


@dataclass(frozen=True, eq=False)
class Frame:
    """One step of a run with all that a view needs: the snapshot, its past, and what it is compared with.

    Args:
        experiment: the knobs of the run.
        data: the true network and what it produced.
        setup: the prepared learner and reference costs.
        snapshot: the step.
        trace: costs and errors at every step so far.
        gauge: the best gauge of the estimate against the truth.
        sampled: costs estimated by importance sampling at some of the steps, each with its standard error: "step",
            "cost" and "cost_error", "held_out" and "held_out_error", those that `Setup.sampler` knows.
    """

    experiment: Experiment
    data: Data
    setup: Setup
    snapshot: Snapshot
    trace: Trace
    gauge: Gauge
    sampled: Trace = field(default_factory=Trace)


def make_frame(
    experiment: Experiment, data: Data, setup: Setup, snapshot: Snapshot, past: Trace, sampled: Trace | None = None
) -> Frame:
    """The frame of a snapshot: scored against the truth, and appended to its past.

    Args:
        experiment: the knobs of the run.
        data: the true network and what it produced.
        setup: the prepared learner and reference costs.
        snapshot: the step.
        past: costs and errors at every step before.
        sampled: costs estimated at steps before; None not to estimate any.
    """
    exact = cost_per_bin(setup.exact, snapshot.couplings)
    row = {"step": float(snapshot.step), "cost": snapshot.cost}
    row |= {} if exact is None else {"exact": exact}
    row |= {} if snapshot.held_out is None else {"held_out": snapshot.held_out}
    row |= _errors(snapshot, data.truth)
    gauge = best_gauge(snapshot.couplings, data.truth)
    sampled = Trace() if sampled is None else _sampled(setup, snapshot, sampled)
    return Frame(experiment, data, setup, snapshot, past.extended(row), gauge, sampled)


def _sampled(setup: Setup, snapshot: Snapshot, past: Trace) -> Trace:
    """The estimated costs, with those of this snapshot if it is its turn."""
    judge, ended = setup.sampler, snapshot.state != "learning"
    if judge is None or snapshot.phase == "M" or not judge.is_due(snapshot.step, ended=ended):
        return past
    return past.extended(judge.row(snapshot.couplings, snapshot.step))


def regauge_frame(frame: Frame, gauge: Gauge) -> Frame:
    """The equivalent frame with hidden units relabelled and flipped: same costs, other errors as found."""
    snapshot = regauge_snapshot(frame.snapshot, gauge, frame.setup.learner.learned)
    row = {name: float(frame.trace[name][-1]) for name in frame.trace.names} | _errors(snapshot, frame.data.truth)
    return replace(
        frame,
        snapshot=snapshot,
        trace=frame.trace.extended(row),
        gauge=best_gauge(snapshot.couplings, frame.data.truth),
    )


def _errors(snapshot: Snapshot, truth: Couplings) -> dict[str, float]:
    return {
        f"{kind}_{block}": error
        for kind, align in (("rms", False), ("aligned", True))
        for block, error in rms_errors(snapshot.couplings, truth, align=align).items()
    }
