"""Knowing: how well the data tell the couplings that are shown, worked out in the background.

Error bars belong to one frame. They begin to be worked out where a run rests, if that is a matter of seconds, else when
somebody asks; while the run goes on, the last ones stay, with the step that they are of. Flips and new labels of hidden
units need nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from hidviz.background import Runner
from hidviz.evaluation import LONGEST_ERROR_BARS, MOST_PARAMETERS, ErrorBars, error_bar_seconds, iter_error_bars
from hidviz.experiments import Frame
from hidviz.learners import LEARNERS
from hidviz.network import BLOCKS, Couplings, Gauge, best_gauge, regauge, with_hidden
from hidviz.numerics import Array
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.scores import bars_in_words

QUICK = 5.0  # seconds: what takes longer waits until it is asked for
COPIES = N_("Error bars are for couplings of hidden units; those of this learner are copies of the visible ones.")
FLAT_PART = 0.5  # an entry that lies in flat directions by more than this has no bar: the data do not tell it

Hidden = Literal["stochastic", "continuous"]


def settings_of(frame: Frame) -> dict[str, Any]:
    """What error bars must know of how the couplings of a frame were learned."""
    learned = frame.setup.learner.learned
    hidden: Hidden = "continuous" if LEARNERS[frame.experiment.learner].hidden == "continuous" else "stochastic"
    return {"hidden": hidden, "hidden_hidden": "M" in learned, "bias": "h" in learned}


def measuring_of(frame: Frame) -> Iterator[float | ErrorBars]:
    """The fraction done, and at last the error bars of the couplings of a frame."""
    bars = yield from iter_error_bars(frame.snapshot.couplings, frame.data.recording, **settings_of(frame))
    yield bars


@dataclass(frozen=True, eq=False)
class Known:
    """Error bars of a frame, hidden units in the order and with the signs of the truth.

    Args:
        frame: the frame.
        bars: its error bars, as found.
        standard_errors: by block; not a number for what was not learned, infinite for what the data do not tell.
    """

    frame: Frame
    bars: ErrorBars
    standard_errors: Mapping[str, Array]

    @classmethod
    def of(cls, frame: Frame, bars: ErrorBars) -> Known:
        """Bring the error bars of a frame into the order of the truth."""
        gauge = best_gauge(frame.snapshot.couplings, frame.data.truth)
        learned = Couplings(
            **{name: np.full_like(getattr(bars.flat_parts, name), name in bars.mean_variance) for name in BLOCKS}
        )
        errors, flat_parts, there = (_brought(each, gauge) for each in (bars.standard_errors, bars.flat_parts, learned))
        return cls(
            frame,
            bars,
            MappingProxyType(
                {
                    name: np.where(
                        getattr(there, name) == 0.0,
                        np.nan,
                        np.where(np.abs(getattr(flat_parts, name)) > FLAT_PART, np.inf, np.abs(getattr(errors, name))),
                    )
                    for name in BLOCKS
                }
            ),
        )


def _brought(couplings: Couplings, gauge: Gauge) -> Couplings:
    return regauge(with_hidden(couplings, len(gauge.order)), gauge)


class Knowing:
    """The error bars of whatever is shown, as far as they are known."""

    def __init__(self) -> None:
        self._runner: Runner[float | ErrorBars] = Runner()
        self._asked: Frame | None = None
        self._rested: Frame | None = None  # the last frame at which bars were begun, or found to take too long
        self._needs = 0.0
        self.known: Known | None = None

    @property
    def version(self) -> int:
        """Grows with everything that has been worked out."""
        return self._runner.version

    @property
    def working(self) -> bool:
        """Whether error bars are being worked out."""
        return not self._runner.ended

    def follow(self, frame: Frame, *, running: bool) -> None:
        """Take in what has been worked out, and begin anew where the run rests.

        Args:
            frame: what is shown.
            running: whether the run goes on.
        """
        found, asked = self._runner.latest, self._asked
        if asked is not None and isinstance(found, ErrorBars) and (self.known is None or self.known.bars is not found):
            self.known = Known.of(asked, found)
        if self.known is not None and not _alike(self.known.frame, frame):
            self.known = None
        if asked is not None and not _alike(asked, frame):
            self._runner.start(iter(()))
            self._asked = None
        if not running and frame is not self._rested:
            self._rest(frame)

    def _rest(self, frame: Frame) -> None:
        if self._asked is not None and equivalent(self._asked, frame) and not self._given_up:
            self._rested = frame
            return
        self._rested = frame
        couplings, n = frame.snapshot.couplings, len(frame.snapshot.couplings.vector(frame.setup.learner.learned))
        self._needs = error_bar_seconds(couplings, frame.data.recording, **settings_of(frame))
        self._needs += 6e-10 * n**3 * bool(couplings.n_hidden)
        by_row = not couplings.n_hidden  # every row is a small matrix of its own
        refused_at_once = (n > MOST_PARAMETERS and not by_row) or self._needs > LONGEST_ERROR_BARS
        if self._needs <= QUICK or refused_at_once:
            self.ask(frame)
        else:
            self.stop()

    @property
    def _given_up(self) -> bool:
        return self._runner.ended and not isinstance(self._runner.latest, ErrorBars) and self._runner.failure is None

    def ask(self, frame: Frame) -> None:
        """Work out the error bars of this frame, however long it takes; they are refused beyond minutes."""
        self._asked = frame
        self._runner.start(_refusing(COPIES) if LEARNERS[frame.experiment.learner].copies else measuring_of(frame))

    def stop(self) -> None:
        """Give up what is being worked out; what is known stays."""
        self._runner.stop()

    def in_words(self, frame: Frame, *, running: bool) -> str:
        """What is known of the couplings, whose it is, and what the data leave open; or why nothing is known."""
        if self.working:
            done = self._runner.latest if isinstance(self._runner.latest, float) else 0.0
            return _("Error bars are being worked out, {done:.0f} % …", done=100 * done)
        if failure := self._runner.failure:
            return _("Error bars are not known: {failure}", failure=of_engine(str(failure)))
        if self.known is not None:
            snapshot = self.known.frame.snapshot
            later = (
                ""
                if equivalent(self.known.frame, frame)
                else _("; the page shows step {step:,}", step=frame.snapshot.step)
            )
            return _("Error bars of step {step:,}{later}. ", step=snapshot.step, later=later) + bars_in_words(
                self.known.bars, snapshot.state == "converged"
            )
        if running:
            return _("Error bars are not known yet: they are worked out where the run rests, or when asked for.")
        return _(
            "Error bars are not known yet: they take about {needs:.0f} s here. Ask for them, or stay without.",
            needs=self._needs,
        )


def _refusing(reason: str) -> Iterator[float | ErrorBars]:
    raise ValueError(reason)
    yield 0.0


def _alike(one: Frame, other: Frame) -> bool:
    """Whether both learn from the same data, with as many hidden units and by the same learner."""
    return one.data is other.data and one.setup is other.setup


def equivalent(one: Frame, other: Frame) -> bool:
    """Whether only flips and new labels lie between two frames."""
    a, b = one.snapshot.couplings, other.snapshot.couplings
    return a == b or (_alike(one, other) and regauge(a, best_gauge(a, b)) == b)
