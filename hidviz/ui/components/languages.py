"""Languages: a small menu in the head of the page; another choice opens the page anew, where it stands, in that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param

from hidviz.ui.components.base import Component
from hidviz.ui.text.language import LANGUAGES, language


class Languages(Component):
    """The menu.

    Args:
        on_choose: called with the key of a language; gives the query of the page in it.
    """

    languages = param.List([list(pair) for pair in LANGUAGES.items()], doc="For each language its key and its name.")
    chosen = param.String(doc="The one that the page is in.")

    _shared = ("icons",)

    def __init__(self, on_choose: Callable[[str], str], **params: Any) -> None:
        super().__init__(chosen=language(), **params)
        self._on_choose = on_choose

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("choose") in LANGUAGES:
            self._send_msg({"go": self._on_choose(message["choose"])})
