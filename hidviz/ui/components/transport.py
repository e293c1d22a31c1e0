"""Transport: what starts, stops and paces a run, above whatever is shown of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import param

from hidviz.ui.components.base import Component
from hidviz.ui.components.basic import Button


class Transport(Component):
    """Run or Pause as one button, steps, speed, new starts and new data, and the numbers of the run.

    Args:
        toggle: Run and Pause, of which one is shown.
        buttons: the others of the run.
        fresh: those that begin another one.
        speeds: the names of all speeds, with what they are in words.
        on_speed: called with the name of a speed.
    """

    toggle = param.List(doc="Run, then Pause: name, icon, help.")
    items = param.List(doc="For each other button: name, icon, help, and whether it begins another run.")
    speeds = param.List(doc="For each speed its name, and what it is in words.")
    speed = param.String(doc="The speed.")
    running = param.Boolean(doc="Whether the run goes on by itself.")
    bare = param.Boolean(doc="Whether Run or Pause is all there is to press.")
    absent = param.List([], doc="Names of the buttons that have no meaning now.")
    text = param.String("—", doc="The numbers of the run, two lines.")
    percent = param.Integer(-1, doc="Of the work that is done; negative when there is none to wait for.")

    _shared = ("icons", "button_look")

    def __init__(
        self,
        toggle: tuple[Button, Button],
        buttons: tuple[Button, ...],
        fresh: tuple[Button, ...],
        speeds: Mapping[str, str],
        on_speed: Callable[[str], None],
        **params: Any,
    ) -> None:
        super().__init__(
            toggle=[button.to_show() for button in toggle],
            items=[button.to_show() for button in buttons] + [button.to_show() | {"fresh": True} for button in fresh],
            speeds=[list(pair) for pair in speeds.items()],
            **params,
        )
        self._acts = {button.name: button.act for button in (*toggle, *buttons, *fresh)}
        self._speeds, self._on_speed = tuple(speeds), on_speed

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("press") in self._acts:
            self._acts[message["press"]]()
        if message.get("speed") in self._speeds:
            self._on_speed(message["speed"])
