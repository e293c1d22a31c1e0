"""Curves: a figure of named curves over the step, drawn again and again.

Bokeh models are built once per session, and few of them: all curves of a figure are one glyph, so that a frame is two
assignments of `data`, and the page opens sooner. Every curve carries its value at its end. Colours are set by `paint`,
because the page's own design would restyle what is left to defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSHover,
    HoverTool,
    MultiLine,
    Range1d,
    Scatter,
    Segment,
    Text,
    TickFormatter,
)
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.plots.axes import FONT, decimate, paint_axes, put, spread, stroke
from hidviz.ui.plots.small_arrays import packed
from hidviz.ui.text.language import _
from hidviz.ui.theme import LIGHT, inks

LEADER = 0.02  # of the width of the frame: from the end of a curve to its label
LINE, FRAME = 15, 106  # pixels: what a label needs of height, and how high the frame is
ROOM = 132  # pixels beside the frame, for what the curves carry at their ends
ORDINATE = "return exponents ? (10 ** value).toExponential(2) : value.toFixed(4)"


@dataclass(frozen=True)
class Line:
    """One curve to draw: its name (a key of the styles and colours), its label at the end, its points."""

    name: str
    label: str
    x: Array
    y: Array


class Curves:
    """A figure of named curves over the step, each labelled at its end.

    Args:
        styles: for each curve its width and dash.
        axis: label of the ordinate.
        name: an accessible name for the figure.
    """

    def __init__(self, styles: Mapping[str, tuple[float, str]], axis: str, name: str) -> None:
        self.figure = figure(
            height=164,
            sizing_mode="stretch_width",
            x_range=Range1d(0, 20),
            y_range=Range1d(0, 1),
            tools="",
            toolbar_location=None,
            output_backend="canvas",
            min_border=0,
            min_border_right=ROOM,
            name=name,
        )
        self.figure.xaxis.axis_label = _("step")
        self.figure.yaxis.axis_label = axis
        self._styles = dict(styles)
        self._source = ColumnDataSource({name: [] for name in ("xs", "ys", "color", "width", "dash")})
        glyph = MultiLine(
            xs="xs", ys="ys", line_color="color", line_width="width", line_dash="dash", line_join="round"
        )  # fmt: skip
        lines = self.figure.add_glyph(self._source, glyph)
        self.figure.xaxis.ticker = self.figure.yaxis.ticker = BasicTicker(desired_num_ticks=5)
        nothing = {"x": np.nan, "y": np.nan, "text": "", "color": LIGHT.text}
        self._ends = ColumnDataSource({name: [value] * len(styles) for name, value in nothing.items()})
        self.figure.add_glyph(
            self._ends,
            Text(
                x="x", y="y", text="text", text_color="color", x_offset=4, text_baseline="middle",
                text_font_size="13px", text_font={"value": FONT},
            ),
            level="overlay",  # which is not cut off at the frame
        )  # fmt: skip
        self._leaders = ColumnDataSource({name: [np.nan] * len(styles) for name in ("x0", "y0", "x1", "y1")})
        self._leader = Segment(x0="x0", y0="y0", x1="x1", y1="y1", line_width=1, line_color=LIGHT.quiet)
        self.figure.add_glyph(self._leaders, self._leader, level="overlay")
        self._told = CustomJSHover(args={"exponents": False}, code=ORDINATE)
        self._hover = HoverTool(
            renderers=[lines],
            tooltips=[(_("step"), "$snap_x{0,0}"), (axis, "$snap_y{custom}")],
            formatters={"$snap_y": self._told},
            mode="mouse",
            line_policy="nearest",
        )
        self.figure.add_tools(self._hover)
        self._marks = ColumnDataSource({"x": [], "y": [], "text": []})
        self._mark = Scatter(x="x", y="y", size=9, marker="triangle", line_alpha=0.0)
        marks = self.figure.add_glyph(self._marks, self._mark, level="overlay")
        self.figure.add_tools(HoverTool(renderers=[marks], tooltips=[(f"{_('step')} @x", "@text")]))
        self._colours: Mapping[str, str] = {}
        self._letters: Mapping[str, str] = {}

    def draw(self, lines: Sequence[Line], low: float, high: float) -> None:
        """Show these curves, and no others, between the given ordinates."""
        shown = {line.name: line for line in lines}
        nothing = Line("", "", np.empty(0), np.empty(0))
        points = [decimate(line.x, line.y) for line in (shown.get(name, nothing) for name in self._styles)]
        # Always as many rows: Bokeh draws between taking in more rows and their colours, and then fails.
        self._source.data = {
            "xs": [packed(x) for x, _ in points],
            "ys": [packed(y) for _, y in points],
            "color": [self._colours.get(name, LIGHT.text) for name in self._styles],
            "width": [width for width, _ in self._styles.values()],
            "dash": [" ".join(map(str, stroke(dash))) or "solid" for _, dash in self._styles.values()],
        }
        last = max((float(line.x[-1]) for line in lines if len(line.x)), default=0.0)
        put(self.figure.x_range, start=0.0, end=_next_nice(1.02 * last))
        put(self.figure.y_range, start=low, end=high)
        labelled = [line for line in lines if line.label and len(line.y)]
        line_of_text = LINE / FRAME * (high - low)
        bottom, top = low + line_of_text / 2, high - line_of_text / 2
        apart = min(line_of_text, (top - bottom) / max(len(labelled) - 1, 1))
        heights = spread([float(line.y[-1]) for line in labelled], apart, bottom, top)
        spare = [np.nan] * (len(self._styles) - len(labelled))
        ends = [float(line.x[-1]) for line in labelled]
        beside = [last + LEADER * self.figure.x_range.end] * len(ends)  # where no other curve goes on
        self._ends.data = {
            "x": [*beside, *spare],
            "y": [*heights, *spare],
            "text": [*(line.label for line in labelled), *([""] * len(spare))],
            "color": [
                *(self._letters.get(line.name, LIGHT.text) for line in labelled), *([LIGHT.text] * len(spare)),
            ],
        }  # fmt: skip
        self._leaders.data = {
            "x0": [*ends, *spare],
            "y0": [*(float(line.y[-1]) for line in labelled), *spare],
            "x1": [*beside, *spare],
            "y1": [*heights, *spare],
        }

    def name_ordinate(self, label: str, formatter: TickFormatter, *, exponents: bool = False) -> None:
        """Name the ordinate; nothing that stays the same is sent, since the browser lays the figure out anew for it.

        Args:
            label: what it is, and its unit.
            formatter: of its ticks.
            exponents: whether curves are drawn as powers of ten, by their exponents.
        """
        put(self.figure.yaxis[0], axis_label=label, formatter=formatter)
        put(self._told, args={"exponents": exponents})
        put(self._hover, tooltips=[(_("step"), "$snap_x{0,0}"), (label, "$snap_y{custom}")])

    def mark(self, marks: Sequence[tuple[int, str]]) -> None:
        """Set a mark at the foot of the figure for each thing that was done after a step."""
        data = {
            "x": [float(step) for step, _ in marks],
            "y": [self.figure.y_range.start] * len(marks),
            "text": [text for _, text in marks],
        }
        if data != dict(self._marks.data):
            self._marks.data = data

    def paint(self, colours: Mapping[str, str], dark: bool, letters: Mapping[str, str] | None = None) -> None:
        """Colour everything by theme, and from the next drawing on the curves by name, and what they carry.

        Args:
            colours: of the curves.
            dark: whether the page is dark.
            letters: of the labels at their ends; as the curves unless given.
        """
        self._colours, self._letters = colours, colours if letters is None else letters
        self._leader.line_color = inks(dark).quiet
        self._mark.fill_color = inks(dark).accent
        paint_axes(self.figure, dark)


def _next_nice(value: float) -> float:
    """The least of 20, 30, 40, 50, 60, 80, 100, 150, … that is not below the value, so that axes move seldom."""
    if value <= 20.0:
        return 20.0
    scale = 10.0
    while True:
        for factor in (1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0):
            if factor * scale >= value:
                return factor * scale
        scale *= 10.0
