"""Lesson run: a lesson under way on a session, step by step, forward and back."""

from __future__ import annotations

from collections.abc import Callable

from hidviz.experiments import Experiment, Frame, shipped_frame
from hidviz.ui.state.session import Session
from hidviz.ui.text.lessons import LESSONS, Lesson, Seen, Step, numbers


class LessonRun:
    """One lesson on one session; none at first.

    Args:
        session: the run that is taught with.
        aligned: whether the maps are aligned to the truth now.
    """

    def __init__(self, session: Session, aligned: Callable[[], bool]) -> None:
        self._session, self._aligned = session, aligned
        self.leave()

    def begin(self, key: str) -> None:
        """Begin a lesson, with its knobs; the default ones show the shipped run."""
        knobs = LESSONS[key].knobs
        speed = self._session.speed
        self._session.reset(knobs, shipped_frame("fig3") if knobs == Experiment() else None)
        self._session.speed = speed
        self.leave()
        self.key = key

    def leave(self) -> None:
        """End the lesson; the run stays as it is."""
        self.key = ""
        self.place = 0
        self._entered: list[Frame] = []  # what was shown when each step began
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
            self._entered = [frame]
        entered = self._entered[self.place]
        earlier = self._entered[max(self.place - 1, 0)]
        answer = self._answers.get(self.place, "")
        finished = session.finished and not session.awaiting
        return Seen(frame, entered, earlier, finished, self._aligned(), answer)

    @property
    def done(self) -> bool:
        """Whether the step has been done."""
        return self.step is not None and self.seen is not None and bool(self.step.done(self.seen))

    @property
    def words(self) -> str:
        """What the step says now."""
        if self.step is None or self.seen is None:
            return "One moment …" if self.key else ""
        text = self.step.say.format(**numbers(self.seen))
        return f"{text} {self.step.reveal}" if self.seen.answer else text

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
        if self.step is not None and option in self.step.options:
            self._answers.setdefault(self.place, option)

    def go_on(self) -> None:
        """To the next step, if this one has been done."""
        if self.done and not self.is_last and self._session.frame is not None:
            self.place += 1
            self._entered = [*self._entered[: self.place], self._session.frame]

    def go_back(self) -> None:
        """To the step before, and to what the page showed when it began, bit for bit."""
        if self.place:
            self._answers.pop(self.place, None)
            self.place -= 1
            frame = self._entered[self.place]
            if self._session.frame is not frame:
                self._session.load(frame)
                self._session.event = f"Back to step {self.place + 1} of the lesson."
