"""Session: what one person is doing, without a single widget.

It owns a Runner, the experiment under way and the newest Frame, and turns every press of a button into a new course:
a flip, a rewind, an undo are all "go on from that frame". Frames are immutable, so nothing done here can lose one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

from hidviz.background import Runner
from hidviz.evaluation import flip_half
from hidviz.experiments import Bundle, Data, Experiment, Frame, Progress, regauged_frame, reopened
from hidviz.learners import LEARNERS, Infeasible
from hidviz.network import Couplings, Gauge, flip, swap
from hidviz.ui.state.undo import History

LARGEST_BY_HAND = 100.0

AT_ONCE = frozenset({"optimiser", "rate", "penalty", "box", "patience", "max_steps"})
"""Knobs that act on the run under way; all others start learning again, or make new data."""


class Session:
    """One person's run, and what was done to it.

    Args:
        experiment: the knobs to begin with.
        frame: a finished run of that experiment to show first; None to prepare step 0 instead.
    """

    def __init__(self, experiment: Experiment, frame: Frame | None = None) -> None:
        self._runner: Runner[Progress | Frame] = Runner(counts=lambda item: isinstance(item, Frame))
        self.course_number = 0  # grows with every fresh course: new axes, new scales
        self.halves = False  # whether the course shows each step in its two halves
        self._going = False  # whether a person wants it to go on by itself
        self._fresh = False  # whether a course was begun of which nothing has been seen yet
        self.reset(experiment, frame)

    def reset(self, experiment: Experiment, frame: Frame | None = None) -> None:
        """Begin as a new session does: with these knobs, this run, and nothing to undo."""
        self._runner.stop()
        self._seen = self._runner.version
        self.experiment = experiment
        self.frame = frame
        self.progress: Progress | None = None
        self.problem = ""
        self.infeasible = False
        self.event = ""  # the last thing a person did or should know, as a sentence
        self.course_number += 1
        self._going = self._fresh = self.halves = False
        self._world: Data | None = frame.data if frame else None
        self._world_key = experiment.data_key if frame else None
        self._history: History[tuple[Experiment, Frame]] = History()
        self._edit_cost: float | None = None  # cost before an edit whose effect has not been seen yet
        if frame is None:
            self._begin(going=False)

    # What is the case

    @property
    def running(self) -> bool:
        """Whether the run goes on by itself: a single step or a flip under way does not count."""
        return self._going and self._runner.running

    @property
    def finished(self) -> bool:
        """Whether the run shown has come to its end."""
        return self.frame is not None and self.frame.snapshot.state != "learning"

    @property
    def data(self) -> Data | None:
        """Truth and data, if those shown belong to the present knobs."""
        return self._world if self.frame is not None and not self._stale else None

    @property
    def steps_per_second(self) -> float:
        """Frames per second of the worker."""
        return self._runner.items_per_second

    @property
    def n_undo(self) -> tuple[int, int]:
        """How many operations can be undone and redone."""
        return len(self._history.past), len(self._history.future)

    def poll(self) -> bool:
        """Take in what the worker has published; whether anything changed since the last call."""
        version = self._runner.version
        if version == self._seen:
            return False
        self._seen = version
        item = self._runner.latest
        if isinstance(item, Frame):
            self.progress = None
            self._take(item)
        elif item is not None:
            self.progress = item
        if failure := self._runner.failure:
            self.progress = None
            self.infeasible = isinstance(failure, Infeasible)
            self.problem = str(failure) or repr(failure)
        return True

    def _take(self, frame: Frame) -> None:
        before = self.frame.snapshot.state if self.frame else "learning"
        self.frame, self._fresh = frame, False
        if self._edit_cost is not None:
            self.event += f": the cost changed by {frame.snapshot.cost - self._edit_cost:+.4f} nats per bin."
            self._edit_cost = None
        self._world, self._world_key = frame.data, self.experiment.data_key
        if frame.snapshot.state != "learning" and before == "learning":
            self.event = frame.snapshot.message

    # What a person can do

    def run(self) -> None:
        """Go on; at the end of a run, start it again."""
        if self._preparing:
            self._going = True
            self._runner.resume()
        elif self.finished or self.frame is None or self._stale:
            self._begin(going=True)
        elif self._runner.ended or self.halves:
            self._continue(self.frame, going=True)
        else:
            self._going = True
            self._runner.resume()
        self.event = "Running."

    def pause(self) -> None:
        """Stop producing frames, and keep everything."""
        self._going = False
        self._runner.pause()
        self.event = f"Paused at step {self._step}."

    def step(self) -> None:
        """Make one step, then pause."""
        if self._preparing and self._runner.running and not self._going:
            self._runner.step()
        elif self._preparing or self.frame is None or self._stale:
            self._begin(going=False, steps=2)  # step 0 comes first
        elif self.finished:
            self.event = "This run has ended: rewind it, or take a new start."
        elif self._runner.ended or self.halves:
            self._continue(self.frame, going=False, steps=2)  # the frame itself comes first
        else:
            self._going = False
            self._runner.step()
            self.event = f"One step from step {self._step}."

    def half_step(self) -> None:
        """Make half a step, then pause: the couplings move at fixed beliefs (M), or the beliefs settle (E).

        A learner without an E-step makes a whole one.
        """
        frame = self.frame
        if (
            self._preparing
            or frame is None
            or self._stale
            or self.finished
            or not LEARNERS[self.experiment.learner].phases
        ):
            self.step()
            return
        if self.halves and not self._runner.ended:
            self._runner.step()
        else:
            self._continue(frame, going=False, steps=2, halves=True)
        moves = (
            "M-step: the couplings move, the beliefs stay" if frame.snapshot.phase == "E" else "E-step: beliefs settle"
        )
        self.event = f"{moves}."

    def run_to(self, step: int) -> None:
        """Learn from the start up to this step, then pause."""
        self._begin(going=False, steps=step + 1)

    def rewind(self) -> None:
        """Back to the same start on the same data, paused."""
        self._begin(going=False)
        self.event = "Rewound to the same start on the same data."

    def new_start(self) -> None:
        """Another random start on the same data, running."""
        self.experiment = replace(self.experiment, start_index=self.experiment.start_index + 1)
        self._begin(going=True)
        self.event = f"New start, number {self.experiment.start_index}, on the same data."

    def new_data(self) -> None:
        """Another seed: new true couplings, new data, running."""
        self.experiment = replace(self.experiment, seed=self.experiment.seed + 1)
        self._begin(going=True)
        self.event = f"New true network and new data from seed {self.experiment.seed}."

    def change(self, **knobs: Any) -> None:
        """Turn knobs. What can act at once does; otherwise learning begins again, on new data where needed.

        Raises:
            ValueError: a knob is out of range; nothing has changed then.
        """
        self.adopt(replace(self.experiment, **knobs))

    def adopt(self, experiment: Experiment) -> None:
        """Take over all knobs of another experiment, as `change` does."""
        before, self.experiment = self.experiment, experiment
        if experiment == before:
            return
        changed = {name for name in vars(experiment) if getattr(experiment, name) != getattr(before, name)}
        going = self.running
        if changed <= AT_ONCE and self.frame is not None and not self._stale:
            snapshot = replace(self.frame.snapshot, state="learning", message="")
            self._continue(replace(self.frame, snapshot=snapshot), going=going)
        else:
            self._begin(going=going)

    def flip(self, unit: int) -> None:
        """Flip the sign of a hidden unit, counted from 0, paused or running."""
        if self._has_unit(unit):
            self._regauge(flip(self._n_hidden, unit))
            self.event = f"Hidden unit {unit + 1} flipped: the cost stays, the couplings change sign."

    def swap(self, first: int, second: int) -> None:
        """Exchange two hidden units, counted from 0, paused or running."""
        if self._has_unit(first) and self._has_unit(second) and first != second:
            self._regauge(swap(self._n_hidden, first, second))
            self.event = f"Hidden units {first + 1} and {second + 1} swapped: the cost stays."

    def apply(self, gauge: Gauge, event: str) -> None:
        """Go to an equivalent model."""
        if len(gauge.order) == self._n_hidden:
            self._regauge(gauge)
            self.event = event

    def edit(self, couplings: Couplings, event: str) -> None:
        """Put other couplings in the place of the estimate, and go on from there."""
        if self.frame is None:
            return
        before = self.frame
        self._remember()
        self._edit_cost = before.snapshot.cost
        self.event = event
        self._start(self.experiment.course(since=before, edited=couplings), self.running)

    def break_flip(self, unit: int, block: Literal["K", "L"]) -> None:
        """Flip only one of the two blocks of a hidden unit, counted from 0: not a symmetry, and the cost shows it."""
        if self.frame is not None and self._has_unit(unit):
            self.edit(
                flip_half(self.frame.snapshot.couplings, unit, block),
                f"Only {block} of hidden unit {unit + 1} flipped, which is not a symmetry",
            )

    def set_coupling(self, block: str, row: int, column: int, value: float) -> None:
        """Set one coupling of the estimate by hand.

        Raises:
            ValueError: the value is not a finite number of reasonable size.
        """
        if self.frame is None:
            return
        if not abs(value) <= LARGEST_BY_HAND:
            raise ValueError(f"A coupling set by hand must lie between ±{LARGEST_BY_HAND:g}, got {value}.")
        couplings = self.frame.snapshot.couplings
        changed = getattr(couplings, block).copy()
        changed[row, column] = value
        self.edit(replace(couplings, **{block: changed}), f"{block} {row + 1}, {column + 1} set to {value:g}")

    def load(self, experiment: Experiment, frame: Frame) -> None:
        """Take over a run that was made elsewhere: its knobs and its frame, which can be undone."""
        if self.frame is not None:
            self._remember()
        self.experiment = experiment
        self.course_number += 1
        self._world, self._world_key = frame.data, experiment.data_key
        self._continue(frame, going=False)
        self.event = f"Loaded the run from start {experiment.start_index}, at step {frame.snapshot.step}."

    def open(self, bundle: Bundle) -> None:
        """Go on from a run that was kept in a file; its data are simulated again."""
        self.experiment = bundle.experiment
        self._history = History()
        self.course_number += 1
        self._start(reopened(bundle), going=False)
        self.event = "Opened a run from a file."

    def undo(self) -> None:
        """Take back the last operation on the estimate, bit for bit."""
        if self.frame is None or not self._history.past:
            self.event = "There is nothing to take back."
        else:
            self._travel(self._history.undone((self.experiment, self.frame)), "Undone.")

    def redo(self) -> None:
        """Do again what was undone, bit for bit."""
        if self.frame is None or not self._history.future:
            self.event = "There is nothing to do again."
        else:
            self._travel(self._history.redone((self.experiment, self.frame)), "Done again.")

    def close(self) -> None:
        """Give everything up; the worker ends at its next checkpoint."""
        self._runner.stop()

    # How it is done

    @property
    def _step(self) -> int:
        return self.frame.snapshot.step if self.frame else 0

    @property
    def _n_hidden(self) -> int:
        return self.frame.snapshot.couplings.n_hidden if self.frame else 0

    @property
    def _preparing(self) -> bool:
        """Whether step 0 of a new course is under way, so that what is shown is not what a press is meant for."""
        return self._fresh and not self._runner.ended

    @property
    def _stale(self) -> bool:
        """Whether the frame shown belongs to other knobs than the present ones."""
        return self._world_key != self.experiment.data_key or bool(self.problem)

    def _has_unit(self, unit: int) -> bool:
        return 0 <= unit < self._n_hidden

    def _regauge(self, gauge: Gauge) -> None:
        assert self.frame is not None
        self._remember()
        self._continue(regauged_frame(self.frame, gauge), going=self.running)

    def _remember(self) -> None:
        """Keep the present frame and its knobs for undo."""
        assert self.frame is not None
        self._history = self._history.remembering((self.experiment, self.frame))

    def _travel(self, found: tuple[tuple[Experiment, Frame], History[tuple[Experiment, Frame]]], event: str) -> None:
        (self.experiment, frame), self._history = found
        self._world, self._world_key = frame.data, self.experiment.data_key
        self._continue(frame, going=self.running)
        self.event = event

    def _begin(self, *, going: bool, steps: int = 1) -> None:
        """Learn anew, on the same data if the knobs allow."""
        data = self._world if self._world_key == self.experiment.data_key else None
        self._history = History()
        self.course_number += 1
        self._start(self.experiment.course(data), going, steps)
        self._fresh = True

    def _continue(self, frame: Frame, *, going: bool, steps: int = 1, halves: bool = False) -> None:
        """Go on from a frame, which is shown at once."""
        self.frame = frame
        self._start(self.experiment.course(since=frame, halves=halves), going, steps)
        self.halves = halves

    def _start(self, items: Iterator[Progress | Frame], going: bool, steps: int = 1) -> None:
        """Consume a course: on and on, or for a number of frames."""
        self.problem, self.infeasible, self.progress = "", False, None
        self._going, self._fresh, self.halves = going, False, False
        self._runner.start(items, steps=None if going else steps)
