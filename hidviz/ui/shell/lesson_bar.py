"""Lesson bar: the lesson under way, between the status line and the tabs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hidviz.ui.components.lesson_card import LessonCard
from hidviz.ui.state.lesson_run import LessonRun
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import _
from hidviz.ui.text.lessons import LESSONS


class Hint(NamedTuple):
    """Why a press did not do what was wanted: at which step of which lesson, and whether that ends when it is done."""

    key: str = ""
    place: int = -1
    text: str = ""
    until_done: bool = False


class LessonBar:
    """The card of a lesson, and what its buttons do.

    Args:
        session: the run that is taught with.
        own: the recording that is taught with.
        aligned: whether the maps are aligned to the truth now.
        on_begin: called after a lesson has begun, with what it needs in front.
        on_change: called after any other press.
    """

    def __init__(
        self,
        session: Session,
        own: MyData,
        aligned: Callable[[], bool],
        *,
        on_begin: Callable[[], None],
        on_change: Callable[[], None],
    ) -> None:
        self.run = LessonRun(session, aligned, own)
        self._on_begin = on_begin
        self._hint = Hint()

        def acting(act: Callable[..., None]) -> Callable[..., None]:
            def acted(*arguments: str) -> None:
                act(*arguments)
                on_change()

            return acted

        self.card: Any = LessonCard(
            {"next": acting(self._next), "back": acting(self.run.go_back), "leave": acting(self.run.leave)},
            on_answer=acting(self.run.choose),
            on_begin=self.begin,
            on_set=acting(self._set),
            lessons=[[key, _(lesson.title)] for key, lesson in LESSONS.items()],
            sizing_mode="stretch_width",
            margin=0,
        )

    @property
    def tab(self) -> str:
        """The key of the tab that the lesson under way teaches with."""
        return self.run.lesson.tab if self.run.lesson else "learn"

    def begin(self, key: str) -> None:
        """Begin a lesson."""
        self.run.begin(key)
        self._on_begin()

    def go_on(self) -> None:
        """To the next step, or say why not."""
        if self.run.key and not self.run.done:
            self._hint = Hint(self.run.key, self.run.place, _("First do or answer what it asks."), until_done=True)
        self.run.go_on()

    @property
    def asks(self) -> bool:
        """Whether a question waits for an answer."""
        return bool(self.run.step and self.run.step.options and not self.run.answer)

    def answer(self, place: int) -> None:
        """Answer with the option at this place; nothing where there is none."""
        if self.run.step and place in range(len(self.run.step.options)):
            self.run.choose(_(self.run.step.options[place]))

    def _set(self) -> None:
        """Set what the step names, or say that the page does not have it."""
        if self.run.step is not None and not self.run.step.sets:
            self._hint = Hint(self.run.key, self.run.place, _("This page does not show it."))
        self.run.set_knobs()

    def _next(self) -> None:
        """To the next step; after the last one to the next lesson, if there is one."""
        if not self.run.is_last:
            self.go_on()
        elif self.run.following:
            self.begin(self.run.following)
        else:
            self.run.leave()

    def draw(self) -> None:
        """What the step says now, and whether it has been done."""
        run, step, lesson = self.run, self.run.step, self.run.lesson
        if (self._hint.key, self._hint.place) != (run.key, run.place) or (self._hint.until_done and run.done):
            self._hint = Hint()
        self.card.put(
            key=run.key,
            count=_("step {place} of {n}", place=run.place + 1, n=len(lesson.steps)) if lesson else "",
            hint=self._hint.text,
            text=run.words,
            longest=lesson.longest if lesson else "",
            look=[_(heading) for heading in ((run.answer and step.then) or step.look)] if step else [],
            right=_(step.right) if step and step.right and run.answer else "",
            options=[_(option) for option in step.options] if step else [],
            answer=run.answer,
            can_go_on=run.done,
            first=run.place == 0,
            last=run.is_last,
            following=_(LESSONS[run.following].title) if run.following else "",
        )

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.card.dark = dark
