"""Picture: what a drawing of a network shows, as plain values: units in rows of time, lines, marks, and a sentence.

`network_picture` makes one from couplings (the paper's Fig. 1), the strongest of them or those of one unit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hidviz.network import Couplings
from hidviz.numerics import Array
from hidviz.ui.text.language import N_, _

BLOCK_WORDS = {
    "J": N_("visible to visible"),
    "K": N_("hidden to visible"),
    "L": N_("visible to hidden"),
    "M": N_("hidden to hidden"),
}


class Edge(NamedTuple):
    """One coupling; units are counted from 0, hidden ones after the visible."""

    block: str
    receiver: int
    sender: int
    strength: float


class Link(NamedTuple):
    """A line of the drawing, from the sender in its row to the receiver in the next, with a word beside it."""

    row: int
    sender: int
    receiver: int
    block: str
    strength: float
    text: str = ""


class Mark(NamedTuple):
    """A unit of the drawing that is pointed out, with a word beside it."""

    row: int
    unit: int
    text: str


@dataclass(frozen=True)
class Picture:
    """What a schematic shows.

    Args:
        n_visible: number of visible units, Nv.
        n_hidden: number of hidden units, Nh.
        rows: what each row of units is called, the earliest time first.
        links: the lines.
        largest: the strength at which a line has its full width.
        marks: units pointed out.
        chosen: the unit whose couplings are isolated; None for all units.
        backwards: whether arrows lead from receiver to sender, as errors do.
        says: what is seen, in a sentence.
    """

    n_visible: int
    n_hidden: int
    rows: tuple[str, ...]
    links: tuple[Link, ...]
    largest: float
    marks: tuple[Mark, ...] = ()
    chosen: int | None = None
    backwards: bool = False
    says: str = ""


def unit_name(unit: int, n_visible: int) -> str:
    """The name of a unit counted from 0, hidden ones after the visible: visible 1, …, hidden 1, …."""
    return _("visible {unit}", unit=unit + 1) if unit < n_visible else _("hidden {unit}", unit=unit - n_visible + 1)


def block_of(receiver: int, sender: int, n_visible: int) -> str:
    """The block that couples these two units."""
    return ("J" if sender < n_visible else "K") if receiver < n_visible else ("L" if sender < n_visible else "M")


def strongest_edges(couplings: Couplings, n: int, unit: int | None = None) -> tuple[list[Edge], int]:
    """The n strongest couplings that are not 0, strongest first, and how many there are in all.

    Args:
        couplings: the network.
        n: how many at most.
        unit: take only couplings to or from this unit.
    """
    whole: Array = np.block([[couplings.J, couplings.K], [couplings.L, couplings.M]])
    sizes = np.abs(whole)
    if unit is not None:
        touches = np.arange(len(whole)) == unit
        sizes = np.where(touches[:, None] | touches[None, :], sizes, 0.0)
    order = np.argsort(-sizes, axis=None, kind="stable")[:n]
    receivers, senders = np.unravel_index(order, whole.shape)
    edges = [
        Edge(block_of(int(i), int(j), couplings.n_visible), int(i), int(j), float(whole[i, j]))
        for i, j in zip(receivers, senders, strict=True)
        if sizes[i, j] > 0.0
    ]
    return edges, int(np.count_nonzero(sizes))


def network_picture(couplings: Couplings, *, largest: float, n_edges: int, unit: int | None = None) -> Picture:
    """The paper's Fig. 1 of some couplings: three rows of time.

    All couplings act between any two rows. Those of a chosen unit lead into it from t to t+1 and out of it from t+1
    to t+2, so that a hidden unit shows what it listens to and, one bin later, whom it speaks to.

    Args:
        couplings: the network.
        largest: the strength of the widest line.
        n_edges: draw at most this many couplings, the strongest.
        unit: isolate the couplings of this unit, counted from 0, hidden ones after the visible.
    """
    n_visible = couplings.n_visible
    edges, n_all = strongest_edges(couplings, n_edges, unit)
    links = []
    for block, receiver, sender, strength in edges:
        rows = (0, 1) if unit is None else [row for row, end in ((0, receiver), (1, sender)) if end == unit]
        links += [Link(row, sender, receiver, block, strength) for row in rows]
    whose = "" if unit is None else _(" of {unit}", unit=unit_name(unit, n_visible))
    which = (
        _("The {n:,} strongest of {n_all:,} couplings", n=len(edges), n_all=n_all)
        if len(edges) < n_all
        else _("All {n_all:,} couplings", n_all=n_all)
    )
    return Picture(
        n_visible=n_visible,
        n_hidden=couplings.n_hidden,
        rows=("t", "t + 1", "t + 2"),
        links=tuple(links),
        largest=largest,
        marks=() if unit is None else (Mark(1, unit, ""),),
        chosen=unit,
        says=f"{which}{whose}.",
    )
