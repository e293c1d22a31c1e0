"""Network view: the schematic with its choices, true or inferred couplings, all units or one, how many lines."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from hidviz.experiments import Frame
from hidviz.network import Couplings, aligned
from hidviz.ui.components.schematic import Schematic
from hidviz.ui.layout import offer, row, sentence
from hidviz.ui.plots.heatmaps import scale_for
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.picture import network_picture, unit_name

WHOSE = (N_("True"), N_("Inferred"), N_("Inferred, aligned"))
ALL_UNITS = -1  # a menu shows None as nothing chosen


class NetworkView:
    """The paper's Fig. 1 of the network under study, and the menus that go with it."""

    def __init__(self) -> None:
        wide = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 0)}
        slide = wide | {"tooltips": False}  # which would cover the label
        self.whose = pmui.Select(
            label=_("Couplings drawn"), options={_(whose): whose for whose in WHOSE}, value=WHOSE[0], **wide
        )
        self.unit = pmui.Select(label=_("Isolate unit"), options={_("all units"): ALL_UNITS}, value=ALL_UNITS, **wide)
        self.n_edges = pmui.IntSlider(
            label=_("Strongest couplings drawn"), value=100, start=10, end=400, step=10, **slide
        )
        self.line = sentence()
        self.schematic = Schematic(_("Network over time"), self._choose, sizing_mode="stretch_width", margin=0)
        self._frame: Frame | None = None
        for control in (self.whose, self.unit, self.n_edges):
            control.param.watch(lambda _: self._draw(), "value")
        self.layout: Any = pmui.Column(
            row(self.whose, self.unit, self.n_edges, basis=180),
            self.line,
            self.schematic,
            sizing_mode="stretch_width",
            margin=0,
        )

    def show(self, frame: Frame) -> None:
        """Follow a frame."""
        self._frame = frame
        self._draw()

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.schematic.restyle(dark)

    def _draw(self) -> None:
        if self._frame is None:
            return
        truth, couplings = self._frame.data.truth, drawn(self.whose.value, self._frame)
        n_visible, n = couplings.n_visible, couplings.n_visible + couplings.n_hidden
        offer(self.unit, {_("all units"): ALL_UNITS} | {unit_name(unit, n_visible): unit for unit in range(n)})
        picture = network_picture(
            couplings,
            largest=scale_for(truth, couplings.n_hidden).largest,
            n_edges=self.n_edges.value,
            unit=None if self.unit.value == ALL_UNITS else self.unit.value,
        )
        self.line.object = picture.says
        self.schematic.show(picture)

    def _choose(self, unit: int | None) -> None:
        """Isolate a unit that was chosen in the drawing; None for all."""
        value = ALL_UNITS if unit is None else unit
        if value in self.unit.options.values():
            self.unit.value = value


def drawn(whose: str, frame: Frame) -> Couplings:
    """The couplings that are drawn for a choice among WHOSE."""
    truth, found = frame.data.truth, frame.snapshot.couplings
    if whose == WHOSE[0]:
        return truth
    return found if whose == WHOSE[1] else aligned(found, truth)
