"""Plots of the Inspector: every coupling under the mouse, and all of them against the truth.

The map shows the aligned estimate; hovering tells all that is known of a cell, a press chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, HoverTool, Range1d
from bokeh.plotting import figure

from hidviz.experiments import Frame
from hidviz.network import MATRICES, aligned, with_hidden
from hidviz.numerics import Array
from hidviz.ui.plots.axes import paint_axes
from hidviz.ui.plots.heatmaps import Heatmap, block_matrix, scale_for
from hidviz.ui.plots.small_arrays import packed
from hidviz.ui.text.language import _
from hidviz.ui.theme import block_colours, inks


class InspectorMap:
    """The aligned estimate as one block matrix that can be asked about every cell.

    Args:
        on_choose: called with receiver and sender, counted from 0, hidden units after the visible ones.
    """

    def __init__(self, on_choose: Callable[[int, int], None]) -> None:
        self.heatmap = Heatmap(_("Couplings under the mouse"))
        self._on_choose = on_choose
        self._n = 0
        self._source = self.heatmap.source
        hover = self.heatmap.figure.select_one(HoverTool)
        place = list(hover.tooltips)[:2]
        values = {_("true"): "true", _("found"): "found", _("aligned"): "image", _("error"): "error"}
        tips = [(name, f"@{column}{{+0.0000}}") for name, column in values.items()]
        hover.tooltips = [*place, *tips, (_("error bar"), "@bar{0.0000}")]
        self._sent: tuple[object, ...] = ()
        self.heatmap.figure.on_event(Tap, self._tapped)

    def show(self, frame: Frame, bars: Mapping[str, Array] | None) -> None:
        """Draw a frame."""
        truth, found = frame.data.truth, frame.snapshot.couplings
        n = max(truth.n_hidden, found.n_hidden)
        best = block_matrix(aligned(found, truth), n)
        true = block_matrix(truth, n)
        lively = {"image": best, "found": block_matrix(found, n), "error": best - true}
        columns = {name: [packed(value)] for name, value in lively.items()}
        sent = (truth, n, bars)
        if len(self._sent) == 3 and all(a is b for a, b in zip(self._sent, sent, strict=True)):
            for name, column in columns.items():  # one by one, so that the others are not sent again
                self._source.data[name] = column
            return
        self._sent, self._n = sent, len(true)
        self.heatmap.fit(scale_for(truth, n))
        known = np.block([[bars["J"], bars["K"]], [bars["L"], bars["M"]]]) if bars else np.full_like(true, np.nan)
        still = {"true": true, "bar": np.where(np.isfinite(known), known, np.nan)}
        self._source.data = columns | {name: [packed(value)] for name, value in still.items()}

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.heatmap.restyle(dark)

    def _tapped(self, event: Tap) -> None:
        if event.x is not None and event.y is not None and 0 <= event.x < self._n and 0 <= event.y < self._n:
            self._on_choose(int(event.y), int(event.x))


class Scatter:
    """True against inferred, a dot for each coupling in the colour of its block, and the line where they are equal."""

    def __init__(self) -> None:
        self.figure = figure(
            height=330, sizing_mode="stretch_width", x_range=Range1d(-1, 1), y_range=Range1d(-1, 1), tools="",
            toolbar_location=None, min_border=0, name=_("True against inferred"),
        )  # fmt: skip
        self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = _("true coupling"), _("inferred coupling")
        self._line = ColumnDataSource({"x": [-1, 1], "y": [-1, 1]})
        self._identity = self.figure.line("x", "y", source=self._line, line_width=1.5, line_dash="dashed")
        self._sources = {block: ColumnDataSource({"x": [], "y": []}) for block in MATRICES}
        self._dots = {
            block: self.figure.scatter(
                "x", "y", source=source, size=6, fill_alpha=0.55, line_alpha=0.0, legend_label=block
            )
            for block, source in self._sources.items()
        }
        self.figure.legend.location = "top_left"
        self.figure.legend.orientation = "horizontal"
        self.figure.legend.label_text_font_size = "14px"

    def show(self, frame: Frame) -> None:
        """Draw a frame."""
        n = max(frame.data.truth.n_hidden, frame.snapshot.couplings.n_hidden)
        true = with_hidden(frame.data.truth, n)
        best = aligned(frame.snapshot.couplings, true)
        largest = 0.1
        for block, source in self._sources.items():
            x, y = (packed(getattr(each, block).ravel()) for each in (true, best))
            there = bool(x.any() or y.any())
            shown = slice(None) if there else slice(0, 0)
            source.data = {"x": x[shown], "y": y[shown]}
            item = next(each for each in self.figure.legend[0].items if self._dots[block] in each.renderers)
            item.visible = there
            largest = max(largest, float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)))
        end = float(np.ceil(10.0 * 1.05 * largest) / 10.0)
        self._line.data = {"x": [-end, end], "y": [-end, end]}
        for shown_range in (self.figure.x_range, self.figure.y_range):
            shown_range.update(start=-end, end=end)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        paint_axes(self.figure, dark)
        ink = inks(dark)
        self._identity.glyph.line_color = ink.quiet
        for block, dots in self._dots.items():
            dots.glyph.fill_color = dots.glyph.line_color = block_colours(dark)[block]
        self.figure.legend.label_text_color = ink.text
        self.figure.legend.background_fill_alpha = 0.0
        self.figure.legend.border_line_color = None
