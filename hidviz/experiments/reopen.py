"""Reopening: a run out of its bundle, standing where it stood; and the finished runs that ship with hidviz.

`python -m hidviz.experiments.reopen` makes the shipped runs anew; recomputing confirms them.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from hidviz.background import on_one_blas_thread, return_value
from hidviz.experiments.bundle import Bundle, load_bundle, save_bundle
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame, make_frame
from hidviz.experiments.progress import Progress
from hidviz.experiments.run import iter_resumed, iter_run
from hidviz.experiments.setup import Data, Setup, with_baselines
from hidviz.experiments.trace import Trace
from hidviz.learning import learn

PACKAGED = Path(__file__).parents[1] / "assets"
ASSETS = PACKAGED if PACKAGED.is_dir() else Path(__file__).parents[2] / "assets"
"""The folder of what ships with hidviz."""


@on_one_blas_thread
def iter_reopened(bundle: Bundle) -> Generator[Progress | Frame]:
    """Make the data again, stand where the run stood, and resume there.

    What the optimiser remembered is not in a bundle, so this is a continuation, not the one that would have been.

    Yields:
        Progress while data are made, then the newest frame of the run, then the frames that follow it.

    Raises:
        ValueError: the trace has other columns than a run with these knobs.
        Infeasible: the learner would take too long.
    """
    data = yield from bundle.experiment.simulate()
    yield Progress("Preparing the learner", 1.0)
    frame = _standing(bundle, data, bundle.experiment.prepare(data))
    yield from iter_resumed(frame)


@lru_cache(maxsize=4)
def shipped_frame(name: str) -> Frame:
    """The last frame of a shipped run, with its data simulated again; shared by all sessions, since it is immutable.

    Raises:
        FileNotFoundError: no such run is shipped.
    """
    bundle = load_bundle(ASSETS / f"{name}.zip")
    experiment = bundle.experiment
    data = return_value(experiment.simulate())
    return ended_frame(bundle, data, with_baselines(data, experiment.prepare(data), bias=experiment.bias > 0.0))


def ended_frame(bundle: Bundle, data: Data, setup: Setup) -> Frame:
    """The last frame of a run that had come to its end when it was saved.

    Args:
        bundle: the run.
        data: its data.
        setup: its learner on them.
    """
    frame = _standing(bundle, data, setup)
    ended = next(learn(setup.learner, frame.snapshot, **bundle.experiment.learn_options(setup.held_out)))
    return replace(frame, snapshot=replace(ended, evaluations=bundle.ending.evaluations))


def ship(name: str, experiment: Experiment) -> Path:
    """Run an experiment to its end and store the last frame among the assets."""
    frame = [item for item in iter_run(experiment) if isinstance(item, Frame)][-1]
    path = ASSETS / f"{name}.zip"
    save_bundle(path, frame)
    return path


def _standing(bundle: Bundle, data: Data, setup: Setup) -> Frame:
    """The frame of a run at its last step, not ended."""
    experiment, couplings, trace, _ = bundle
    endless = {"patience": None, "max_steps": None}  # whether it has ended here, the run that follows will say
    snapshot = next(learn(setup.learner, couplings, **experiment.learn_options(setup.held_out) | endless))
    step = int(trace["step"][-1])
    best = snapshot.best and replace(snapshot.best, step=step)  # of those whose couplings are known here
    frame = make_frame(experiment, data, setup, replace(snapshot, step=step, best=best), Trace())
    if set(frame.trace.names) != set(trace.names):
        raise ValueError(
            f"A run with these knobs records {', '.join(frame.trace.names)}, this one {', '.join(trace.names)}."
        )
    return replace(frame, trace=trace)


if __name__ == "__main__":
    print(ship("fig3", Experiment()))
