"""Overlays: finished figures of a sweep as holoviews objects, for notebooks and for files.

Blocks have the colours that they have everywhere; the dash tells the learner. The page itself draws the same panels
live, see `length_plot`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import holoviews as hv
import holoviews.plotting.bokeh  # registers the backend that draws
from bokeh.models import Model

from hidviz.sweeps import Panel, Series
from hidviz.ui.export.offline import offline_page
from hidviz.ui.plots.axes import FONT, paint_axes
from hidviz.ui.plots.series_style import WIDTHS, colour_of, dash_of
from hidviz.ui.theme import LIGHT


def overlay(panel: Panel) -> Any:
    """One panel as a holoviews Overlay of curves, points, and bars over seeds."""
    hv.Store.set_current_backend("bokeh")
    parts: list[Any] = []
    for series in panel.series:
        parts += _parts(series, panel)
    return hv.Overlay(parts).opts(
        hv.opts.Overlay(
            width=620, height=460, title=panel.title, logx=panel.x_label != "step", logy=panel.logarithmic,
            show_grid=True, legend_position="right", hooks=[_painted],
        )
    )  # fmt: skip


def figure(panels: Sequence[Panel]) -> Any:
    """All panels side by side, each with axes of its own."""
    return hv.Layout([overlay(panel) for panel in panels]).cols(2).opts(shared_axes=False)


def html(panels: Sequence[Panel], title: str) -> str:
    """The figure as a page that needs no network."""
    return offline_page(hv.render(figure(panels), backend="bokeh"), title)


def _parts(series: Series, panel: Panel) -> list[Any]:
    x, y = hv.Dimension("x", label=panel.x_label), hv.Dimension("y", label=panel.y_label)
    colour = colour_of(series, dark=False)
    curve = hv.Curve((series.x, series.y), x, y, label=series.label).opts(
        hv.opts.Curve(color=colour, line_dash=dash_of(series), line_width=WIDTHS[series.role], padding=0.08)
    )
    if series.role != "curve" or panel.x_label == "step":
        return [curve]
    points = hv.Scatter((series.x, series.y), x, y, label=series.label).opts(hv.opts.Scatter(color=colour, size=6))
    if not (series.high > series.low).any():
        return [curve, points]
    bars = hv.Segments((series.x, series.low, series.x, series.high), [x, y, "x1", "y1"])
    return [curve, points, bars.opts(hv.opts.Segments(color=colour, line_width=1.2))]


def _painted(plot: Any, _: Any) -> None:
    """The page's letters and lines in place of the library's."""
    drawn: Model = plot.state
    paint_axes(drawn, dark=False)
    drawn.output_backend = "canvas"  # points drawn by WebGL would be pixels in an SVG
    drawn.background_fill_color = drawn.border_fill_color = LIGHT.paper
    drawn.title.text_font, drawn.title.text_font_size, drawn.title.text_color = FONT, "15px", LIGHT.text
    for legend in drawn.legend:
        legend.glyph_width = 44
        legend.label_text_font, legend.label_text_font_size, legend.border_line_color = FONT, "13px", None
