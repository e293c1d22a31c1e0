"""Session: what a user does to the estimate of a live run, and how it is undone.

Every act goes from the frame that is shown, and so from its knobs. A flip or new labels of hidden units show the same
model in another way, and leave a run that is awaited as it is. To set a coupling, to undo or to load a run is to decide
for that frame: what was awaited is given up, and the knobs are those of the frame. What is done while a coupling that
was set is evaluated is done to the frame that comes of it, one act after the other; to begin another run drops it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from hidviz.evaluation import flip_half
from hidviz.experiments import Bundle, Frame, iter_edited, iter_reopened, regauge_frame
from hidviz.network import Couplings, Gauge, flip, swap
from hidviz.ui.state.awaited import Awaited
from hidviz.ui.state.edit import Edit, in_turn
from hidviz.ui.state.live_run import LiveRun
from hidviz.ui.state.undo import DEPTH, History
from hidviz.ui.text.language import _

LARGEST_BY_HAND = 100.0
ROOM = 2.5e8  # bytes of beliefs about hidden units that may be kept to undo to


class Session(LiveRun):
    """One user's run, and what was done to it."""

    @property
    def n_undo(self) -> tuple[int, int]:
        """How many operations can be undone and redone."""
        return len(self._history.past), len(self._history.future)

    def change(self, **knobs: Any) -> None:
        """Turn knobs. What can act at once does; otherwise learning begins again, on new data where needed.

        Raises:
            ValueError: a knob is out of range; nothing has changed then.
        """
        before = self.wanted
        self.adopt(replace(before, **knobs))
        if not self.awaiting and self.wanted != before:
            self._mark(_("settings changed"))

    # The same model in another gauge

    @in_turn
    def flip(self, unit: int) -> None:
        """Flip the sign of a hidden unit, counted from 0, paused or running."""
        if self._has_unit(unit):
            self._regauge(flip(self._n_hidden, unit))
            self._mark(_("hidden {unit} flipped", unit=unit + 1))
            self.event = _("Hidden unit {unit} flipped: the cost stays, the couplings change sign.", unit=unit + 1)

    @in_turn
    def swap(self, first: int, second: int) -> None:
        """Exchange two hidden units, counted from 0, paused or running."""
        if self._has_unit(first) and self._has_unit(second) and first != second:
            self._regauge(swap(self._n_hidden, first, second))
            self._mark(_("hidden {first} and {second} swapped", first=first + 1, second=second + 1))
            self.event = _(
                "Hidden units {first} and {second} swapped: the cost stays.", first=first + 1, second=second + 1
            )

    @in_turn
    def apply(self, gauge: Gauge, event: str) -> None:
        """Go to an equivalent model."""
        if self.frame is not None and len(gauge.order) == self._n_hidden:
            self._regauge(gauge)
            self._mark(_("another equivalent model"))
            self.event = event

    # Another model

    @in_turn
    def edit(self, couplings: Couplings, event: str) -> None:
        """Put other couplings in the place of the estimate, and go on from there."""
        before, going = self.frame, self.running
        if before is None:
            return
        self._history = self._history.remembering(before, depth_of(before))
        self._show(before, iter_edited(before, couplings), going)
        self._edit = Edit(event, before.snapshot.cost)
        self.event = event
        self._mark(event)

    @in_turn
    def break_flip(self, unit: int, block: Literal["K", "L"]) -> None:
        """Flip only one of the two blocks of a hidden unit, counted from 0: not a symmetry, and the cost shows it."""
        if self.frame is not None and self._has_unit(unit):
            self.edit(
                flip_half(self.frame.snapshot.couplings, unit, block),
                _("Only {block} of hidden unit {unit} flipped, which is not a symmetry", block=block, unit=unit + 1),
            )

    def set_coupling(self, block: str, row: int, column: int, value: float) -> None:
        """Set one coupling of the estimate by hand.

        Raises:
            ValueError: the value is not a finite number of reasonable size.
        """
        if self.frame is None:
            return
        if not abs(value) <= LARGEST_BY_HAND:
            raise ValueError(
                _(
                    "A coupling set by hand must lie between ±{largest_by_hand:g}, got {value}.",
                    largest_by_hand=LARGEST_BY_HAND,
                    value=value,
                )
            )
        self._set(block, row, column, value)

    # Another run

    def load(self, frame: Frame) -> None:
        """Take over a run that was made elsewhere, with its knobs; this can be undone."""
        if self.frame is not None:
            self._history = self._history.remembering(self.frame, depth_of(self.frame))
        self._continue(frame, going=False)
        self.event = _(
            "Loaded the run from start {start_index}, at step {step}.",
            start_index=frame.experiment.start_index,
            step=frame.snapshot.step,
        )

    def open(self, bundle: Bundle) -> None:
        """Go on from a run that was kept in a file; its data are simulated again."""
        self._await(Awaited(bundle.experiment, lambda: iter_reopened(bundle)), going=False)
        self.event = _("Opened a run from a file.")

    @in_turn
    def undo(self) -> None:
        """Undo the last operation on the estimate, bit for bit, and its knobs with it."""
        if self.frame is None or not self._history.past:
            self.event = _("There is nothing to undo.")
        else:
            self._travel(*self._history.undone(self.frame))
            self.event = _("Undone.")

    @in_turn
    def redo(self) -> None:
        """Do again what was undone, bit for bit."""
        if self.frame is None or not self._history.future:
            self.event = _("There is nothing to redo.")
        else:
            self._travel(*self._history.redone(self.frame))
            self.event = _("Redone.")

    # How it is done

    @property
    def _n_hidden(self) -> int:
        return self.frame.snapshot.couplings.n_hidden if self.frame else 0

    def _has_unit(self, unit: int) -> bool:
        return 0 <= unit < self._n_hidden

    @in_turn
    def _set(self, block: str, row: int, column: int, value: float) -> None:
        assert self.frame is not None
        couplings = self.frame.snapshot.couplings
        changed = getattr(couplings, block).copy()
        if row >= changed.shape[0] or column >= changed.shape[1]:
            return  # what was undone meanwhile has led to a smaller model
        changed[row, column] = value
        self.edit(
            replace(couplings, **{block: changed}),
            _("{block} {row}, {column} set to {value:g}", block=block, row=row + 1, column=column + 1, value=value),
        )

    def _regauge(self, gauge: Gauge) -> None:
        assert self.frame is not None
        self._history = self._history.remembering(self.frame, depth_of(self.frame))
        flipped = regauge_frame(self.frame, gauge)
        if self.awaiting:
            self.frame = flipped
        else:
            self._continue(flipped, going=self.running)

    def _travel(self, frame: Frame, history: History[Frame]) -> None:
        self._history = history
        self._continue(frame, going=self.running)
        self._mark(_("undo or redo"))

    def _mark(self, what: str) -> None:
        """Remember after which step of the run something was done to it."""
        if self.frame is not None:
            self.marks = (*self.marks, (self.frame.snapshot.step, what))


def depth_of(frame: Frame) -> int:
    """How many frames like this one can be kept to undo to: fewer where each remembers much of the hidden units."""
    beliefs = frame.snapshot.estimate.beliefs
    return DEPTH if beliefs is None else max(1, min(DEPTH, int(ROOM / max(1, beliefs.nbytes))))
