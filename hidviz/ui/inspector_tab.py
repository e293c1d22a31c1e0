"""Tab "Inspector": one unit's couplings in numbers, every coupling against the truth, and a hand to set one.

The table is what the heatmaps cannot be: readable by keyboard and screen reader, with the same numbers. It follows
the run while the tab is in front, a few times a second.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, Range1d
from bokeh.plotting import figure

from hidviz.couplings import Array, Couplings
from hidviz.frames import Frame
from hidviz.gauge import aligned, with_hidden
from hidviz.ui.colours import DARK, LIGHT, block_colours
from hidviz.ui.components import Button, Buttons
from hidviz.ui.curves import paint_axes
from hidviz.ui.layout import heading, row, titled
from hidviz.ui.session import Session

PERIOD = 0.25  # seconds between two pictures of a running table: faster cannot be read
MOST_ROWS = 400
BLOCKS = "JKLM"


@dataclass(frozen=True)
class Row:
    """One coupling: its block, receiver and sender counted from 0, and what is known of it."""

    block: str
    receiver: int
    sender: int
    true: float
    found: float
    aligned: float


def rows_of_unit(frame: Frame, unit: int) -> list[Row]:
    """Every coupling to and from one unit: visible units come first, then hidden ones.

    Args:
        frame: what is shown.
        unit: 0 … Nv-1 for a visible unit, Nv … for a hidden one, in the order of the truth and of the aligned estimate.
    """
    n = max(frame.world.truth.n_hidden, frame.snapshot.couplings.n_hidden)
    true, found = with_hidden(frame.world.truth, n), with_hidden(frame.snapshot.couplings, n)
    best = aligned(found, true)
    n_visible = true.n_visible
    hidden = unit >= n_visible
    k = unit - n_visible if hidden else unit
    incoming, outgoing = (("L", "M"), ("K", "M")) if hidden else (("J", "K"), ("J", "L"))
    rows = [_row(block, k, sender, true, found, best) for block in incoming for sender in range(_size(true, block, 1))]
    rows += [
        _row(block, to, k, true, found, best)
        for block in outgoing
        for to in range(_size(true, block, 0))
        if to != k or block in "KL"  # the coupling of a unit to itself is among the incoming ones
    ]
    return [row for row in rows if row.block != "M" or true.M.any() or found.M.any()][:MOST_ROWS]


def _size(couplings: Couplings, block: str, axis: int) -> int:
    return int(getattr(couplings, block).shape[axis])


def _row(block: str, receiver: int, sender: int, true: Couplings, found: Couplings, best: Couplings) -> Row:
    values = (float(getattr(each, block)[receiver, sender]) for each in (true, found, best))
    return Row(block, receiver, sender, *values)


def table_of(rows: list[Row], colours: dict[str, str]) -> str:
    """The rows as an HTML table with a caption and headings."""
    body = "".join(
        f'<tr><th scope="row" style="color:{colours[row.block]}">{row.block} '
        f"{_name(row.block, 0, row.receiver)} ← {_name(row.block, 1, row.sender)}</th>"
        + "".join(f"<td>{value:+.4f}</td>" for value in (row.true, row.found, row.aligned, row.aligned - row.true))
        + "</tr>"
        for row in rows
    )
    heads = "".join(
        f'<th scope="col">{escape(head)}</th>' for head in ("coupling", "true", "found", "aligned", "error")
    )
    return f'<table class="couplings"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'


def _name(block: str, axis: int, k: int) -> str:
    """Visible units by their number, hidden ones by h and theirs."""
    return f"h{k + 1}" if (block, axis) in (("K", 1), ("L", 0), ("M", 0), ("M", 1)) else str(k + 1)


TABLE_CSS = """
table.couplings { border-collapse: collapse; font-size: 15px; font-variant-numeric: tabular-nums; width: 100%; }
table.couplings th, table.couplings td { padding: 3px 10px; text-align: right; }
table.couplings th[scope=row] { text-align: left; font-weight: 600; white-space: nowrap; }
table.couplings thead th { position: sticky; top: 0; background: var(--panel-background-color, canvas);
  border-bottom: 1px solid currentColor; }
"""


class InspectorTab:
    """The tab; see `hidviz.ui.tabs.Tab`.

    Args:
        session: whose estimate is looked at, and changed by hand.
    """

    key = "inspector"
    title = "Inspector"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen: Frame | None = None
        self._drawn_at = 0.0
        self._dark = False
        self._stale = True
        self._build()

    def look(self) -> bool:
        """Take in a new frame, a few times a second while running."""
        frame = self._session.frame
        due = time.monotonic() - self._drawn_at > PERIOD or not self._session.running
        if frame is None or not (self._stale or (frame is not self._seen and due)):
            return False
        self._seen, self._stale, self._drawn_at = frame, False, time.monotonic()
        self._offer_units(frame)
        self._draw_table(frame)
        self._draw_scatter(frame)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark, self._stale = dark, True
        self.buttons.dark = dark
        paint_axes(self.figure, dark)
        inks = DARK if dark else LIGHT
        self._identity.glyph.line_color = inks.quiet
        for block, dots in self._dots.items():
            dots.glyph.fill_color = dots.glyph.line_color = block_colours(dark)[block]
        self.figure.legend.label_text_color = inks.text
        self.figure.legend.background_fill_alpha = 0.0
        self.figure.legend.border_line_color = None

    def close(self) -> None:
        """Nothing runs in the background."""

    def _build(self) -> None:
        self.unit = pmui.Select(label="Unit", options={}, size="small", width=200, margin=(8, 8, 8, 0))
        self.unit.param.watch(self._changed, "value")
        self.block = pmui.Select(label="Block", options=list("JKL"), value="K", size="small", width=90, margin=8)
        shared = {"size": "small", "width": 110, "margin": 8}
        self.receiver = pmui.IntInput(label="To unit", value=1, **shared)
        self.sender = pmui.IntInput(label="From unit", value=1, **shared)
        self.value = pmui.FloatInput(label="New value", value=0.0, step=0.1, **shared)
        self.buttons = Buttons(
            Button("Set coupling", "step", "Put this value into the estimate; Undo takes it back", self._set),
            columns=0, margin=8,
        )  # fmt: skip
        self.answer = pmui.Typography("", sx={"fontSize": 15}, margin=(0, 0, 8, 0))
        self.table = pn.pane.HTML("", stylesheets=[TABLE_CSS], sizing_mode="stretch_width", margin=0)
        self._build_scatter()
        scrolled = pn.Column(
            self.unit, self.table, height=560, scroll=True, sizing_mode="stretch_width", margin=0
        )  # fmt: skip
        scatter = pmui.Column(
            titled("True against inferred, aligned", self.figure),
            heading("Set one coupling by hand"),
            pn.FlexBox(self.block, self.receiver, self.sender, self.value, self.buttons, align_items="center"),
            self.answer,
            margin=0,
        )
        self.layout = pmui.Column(row(scrolled, scatter, basis=400), sizing_mode="stretch_width", margin=(8, 0))

    def _build_scatter(self) -> None:
        self.figure = figure(
            height=400, sizing_mode="stretch_width", x_range=Range1d(-1, 1), y_range=Range1d(-1, 1), tools="",
            toolbar_location=None, min_border=0,
        )  # fmt: skip
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = "true coupling", "inferred coupling"
        self._line = ColumnDataSource({"x": [-1, 1], "y": [-1, 1]})
        self._identity = self.figure.line("x", "y", source=self._line, line_width=1.5, line_dash="dashed")
        self._sources = {block: ColumnDataSource({"x": [], "y": []}) for block in BLOCKS}
        self._dots = {
            block: self.figure.scatter(
                "x", "y", source=source, size=6, fill_alpha=0.55, line_alpha=0.0, legend_label=block
            )
            for block, source in self._sources.items()
        }
        self.figure.legend.location = "top_left"
        self.figure.legend.orientation = "horizontal"
        self.figure.legend.label_text_font_size = "14px"

    def _offer_units(self, frame: Frame) -> None:
        n = max(frame.world.truth.n_hidden, frame.snapshot.couplings.n_hidden)
        n_visible = frame.world.truth.n_visible
        names = {f"hidden {a + 1}": n_visible + a for a in range(n)} | {f"visible {i + 1}": i for i in range(n_visible)}
        if self.unit.options != names:
            self.unit.param.update(options=names, value=next(iter(names.values())))
        blocks = [block for block in BLOCKS if getattr(frame.snapshot.couplings, block).size]
        if self.block.options != blocks:
            self.block.param.update(
                options=blocks, value=blocks[-1] if self.block.value not in blocks else self.block.value
            )

    def _draw_table(self, frame: Frame) -> None:
        if self.unit.value is not None:
            self.table.object = table_of(rows_of_unit(frame, self.unit.value), dict(block_colours(self._dark)))

    def _draw_scatter(self, frame: Frame) -> None:
        n = max(frame.world.truth.n_hidden, frame.snapshot.couplings.n_hidden)
        true = with_hidden(frame.world.truth, n)
        best = aligned(frame.snapshot.couplings, true)
        largest = 0.1
        for block, source in self._sources.items():
            x, y = (getattr(each, block).ravel().astype(np.float32) for each in (true, best))
            shown: slice | Array = slice(None) if x.any() or y.any() else slice(0, 0)
            source.data = {"x": x[shown], "y": y[shown]}
            largest = max(largest, float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)))
        end = float(np.ceil(10.0 * 1.05 * largest) / 10.0)
        self._line.data = {"x": [-end, end], "y": [-end, end]}
        for shown_range in (self.figure.x_range, self.figure.y_range):
            shown_range.update(start=-end, end=end)

    def _changed(self, *_: Any) -> None:
        self._stale = True

    def _set(self) -> None:
        frame = self._session.frame
        if frame is None:
            return
        block, row, column = self.block.value, self.receiver.value, self.sender.value
        n_rows, n_columns = getattr(frame.snapshot.couplings, block).shape
        if row is None or column is None or not (1 <= row <= n_rows and 1 <= column <= n_columns):
            self.answer.object = (
                f"{block} has receivers 1 to {n_rows} and senders 1 to {n_columns}, got {row} and {column}."
            )
            return
        try:
            self._session.set_coupling(block, row - 1, column - 1, float(self.value.value or 0.0))
        except ValueError as error:
            self.answer.object = str(error)
            return
        self.answer.object = f"{block} {row}, {column} is set; Undo on the Learn tab, or the key u, takes it back."
        self._stale = True
