"""Network: the living drawing of a network, with the couplings of one hidden unit in the colours of their blocks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import param

from hidviz.network import Couplings, Recording
from hidviz.ui.components.base import Component

FAINT = 30  # couplings among the visible units that are drawn, the strongest
BINS = 120  # of the data that the units show, over and over


class Network(Component):
    """Visible units on a ring, hidden ones inside it; a hidden unit that is pressed is handed to `on_choose`.

    While a run is under way the visible units show its data, one bin after the other, unless the visitor's machine asks
    for less motion. A change of sign turns through zero.
    """

    n_visible = param.Integer(1, doc="Number of visible units, Nv.")
    n_hidden = param.Integer(0, doc="Number of hidden units, Nh.")
    chosen = param.Integer(0, doc="The hidden unit whose couplings are drawn, counted from 0.")
    couplings = param.String(
        '{"J": [], "K": [], "L": []}',
        doc="As JSON, which is sent sooner than lists: K (Nv,) from the chosen unit to the visible ones, L (Nv,) from "
        "the visible ones to it; J, the strongest among visible units, each as receiver, sender, strength.",
    )
    largest = param.Number(1.0, doc="The strength at which a line has its full width.")
    states = param.List([], doc="Some bins of the data, each a text of 1 (spike) and 0.")
    running = param.Boolean(doc="Whether a run is under way.")
    flicker = param.Boolean(True, doc="Whether the units show the data while it is.")
    large = param.Boolean(doc="Whether it is read from far away.")
    caption = param.String(doc="What is drawn: below it, and its name for those who hear it.")

    def __init__(self, on_choose: Callable[[int], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_choose = on_choose
        self._recording: Recording | None = None

    def show(self, couplings: Couplings, recording: Recording, *, largest: float, running: bool) -> None:
        """Draw the couplings of the chosen hidden unit, and the strongest among the visible ones.

        Args:
            couplings: of the network to draw.
            recording: its data; sent once.
            largest: the strength at which a line has its full width.
            running: whether a run is under way.
        """
        n_hidden = couplings.n_hidden
        chosen = min(self.chosen, max(0, n_hidden - 1))
        drawn = {
            "J": _strongest(couplings),
            "K": _short(couplings.K[:, chosen]) if n_hidden else [],
            "L": _short(couplings.L[chosen]) if n_hidden else [],
        }
        values: dict[str, Any] = {
            "n_visible": couplings.n_visible, "n_hidden": n_hidden, "chosen": chosen, "largest": largest,
            "running": running, "couplings": json.dumps(drawn),
        }  # fmt: skip
        if recording is not self._recording:
            self._recording = recording
            values["states"] = ["".join(map(str, row)) for row in (recording.trials[0][:BINS] > 0).astype(int)]
        self.put(**values)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "choose" in message and 0 <= int(message["choose"]) < self.n_hidden:
            self._on_choose(int(message["choose"]))


def _strongest(couplings: Couplings) -> list[list[float]]:
    """The strongest couplings between different visible units: receiver, sender, strength."""
    sizes = np.abs(couplings.J)
    np.fill_diagonal(sizes, 0.0)
    order = np.argsort(-sizes, axis=None, kind="stable")[:FAINT]
    receivers, senders = np.unravel_index(order, sizes.shape)
    return [
        [int(i), int(j), round(float(couplings.J[i, j]), 3)]
        for i, j in zip(receivers, senders, strict=True)
        if sizes[i, j] > 0.0
    ]


def _short(values: Any) -> list[float]:
    return [round(float(value), 4) for value in values]
