"""Valley: what it costs to scale K up and L down by as much."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Span
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.plots.axes import paint_axes
from hidviz.ui.text.language import _
from hidviz.ui.theme import inks

FACTORS = np.geomspace(0.25, 4.0, 33)
LEVEL = 1e-3  # nats per bin that a user may call flat


class Valley:
    """The cost above its lowest along K → cK, L → L/c, over c on a logarithmic axis."""

    def __init__(self) -> None:
        self.figure = figure(
            height=232,
            sizing_mode="stretch_width",
            x_axis_type="log",
            x_range=Range1d(0.95 * FACTORS[0], FACTORS[-1] / 0.95),
            y_range=Range1d(0.0, 1.0),
            tools="",
            toolbar_location=None,
            min_border=0,
            name=_("Scale valley"),
        )
        self.figure.xaxis.axis_label = _("factor c in K → cK, L → L/c")
        self.figure.yaxis.axis_label = _("added cost (nats per bin)")
        ticks = (0.25, 0.5, 1, 2, 4)
        self.figure.xaxis.ticker = FixedTicker(ticks=list(ticks))
        self.figure.xaxis.major_label_overrides = {tick: f"{tick:g}" for tick in ticks}
        self._here = Span(dimension="height", location=1.0, line_width=1.5, line_dash="dashed")
        self.figure.add_layout(self._here)
        self._source = ColumnDataSource({"x": [], "y": []})
        self._line = self.figure.line("x", "y", source=self._source, line_width=3, line_join="round")
        self._dots = self.figure.scatter("x", "y", source=self._source, size=6)
        self.figure.add_tools(
            HoverTool(
                renderers=[self._dots],
                tooltips=[
                    (_("factor c"), "@x{0.00}"),
                    (_("cost above the lowest"), "@y{0.00000} " + _("nats per bin")),
                ],
            )
        )

    def show(self, costs: Array) -> None:
        """Draw the costs of the first of FACTORS, as many as there are."""
        excess = costs - costs.min(initial=np.inf)
        high = float(excess.max(initial=0.0))
        self.figure.y_range.update(start=-0.06 * (high or 1.0), end=1.06 * (high or 1.0))
        self._source.data = {"x": FACTORS[: len(costs)], "y": excess}

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        paint_axes(self.figure, dark)
        accent = inks(dark).accent
        self._line.glyph.line_color = self._dots.glyph.line_color = self._dots.glyph.fill_color = accent
        self._here.line_color = inks(dark).quiet


def flat_stretch(costs: Array, level: float = LEVEL) -> tuple[float, float]:
    """Between which factors around 1 the cost stays within `level` of the lowest; costs belong to FACTORS."""
    log_c, excess = np.log(FACTORS), costs - costs.min()
    lowest = int(excess.argmin())
    left, right = excess[: lowest + 1][::-1], excess[lowest:]
    ends = (
        np.interp(level, np.maximum.accumulate(left), log_c[: lowest + 1][::-1]),
        np.interp(level, np.maximum.accumulate(right), log_c[lowest:]),
    )
    return float(np.exp(ends[0])), float(np.exp(ends[1]))
