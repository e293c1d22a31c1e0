"""Spike marks: which unit fires in which bin, a mark each, so that none is lost where bins are finer than pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, Range1d, Segment
from bokeh.plotting import figure

from hidviz.numerics import States
from hidviz.ui.plots.axes import paint_axes
from hidviz.ui.text.language import _
from hidviz.ui.theme import inks

PER_UNIT, LEAST, MOST = 10, 60, 260  # pixels of a unit, and of all of them
LABEL = 14  # pixels that a name needs


class SpikeMarks:
    """One figure: units down the rows, time across."""

    def __init__(self) -> None:
        self.figure = figure(
            height=LEAST + LABEL, sizing_mode="stretch_width", x_range=Range1d(0, 1), y_range=Range1d(1, 0), tools="",
            toolbar_location=None, min_border=0, output_backend="canvas", name=_("Spikes"),
        )  # fmt: skip
        self._source = ColumnDataSource({"x": [], "y0": [], "y1": []})
        self._marks = self.figure.add_glyph(self._source, Segment(x0="x", x1="x", y0="y0", y1="y1", line_width=1.5))
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = _("time (bins)"), _("unit")

    def show(self, states: States, names: Sequence[str]) -> None:
        """Draw these bins.

        Args:
            states: (n, N) of ±1.
            names: of the units.
        """
        when, which = np.nonzero(states > 0)
        self._source.data = {"x": when + 0.5, "y0": which + 0.1, "y1": which + 0.9}
        n, n_units = states.shape
        room = min(max(LEAST, PER_UNIT * n_units), MOST)
        stride = max(1, -(-LABEL * n_units // room))
        labels = {unit + 0.5: names[unit] for unit in range(0, n_units, stride)}
        self.figure.yaxis.ticker = FixedTicker(ticks=list(labels))
        self.figure.yaxis.major_label_overrides = labels
        self.figure.x_range.update(start=0, end=max(n, 1))
        self.figure.y_range.update(start=n_units, end=0)
        self.figure.height = room + 60

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        paint_axes(self.figure, dark)
        self.figure.grid.grid_line_color = None
        self._marks.glyph.line_color = inks(dark).text
