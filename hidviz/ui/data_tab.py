"""Data tab: what was recorded, how it hangs together, the network behind it, and how errors travel back through it.

Raster and rates; correlations at lags 1 and 2; the network unfolded in time (the paper's Fig. 1); the path of an error
(Fig. 2). Statistics of long recordings are counted by a Runner of the tab's own; everything else is a small window.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import panel as pn
import panel_material_ui as pmui
from bokeh.models import HoverTool
from panel.io import hold

from hidviz.correlations import Correlations, correlations, rates
from hidviz.couplings import Array, Couplings
from hidviz.frames import Frame, World
from hidviz.gauge import aligned
from hidviz.learners import LEARNERS
from hidviz.runner import Runner
from hidviz.ui.error_path import ErrorPath, offer
from hidviz.ui.heatmaps import Heatmap, Scale, scale_for
from hidviz.ui.raster import Raster
from hidviz.ui.schematic import Schematic, network_picture, unit_name
from hidviz.ui.session import Session

PERIOD = 0.2  # seconds between drawings of the network while it is learned
WINDOWS = (100, 200, 400)  # bins
MAPS = ("Lag 1", "Lag 2", "Lag 2, beyond lag 1")
NETWORKS = ("True", "Inferred", "Inferred, aligned")

WHY_LAG_2 = (
    "**Why lag 2?** If the visible units were all there is, the past would act on the future through the present alone, "
    "and next to nothing would be left *beyond lag 1*. A hidden unit listens at t and speaks at t + 2: with M = 0 hidden "
    "units carry memory of exactly two steps."
)


class Statistics(NamedTuple):
    """What is counted once per recording."""

    rates: Array
    hidden_rates: Array
    correlations: Correlations


def counting(world: World) -> Iterator[Statistics]:
    """Count everything, for a Runner."""
    recording = world.recording
    each = np.array([rates(trial) * len(trial) for trial in recording.trials])
    yield Statistics(each.sum(axis=0) / recording.n_bins, rates(world.hidden), correlations(recording))


class DataTab:
    """The tab; see `hidviz.ui.tabs.Tab`.

    Args:
        session: whose data and estimate are shown.
    """

    key = "data"
    title = "Data"

    def __init__(self, session: Session) -> None:
        self._session = session
        self._world: World | None = None
        self._frame: Frame | None = None
        self._statistics: Statistics | None = None
        self._runner: Runner[Statistics] = Runner()
        self._seen = -1
        self._drawn_at = 0.0
        self._build()
        self.layout = self._layout()

    # The contract of a tab

    def look(self) -> bool:
        """Take in new data, finished counts and the newest estimate."""
        frame, drawn = self._session.frame, False
        if frame is None:
            return False
        with hold():
            if frame.world is not self._world:
                self._adopt(frame.world)
                drawn = True
            if self._runner.version != self._seen:
                self._seen = self._runner.version
                self._take()
                drawn = True
            due = time.monotonic() - self._drawn_at > PERIOD or not self._session.running
            if frame is not self._frame and due:
                self._frame, self._drawn_at = frame, time.monotonic()
                self._draw_estimate()
                drawn = True
        return drawn

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for part in (self.raster, *self.maps, self.schematic, self.path):
            part.restyle(dark)

    def close(self) -> None:
        """Give up counting."""
        self._runner.stop()

    # Building, once

    def _build(self) -> None:
        self.raster, self.path = Raster(), ErrorPath()
        self.maps = [Heatmap(title) for title in MAPS]
        for each, later in zip(self.maps, ("t + 1", "t + 2", "t + 2"), strict=True):
            each.figure.xaxis.axis_label, each.figure.yaxis.axis_label = "unit at t", f"unit at {later}"
            each.figure.select_one(HoverTool).tooltips = [
                (f"at {later}", "$y{custom}"), ("at t", "$x{custom}"), ("correlation", "@image{+0.000}"),
            ]  # fmt: skip
        self.schematic = Schematic("Network over time", self._choose, sizing_mode="stretch_width", margin=0)
        wide = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 8)}
        self.reveal = pmui.Switch(label="Reveal hidden units", value=False, margin=0)
        self.first = pmui.IntSlider(label="First bin shown", value=0, start=0, end=1, **wide)
        self.window = pmui.Select(label="Bins shown", options={str(n): n for n in WINDOWS}, value=200, **wide)
        self.which = pmui.Select(label="Couplings drawn", options=list(NETWORKS), value="True", **wide)
        self.unit = pmui.Select(label="Isolate unit", options={"all units": None}, value=None, **wide)
        self.n_edges = pmui.IntSlider(label="Strongest couplings drawn", value=100, start=10, end=400, step=10, **wide)
        self.correlation_line = pmui.Typography("", sx={"fontSize": 15}, margin=(4, 0))
        self.edges_line = pmui.Typography("", sx={"fontSize": 15}, margin=(4, 0))
        for control in (self.first, self.window, self.reveal):
            control.param.watch(lambda _: self._draw_window(), "value")
        for control in (self.which, self.unit, self.n_edges):
            control.param.watch(lambda _: self._draw_network(), "value")

    def _layout(self) -> Any:
        rasters = pn.FlexBox(
            _flexible(pn.pane.Bokeh(self.raster.figure, sizing_mode="stretch_width", margin=0), 4, 200),
            _flexible(pn.pane.Bokeh(self.raster.rates, sizing_mode="stretch_width", margin=0), 1, 130),
            flex_wrap="nowrap", gap="16px", sizing_mode="stretch_width",
        )  # fmt: skip
        maps = pn.FlexBox(
            *[
                _flexible(pmui.Column(_quiet(title), pn.pane.Bokeh(each.figure, sizing_mode="scale_width", margin=0),
                                      margin=0), 1, 200)
                for title, each in zip(MAPS, self.maps, strict=True)
            ],
            gap="16px", sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Column(
            _heading("Recorded activity"),
            _bar(_flexible(self.first, 3, 260), _flexible(self.window, 1, 110), _flexible(self.reveal, 1, 190)),
            rasters,
            _heading("Correlations between visible units"),
            maps,
            self.correlation_line,
            _quiet(WHY_LAG_2),
            _heading("The network over time"),
            _bar(*[_flexible(control, 1, 180) for control in (self.which, self.unit, self.n_edges)]),
            self.edges_line,
            self.schematic,
            _heading("The path of an error"),
            self.path.layout,
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    # Drawing, many times

    def _adopt(self, world: World) -> None:
        """Show other data, from their first bin, and start counting."""
        self._world, self._statistics = world, None
        self.raster.show_rates(np.empty(0), np.empty(0))
        self.correlation_line.object = "Counting …"
        self._runner.start(counting(world))
        self._seen = -1
        self.first.param.update(value=0, end=max(1, world.recording.n_bins - self.window.value))
        self._draw_window()

    def _take(self) -> None:
        if failure := self._runner.failure:
            self.correlation_line.object = f"The correlations could not be counted: {failure}"
        if self._runner.latest is None or self._world is None:
            return
        self._statistics = self._runner.latest
        found = self._statistics.correlations
        shown = (found.lag1, found.lag2, found.beyond)
        largest = max(0.1, float(np.ceil(10.0 * max(np.abs(each).max() for each in shown)) / 10.0))
        for each, matrix in zip(self.maps, shown, strict=True):
            each.fit(Scale(len(matrix), 0, largest))
            each.show(matrix)
        self.correlation_line.object = correlations_in_words(found, largest)
        self._draw_rates()

    def _draw_window(self) -> None:
        if self._world is None:
            return
        recording, length = self._world.recording, self.window.value
        last = max(1, recording.n_bins - length)
        if self.first.end != last:
            self.first.param.update(end=last, value=min(self.first.value, last))
        begin = min(self.first.value, max(0, recording.n_bins - length))
        hidden = self._world.hidden if self.reveal.value else self._world.hidden[:, :0]
        ends = np.cumsum([len(trial) for trial in recording.trials])
        starts = [int(end) for end in ends[:-1] if begin < end < begin + length]
        parts = [
            trial[max(0, begin - (end - len(trial))) : max(0, begin + length - (end - len(trial)))]
            for trial, end in zip(recording.trials, ends, strict=True)
            if end > begin and end - len(trial) < begin + length
        ]
        self.raster.fit(recording.n_visible, hidden.shape[1])
        self.raster.show(begin, np.concatenate(parts), hidden[begin : begin + length], starts)
        self._draw_rates()

    def _draw_rates(self) -> None:
        if self._statistics is not None:
            hidden = self._statistics.hidden_rates if self.reveal.value else np.empty(0)
            self.raster.show_rates(self._statistics.rates, hidden)

    def _draw_estimate(self) -> None:
        assert self._frame is not None
        self._draw_network()
        continuous = LEARNERS[self._session.experiment.learner].hidden == "continuous"
        self.path.show(self._frame, continuous=continuous)

    def _draw_network(self) -> None:
        if self._frame is None:
            return
        couplings = self._couplings(self._frame)
        n_visible, n = couplings.n_visible, couplings.n_visible + couplings.n_hidden
        offer(self.unit, {"all units": None} | {unit_name(unit, n_visible): unit for unit in range(n)})
        largest = scale_for(self._frame.world.truth, couplings.n_hidden).largest
        picture = network_picture(couplings, largest=largest, n_edges=self.n_edges.value, unit=self.unit.value)
        self.edges_line.object = picture.says
        self.schematic.show(picture)

    def _couplings(self, frame: Frame) -> Couplings:
        truth, found = frame.world.truth, frame.snapshot.couplings
        return {"True": truth, "Inferred": found, "Inferred, aligned": aligned(found, truth)}[self.which.value]

    def _choose(self, unit: int | None) -> None:
        """Isolate a unit that was chosen in the drawing; None for all."""
        if unit in self.unit.options.values():
            self.unit.value = unit


def correlations_in_words(found: Correlations, largest: float) -> str:
    """The colours of the maps, and what is more than chance."""
    if not found.n:
        return "No trial is long enough for lag 2."
    sizes = [float(np.sqrt((matrix**2).mean())) for matrix in (found.lag1, found.lag2, found.beyond)]
    chance = found.n**-0.5
    return (
        f"Root mean square: lag 1 **{sizes[0]:.3f}**, lag 2 **{sizes[1]:.3f}**, beyond lag 1 **{sizes[2]:.3f}**; "
        f"by chance alone {chance:.3f}. Colours run from −{largest:.1f} (blue) to +{largest:.1f} (red)."
    )


def _flexible(item: Any, grow: int, basis: int) -> Any:
    item.styles = {"flex": f"{grow} 1 {basis}px", "min-width": "0"}
    return item


def _bar(*items: Any) -> Any:
    return pn.FlexBox(*items, align_items="center", gap="8px", sizing_mode="stretch_width")


def _heading(text: str) -> Any:
    return pmui.Typography(text, sx={"fontSize": 17, "fontWeight": 600}, margin=(16, 0, 0, 0))


def _quiet(text: str) -> Any:
    return pmui.Typography(text, sx={"fontSize": 15}, margin=(2, 0))
