"""Table of couplings: those of one unit in numbers, for the keyboard and for a screen reader, live while running."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import param

from hidviz.experiments import Frame
from hidviz.network import Couplings, aligned, with_hidden
from hidviz.numerics import Array
from hidviz.ui.components.base import Component
from hidviz.ui.text.language import N_, _
from hidviz.units import signed

COLUMNS = (N_("True"), N_("Found"), N_("Aligned"), N_("Error"), N_("Error bar"))


@dataclass(frozen=True)
class Row:
    """One coupling: its block, receiver and sender counted from 0, and what is known of it.

    Args:
        block: J, K, L or M.
        receiver: row of the block.
        sender: column of the block.
        true: the true coupling.
        found: the estimate as found, under its own labels and signs.
        aligned: the estimate under the labels and signs of the truth.
        bar: standard error of `aligned`; not a number if it is not known, infinite if the data do not tell.
    """

    block: str
    receiver: int
    sender: int
    true: float
    found: float
    aligned: float
    bar: float

    @property
    def name(self) -> str:
        """Block, receiver and sender in a few signs, hidden units with an h."""
        return f"{self.block} {self._unit(0)} ← {self._unit(1)}"

    @property
    def spoken(self) -> str:
        """The same in words."""
        to, since = (
            _("hidden {unit}", unit=unit[1:]) if unit[0] == "h" else _("visible {unit}", unit=unit)
            for unit in map(self._unit, (0, 1))
        )
        return _("{block}, to {to} from {since}", block=self.block, to=to, since=since)

    def _unit(self, axis: int) -> str:
        hidden = (self.block, axis) in (("K", 1), ("L", 0), ("M", 0), ("M", 1))
        return f"{'h' if hidden else ''}{(self.sender if axis else self.receiver) + 1}"

    def in_words(self) -> str:
        """Everything known of it, in a sentence."""
        error = self.aligned - self.true
        said = {_("true"): self.true, _("found"): self.found, _("aligned"): self.aligned, _("error"): error}
        values = ", ".join(f"{name} {signed(value, 4)}" for name, value in said.items())
        if np.isnan(self.bar):
            bar = _("error bar not known")
        elif np.isinf(self.bar):
            bar = _("no error bar: not identifiable (flat direction)")
        else:
            times = _(", the error is {error:.1f} of it", error=abs(error) / self.bar) if self.bar else ""
            bar = _("error bar ±{bar:.4f}{times}", bar=self.bar, times=times)
        return f"**{self.spoken}**: {values}, {bar}."


def rows_of_unit(frame: Frame, unit: int, bars: Mapping[str, Array] | None = None) -> list[Row]:
    """Every coupling to and from one unit: visible units come first, then hidden ones.

    Args:
        frame: what is shown.
        unit: 0 … Nv-1 for a visible unit, Nv … for a hidden one, in the order of the truth and of the aligned estimate.
        bars: standard errors of every block in that order, if they are known.
    """
    n = max(frame.data.truth.n_hidden, frame.snapshot.couplings.n_hidden)
    true, found = with_hidden(frame.data.truth, n), with_hidden(frame.snapshot.couplings, n)
    best = aligned(found, true)
    hidden = unit >= true.n_visible
    k = unit - true.n_visible if hidden else unit
    incoming, outgoing = (("L", "M"), ("K", "M")) if hidden else (("J", "K"), ("J", "L"))
    places = [(block, k, sender) for block in incoming for sender in range(_size(true, block, 1))]
    places += [
        (block, to, k)
        for block in outgoing
        for to in range(_size(true, block, 0))
        if to != k or block in "KL"  # the coupling of a unit to itself is among the incoming ones
    ]
    coupled = true.M.any() or found.M.any()
    return [_row(*place, true, found, best, bars) for place in places if place[0] != "M" or coupled]


def _size(couplings: Couplings, block: str, axis: int) -> int:
    return int(getattr(couplings, block).shape[axis])


def _row(
    block: str,
    receiver: int,
    sender: int,
    true: Couplings,
    found: Couplings,
    best: Couplings,
    bars: Mapping[str, Array] | None,
) -> Row:
    a, b, c = (float(getattr(each, block)[receiver, sender]) for each in (true, found, best))
    return Row(block, receiver, sender, a, b, c, float(bars[block][receiver, sender]) if bars else np.nan)


class CouplingsTable(Component):
    """A table of couplings that can be sorted; a row that is pressed or reached by arrow keys is handed to `on_choose`.

    While a run goes on rows stay where they are; they are sorted anew where it rests.
    """

    title = param.String(doc="Accessible name of the table.")
    columns = param.List(doc="Names of the columns of numbers.")
    heads = param.List(doc="For each row: block, name, the name in words.")
    values = param.List(doc="For each row: true, found, aligned, error, error bar; None not known, -1 not told.")
    chosen = param.Integer(-1, doc="The row that is told of; -1 for none.")
    running = param.Boolean(doc="Whether the numbers go on changing.")

    def __init__(self, on_choose: Callable[[int], None], **params: Any) -> None:
        super().__init__(columns=list(map(_, COLUMNS)), **params)
        self._on_choose = on_choose

    def show(self, title: str, rows: list[Row], *, chosen: int, running: bool) -> None:
        """Show these rows."""
        heads = [[row.block, row.name, row.spoken] for row in rows]
        if heads != self.heads:
            self.put(title=title, heads=heads, values=_values(rows), chosen=chosen, running=running)
        else:
            self.put(values=_values(rows), chosen=chosen, running=running)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "choose" in message:
            self._on_choose(int(message["choose"]))


def _values(rows: list[Row]) -> list[list[float | None]]:
    return [[row.true, row.found, row.aligned, row.aligned - row.true, _sent(row.bar)] for row in rows]


def _sent(bar: float) -> float | None:
    return None if np.isnan(bar) else -1.0 if np.isinf(bar) else bar
