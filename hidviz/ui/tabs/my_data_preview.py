"""Preview of My data: what was read, in bins whose width a slider sets, and what looks wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui

from hidviz.ui.layout import heading, line, row, table_pane, words
from hidviz.ui.plots.preview import Loss, Rates
from hidviz.ui.plots.spike_marks import SpikeMarks
from hidviz.ui.state.own_files import Looked
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.my_data import NEXT, head_in_words, remarks_html, units_table

WIDTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200)  # ms
COUNTS = N_("These are counts: their bins are what the file says.")


class PreviewSection:
    """The section.

    Args:
        on_width: called with the width of a bin in seconds.
        width: to begin with, seconds.
    """

    def __init__(self, on_width: Callable[[float], None], width: float) -> None:
        self._on_width = on_width
        self.head = words(styles={"overflow-wrap": "anywhere"}, sizing_mode="stretch_width")
        self.slider = pmui.DiscreteSlider(
            label=_("Bin width (ms)"), options=list(WIDTHS), value=round(1000 * width), tooltips=False, size="small",
            width=320, margin=(8, 8),
        )  # fmt: skip
        self.slider.param.watch(lambda event: self._on_width(event.new / 1000), "value")
        self.counts = words(_(COUNTS), visible=False)
        self.remarks = words(sizing_mode="stretch_width")
        self.raster, self.rates, self.loss = SpikeMarks(), Rates(), Loss()
        self._loss_place = self._titled(_("Spikes lost to binning"), self.loss.figure)
        self.show_table = pmui.Switch(label=_("Show the units in numbers"), value=False, margin=(4, 0))
        self.table = table_pane(visible=False)
        self.show_table.param.watch(self._switch, "value")
        self.raster_title = words(size=15, weight=600, sizing_mode="stretch_width")
        self._picture = pn.pane.Bokeh(self.raster.figure, sizing_mode="stretch_width", margin=0)
        self.drawing = pn.Column(self.raster_title, self._picture, sizing_mode="stretch_width", margin=(8, 0))
        self.layout = pn.Column(
            self.head, line(self.slider, self.counts), self.remarks,
            row(self._titled(_("Rates"), self.rates.figure), self._loss_place, basis=360),
            self.show_table, self.table,
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip

    def look_at(self, width: float) -> None:
        """Let the slider stand where the width of a bin is, in seconds."""
        if (at := round(1000 * width)) in WIDTHS and self.slider.value != at:
            self.slider.value = at

    def show(self, found: Looked) -> None:
        """Draw what was read."""
        preview = found.preview
        self.layout.visible = True
        self.head.object = f"{head_in_words(found.source.title, found.spikes, preview)} {_(NEXT)}"
        self.remarks.object = remarks_html(preview.remarks)
        self.slider.visible, self.counts.visible = found.bin is not None, found.bin is None
        per_second = preview.rates
        values, unit = (
            (preview.fired, _("spikes per bin")) if per_second is None else (per_second, _("spikes per second"))
        )
        self.rates.show(values, preview.names, unit)
        self._loss_place.visible = found.bin is not None
        if found.bin is not None:
            self.loss.show(preview.loss, found.bin)
        self.table.object = units_table(preview)
        self.draw_raster(found, "")

    def draw_raster(self, found: Looked, what: str) -> None:
        """The first bins of a recording, under words of one's own or how long they last."""
        n = len(found.sample)
        long = "" if found.preview.bin is None else f", {n * found.preview.bin:g} s"
        self.raster_title.object = what or _("The first {n} bins{long}: a mark where a unit fires", n=n, long=long)
        self.raster.show(found.sample, found.preview.names)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for plot in (self.raster, self.rates, self.loss):
            plot.restyle(dark)

    def _switch(self, event: Any) -> None:
        self.table.visible = event.new

    @staticmethod
    def _titled(title: str, plot: Any) -> Any:
        return pn.Column(
            heading(title), pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0),
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip
