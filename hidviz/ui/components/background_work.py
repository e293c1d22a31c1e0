"""Work in the background, on the page: a button that begins it and one that ends it, where it stands, how far it is."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.layout import line, words


class BackgroundWork:
    """The controls of one piece of work; put `items` on the page.

    Args:
        start: the button that begins it.
        stop: the button that ends it; what was found by then is kept.
        idle: what is said before it has ever been begun, as HTML.
        beside: what stands in the row of the buttons, before them.
    """

    def __init__(self, start: Button, stop: Button, idle: str, *beside: Any) -> None:
        self._start, self._stop = start.name, stop.name
        self.buttons = Buttons(start, stop, columns=0, margin=(4, 0), disabled=[stop.name])
        self.state = words(idle, sizing_mode="stretch_width")
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 0)
        )
        self.items = (line(*beside, self.buttons), self.state, self.progress)

    def show(self, said: str, *, working: bool, possible: bool = True, done: float = 0.0) -> None:
        """Say where it stands.

        Args:
            said: in words, as HTML.
            working: whether it is under way: it can be ended, and its progress is seen.
            possible: whether it can be begun, or ended, at all now.
            done: the fraction that is done.
        """
        both = [self._start, self._stop]
        self.buttons.disabled = both if not possible else both[:1] if working else both[1:]
        self.state.object = said
        self.progress.visible = working
        self.progress.value = round(100.0 * done)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.buttons.dark = dark
