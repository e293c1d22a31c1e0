"""Synchrony: how often so many units fire in one bin, in the data, in a model left to itself, and in lag 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.plots.axes import decades, paint_axes, round_numbers, stroke
from hidviz.ui.text.language import _

HEIGHT = 280


class Distribution(NamedTuple):
    """Fractions of the bins by how many units fire, and how they are drawn."""

    fractions: Array
    colour: str
    dash: str = "solid"


class Synchrony:
    """One figure, the fractions on a logarithmic axis."""

    def __init__(self) -> None:
        self.figure = figure(
            height=HEIGHT, sizing_mode="stretch_width", x_range=Range1d(0, 1), y_range=Range1d(-5, 0), tools="",
            toolbar_location=None, min_border=0, output_backend="canvas", name=_("Units that fire together"),
        )  # fmt: skip
        self._source = ColumnDataSource({name: [] for name in ("xs", "ys", "colour", "dash")})
        self.figure.multi_line(
            "xs", "ys", source=self._source, line_color="colour", line_dash="dash", line_width=2.5, line_alpha=0.9
        )
        self.figure.xaxis.axis_label = _("units that fire in one bin")
        self.figure.yaxis.axis_label = _("fraction of the bins")

    def show(self, drawn: Sequence[Distribution]) -> None:
        """Draw these, the last on top."""
        seen = [np.flatnonzero(each.fractions) for each in drawn]
        heights = [np.log10(each.fractions[places]) for each, places in zip(drawn, seen, strict=True)]
        self._source.data = {
            "xs": [places.astype(float) for places in seen], "ys": heights,
            "colour": [each.colour for each in drawn],
            "dash": [" ".join(map(str, stroke(each.dash))) or "solid" for each in drawn],
        }  # fmt: skip
        low, most = min(float(each.min()) for each in heights), max(int(places.max()) for places in seen)
        self.figure.x_range.update(start=-0.3, end=most + 0.3)
        self.figure.y_range.update(start=low - 0.2, end=0.15)
        for axis, ticks in (
            (self.figure.yaxis[0], decades(low, 0.0)),
            (self.figure.xaxis[0], {k: label for k, label in round_numbers(0.0, most).items() if k == int(k)}),
        ):
            axis.ticker = FixedTicker(ticks=list(ticks))
            axis.major_label_overrides = ticks

    def restyle(self, dark: bool) -> None:
        """Colours for a theme; those of the lines come with the next `show`."""
        paint_axes(self.figure, dark)
