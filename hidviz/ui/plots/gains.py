"""Gains of a scan: how much better each number of hidden units predicts, with paired errors; lag 2, h(t) as rules.

Models under h(t) have dashed lines and hollow points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d, Segment, Text
from bokeh.plotting import figure

from hidviz.experiments import Scan, ScanRow
from hidviz.ui.plots.axes import FONT, paint_axes, round_numbers, spread
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.own_scan import UNIT, called
from hidviz.ui.theme import LIGHT, inks

N_LABELS = 6
APART = 0.07  # between the models of one size, on an axis of hidden units
KINDS = tuple((driven, coupled) for driven in (False, True) for coupled in (False, True))
NAMED = {
    (False, False): N_("without M"), (False, True): N_("with memory (M)"), (True, False): N_("h(t), without M"),
    (True, True): N_("h(t), with memory (M)"),
}  # fmt: skip
HEIGHT = 340
LINE = 0.06  # of the height: a line of text


class Gains:
    """One chart."""

    def __init__(self) -> None:
        self.figure = figure(
            height=HEIGHT, sizing_mode="stretch_width", x_range=Range1d(-0.3, 2.3), y_range=Range1d(0, 1), tools="",
            toolbar_location=None, min_border=0, min_border_right=150, output_backend="canvas",
            name=_("Gain by the number of hidden units"),
        )  # fmt: skip
        self._curves = ColumnDataSource({"xs": [], "ys": [], "color": [], "dash": []})
        self._bars = ColumnDataSource({name: [] for name in ("x", "low", "high", "color")})
        self._points = ColumnDataSource({name: [] for name in ("x", "gain", "color", "name", "told", "size", "fill")})
        self._rules = ColumnDataSource({name: [] for name in ("x0", "x1", "y", "dash")})
        self._labels = ColumnDataSource(_padded([]))
        self.figure.multi_line(
            "xs", "ys", source=self._curves, line_color="color", line_width=2, line_alpha=0.7, line_dash="dash"
        )
        self.figure.segment("x", "low", "x", "high", source=self._bars, line_color="color", line_width=2)
        points = self.figure.scatter(
            "x", "gain", source=self._points, size="size", line_color="color", fill_color="fill", line_width=2.5
        )
        self._rule = self.figure.add_glyph(
            self._rules, Segment(x0="x0", x1="x1", y0="y", y1="y", line_dash="dash", line_width=1.5)
        )
        self.figure.add_glyph(
            self._labels,
            Text(x="x", y="y", text="text", text_color="color", x_offset=8, text_baseline="middle",
                 text_font_size="13px", text_font={"value": FONT}),
            level="overlay",  # which is not cut off at the frame
        )  # fmt: skip
        self.figure.add_tools(HoverTool(renderers=[points], tooltips=[("", "@name"), (_("gain on lag 1"), "@told")]))
        self.figure.xaxis.axis_label = _("hidden units")
        self.figure.yaxis.axis_label = _("gain on lag 1 ({unit})", unit=_(UNIT))
        self._dark = False

    def show(self, table: Scan, most: int) -> None:
        """Draw the rows that are there.

        Args:
            table: the scan.
            most: the largest number of hidden units that there will be.
        """
        ink = inks(self._dark)
        colours = {False: ink.text, True: ink.M}
        rows = [row for row in table.rows if row.gain is not None]
        kinds = [kind for kind in KINDS if any(row.n_hidden and _kind(row) == kind for row in rows)]
        x = [row.n_hidden + _aside(row, kinds) for row in rows]
        gain, error = (1000.0 * np.array([row.gain[k] for row in rows if row.gain is not None]) for k in (0, 1))
        error = np.nan_to_num(error)
        own = [colours[row.hidden_hidden] for row in rows]
        curves = []
        for kind in kinds:
            places = [k for k, row in enumerate(rows)
                      if row.driven == kind[0] and (not row.n_hidden or row.hidden_hidden == kind[1])]  # fmt: skip
            if len(places) > 1:
                places.sort(key=lambda k: rows[k].n_hidden)
                curves.append((kind, [x[k] for k in places], [float(gain[k]) for k in places]))
        self._curves.data = {
            "xs": [xs for _, xs, _ in curves], "ys": [ys for _, _, ys in curves],
            "color": [colours[coupled] for (_, coupled), *_ in curves],
            "dash": ["6 4" if driven else "solid" for (driven, _), *_ in curves],
        }  # fmt: skip
        self._bars.data = {"x": x, "low": gain - error, "high": gain + error, "color": own}
        is_chosen = [row is table.chosen for row in rows]
        self._points.data = {
            "x": x, "gain": gain, "color": [ink.accent if now else c for now, c in zip(is_chosen, own, strict=True)],
            "name": [called(row) for row in rows],
            "told": [row.gain.in_words() if row.gain is not None else "" for row in rows],
            "size": [14 if now else 8 for now in is_chosen],
            "fill": [ink.paper if row.driven else c for row, c in zip(rows, own, strict=True)],
        }  # fmt: skip
        rules = [(_("lag 2"), table.lag2, (7, 4))]
        if table.repeats is not None:
            rules.append((_("h(t) alone"), table.repeats[0], (2, 4)))
        rules = [rule for rule in rules if np.isfinite(rule[1].mean)]
        self._fit(most, gain, error, [1000.0 * rule.mean for _, rule, _ in rules])
        left, right = self.figure.x_range.start, self.figure.x_range.end
        self._rules.data = {
            "x0": [left] * len(rules), "x1": [right] * len(rules), "y": [1000.0 * rule.mean for _, rule, _ in rules],
            "dash": [" ".join(map(str, dash)) for *_, dash in rules],
        }  # fmt: skip
        ends = [(ys[-1], _(NAMED[kind]), colours[kind[1]]) for kind, _xs, ys in curves]
        ends += [(1000.0 * rule.mean, name, ink.quiet) for name, rule, _dash in rules]
        self._label(ends, right)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme; the next `show` draws with them."""
        self._dark = dark
        paint_axes(self.figure, dark)
        self._rule.glyph.line_color = inks(dark).quiet

    def shown(self) -> dict[str, Any]:
        """What is drawn, column by column, for a picture of it elsewhere."""
        sources = {"curves": self._curves, "bars": self._bars, "points": self._points, "rules": self._rules,
                   "labels": self._labels}  # fmt: skip
        return {name: source.data for name, source in sources.items()}

    def _fit(self, most: int, gain: np.ndarray, error: np.ndarray, rules: list[float]) -> None:
        low, high = min(0.0, *(gain - error), *rules), max(*(gain + error), *rules, 1.0)
        room = 0.08 * (high - low)
        self.figure.y_range.update(start=low - room, end=high + room)
        self.figure.x_range.update(start=-0.2, end=most + 0.2)
        for axis, ticks in (
            (self.figure.yaxis[0], round_numbers(low, high)),
            (self.figure.xaxis[0], {float(k): str(k) for k in range(most + 1)}),
        ):
            axis.ticker = FixedTicker(ticks=list(ticks))
            axis.major_label_overrides = ticks

    def _label(self, ends: list[tuple[float, str, str]], right: float) -> None:
        low, high = self.figure.y_range.start, self.figure.y_range.end
        gap = LINE * (high - low)
        heights = spread([y for y, *_ in ends], gap, low + gap / 2, high - gap / 2) if ends else []
        self._labels.data = _padded(
            [(right, height, text, colour) for height, (_, text, colour) in zip(heights, ends, strict=True)]
        )


def _kind(row: ScanRow) -> tuple[bool, bool]:
    return row.driven, row.hidden_hidden


def _aside(row: ScanRow, kinds: list[tuple[bool, bool]]) -> float:
    """How far beside its number of hidden units a model stands, so that those of one size can be told apart."""
    if not row.n_hidden:
        return 0.0
    return APART * (2 * kinds.index(_kind(row)) - len(kinds) + 1)


def _padded(ends: list[tuple[float, float, str, str]]) -> dict[str, list[object]]:
    """Labels, always as many: Bokeh 3.9 fails on text whose number changes while the ranges do."""
    rows = [*ends, *[(np.nan, np.nan, "", LIGHT.text)] * (N_LABELS - len(ends))][:N_LABELS]
    return {name: [row[k] for row in rows] for k, name in enumerate(("x", "y", "text", "color"))}
