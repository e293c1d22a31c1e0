"""Lesson run: a lesson under way on a session, step by step, forward and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hidviz.experiments import Experiment, Frame, shipped_frame
from hidviz.ui.state.my_data import Found, MyData
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import _
from hidviz.ui.text.lesson import Lesson, Own, Seen, Step
from hidviz.ui.text.lessons import LESSONS


class _Moment(NamedTuple):
    """What was shown when a step began."""

    frame: Frame
    own: Found


class LessonRun:
    """One lesson on one session; none at first.

    Args:
        session: the run that is taught with.
        aligned: whether the maps are aligned to the truth now.
        own: the recording that is taught with.
    """

    def __init__(self, session: Session, aligned: Callable[[], bool], own: MyData) -> None:
        self._session, self._aligned, self._own = session, aligned, own
        self.leave()

    def begin(self, key: str) -> None:
        """Begin a lesson, with its knobs; the default ones show the shipped run."""
        knobs, speed = LESSONS[key].knobs, self._session.speed
        finished = knobs == Experiment() and not LESSONS[key].at_step_0
        self._session.reset(knobs, shipped_frame("fig3") if finished else None)
        self._session.speed = speed
        self.leave()
        self.key = key

    def leave(self) -> None:
        """End the lesson; the run stays as it is."""
        self.key = ""
        self.place = 0
        self._entered: list[_Moment] = []  # for each step
        self._answers: dict[int, str] = {}

    @property
    def lesson(self) -> Lesson | None:
        """The lesson under way."""
        return LESSONS[self.key] if self.key else None

    @property
    def step(self) -> Step | None:
        """The step under way."""
        return self.lesson.steps[self.place] if self.lesson else None

    @property
    def seen(self) -> Seen | None:
        """What the step looks at; None before there is anything."""
        session, frame = self._session, self._session.frame
        if not self.key or frame is None:
            return None
        if not self._entered:
            if session.awaiting:
                return None
            self._entered = [_Moment(frame, self._own.found)]
        entered = self._entered[self.place]
        earlier = self._entered[max(self.place - 1, 0)]
        answer = self._answers.get(self.place, "")
        finished = session.finished and not session.awaiting
        own = own_of(self._own.found, working=self._own.scanning or self._own.checking)
        return Seen(frame, entered.frame, earlier.frame, finished, self._aligned(), answer, own, own_of(entered.own))

    @property
    def done(self) -> bool:
        """Whether the step has been done."""
        return self.step is not None and self.seen is not None and bool(self.step.done(self.seen))

    @property
    def words(self) -> str:
        """What the step says now."""
        if self.step is None or self.seen is None:
            return _("One moment …") if self.key else ""
        return self.step.words(self.seen)

    @property
    def following(self) -> str:
        """The key of the lesson after this one; empty after the last."""
        keys = list(LESSONS)
        return "".join(keys[keys.index(self.key) + 1 :][:1]) if self.key else ""

    @property
    def is_last(self) -> bool:
        """Whether the lesson ends with this step."""
        return self.lesson is not None and self.place == len(self.lesson.steps) - 1

    @property
    def answer(self) -> str:
        """What was answered in this step."""
        return self._answers.get(self.place, "")

    def choose(self, option: str) -> None:
        """Answer; the first answer counts."""
        if self.step is not None and option in map(_, self.step.options):
            self._answers.setdefault(self.place, option)

    def set_knobs(self) -> None:
        """Give the knobs the values that the step asks for."""
        if self.step is not None and self.step.sets:
            self._session.change(**self.step.sets)

    def go_on(self) -> None:
        """To the next step, if this one has been done."""
        if self.done and not self.is_last and self._session.frame is not None:
            self.place += 1
            self._entered = [*self._entered[: self.place], _Moment(self._session.frame, self._own.found)]

    def go_back(self) -> None:
        """To the step before, and to what the page showed when it began, bit for bit."""
        if self.place:
            self._answers.pop(self.place, None)
            self.place -= 1
            frame, own = self._entered[self.place]
            if self._session.frame is not frame or not self._session.rests:
                self._session.load(frame)
                self._session.event = _("Back to step {place} of the lesson.", place=self.place + 1)
            if self._own.found != own or not self._own.rests:
                self._own.restore(own)


def own_of(found: Found, *, working: bool = False) -> Own:
    """What a lesson sees of a recording: of a scan or checks only those of what is shown."""
    looked, scanned, checked = found
    if looked is None:
        return Own(working=working)
    if scanned is None or scanned.looked is not looked:
        scanned = None
    done = checked is not None and checked.scanned is scanned and checked.n_done == checked.n
    return Own(
        n_units=len(looked.preview.names),
        bin=looked.bin or 0.0,
        read=looked,
        ours=not looked.source.files,
        scan=None if scanned is None else scanned.table,
        complete=scanned is not None and scanned.complete,
        hidden=checked.hidden if checked is not None and done else (),
        working=working,
    )
