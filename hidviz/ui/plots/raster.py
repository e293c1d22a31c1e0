"""Raster: which unit is on in which bin, over a window of time, and how often each is on.

Hidden units are blue, as in the schematic, and drawn only when revealed; continuous ones take shades from off to on.
Below them, what the data tell of them, in shades of the accent; a state whose sign is told wrongly is marked.
A window is one small image; nothing but what is seen is sent to the browser.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    FixedTicker,
    HBar,
    HoverTool,
    LinearColorMapper,
    Range1d,
    Scatter,
    Span,
    VSpan,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from hidviz.numerics import Array, States
from hidviz.ui.plots.axes import NARROW, paint_axes, put
from hidviz.ui.plots.heatmaps import unit_ticks
from hidviz.ui.plots.small_arrays import packed
from hidviz.ui.text.language import _
from hidviz.ui.theme import LIGHT, inks

HEIGHT = 320  # pixels
SHADES = 64


class Raster:
    """The raster and, with the same rows, the rates."""

    def __init__(self) -> None:
        self._units = Range1d(1, 0)
        shared = {
            "height": HEIGHT, "y_range": self._units, "tools": "", "toolbar_location": None,
            "min_border": 0, "min_border_right": NARROW,
        }  # fmt: skip
        self.figure = figure(sizing_mode="stretch_width", x_range=Range1d(0, 1), name=_("Raster"), **shared)
        self.rates = figure(sizing_mode="stretch_width", x_range=Range1d(0, 1), name=_("Rates"), **shared)
        self._visible, self._hidden, self._told = (
            _Image(self.figure, what) for what in (_("visible"), _("hidden"), _("hidden, found"))
        )
        self._wrong = _Marks(self.figure)
        self._bars = ColumnDataSource({"unit": [], "rate": [], "name": [], "kind": []})
        self._bar = self.rates.add_glyph(
            self._bars, HBar(y="unit", right="rate", height=0.7, fill_color="kind", line_color=None)
        )
        self.rates.add_tools(
            HoverTool(
                renderers=[self._bar], tooltips=[(_("unit"), "@name"), (_("rate"), "@rate{0.000} " + _("per bin"))]
            )
        )
        self._borders = [Span(dimension="width", line_width=1.5, visible=False) for _k in range(2)]
        for border in self._borders:
            self.figure.add_layout(border)
        self._starts = ColumnDataSource({"x": []})
        self._start = self.figure.add_glyph(self._starts, VSpan(x="x", line_width=2))
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = _("time (bins)"), _("unit")
        self.rates.xaxis.axis_label = _("rate (spikes per bin)")
        self.figure.xaxis.ticker.desired_num_ticks = 2  # more would run together on a phone
        self.rates.xaxis.ticker = FixedTicker(ticks=[0.0, 0.5, 1.0])
        self._ticks = [FixedTicker(ticks=[]) for _k in range(2)]
        self.figure.yaxis.ticker, self.rates.yaxis.ticker = self._ticks
        self._colours = (LIGHT.text, LIGHT.L)

    def fit(self, n_visible: int, n_hidden: int, *, told: bool = False) -> None:
        """Make room for these units, and if asked for as many hidden ones as they are told."""
        n_told = n_hidden * told
        n = n_visible + n_hidden + n_told
        put(self._units, start=n, end=0)
        ticks, labels = unit_ticks(n_visible, n_hidden)
        for tick, label in zip(list(ticks), list(labels), strict=True):
            if tick >= n_visible and told:
                ticks.append(tick + n_hidden)
                labels.append(_("{units} found", units=label))
        for plot, ticker in zip((self.figure, self.rates), self._ticks, strict=True):
            put(ticker, ticks=[tick + 0.5 for tick in ticks])
            put(plot.yaxis[0], major_label_overrides={t + 0.5: label for t, label in zip(ticks, labels, strict=True)})
        for border, place, shown in zip(
            self._borders, (n_visible, n_visible + n_hidden), (n_hidden, n_told), strict=True
        ):
            border.update(location=place, visible=shown > 0)

    def show(
        self, begin: int, s: States, hidden: NDArray[np.int8] | Array, starts: list[int], told: Array | None = None
    ) -> None:
        """Draw a window.

        Args:
            begin: its first bin.
            s: (n, Nv) visible states.
            hidden: (n, Nh) hidden states, in [-1, 1]; Nh = 0 leaves them out.
            starts: bins of the window at which a trial starts.
            told: (n, Nh) what the data tell of the hidden states, in [-1, 1]; left out unless given.
        """
        self.figure.x_range.update(start=begin, end=begin + len(s))
        self._visible.show(begin, 0, s)
        self._hidden.show(begin, s.shape[1], hidden)
        below, n = s.shape[1] + hidden.shape[1], len(s)
        told = np.empty((n, 0)) if told is None else told
        self._told.show(begin, below, told)
        true = hidden[:, : told.shape[1]]
        self._wrong.show(begin, below, (np.sign(told) * true < 0.0) & (np.abs(true) == 1.0))
        self._starts.data = {"x": starts}

    def show_rates(self, visible: Array, hidden: Array) -> None:
        """Draw the rates of visible and hidden units."""
        kinds = [self._colours[0]] * len(visible) + [self._colours[1]] * len(hidden)
        names = [_("visible {unit}", unit=k + 1) for k in range(len(visible))] + [
            _("hidden {unit}", unit=k + 1) for k in range(len(hidden))
        ]
        rates = np.concatenate([visible, hidden])
        self._bars.data = {"unit": np.arange(len(rates)) + 0.5, "rate": rates, "name": names, "kind": kinds}

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ink = inks(dark)
        before, self._colours = self._colours, (ink.text, ink.L)
        self._visible.paint(ink.paper, self._colours[0])
        self._hidden.paint(ink.paper, self._colours[1])
        self._told.paint(ink.paper, ink.accent)
        self._wrong.paint(ink.bad)
        for plot in (self.figure, self.rates):
            paint_axes(plot, dark)
        self.figure.grid.grid_line_color = self.rates.ygrid.grid_line_color = None
        self._start.glyph.line_color = ink.quiet
        for border in self._borders:
            border.line_color = ink.quiet
        renamed = dict(zip(before, self._colours, strict=True))
        self._bars.data = {**self._bars.data, "kind": [renamed[kind] for kind in self._bars.data["kind"]]}


class _Image:
    """The states of some units as an image, off in the colour of the paper and on in a colour of their own."""

    def __init__(self, plot: figure, what: str) -> None:
        self._mapper = LinearColorMapper(palette=[LIGHT.paper, LIGHT.text], low=-1.0, high=1.0)
        self._source = ColumnDataSource({"image": [], "x": [], "y": [], "dw": [], "dh": []})
        image = plot.image("image", "x", "y", "dw", "dh", color_mapper=self._mapper, source=self._source)
        tooltips = [(_("state, {what}", what=what), "@image{+0.00}"), (_("bin"), "$x{0}")]
        plot.add_tools(HoverTool(renderers=[image], tooltips=tooltips))

    def show(self, begin: int, row: int, states: NDArray[np.int8] | Array) -> None:
        n, n_units = states.shape
        present = slice(0, 1 if n_units else 0)
        data: dict[str, list[Any]] = {
            "image": [packed(states.T)],
            "x": [begin],
            "y": [row],
            "dw": [n],
            "dh": [n_units],
        }
        self._source.data = {name: column[present] for name, column in data.items()}

    def paint(self, off: str, on: str) -> None:
        low, high = (np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) for colour in (off, on))
        mixed = [low + (high - low) * share for share in np.linspace(0.0, 1.0, SHADES)]
        self._mapper.palette = ["#" + "".join(f"{round(float(part)):02x}" for part in colour) for colour in mixed]


class _Marks:
    """A mark in each of some cells."""

    def __init__(self, plot: figure) -> None:
        self._source = ColumnDataSource({"x": [], "y": []})
        self._glyph = plot.add_glyph(self._source, Scatter(x="x", y="y", marker="x", size=7, line_width=2))

    def show(self, begin: int, row: int, marked: NDArray[np.bool_]) -> None:
        bins, units = np.nonzero(marked)
        self._source.data = {"x": begin + bins + 0.5, "y": row + units + 0.5}

    def paint(self, colour: str) -> None:
        self._glyph.glyph.line_color = colour
