"""The live figure of a sweep: one panel, shipped results faint and hollow, computed ones bold and filled.

The Bokeh models are built once. Axes are linear throughout and show logarithms where wanted, with ticks to match, so
that the scale can change without a new figure. A curve carries the name of its block or cost at its end; its dash tells
the learner, and is explained beside the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Text
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.sweeps import Panel, Series
from hidviz.ui.plots.axes import FONT, decades, decimate, paint_axes, round_numbers, stroke
from hidviz.ui.plots.series_style import WIDTHS, colour_of, dash_of, end_labels
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.ui.theme import LIGHT, inks

Scale = Literal["log-log", "log", "linear"]

N_LABELS = 40
UNITS = {"T (time bins)": N_("bins")}
LINE = 0.058  # of the height of a figure: a line of text
LEADER = 0.02  # of its width: from the end of a curve to a label that stands apart
FAINT = 0.45  # opacity of shipped curves where computed ones lie over them


@dataclass(frozen=True, eq=False)
class Layer:
    """A panel and whether its points were shipped or just computed."""

    panel: Panel
    shipped: bool


class LengthPlot:
    """One panel, live.

    Args:
        name: of the Bokeh figure.
    """

    def __init__(self, name: str) -> None:
        self.figure = figure(
            height=380,
            sizing_mode="stretch_width",
            x_range=Range1d(0, 1),
            y_range=Range1d(0, 1),
            tools="",
            toolbar_location=None,
            output_backend="canvas",
            min_border=0,
            name=name,
        )
        self._lines = ColumnDataSource({"x": [], "y": [], "color": [], "dash": [], "width": [], "alpha": []})
        self._bars = ColumnDataSource({"x": [], "low": [], "high": [], "color": [], "alpha": []})
        self._points = ColumnDataSource(
            {"x": [], "y": [], "color": [], "fill": [], "alpha": [], "label": [], "at": [], "value": [], "origin": [],
             "networks": []}
        )  # fmt: skip
        self._ends = ColumnDataSource(_padded([]))
        self._leaders = ColumnDataSource({name: [] for name in ("x0", "y0", "x1", "y1", "color")})
        self.figure.segment("x0", "y0", "x1", "y1", source=self._leaders, line_color="color", line_alpha=0.6)
        self.figure.multi_line(
            "x", "y", source=self._lines, line_color="color", line_dash="dash", line_width="width", line_alpha="alpha"
        )
        self.figure.segment("x", "low", "x", "high", source=self._bars, line_color="color", line_alpha="alpha")
        points = self.figure.scatter(
            "x", "y", source=self._points, size=8, line_color="color", fill_color="fill", line_alpha="alpha",
            line_width=1.5,
        )  # fmt: skip
        self.figure.add_glyph(
            self._ends,
            Text(
                x="x", y="y", text="text", text_color="color", x_offset=6, text_baseline="middle",
                text_font_size="14px", text_font={"value": FONT},
            ),
        )  # fmt: skip
        tips = [
            ("", "@label, @origin"),
            (_("at"), "@at"),
            (_("value"), "@value{0.000000}"),
            (_("networks"), "@networks"),
        ]
        self.figure.add_tools(HoverTool(renderers=[points], tooltips=tips))
        self._dark = False

    def show(self, layers: Sequence[Layer], scale: Scale) -> None:
        """Draw the layers, which belong to the same panel, the last on top."""
        panel = layers[-1].panel
        self.figure.title.update(
            text=of_engine(panel.title), text_font=FONT, text_font_size="16px", text_color=inks(self._dark).text
        )  # here and not in `restyle`, because the page's own design comes in between
        by_length = panel.x_label != "step"
        log_x = by_length and scale != "linear"
        log_y = panel.logarithmic and scale == "log-log"
        x_of, y_of = (np.log10 if log else np.asarray for log in (log_x, log_y))
        drawn = [(layer, series) for layer in layers for series in layer.panel.series if _belongs(series, log_x)]
        shadowed = len(layers) > 1
        self._draw_lines(drawn, x_of, y_of, shadowed)
        self._draw_points([pair for pair in drawn if by_length and pair[1].role == "curve"], x_of, y_of, panel.x_label)
        self._fit_axes(panel, [series for _, series in drawn], x_of, y_of, log_x, log_y)
        self._label_ends([series for layer, series in drawn if layer is layers[-1]], x_of, y_of)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme; the next `show` draws with them."""
        self._dark = dark
        paint_axes(self.figure, dark)

    def _draw_lines(self, drawn: list[tuple[Layer, Series]], x_of: Transform, y_of: Transform, shadowed: bool) -> None:
        lines = [decimate(series.x, series.y, 400) for _, series in drawn]
        self._lines.data = {
            "x": [x_of(x) for x, _ in lines],
            "y": [y_of(y) for _, y in lines],
            "color": [colour_of(series, self._dark) for _, series in drawn],
            "dash": [" ".join(map(str, stroke(dash_of(series)))) or "solid" for _, series in drawn],
            "width": [WIDTHS[series.role] for _, series in drawn],
            "alpha": [FAINT if layer.shipped and shadowed else 1.0 for layer, _ in drawn],
        }

    def _draw_points(self, drawn: list[tuple[Layer, Series]], x_of: Transform, y_of: Transform, x_label: str) -> None:
        paper = inks(self._dark).paper
        rows = [
            (x, y, low, high, series, layer.shipped, n)
            for layer, series in drawn
            for x, y, low, high, n in zip(
                series.x, series.y, series.low, series.high, series.networks or (1,) * len(series.x), strict=True
            )
        ]
        colours = [colour_of(row[4], self._dark) for row in rows]
        x, y, low, high = (np.array([row[k] for row in rows], dtype=np.float64) for k in range(4))
        alpha = [1.0] * len(rows)
        self._points.data = {
            "x": x_of(x),
            "y": y_of(y),
            "color": colours,
            "fill": [paper if row[5] else colour for row, colour in zip(rows, colours, strict=True)],
            "alpha": alpha,
            "label": [of_engine(row[4].label) for row in rows],
            "at": [f"{place:,.0f} {_(UNITS[x_label]) if x_label in UNITS else of_engine(x_label)}" for place in x],
            "value": y,
            "origin": [_("shipped") if row[5] else _("computed here") for row in rows],
            "networks": [row[6] for row in rows],
        }
        self._bars.data = {"x": x_of(x), "low": y_of(low), "high": y_of(high), "color": colours, "alpha": alpha}

    def _fit_axes(
        self, panel: Panel, drawn: list[Series], x_of: Transform, y_of: Transform, log_x: bool, log_y: bool
    ) -> None:
        x = x_of(np.concatenate([series.x for series in drawn]))
        y = y_of(np.concatenate([part for series in drawn for part in (series.low, series.high)]))
        zero = panel.logarithmic and not log_y
        for values, shown, axis, log, label, room in (
            (x, self.figure.x_range, self.figure.xaxis[0], log_x, panel.x_label, 0.2),
            (y, self.figure.y_range, self.figure.yaxis[0], log_y, panel.y_label, 0.06),
        ):
            low, high = float(values.min()), float(values.max())
            low = 0.0 if values is y and zero else low
            span = max(high - low, 1e-3 if not log else 0.3)
            shown.update(start=low - 0.06 * span, end=high + room * span)
            ticks = decades(low, high) if log else round_numbers(low, high)
            axis.axis_label = of_engine(label)
            axis.ticker = FixedTicker(ticks=list(ticks))
            axis.major_label_overrides = ticks

    def _label_ends(self, drawn: list[Series], x_of: Transform, y_of: Transform) -> None:
        """The name of its block or cost at the end of each curve, and a line to it where it must stand apart."""
        low, high = self.figure.y_range.start, self.figure.y_range.end
        gap = LINE * (high - low)
        labels = end_labels(drawn, x_of, y_of, (low, high), gap)
        colours = [colour_of(label.series, self._dark) for label in labels]
        x_span = self.figure.x_range.end - self.figure.x_range.start
        away = [abs(label.height - label.y) > 0.3 * gap for label in labels]
        self._ends.data = _padded(
            [
                (label.x + (LEADER * x_span if far else 0.0), label.height, of_engine(label.text), colour)
                for label, colour, far in zip(labels, colours, away, strict=True)
            ]
        )
        led = [(label, colour) for label, colour, far in zip(labels, colours, away, strict=True) if far]
        self._leaders.data = {
            "x0": [label.x for label, _ in led],
            "y0": [label.y for label, _ in led],
            "x1": [label.x + LEADER * x_span for label, _ in led],
            "y1": [label.height for label, _ in led],
            "color": [colour for _, colour in led],
        }


Transform = Callable[[Array], Array]


def legend(dashes: Mapping[str, str], words: str = "") -> str:
    """What the dashes mean, as HTML: a short stroke before every name; and the words below a figure."""
    strokes = {name: " ".join(map(str, stroke(dash))) for name, dash in dashes.items()}
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:8px;margin-right:24px">'
        '<svg width="44" height="8" aria-hidden="true"><line x1="0" x2="44" y1="4" y2="4" stroke="currentColor" '
        f'stroke-width="2.5" stroke-dasharray="{lengths}"/></svg><span>{of_engine(name)}</span></span>'
        for name, lengths in strokes.items()
    )
    return f'<div style="font-size:15px">{items}<div>{words}</div></div>' if items or words else ""


def _padded(ends: Sequence[tuple[float, float, str, str]]) -> dict[str, list[object]]:
    """Labels, always as many: Bokeh 3.9 fails on text whose number changes while the ranges do."""
    rows = [*ends, *[(np.nan, np.nan, "", LIGHT.text)] * (N_LABELS - len(ends))][:N_LABELS]
    return {name: [row[k] for row in rows] for k, name in enumerate(("x", "y", "text", "color"))}


def _belongs(series: Series, log_x: bool) -> bool:
    """A guide 1/T is a straight line between its two ends on logarithmic axes only."""
    return series.role != "guide" or log_x
