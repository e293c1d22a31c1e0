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
    """

    lessons = param.List(doc="For each lesson its key and title.")
    key = param.String(doc="The lesson under way; empty for none.")
    count = param.String(doc="Which step of how many.")
    text = param.String(doc="What it says; what is to be pressed stands between pairs of asterisks.")
    options = param.List([], doc="Answers to choose from.")
    answer = param.String(doc="The one that was chosen.")
    can_go_on = param.Boolean(doc="Whether the step has been done.")
    last = param.Boolean(doc="Whether it is the last one.")
    first = param.Boolean(doc="Whether it is the first one.")

    _shared = ("button_look",)

    def __init__(
        self,
        acts: Mapping[str, Callable[[], None]],
        on_answer: Callable[[str], None],
        on_begin: Callable[[str], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._acts, self._on_answer, self._on_begin = dict(acts), on_answer, on_begin

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("press") in self._acts:
            self._acts[message["press"]]()
        if message.get("answer") in self.options:
            self._on_answer(message["answer"])
        if message.get("begin") in dict(self.lessons):
            self._on_begin(message["begin"])
