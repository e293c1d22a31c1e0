"""Agreement: one set of numbers against another, with the line on which they are equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d, Slope
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.plots.axes import paint_axes, round_numbers
from hidviz.ui.theme import inks

HEIGHT = 280


class Group(NamedTuple):
    """Points of one colour, hollow or filled."""

    x: Array
    y: Array
    colour: str
    hollow: bool = False


class Agreement:
    """One figure.

    Args:
        name: of the figure.
        x_label: of the abscissa.
        y_label: of the ordinate.
    """

    def __init__(self, name: str, x_label: str, y_label: str) -> None:
        self.figure = figure(
            height=HEIGHT, sizing_mode="stretch_width", x_range=Range1d(-1, 1), y_range=Range1d(-1, 1), tools="",
            toolbar_location=None, min_border=0, output_backend="canvas", name=name,
        )  # fmt: skip
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = x_label, y_label
        self._source = ColumnDataSource({name: [] for name in ("x", "y", "colour", "fill")})
        self._equal = Slope(gradient=1, y_intercept=0, line_width=1.5, line_dash="dashed")
        self.figure.add_layout(self._equal)
        self.figure.scatter("x", "y", source=self._source, size=6, line_color="colour", fill_color="fill")

    def show(self, groups: Sequence[Group]) -> None:
        """Draw these points, and no others."""
        x = np.concatenate([np.empty(0), *(group.x.ravel() for group in groups)])
        y = np.concatenate([np.empty(0), *(group.y.ravel() for group in groups)])
        colours = [group.colour for group in groups for _ in range(group.x.size)]
        fills = [None if group.hollow else group.colour for group in groups for _ in range(group.x.size)]
        self._source.data = {"x": x, "y": y, "colour": colours, "fill": fills}
        low, high = (
            float(min(x.min(initial=0.0), y.min(initial=0.0))),
            float(max(x.max(initial=0.1), y.max(initial=0.1))),
        )
        room = 0.06 * (high - low)
        ticks = round_numbers(low, high)
        for shown, axis in ((self.figure.x_range, self.figure.xaxis[0]), (self.figure.y_range, self.figure.yaxis[0])):
            shown.update(start=low - room, end=high + room)
            axis.ticker = FixedTicker(ticks=list(ticks))
            axis.major_label_overrides = ticks

    def restyle(self, dark: bool) -> None:
        """Colours for a theme; those of the points come with the next `show`."""
        paint_axes(self.figure, dark)
        self._equal.line_color = inks(dark).quiet
