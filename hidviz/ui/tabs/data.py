"""Data tab: what was recorded, how it hangs together, the network behind it, and how errors travel back through it.

Raster and rates; correlations at lags 1 and 2; the network unfolded in time (the paper's Fig. 1); the path of an error
(Fig. 2). What must look at a whole recording is counted by a Runner of the tab's own; the rest is a small window.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import panel as pn
import panel_material_ui as pmui
from panel.io import hold

from hidviz.background import Runner
from hidviz.evaluation import Correlations, ToldStates, correlations, rates
from hidviz.experiments import Data, Frame
from hidviz.learners import LEARNERS
from hidviz.network import Recording
from hidviz.numerics import Array, States
from hidviz.ui.layout import heading, row, sentence
from hidviz.ui.plots.correlation_maps import CorrelationMaps
from hidviz.ui.plots.raster import Raster
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.session import Session
from hidviz.ui.state.telling import Telling
from hidviz.ui.tabs.error_path import ErrorPath
from hidviz.ui.tabs.network import NetworkView
from hidviz.ui.text.language import N_, _

PERIOD = 0.2  # seconds between drawings of the network while it is learned
WINDOWS = (100, 200, 400)  # bins


class Counted(NamedTuple):
    """What is counted once per recording."""

    rates: Array
    hidden_rates: Array
    correlations: Correlations


def counting(data: Data) -> Iterator[Counted]:
    """Count everything, for a Runner."""
    recording = data.recording
    spikes = sum(rates(trial) * len(trial) for trial in recording.trials)
    yield Counted(np.asarray(spikes) / recording.n_bins, rates(data.hidden), correlations(recording))


class Window(NamedTuple):
    """A stretch of a recording: its first bin, its visible states, and the bins in it at which a trial starts."""

    begin: int
    s: States
    starts: list[int]


def window(recording: Recording, begin: int, length: int) -> Window:
    """The window that begins at this bin, counted through all trials, or as near to it as the recording allows."""
    begin = max(0, min(begin, recording.n_bins - length))
    end = min(begin + length, recording.n_bins)
    ends = np.cumsum([len(trial) for trial in recording.trials])
    first, last = (int(k) for k in np.searchsorted(ends, [begin, end - 1], side="right"))
    before = int(ends[first - 1]) if first else 0
    s = np.concatenate(recording.trials[first : last + 1])[begin - before : end - before]
    return Window(begin, s, [int(start) for start in ends[first:last] if start > begin])


class DataTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose data and estimate are shown.
    """

    key = "data"
    title = N_("Data")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._data: Data | None = None
        self._counted: Counted | None = None
        self._counter: Runner[Counted] = Runner()
        self.telling = Telling()
        self._told: ToldStates | None = None
        self._of_recording, self._of_estimate, self._of_states = Changes(), Changes(), Changes()
        self.raster, self.maps, self.network, self.path = Raster(), CorrelationMaps(), NetworkView(), ErrorPath()
        self._controls()
        self.layout = self._layout()

    @property
    def stirred(self) -> bool:
        """Whether there are new data, finished counts or a new estimate."""
        frame = self._session.frame
        return frame is not None and (
            self._of_recording.stirred(frame.data, self._counter.version)
            or self._of_estimate.stirred(frame, period=self._period)
            or self._of_states.stirred(*self._states(frame))
        )

    def _states(self, frame: Frame) -> tuple[object, ...]:
        """All that what is said of the hidden states depends on."""
        running = self._session.running
        return self.reveal.value, self.telling.version, running, None if running else frame, frame.data

    @property
    def _period(self) -> float:
        return PERIOD * self._session.running

    def look(self) -> bool:
        """Take in new data, finished counts and the newest estimate."""
        frame = self._session.frame
        if frame is None:
            return False
        recording = self._of_recording.due(frame.data, self._counter.version)
        if recording is not None and recording[0]:
            self._of_estimate.spoil()
        estimate = self._of_estimate.due(frame, period=self._period)
        states = self._of_states.due(*self._states(frame))
        if recording is None and estimate is None and states is None:
            return False
        with hold():
            if recording is not None:
                self._look_at_recording(frame.data, is_new=recording[0], is_counted=recording[1])
            if states is not None:
                self._tell(frame)
            if estimate is not None:
                self._follow(frame)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.raster.restyle(dark)
        self.maps.restyle(dark)
        self.network.restyle(dark)
        self.path.restyle(dark)

    def close(self) -> None:
        """Give up counting."""
        self._counter.stop()
        self.telling.stop()

    # Building, once

    def _controls(self) -> None:
        wide = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 0)}
        slide = wide | {"tooltips": False}  # which would cover the label
        self.first = pmui.IntSlider(label=_("First bin shown"), value=0, start=0, end=1, **slide)
        self.length = pmui.Select(label=_("Bins shown"), options={str(n): n for n in WINDOWS}, value=200, **wide)
        self.reveal = pmui.Switch(label=_("Reveal hidden units"), value=False, margin=(6, 0))
        self.said = sentence(margin=(2, 0), visible=False)
        for control in (self.first, self.length, self.reveal):
            control.param.watch(self._changed, "value")

    def _layout(self) -> Any:
        raster = pn.pane.Bokeh(self.raster.figure, margin=0, styles={"flex": "1 1 200px", "min-width": "0"})
        rates_beside = pn.pane.Bokeh(self.raster.rates, margin=0, styles={"flex": "0 0 150px"})
        sections = {
            _("Recorded activity"): (
                row(self.first, self.length, self.reveal, basis=190),
                self.said,
                pn.FlexBox(raster, rates_beside, flex_wrap="nowrap", gap="16px", sizing_mode="stretch_width"),
            ),
            _("Correlations between visible units"): (self.maps.layout,),
            _("The network over time"): (self.network.layout,),
            _("How an error propagates back"): (self.path.layout,),
        }
        column = pmui.Column(sizing_mode="stretch_width", margin=(8, 0))
        for title, parts in sections.items():
            column.extend([heading(title), *parts, pn.Spacer(height=16)])
        return column

    # Drawing, many times

    def _look_at_recording(self, data: Data, *, is_new: bool, is_counted: bool) -> None:
        if is_new:
            self._adopt(data)
        self._draw_window()
        if is_counted:
            self._take()

    def _adopt(self, data: Data) -> None:
        """Show other data, from their first bin, and start counting."""
        self._data, self._counted, self._told = data, None, None
        self.first.value = 0
        self.maps.say(_("Counting …"))
        self._counter.start(counting(data))

    def _take(self) -> None:
        """Take in what the counter has to say."""
        if failure := self._counter.failure:
            self.maps.say(_("The correlations could not be counted: {failure}", failure=failure))
        if (counted := self._counter.latest) is not None and counted is not self._counted:
            self._counted = counted
            self.maps.show(counted.correlations)
            self._draw_rates()

    def _follow(self, frame: Frame) -> None:
        self.network.show(frame)
        learner = LEARNERS[frame.experiment.learner]
        self.path.show(frame, continuous=learner.hidden == "continuous")

    def _tell(self, frame: Frame) -> None:
        """What the data tell of the hidden states, if they are revealed."""
        running, revealed = self._session.running, self.reveal.value
        self.telling.follow(frame, running=running, wanted=revealed)
        self.said.param.update(object=self.telling.in_words(frame, running=running), visible=revealed)
        if self.telling.told is not self._told:
            self._told = self.telling.told
            self._draw_window()

    def _changed(self, *_: Any) -> None:
        self._of_recording.spoil()  # drawn at the next look: here the document may not be locked

    def _draw_window(self) -> None:
        if self._data is None:
            return
        recording, hidden = self._data.recording, self._data.hidden
        last = max(1, recording.n_bins - self.length.value)
        if self.first.end != last:
            self.first.param.update(end=last, value=min(self.first.value, last))
        shown = window(recording, self.first.value, self.length.value)
        bins = slice(shown.begin, shown.begin + len(shown.s))
        hidden = hidden[bins, : hidden.shape[1] * self.reveal.value]
        told = self._told if self.reveal.value else None
        states = None if told is None else np.pad(told.states, ((0, 1), (0, 0)))[bins]  # nothing tells of the last bin
        self.raster.fit(recording.n_visible, hidden.shape[1], told=told is not None)
        self.raster.show(shown.begin, shown.s, hidden, shown.starts, states)
        self._draw_rates()

    def _draw_rates(self) -> None:
        nothing = np.empty(0)
        visible, hidden = (self._counted.rates, self._counted.hidden_rates) if self._counted else (nothing, nothing)
        self.raster.show_rates(visible, hidden if self.reveal.value else nothing)
