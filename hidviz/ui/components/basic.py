"""Small components of the page's own: buttons, the cards of the hidden units, the status line with its keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import param

from hidviz.ui.components.base import Component


class Button(NamedTuple):
    """One button: its name, its icon, what it does in words, the function, and whether it is the one to press first."""

    name: str
    icon: str
    help: str
    act: Callable[[], None]
    primary: bool = False

    def to_show(self) -> dict[str, str | bool]:
        """What the browser must know of it: all but the function."""
        return {"name": self.name, "icon": self.icon, "help": self.help, "primary": self.primary}


class Buttons(Component):
    """A group of buttons; pressing one calls its function. Their accessible name is the text they show."""

    items = param.List(doc="For each button: name, icon, help, primary.")
    disabled = param.List([], doc="Names of the buttons that cannot be pressed now.")
    columns = param.Integer(2, doc="Buttons in a row; 0 for as many as fit.")
    compact = param.Boolean(doc="Whether they show their icons alone where there is little room.")

    _shared = ("icons", "button_look")

    def __init__(self, *buttons: Button, **params: Any) -> None:
        super().__init__(items=[button.to_show() for button in buttons], **params)
        self._acts = {button.name: button.act for button in buttons}

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("press") in self._acts:
            self._acts[message["press"]]()


class BokehPatches(Component):
    """Nothing to be seen: amends some methods of Bokeh in the browser; first on the page, before any figure."""


class TabBar(Component):
    """The row of tabs above the views; what is shown below is up to whoever watches `active`.

    From the press until `shown` follows, what lies below the bar is hidden, and after a moment a skeleton stands there:
    nothing is ever seen under another's name.
    """

    titles = param.List(doc="Names of the views, in order.")
    n_first = param.Integer(0, doc="How many of them are of the first rank; the others stand back.")
    active = param.Integer(0, doc="The view that was chosen.")
    shown = param.Integer(0, doc="The view that lies below.")


class Toggle(Component):
    """A switch with its label."""

    label = param.String(doc="Its accessible name.")
    help = param.String(doc="What it does.")
    value = param.Boolean(doc="Whether it is on.")


class Notice(Component):
    """Something a user should know, with its cure beside it; it can be put away."""

    text = param.String(doc="A sentence or more; empty for none.")
    cure = param.String(doc="What a button beside it does; empty for no button.")

    def __init__(self, on_cure: Callable[[], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_cure = on_cure

    def _handle_msg(self, message: dict[str, Any]) -> None:
        self.put(text="", cure="")
        if message.get("press") == "cure":
            self._on_cure()


class HelpSheet(Component):
    """A sheet over the page."""

    html = param.String(doc="What it says.")
    open = param.Boolean(doc="Whether it is shown.")


class HiddenUnits(Component):
    """A card per hidden unit, with a button that flips it."""

    units = param.List(doc="For each hidden unit: match (a phrase), overlap in [-1, 1], flipped (bool).")

    _shared = ("button_look",)

    def __init__(self, on_flip: Callable[[int], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_flip = on_flip

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "flip" in message:
            self._on_flip(int(message["flip"]))


class UnitTools(Component):
    """Buttons that swap two hidden units, or flip only one half of one."""

    n = param.Integer(0, doc="Number of hidden units.")

    _shared = ("button_look",)

    def __init__(
        self, on_swap: Callable[[int, int], None], on_broken: Callable[[int, str], None], **params: Any
    ) -> None:
        super().__init__(**params)
        self._on_broken = on_broken
        self._on_swap = on_swap

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "swap" in message:
            first, second = message["swap"]
            self._on_swap(int(first), int(second))
        if "broken" in message:
            unit, block = message["broken"]
            self._on_broken(int(unit), "K" if block == "K" else "L")


class Instrument(Component):
    """The status line, the acknowledgement of frames, the address, and keys pressed anywhere but in a field.

    The address is ours and not Panel's `Location`, which reads every value as a number, breaks off at one of 5,000
    digits before the page is built, and does not tell of the browser's Back.

    Args:
        on_key: called with a key that was pressed.
        on_address: called with the query of the address to which the browser went back or forward, and with the number
            of such journeys so far.
        on_shared: called with a whole link, and whether it is on the clipboard.

    `on_narrow` is called if the page opens where there is little room, and when its room becomes little.
    """

    sentence = param.String(doc="What happened last, in a sentence; changes at events only.")
    state = param.String("{}", doc="The same in numbers, as JSON; changes with every frame.")
    frame = param.Integer(0, doc="Number of the frame sent.")
    address = param.List(
        ["", 0], doc="Query, with its question mark, and how many of the browser's journeys it knows of; "
        "what was before is a step back, unless this answers a journey."
    )  # fmt: skip
    keys = param.List([], doc="Keys that the page listens to.")

    def __init__(
        self,
        on_key: Callable[[str], None],
        on_address: Callable[[str, int], None],
        on_shared: Callable[[str, bool], None],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self._on_key, self._on_address, self._on_shared = on_key, on_address, on_shared
        self.on_narrow: Callable[[], None] = lambda: None
        self.drawn = 0  # number of the last frame that the browser has drawn; told by message, which waits for nothing

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "drawn" in message:
            self.drawn = max(self.drawn, int(message["drawn"]))  # an earlier answer may come later
        if "narrow" in message:
            self.on_narrow()
        if "key" in message:
            self._on_key(str(message["key"]))
        if "address" in message:
            query, journey = message["address"]
            self._on_address(str(query), int(journey))
        if "shared" in message:
            self._on_shared(str(message["shared"]), bool(message["copied"]))

    def share(self, query: str) -> None:
        """Make a whole link of a query and put it on the clipboard, if the browser allows; `on_shared` is told."""
        self._send_msg({"share": query})
