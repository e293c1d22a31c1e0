"""Slopes of many starts: the error of each as found on the left, aligned to the truth on the right.

A hollow mark stands at the error as found, a full one at the error after alignment, and a line joins the two. Colour
and shape tell the gauge. Where the lines come from many heights and meet in one, the starts found one model, in
different gauges. A start that did not come to the best cost has a dashed line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Segment, TapTool
from bokeh.plotting import figure

from hidviz.experiments import SAME, Restarts
from hidviz.ui.plots.axes import paint_axes, stroke
from hidviz.ui.text.language import N_, _
from hidviz.ui.theme import block_letters

FOUND, ALIGNED = 0.0, 1.0  # where the two errors of a start stand
DASHED = " ".join(map(str, stroke("dashed")))
OTHER = N_("other")
WITHIN = np.format_float_scientific(SAME, trim="-", exp_digits=1)


class Mark(NamedTuple):
    """How a gauge is drawn: colour, Bokeh's name of the shape, and the shape as a letter."""

    colour: str
    shape: str
    letter: str


MARKS = (
    Mark("#7265e3", "circle", "●"),
    Mark("#c47a00", "square", "■"),
    Mark("#c2528b", "triangle", "▲"),
    Mark("#2f9a8c", "diamond", "◆"),
    Mark("#a05a2c", "inverted_triangle", "▼"),
    Mark("#6f8f1f", "hex", "⬢"),
    Mark("#b04a4a", "star", "★"),
)
REST = Mark("#8a8f99", "plus", "✚")


def marks_of(table: Restarts) -> dict[str, Mark]:
    """A mark for every gauge: the most frequent ones have their own."""
    counts = Counter(start.gauge for start in table.starts)
    ordered = sorted(counts, key=lambda gauge: (-counts[gauge], gauge))
    return {gauge: MARKS[k] if k < len(MARKS) else REST for k, gauge in enumerate(ordered)}


class RestartsPlot:
    """One figure for K and one for L.

    Args:
        on_pick: called with the number of the start whose mark was clicked.
    """

    def __init__(self, on_pick: Callable[[int], None]) -> None:
        self._on_pick = on_pick
        empty = ("left", "right", "found", "aligned", "cost", "colour", "shape", "dash", "start", "gauge", "state")
        self._sources = {block: ColumnDataSource({name: [] for name in empty}) for block in "KL"}
        self.figures = {block: self._figure(block) for block in "KL"}

    def _figure(self, block: str) -> figure:
        source = self._sources[block]
        plot = figure(
            height=286,
            sizing_mode="stretch_width",
            x_range=Range1d(FOUND - 0.25, ALIGNED + 0.25),
            y_range=Range1d(0.0, 1.0),
            tools="",
            toolbar_location=None,
            min_border=0,
            name=_("Starts: {block}", block=block),
        )
        plot.xaxis.ticker = FixedTicker(ticks=[FOUND, ALIGNED])
        plot.xaxis.major_label_overrides = {FOUND: _("unaligned"), ALIGNED: _("aligned")}
        plot.yaxis.axis_label = _("rms error of {block}", block=block)
        plot.add_glyph(
            source,
            Segment(x0="left", y0="found", x1="right", y1="aligned", line_color="colour", line_dash="dash",
                    line_alpha=0.6, line_width=2),
        )  # fmt: skip
        full = plot.scatter("right", "aligned", source=source, marker="shape", size=11, fill_color="colour")
        hollow = plot.scatter("left", "found", source=source, marker="shape", size=11, fill_alpha=0.0, line_width=2)
        for renderer in (hollow, full):
            renderer.glyph.line_color = "colour"
            renderer.nonselection_glyph = renderer.selection_glyph = None  # a click loads; it is no selection
        tips = [(_("start"), "@start"), (_("cost"), "@cost{0.000000}"), (_("unaligned"), "@found{0.0000}"),
                (_("aligned"), "@aligned{0.0000}"), (_("hidden units"), "@gauge"), (_("state"), "@state")]  # fmt: skip
        plot.add_tools(HoverTool(renderers=[hollow, full], tooltips=tips), TapTool(renderers=[hollow, full]))
        source.selected.on_change("indices", lambda _attr, _old, new: self._picked(source, new))
        return plot

    def _picked(self, source: ColumnDataSource, indices: list[int]) -> None:
        if indices and indices[0] < len(source.data["start"]):
            self._on_pick(int(source.data["start"][indices[0]]))
            source.selected.indices = []

    def show(self, table: Restarts, marks: Mapping[str, Mark]) -> None:
        """Draw all starts."""
        starts = table.starts
        shared: dict[str, Any] = {
            "left": [FOUND] * len(starts),
            "right": [ALIGNED] * len(starts),
            "dash": ["solid" if start.cost <= table.lowest + SAME else DASHED for start in starts],
            "cost": [start.cost for start in starts],
            "colour": [marks[start.gauge].colour for start in starts],
            "shape": [marks[start.gauge].shape for start in starts],
            "start": [start.index for start in starts],
            "gauge": [start.gauge for start in starts],
            "state": [_(start.state) for start in starts],
        }
        for block, source in self._sources.items():
            found, aligned = ([error[block] for error in errors] for errors in
                              ((s.rms for s in starts), (s.aligned for s in starts)))  # fmt: skip
            plot = self.figures[block]
            far = 1.08 * max(*found, *aligned, 1e-3)
            if not 0.7 * plot.y_range.end < far <= plot.y_range.end:
                plot.y_range.end = 1.2 * far
            source.data = shared | {"found": found, "aligned": aligned}

    def restyle(self, dark: bool) -> None:
        """Colours for a theme; the axis of each figure in the colour of its block."""
        letters = block_letters(dark)
        for block, plot in self.figures.items():
            paint_axes(plot, dark)
            plot.xgrid.grid_line_color = None
            plot.yaxis.axis_label_text_color = letters[block]


def legend(table: Restarts, marks: Mapping[str, Mark]) -> str:
    """Which gauge has which mark, and how many starts ended in it, as HTML."""
    counts = Counter(start.gauge for start in table.starts)
    own = [gauge for gauge, mark in marks.items() if mark is not REST]
    rows = [(marks[gauge], gauge or _("none"), counts[gauge]) for gauge in own]
    if rest := sum(counts.values()) - sum(counts[gauge] for gauge in own):
        rows.append((REST, _(OTHER), rest))
    items = "".join(
        f'<span style="white-space:nowrap"><span style="color:{mark.colour}" aria-hidden="true">{mark.letter}</span> '
        f"{name} × {n}</span>"
        for mark, name, n in rows
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:4px 18px;font-size:14px;font-variant-numeric:tabular-nums">'
        f"<span>{_('Hidden units found in the places of true 1, 2, …:')}</span>{items}"
        f"<span>{_('dashed: more than {within} nats per bin above the best cost', within=WITHIN)}</span></div>"
    )
