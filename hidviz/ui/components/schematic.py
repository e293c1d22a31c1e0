"""Schematic: the network unfolded in time, visible squares and hidden circles in rows of bins (the paper's Fig. 1).

The drawing is a component of its own, so that every unit can be reached by keyboard and has a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import param

from hidviz.ui.components.base import Component
from hidviz.ui.text.language import _
from hidviz.ui.text.picture import BLOCK_WORDS, Picture
from hidviz.ui.theme import block_colours


class Schematic(Component):
    """The drawing of a Picture; a unit that is clicked, or chosen with Enter, is handed to `on_choose`."""

    picture = param.Dict({}, doc="A Picture as plain data.")
    blocks = param.Dict({}, doc="For each block its colour and what it couples.")
    name_ = param.String(doc="Accessible name of the drawing.")

    def __init__(self, title: str, on_choose: Callable[[int | None], None] | None = None, **params: Any) -> None:
        super().__init__(name_=title, blocks=_legend(dark=False), **params)
        self._on_choose = on_choose
        self._shown: Picture | None = None

    def show(self, picture: Picture) -> None:
        """Draw this, unless it is what is drawn already."""
        if picture != self._shown:
            self._shown = picture
            plain = asdict(picture) | {"links": [list(link) for link in picture.links]}
            self.picture = plain | {"marks": [list(mark) for mark in picture.marks], "selectable": self.selectable}

    @property
    def selectable(self) -> bool:
        """Whether units can be chosen."""
        return self._on_choose is not None

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.put(dark=dark, blocks=_legend(dark))

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if self._on_choose is not None and "choose" in message:
            unit = message["choose"]
            self._on_choose(None if unit is None else int(unit))


def _legend(dark: bool) -> dict[str, dict[str, str]]:
    colours = block_colours(dark)
    return {block: {"colour": colours[block], "words": _(words)} for block, words in BLOCK_WORDS.items()}
