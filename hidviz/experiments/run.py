"""A run as a live view sees it: Progress while data are made, then Frames, one a step.

    iter_run(experiment)            from the start
    iter_resumed(frame)             on from any frame of any run
    iter_edited(frame, couplings)   on from there with other couplings in the place of those found

A Frame carries its Experiment, so none of these can go on with the knobs of another run. Knobs that apply in the middle
of a run (`LIVE`) are changed on a frame, by `with_knobs`; for all others a run must begin anew.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np

from hidviz.background import on_one_blas_thread
from hidviz.experiments.experiment import LIVE, Experiment
from hidviz.experiments.frame import Frame, make_frame
from hidviz.experiments.progress import Progress
from hidviz.experiments.setup import AFFORDABLE, Data, Setup, seconds_to_baselines, with_baselines
from hidviz.experiments.trace import Trace
from hidviz.learning import Snapshot, learn, with_couplings
from hidviz.network import Couplings

UNDER_WAY = 10  # steps, after which baselines that are costly to find may keep a run waiting


@on_one_blas_thread
def iter_run(experiment: Experiment, data: Data | None = None) -> Generator[Progress | Frame]:
    """A run from its start.

    Args:
        experiment: the knobs.
        data: data to learn from, if there are any with the same `data_key`; simulated otherwise.

    Yields:
        Progress while data are made, then a Frame for every step.

    Raises:
        Infeasible: the learner would take too long; the message gives the number and an alternative.
    """
    if data is None:
        data = yield from experiment.simulate()
    yield Progress("Preparing the learner", 1.0)
    yield from iter_resumed(first_frame(experiment, data, experiment.prepare(data)))


def first_frame(experiment: Experiment, data: Data, setup: Setup) -> Frame:
    """Step 0 of a run."""
    return _frame_at(experiment, data, setup, experiment.starting_point(data.truth), Trace(), Trace())


@on_one_blas_thread
def iter_resumed(frame: Frame, *, halves: bool = False) -> Generator[Progress | Frame]:
    """A run from one of its frames on.

    Args:
        frame: to resume from; it comes first, as it is unless its knobs have changed since.
        halves: show every step of a learner with an E-step in two halves, as `learn` does. The row of a half step is
            the last of its trace; the row of the whole step takes its place.

    Yields:
        That frame and those that follow it, with Progress where something else keeps them waiting.
    """
    experiment, data, setup, sampled = frame.experiment, frame.data, frame.setup, frame.sampled
    trace = _past_of(frame)
    options = experiment.learn_options(setup.held_out)
    for snapshot in learn(setup.learner, frame.snapshot, **options, halves=halves):
        seen = snapshot is frame.snapshot
        if not seen and len(trace) and trace["step"][-1] == snapshot.step:
            trace = trace.shortened()  # the same step, seen with other knobs or at its end: one row
        shown = frame if seen else make_frame(experiment, data, setup, snapshot, trace, sampled)
        trace, sampled = shown.trace if snapshot.phase == "E" else trace, shown.sampled
        yield shown
        wait = seconds_to_baselines(data, setup)
        if wait <= AFFORDABLE or (wait < np.inf and snapshot.step >= UNDER_WAY):
            if wait > AFFORDABLE:
                yield Progress("Learning without hidden units, to compare", 0.0)
            setup = with_baselines(data, setup, bias=experiment.bias > 0.0)


@on_one_blas_thread
def iter_edited(frame: Frame, couplings: Couplings) -> Generator[Progress | Frame]:
    """A run from one of its frames on, with other couplings there; the step and its past stay.

    Args:
        frame: the frame.
        couplings: to put in the place of its own.

    Yields:
        The frame at those couplings, a row of its own in the trace, and those that follow it.
    """
    snapshot = with_couplings(frame.snapshot, couplings, frame.setup.learner, frame.setup.held_out)
    past = _past_of(frame)
    yield from iter_resumed(_frame_at(frame.experiment, frame.data, frame.setup, snapshot, past, frame.sampled))


def with_knobs(frame: Frame, **knobs: Any) -> Frame:
    """The same step of a run that goes on with other knobs, even if it had ended with those it has.

    Args:
        frame: the frame.
        **knobs: fields of its Experiment, of those that apply in the middle of a run.

    Raises:
        ValueError: one of them does not, or is out of range.
    """
    if other := sorted(knobs.keys() - LIVE):
        raise ValueError(f"Only {', '.join(sorted(LIVE))} can change within a run, got {', '.join(other)}.")
    snapshot = replace(frame.snapshot, state="learning", remarks=())
    return replace(frame, experiment=replace(frame.experiment, **knobs), snapshot=snapshot)


def _frame_at(
    experiment: Experiment, data: Data, setup: Setup, start: Couplings | Snapshot, past: Trace, sampled: Trace
) -> Frame:
    """The frame of the first snapshot that learning from here makes."""
    snapshot = next(learn(setup.learner, start, **experiment.learn_options(setup.held_out)))
    return make_frame(experiment, data, setup, snapshot, past, sampled)


def _past_of(frame: Frame) -> Trace:
    """The trace of whole steps up to a frame."""
    return frame.trace.shortened() if frame.snapshot.phase == "M" else frame.trace
