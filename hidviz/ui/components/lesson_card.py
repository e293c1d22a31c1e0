"""Lesson card: what a lesson says, with its answers and the way on and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import param

from hidviz.ui.components.base import Component


class LessonCard(Component):
    """The step of a lesson that is under way; nothing is seen where none is.

    Args:
        acts: what next, back and leave do.
        on_answer: called with the answer that was chosen.
        on_begin: called with the key of another lesson.
        on_set: called when a setting that the text names was pressed there.
    """

    lessons = param.List(doc="For each lesson its key and title.")
    key = param.String(doc="The lesson under way; empty for none.")
    count = param.String(doc="Which step of how many.")
    hint = param.String(doc="Why it does not go on; empty if it does.")
    text = param.String(doc="What it says; what is to be pressed stands between pairs of asterisks.")
    longest = param.String(doc="The longest text of the lesson, for which there is room from the beginning.")
    look = param.List([], doc="Headings of the pictures that are to be in sight, what matters most first.")
    options = param.List([], doc="Answers to choose from.")
    answer = param.String(doc="The one that was chosen.")
    right = param.String(doc="The answer that is borne out, once one has been given; else empty.")
    can_go_on = param.Boolean(doc="Whether the step has been done.")
    last = param.Boolean(doc="Whether it is the last one.")
    first = param.Boolean(doc="Whether it is the first one.")
    following = param.String(doc="The title of the next lesson; empty for none.")

    _shared = ("button_look", "named")

    def __init__(
        self,
        acts: Mapping[str, Callable[[], None]],
        *,
        on_answer: Callable[[str], None],
        on_begin: Callable[[str], None],
        on_set: Callable[[], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._acts, self._on_answer, self._on_begin, self._on_set = dict(acts), on_answer, on_begin, on_set

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("press") in self._acts:
            self._acts[message["press"]]()
        if message.get("answer") in self.options:
            self._on_answer(message["answer"])
        if message.get("set"):
            self._on_set()
        if message.get("begin") in dict(self.lessons):
            self._on_begin(message["begin"])
