"""Exports: buttons that save figures and tables of a tab as files on the machine of whoever looks at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param

from hidviz.ui.components.base import Component
from hidviz.ui.text.language import N_, _

HELP = {
    "CSV": N_("Save the table"),
    "PNG": N_("Save the figures as they are shown, as pixels"),
    "SVG": N_("Save the figures as they are shown, as lines"),
    "HTML": N_("Save a page with the figures that needs no network"),
}


class ExportButtons(Component):
    """Buttons Export CSV, PNG, SVG and HTML. Pictures are made in the browser; the rest is asked of `on_want`."""

    figures = param.List([], doc="Names of the Bokeh figures that belong to a picture.")
    name_of_files = param.String("hidviz", doc="Name of the files, without ending.")
    caption = param.String(doc="A line under the pictures.")
    ink = param.String("#000000", doc="Its colour.")
    paper = param.String("#ffffff", doc="Colour behind the figures.")
    file = param.Dict({}, doc="A file to save now: name, type, text, and how many there were so far.")
    help = param.Dict({}, doc="What each button does.")

    _shared = ("button_look", "stills")

    def __init__(self, on_want: Callable[[str], None], **params: Any) -> None:
        super().__init__(help={name: _(does) for name, does in HELP.items()}, **params)
        self._on_want = on_want

    def hand_out(self, name: str, kind: str, text: str) -> None:
        """Have the browser save a file, also one that it has saved before: only what is another value is sent."""
        self.file = {"name": name, "type": kind, "text": text, "number": self.file.get("number", 0) + 1}

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("want") in ("CSV", "HTML"):
            self._on_want(message["want"])
