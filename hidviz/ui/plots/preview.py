"""Preview of a recording: the first seconds as a raster, the rates, and what binning loses against the bin width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Span
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.plots.axes import paint_axes, round_numbers
from hidviz.ui.text.language import _
from hidviz.ui.theme import inks

HEIGHT = 240
BEARABLE = 5.0  # per cent of the spikes that may be lost


class Rates:
    """Units in order of their rates, a bar each."""

    def __init__(self) -> None:
        self.figure = figure(
            height=HEIGHT, sizing_mode="stretch_width", x_range=Range1d(0, 1), y_range=Range1d(0, 1), tools="",
            toolbar_location=None, min_border=0, name=_("Rates of the units"),
        )  # fmt: skip
        self._source = ColumnDataSource({"x": [], "top": [], "name": []})
        self._bars = self.figure.vbar("x", top="top", width=0.8, source=self._source, line_color=None)
        self.figure.add_tools(
            HoverTool(renderers=[self._bars], tooltips=[(_("unit"), "@name"), (_("rate"), "@top{0.000}")])
        )
        self.figure.xaxis.axis_label = _("units, the busiest first")
        self.figure.xaxis.ticker = FixedTicker(ticks=[])

    def show(self, values: Array, names: Sequence[str], unit: str) -> None:
        """Draw the rates.

        Args:
            values: (N,) of each unit.
            names: of the units.
            unit: of the rates, for the axis.
        """
        order = np.argsort(-values, kind="stable")
        self._source.data = {
            "x": np.arange(len(order)) + 0.5, "top": values[order], "name": [names[k] for k in order],
        }  # fmt: skip
        few = len(order) <= 16 and max(map(len, names), default=0) <= 4
        ticks = {k + 0.5: names[unit] for k, unit in enumerate(order)} if few else {}
        self.figure.xaxis.ticker = FixedTicker(ticks=list(ticks))
        self.figure.xaxis.major_label_overrides = ticks
        self.figure.x_range.update(start=0, end=max(len(order), 1))
        self.figure.y_range.update(start=0, end=1.08 * float(values.max(initial=0.0)) or 1.0)
        self.figure.yaxis.axis_label = unit

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        paint_axes(self.figure, dark)
        self.figure.xgrid.grid_line_color = None
        self._bars.glyph.fill_color = inks(dark).text


class Loss:
    """Spikes lost against the bin width: those that share a bin with another of their unit."""

    def __init__(self) -> None:
        self.figure = figure(
            height=HEIGHT, sizing_mode="stretch_width", x_range=Range1d(-0.1, 2.4), y_range=Range1d(0, 100), tools="",
            toolbar_location=None, min_border=0, name=_("Spikes lost against the bin width"),
        )  # fmt: skip
        self._source = ColumnDataSource({"x": [], "lost": [], "width": []})
        self._line = self.figure.line("x", "lost", source=self._source, line_width=2)
        self._points = self.figure.scatter("x", "lost", source=self._source, size=7)
        self._now = Span(dimension="height", line_width=2)
        self._bearable = Span(dimension="width", location=BEARABLE, line_width=1.5, line_dash="dashed")
        for span in (self._now, self._bearable):
            self.figure.add_layout(span)
        tips = [(_("bins of"), "@width{0} ms"), (_("lost"), "@lost{0.0} %")]
        self.figure.add_tools(HoverTool(renderers=[self._points], tooltips=tips))
        self.figure.xaxis.axis_label = _("bin width (ms); the solid rule is the one chosen")
        self.figure.yaxis.axis_label = _("spikes lost (%); dashed: 5 %")

    def show(self, loss: Mapping[float, float], width: float) -> None:
        """Draw the curve.

        Args:
            loss: bin width in seconds → part of the spikes lost.
            width: the one chosen.
        """
        widths = 1000.0 * np.array(list(loss))
        lost = 100.0 * np.array(list(loss.values()))
        self._source.data = {"x": np.log10(widths), "lost": lost, "width": widths}
        ticks = {float(np.log10(each)): f"{each:g}" for each in widths}
        self.figure.xaxis.ticker = FixedTicker(ticks=list(ticks))
        self.figure.xaxis.major_label_overrides = ticks
        highest = max(1.08 * float(lost.max(initial=0.0)), 2.0 * BEARABLE)
        self.figure.y_range.update(start=0, end=highest)
        heights = round_numbers(0.0, highest)
        self.figure.yaxis.ticker = FixedTicker(ticks=list(heights))
        self.figure.yaxis.major_label_overrides = heights
        self._now.location = float(np.log10(1000.0 * width))

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ink = inks(dark)
        paint_axes(self.figure, dark)
        self._line.glyph.line_color = self._points.glyph.line_color = self._points.glyph.fill_color = ink.text
        self._now.line_color, self._bearable.line_color = ink.accent, ink.quiet
