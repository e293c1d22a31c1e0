"""Live run: the one run that is under way, and the newest frame of it, without a single widget.

What is shown is one frozen value, a Frame, which carries the Experiment that it belongs to. Knobs that were turned may
want another run; then that one is awaited, and the old frame stays until the first of the new ones comes. So there are
two things and no third: the run shown (`frame`, with its own knobs), and the knobs wanted (`wanted`: those of the run
awaited, else those of the run shown). While an edit of the run shown is evaluated, what is done to it waits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from hidviz.background import Runner
from hidviz.experiments import LIVE, Data, Experiment, Frame, Progress, iter_resumed, iter_run, with_knobs
from hidviz.learners import LEARNERS
from hidviz.ui.state.awaited import Awaited
from hidviz.ui.state.edit import Act, Edit, in_turn
from hidviz.ui.state.speeds import FASTEST, SPEEDS
from hidviz.ui.state.undo import History
from hidviz.ui.text.language import _
from hidviz.ui.text.status import sentences_of
from hidviz.units import signed

TURN = 0.02  # seconds that `poll` works itself where there are no threads


class LiveRun:
    """A run that can be started, paused, stepped, and begun anew with other knobs.

    Args:
        experiment: the knobs to begin with.
        frame: a finished run of that experiment to show first; None to prepare step 0 instead.
        threads: whether to learn in a thread; without, `poll` does the work.
    """

    def __init__(
        self, experiment: Experiment, frame: Frame | None = None, *, threads: bool = sys.platform != "emscripten"
    ) -> None:
        self._runner: Runner[Progress | Frame] = Runner(counts=lambda item: isinstance(item, Frame), threads=threads)
        self._speed = FASTEST
        self.reset(experiment, frame)

    def reset(self, experiment: Experiment, frame: Frame | None = None) -> None:
        """Begin as a new session does: with these knobs, this run, and nothing to undo.

        Raises:
            ValueError: the frame belongs to another experiment.
        """
        if frame is not None and frame.experiment != experiment:
            raise ValueError("The frame must belong to the experiment: give the one that it carries.")
        self._runner.stop()
        self._seen = self._runner.version
        self.frame = frame
        self.progress: Progress | None = None
        self.failure: BaseException | None = None  # what ended the run that the knobs want
        self.event = ""  # the last thing that a user did or should know, as a sentence
        self.halves = False  # whether each step is shown in its two halves
        self._going = False  # whether it is to go on by itself
        self._stepped = False  # whether the last step was asked for by itself
        self.speed = FASTEST
        self._awaited: Awaited | None = None
        self._history: History[Frame] = History()
        self.marks: tuple[tuple[int, str], ...] = ()  # what was done to the run, and after which step
        self._edit: Edit | None = None  # whose effect has not been seen yet
        if frame is None:
            self._begin(experiment, going=False)

    # What is the case

    @property
    def wanted(self) -> Experiment:
        """The knobs as they stand: of the run awaited, or of the one shown where none is, with those held."""
        if self._awaited is not None:
            return self._awaited.experiment
        assert self.frame is not None
        return self.frame.experiment if self._edit is None else replace(self.frame.experiment, **self._edit.knobs)

    @property
    def awaiting(self) -> bool:
        """Whether what is shown, if anything, is not the run that the knobs want."""
        return self._awaited is not None

    @property
    def running(self) -> bool:
        """Whether the run goes on by itself: a single step or a flip under way does not count."""
        return self._going and self._runner.running

    @property
    def rests(self) -> bool:
        """Whether what is shown is all there is: nothing is awaited, or being made, or made and not taken in."""
        return not (self.awaiting or self.failure or self._runner.running or self._runner.version != self._seen)

    @property
    def step_by_step(self) -> bool:
        """Whether steps are looked at one by one: in slow motion, or after a press of Step or Half step."""
        return SPEEDS[self._speed].halves or (self._stepped and not self._going)

    @property
    def finished(self) -> bool:
        """Whether the run shown has come to its end."""
        return self.frame is not None and self.frame.snapshot.state != "learning"

    @property
    def problem(self) -> str:
        """What failed, as a sentence; empty if nothing has."""
        return "" if self.failure is None else str(self.failure) or repr(self.failure)

    @property
    def data(self) -> Data | None:
        """Truth and data, if those shown are also those that the knobs want."""
        return self._data_for(self.wanted)

    @property
    def steps_per_second(self) -> float:
        """Frames per second of the worker."""
        return self._runner.items_per_second

    @property
    def speed(self) -> str:
        """How fast a run goes on, a name in `SPEEDS`; in slow motion by half steps, where the learner has them."""
        return self._speed

    @speed.setter
    def speed(self, name: str) -> None:
        self._speed, self._runner.interval = name, SPEEDS[name].seconds
        self._keep_to_halves()

    def poll(self, seconds: float = TURN) -> bool:
        """Take in what the worker has published; whether anything changed since the last call.

        Args:
            seconds: to work here where there are no threads.
        """
        self._runner.pump(seconds)
        return self._take_in()

    @property
    def stirred(self) -> bool:
        """Whether `poll` would find something; where there are no threads, it has work to do."""
        return not self._runner.threaded or self._runner.version != self._seen

    # What a user can do

    def run(self) -> None:
        """Go on; at the end of a run, start it again."""
        if self._edit is not None and self._edit.held and self.holds(self.run):
            return  # after the acts that are held: one of them may be a step
        if self._preparing or self._edit is not None:
            self._resume()
        elif (base := self._base) is None or self.finished:
            self._begin(self.wanted, going=True)
        elif self._runner.ended or self.halves != self._by_halves:
            self._continue(base, going=True, halves=self._by_halves)
        else:
            self._resume()
        self.event = _("Running.")

    def pause(self) -> None:
        """Stop producing frames, and keep everything; the frame of an edit still comes, and no other."""
        if self._edit is not None and self._edit.held:
            self._edit = self._edit.holding(self.pause)  # and again in its turn: one of them may be a run
        edit, going, self._going = self._edit, self._going, False
        self.event = _("Paused.")  # the step under way still ends: at which one, only the numbers know
        if edit is not None and not going:
            return  # no more than its frame has been asked for
        self._runner.pause()
        if edit is not None:
            self._take_in()
            if self._edit is edit:
                self._runner.step()

    @in_turn
    def step(self) -> None:
        """Make one step, then pause; pressed twice, two steps, however seldom somebody polls."""
        self._stepped = True
        making = self._runner.running  # asked first: where it rests, all that it made is taken in by the next line
        self._take_in()
        if self._preparing and making and not self._going:
            self._runner.step()
        elif self._awaited is not None and self._preparing:
            self._await(self._awaited, going=False, steps=2)  # its first frame comes first
        elif (base := self._base) is None:
            self._begin(self.wanted, going=False, steps=2)
        elif self.finished:
            self.event = _("This run has ended: rewind it, or take a new start.")
        elif self._runner.ended or self.halves:
            self._continue(base, going=False, steps=2)
        else:
            self._going = False
            self._runner.step()
            self.event = _("One step from step {step}.", step=base.snapshot.step)

    @in_turn
    def half_step(self) -> None:
        """Make half a step, then pause: the couplings move at fixed beliefs (M), or the beliefs settle (E).

        A learner without an E-step makes a whole one.
        """
        base = self._base
        if base is None or self.finished or not LEARNERS[base.experiment.learner].phases:
            self.step()
            return
        self._stepped = True
        if self.halves and not self._runner.ended:
            self._runner.step()
        else:
            self._continue(base, going=False, steps=2, halves=True)
        m_step = base.snapshot.phase == "E"
        self.event = (
            _("M-step: the couplings are updated, ⟨σ⟩ stays.")
            if m_step
            else _("E-step: ⟨σ⟩ is updated given the data.")
        )

    def run_to(self, step: int) -> None:
        """Learn from the start up to this step, then pause."""
        self._begin(self.wanted, going=False, steps=step + 1)

    def rewind(self) -> None:
        """Back to the same start on the same data, paused."""
        self._begin(self.wanted, going=False)
        self.event = _("Rewound to the same start on the same data.")

    def new_start(self) -> None:
        """Another random start on the same data, running."""
        number = self.wanted.start_index + 1
        self._begin(replace(self.wanted, start_index=number), going=True)
        self.event = _("New start, number {number}, on the same data.", number=number)

    def new_data(self) -> None:
        """Another seed: new true couplings, new data, running."""
        seed = self.wanted.seed + 1
        self._begin(replace(self.wanted, seed=seed), going=True)
        self.event = _("New true network and new data from seed {seed}.", seed=seed)

    def adopt(self, experiment: Experiment) -> None:
        """Take over all knobs of an experiment: at once where they can apply so, else by learning anew."""
        before = self.wanted
        changed = {name: value for name, value in vars(experiment).items() if value != getattr(before, name)}
        if not changed:
            return
        if self._base is None or not changed.keys() <= LIVE:
            self._begin(experiment, going=self.running)
        elif not self.holds(partial(self._turn, changed), **changed) and self.frame is not None:
            self._continue(with_knobs(self.frame, **changed), going=self.running)

    def close(self) -> None:
        """End the run; the worker leaves at its next checkpoint."""
        self._runner.stop()

    def holds(self, act: Act, **knobs: Any) -> bool:
        """Whether an edit is under way: then the act, which turns these knobs, is performed when its frame comes."""
        if self._edit is not None:
            self._take_in()
        if self._edit is not None:
            self._edit = self._edit.holding(act, **knobs)
        return self._edit is not None

    # How it is done

    @property
    def _preparing(self) -> bool:
        """Whether step 0 of the run awaited is under way."""
        return self.awaiting and not self._runner.ended

    @property
    def _base(self) -> Frame | None:
        """The frame to go on from: the one shown, unless another run is awaited or this one has failed."""
        return None if self.awaiting or self.problem else self.frame

    @property
    def _by_halves(self) -> bool:
        """Whether a run goes on by half steps, at this speed and with this learner."""
        return SPEEDS[self._speed].halves and bool(LEARNERS[self.wanted.learner].phases)

    def _keep_to_halves(self) -> None:
        """Let a run that goes on do so by the steps of its speed."""
        if not self.running or self.finished or self.halves == self._by_halves or self._edit is not None:
            return
        if (base := self._base) is not None:
            self._continue(base, going=True, halves=self._by_halves)

    def _turn(self, knobs: Mapping[str, Any]) -> None:
        self.adopt(replace(self.wanted, **knobs))

    def _data_for(self, experiment: Experiment) -> Data | None:
        """The data shown, if this experiment would make the same."""
        same = self.frame is not None and self.frame.experiment.data_key == experiment.data_key
        return self.frame.data if self.frame and same else None

    def _take_in(self) -> bool:
        """Take in what has been published; whether anything changed since the last time."""
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
        if self._runner.failure:
            self.progress, self.failure, self._edit = None, self._runner.failure, None
        return True

    def _take(self, frame: Frame) -> None:
        """Show a frame of the worker's."""
        before = self.frame.snapshot.state if self.frame and not self.awaiting else "learning"
        if self.awaiting:
            self._awaited, self._history, self.marks = None, History(), ()  # of another run
        self.frame = frame
        edit, self._edit = self._edit, None
        if edit is not None:
            cost = signed(frame.snapshot.cost - edit.cost, 4)
            self.event = edit.event + _(": the cost changed by {cost} nats per bin.", cost=cost)
        self._keep_to_halves()
        if frame.snapshot.state != "learning" and before == "learning":
            self.event = sentences_of(frame.snapshot.remarks)
        for act in edit.held if edit is not None else ():
            act()

    def _resume(self) -> None:
        self._going, self._stepped = True, False
        self._runner.resume()

    def _begin(self, experiment: Experiment, *, going: bool, steps: int = 1) -> None:
        """Learn from the start, on the data shown if they are the same."""
        data = self._data_for(experiment)
        self._await(Awaited(experiment, lambda: iter_run(experiment, data)), going=going, steps=steps)

    def _await(self, run: Awaited, *, going: bool, steps: int = 1) -> None:
        """Let the worker make a run of which nothing can be shown yet."""
        self._awaited = run
        self._start(run.begin(), going, steps)

    def _continue(self, frame: Frame, *, going: bool, steps: int = 1, halves: bool = False) -> None:
        """Go on from a frame, which is shown at once with its knobs; whatever was awaited is given up."""
        self._show(frame, iter_resumed(frame, halves=halves), going, steps)
        self.halves = halves

    def _show(self, frame: Frame, items: Iterator[Progress | Frame], going: bool, steps: int = 1) -> None:
        """Show a frame, and let the worker make those that follow it."""
        self.frame, self._awaited = frame, None
        self._start(items, going, steps)

    def _start(self, items: Iterator[Progress | Frame], going: bool, steps: int) -> None:
        """Consume a run: on and on, or for a number of frames."""
        self.failure = self.progress = None
        self._stepped &= not going
        self._going, self.halves, self._edit = going, False, None
        self._runner.start(items, steps=None if going else steps)
