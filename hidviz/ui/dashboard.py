"""Dashboard: the live picture of learning, for a page or a notebook.

The page pulls. A tick looks at the session; if nothing has changed it returns at once, else it draws one frame inside
one hold. At most two frames are in flight: the browser acknowledges each after drawing it, so a slow one gets fewer
frames, not older ones. The worker never touches anything here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.io import hold
from panel.io.callbacks import PeriodicCallback

from hidviz.experiments import Experiment
from hidviz.gauge import regauge, with_hidden
from hidviz.learners import LEARNERS
from hidviz.presets import ABOUT_PRESETS, PRESETS
from hidviz.ui.compare_tab import CompareTab
from hidviz.ui.components import Button, Buttons, HiddenUnits, Instrument, TabBar
from hidviz.ui.controls import Controls
from hidviz.ui.curves import CostCurves, ErrorCurves
from hidviz.ui.heatmaps import TITLES, Heatmaps
from hidviz.ui.help import HELP
from hidviz.ui.inspector_tab import InspectorTab
from hidviz.ui.layout import row, square, titled
from hidviz.ui.learner_note import LearnerNote
from hidviz.ui.link import TABS, Link, write_link
from hidviz.ui.session import Session
from hidviz.ui.shipped import shipped_frame
from hidviz.ui.tabs import Tab
from hidviz.ui.words import equivalents_in_words, gauge_in_words, reading, scale_strip, state_of, units_of

PERIOD = 50  # milliseconds between looks at the session
LOG = logging.getLogger(__name__)

IN_FLIGHT = 2  # frames sent and not yet drawn
PATIENCE = 1.0  # seconds after which an unacknowledged frame no longer holds back the next: a hidden tab draws nothing

KEYS = {
    " ": "run or pause",
    "s": "step",
    "r": "rewind",
    "a": "align",
    "u": "undo",
    "U": "redo",
    "?": "help",
    "Escape": "close help",
}


class Dashboard(pn.viewable.Viewer):  # type: ignore[misc]  # panel has no types
    """Everything on the page between the title bar and the edges.

    Args:
        link: what to open with; a finished run of the paper's Fig. 3 if left out.
        dark: whether to begin in dark colours.
    """

    def __init__(self, link: Link | None = None, *, dark: bool = False, **params: Any) -> None:
        super().__init__(**params)
        link = link or Link(Experiment())
        finished = shipped_frame("fig3") if link.experiment == Experiment() and link.step is None else None
        self.session = Session(link.experiment, finished)
        self.session.event = "A finished run of Fig. 3. Press Run to watch it being learned." if finished else ""
        self.preset = link.preset or _preset_of(link.experiment)
        self._dark = dark
        self._dirty = True
        self._sent_at = 0.0
        self._ready = False  # whether the browser is connected, so that what it sends arrives
        self._first_tab = TABS.index(link.tab)
        self.on_query: Callable[[str], None] = lambda _: None
        self._build(link.notices)
        self.restyle(dark)
        self._draw()
        if link.step is not None:
            self.session.run_to(link.step)
        self._callback = PeriodicCallback(callback=self._tick, period=PERIOD, background=True, log=False)
        pn.state.onload(self._callback.start)
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(lambda _: self.close())

    def close(self) -> None:
        """End the worker and the tick."""
        self._callback.stop()
        self.session.close()
        for tab in self.tabs:
            tab.close()

    # Building, once

    def _build(self, notices: tuple[str, ...]) -> None:
        self.controls = Controls(self.session.experiment, self._change)
        self.note = LearnerNote()
        self.note.show(self.session.experiment)
        self.cost, self.errors, self.heatmaps = CostCurves(), ErrorCurves(), Heatmaps()
        self.units = HiddenUnits(self._flip, self._swap, self._break, sizing_mode="stretch_width", margin=0)
        self.instrument = Instrument(self._key, keys=list(KEYS), sizing_mode="stretch_width", margin=0)
        self.tabs: tuple[Tab, ...] = (InspectorTab(self.session), CompareTab(self.session))
        self.front = TabBar(
            titles=["Learn", *(tab.title for tab in self.tabs)], active=self._first_tab, sizing_mode="stretch_width",
            margin=(0, 0, 4, 0),
        )  # fmt: skip
        self.front.param.watch(self._come_forward, "active")
        self._places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in self.front.titles]
        self._buttons()
        self.log_switch = pmui.Switch(
            label="Logarithmic cost", description="The cost above its lowest value so far, in powers of ten.", margin=0
        )
        self.align_switch = pmui.Switch(
            label="Align to truth",
            value=False,
            description="Show the inferred couplings in the gauge nearest to the truth. Only the picture changes: "
            "learning never sees the truth.",
            margin=0,
        )
        self.log_switch.param.watch(self._look, "value")
        self.align_switch.param.watch(self._look, "value")
        self.reading = pmui.Typography("", sx={"fontSize": 15, "fontVariantNumeric": "tabular-nums"}, margin=(0, 4))
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 4)
        )
        self.scale = pn.pane.HTML("", margin=0, styles={"margin-left": "auto"})
        self.gauge_line = pmui.Typography("", sx={"fontSize": 15}, margin=0)
        self.unit_title = pmui.Typography("", sx={"fontSize": 15}, margin=0)
        self.alert = pmui.Alert("", severity="warning", visible=bool(notices), closeable=True, margin=(0, 0, 8, 0))
        self.help_sheet = pmui.Dialog(
            pmui.Typography(HELP, sx={"fontSize": 16}), title="hidviz", open=False, show_close_button=True
        )
        self.remedy = pmui.Button(label="Use mean field", variant="outlined", visible=False, on_click=self._cure)
        if notices:
            self._tell("This link could not be used in full; defaults stand in. " + " ".join(notices))

    def _buttons(self) -> None:
        def button(name: str, icon: str, help_text: str, act: Callable[[], None], primary: bool = False) -> Button:
            return Button(name, icon, help_text, lambda: self._act(act), primary)

        session = self.session
        self.transport = Buttons(
            button(
                "Run", "play", "Learn, step after step; a run that has ended starts over (space)", session.run, True
            ),
            button("Pause", "pause", "Stop here and keep everything (space)", session.pause, True),
            button("Step", "step", "One step of the optimiser (s)", session.step),
            button("Rewind", "rewind", "Back to the same start on the same data (r)", session.rewind),
            button("New start", "start", "Another random start on the same data", self._new_start),
            button("New data", "data", "Another true network and its data", self._new_data),
            sizing_mode="stretch_width",
            margin=0,
        )
        self.history = Buttons(
            button("Undo", "undo", "Take the last flip or swap back (u)", session.undo),
            button("Redo", "redo", "Do it again (U)", session.redo),
            columns=0,
            margin=0,
        )

    @property
    def sidebar(self) -> Any:
        """Buttons and knobs."""
        return pmui.Column(
            self.transport,
            self.reading,
            self.progress,
            self.controls.layout,
            self.note.layout,
            sizing_mode="stretch_width",
            margin=(8, 8),
        )

    @property
    def main(self) -> Any:
        """The status line, and one tab in front."""
        self._places[0].append(self._learn())
        self._come_forward()
        return pn.Column(
            self.alert, self.remedy, self.help_sheet, self.instrument, self.front, *self._places,
            sizing_mode="stretch_width", margin=(8, 16),
        )  # fmt: skip

    def _come_forward(self, *_: Any) -> None:
        """Show the view in front; its contents are sent to the browser when it first is."""
        active = self.front.active
        if active and not self._places[active].objects:
            self._places[active].append(self.tabs[active - 1].layout)
        for k, place in enumerate(self._places):
            place.visible = k == active
        self._dirty = True

    def _learn(self) -> Any:
        """Curves, heatmaps, hidden units."""
        curves = row(
            titled("Cost per bin", self.cost.figure, self.log_switch),
            titled("Errors of the couplings", self.errors.figure, _thin_and_bold()),
            basis=400,
        )
        maps = row(*[square(title, h.figure) for title, h in zip(TITLES, self.heatmaps.all, strict=True)], basis=200)
        gauge_row = pn.FlexBox(
            self.align_switch, self.gauge_line, self.scale, align_items="center", gap="16px",
            sizing_mode="stretch_width",
        )  # fmt: skip
        unit_row = pn.FlexBox(
            self.unit_title, self.history, align_items="center", justify_content="space-between", gap="8px",
            sizing_mode="stretch_width",
        )  # fmt: skip
        return pmui.Column(
            curves,
            gauge_row,
            maps,
            unit_row,
            self.units,
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    def __panel__(self) -> Any:
        return pmui.Row(
            pmui.Column(self.sidebar, width=320, margin=0), self.main, sizing_mode="stretch_width", margin=0
        )

    # Acting

    def _act(self, act: Callable[[], None]) -> None:
        act()
        self._dirty = True

    def _new_start(self) -> None:
        self.session.new_start()
        self._knobs_changed()

    def _new_data(self) -> None:
        self.session.new_data()
        self._knobs_changed()

    def _change(self, **knobs: Any) -> None:
        self.session.change(**knobs)
        self.preset = _preset_of(self.session.experiment)
        self._knobs_changed()

    def choose_preset(self, name: str) -> None:
        """Take over a preset, as a fresh page with it would."""
        self.session.adopt(PRESETS[name])
        self.preset = name
        self.session.event = ABOUT_PRESETS[name].look_for
        self._knobs_changed()

    def _knobs_changed(self) -> None:
        self.controls.show(self.session.experiment)
        self.note.show(self.session.experiment)
        self.on_query(self.query())
        self._dirty = True

    def query(self, *, step: int | None = None) -> str:
        """The query string that leads back to these knobs, starting with ? unless it is empty."""
        text = write_link(self.session.experiment, preset=self.preset, step=step)
        return f"?{text}" if text else ""

    def share(self, path: str) -> None:
        """Put a link to this very step on the clipboard, and show it."""
        step = self.session.frame.snapshot.step if self.session.frame else None
        link = path + (self.query(step=step) or "?")
        self.instrument.copied = link
        self.session.event = f"Copied a link to this run: {link}"
        self._dirty = True

    def help(self) -> None:
        """Open or close the help sheet."""
        self.help_sheet.open = not self.help_sheet.open

    def _flip(self, unit: int) -> None:
        self._act(lambda: self.session.flip(unit))

    def _swap(self, first: int, second: int) -> None:
        self._act(lambda: self.session.swap(first, second))

    def _break(self, unit: int, block: str) -> None:
        self._act(lambda: self.session.break_flip(unit, "K" if block == "K" else "L"))

    def _cure(self, _: Any) -> None:
        self._change(learner="mean-field")

    def _key(self, key: str) -> None:
        session = self.session
        acts = {" ": session.pause if session.running else session.run, "s": session.step, "r": session.rewind,
                "u": session.undo, "U": session.redo}  # fmt: skip
        if key.isdecimal():
            self._flip(int(key) - 1)
        elif key == "?":
            self.help()
        elif key == "Escape":
            self.help_sheet.open = False
        elif key == "a":
            self.align_switch.value = not self.align_switch.value
        elif key in acts:
            self._act(acts[key])

    def _look(self, *_: Any) -> None:
        self.cost.logarithmic = self.log_switch.value
        self._dirty = True

    # Drawing, many times

    async def _tick(self) -> None:
        """Look at the session; draw if something changed and the browser keeps up."""
        waiting = self.instrument.frame - self.instrument.acknowledged
        if waiting >= IN_FLIGHT and time.monotonic() - self._sent_at < PATIENCE:
            return
        changed = self.session.poll() or self._dirty or not self._ready
        self._ready = True
        try:
            with hold():
                changed = self._look_at_front() or changed
                if changed:
                    self._draw()
        except Exception as error:  # a picture that fails must say so, and must not take the page with it
            LOG.exception("drawing failed")
            self._tell(f"This view could not be drawn ({error}). Rewind, or choose another preset.")

    def _look_at_front(self) -> bool:
        front = self.front.active
        return bool(front) and self.tabs[front - 1].look()

    def _draw(self) -> None:
        self._dirty = False
        with hold():
            self._draw_frame()
            self._draw_words()
            self.instrument.frame += 1
        self._sent_at = time.monotonic()

    def _draw_frame(self) -> None:
        frame = self.session.frame
        if frame is None:
            return
        truth, found = frame.world.truth, frame.snapshot.couplings
        if self.align_switch.value:
            found = regauge(with_hidden(found, len(frame.gauge.order)), frame.gauge)
        if self.front.active != 0:
            return
        self.cost.show(frame)
        self.errors.show(frame)
        self.heatmaps.show(truth, found)
        self.scale.object = scale_strip(self.heatmaps.scale.largest)
        self.units.units = units_of(frame)

    def _draw_words(self) -> None:
        session, frame = self.session, self.session.frame
        running = session.running
        if frame is not None:
            n_found, n_true = frame.snapshot.couplings.n_hidden, frame.world.truth.n_hidden
            self.gauge_line.object = gauge_in_words(frame.gauge, n_found, n_true)
            self.unit_title.object = f"**Hidden units** · {equivalents_in_words(n_found)}"
        progress = session.progress
        self.progress.visible = progress is not None
        self.progress.value = round(100 * progress.fraction) if progress else 0
        self.reading.object = progress.what + " …" if progress else reading(frame, session.steps_per_second, running)
        self.transport.disabled = ["Run"] if running else ["Pause"]
        self.history.disabled = [name for name, n in zip(("Undo", "Redo"), session.n_undo, strict=True) if n == 0]
        warning = session.problem or (frame.snapshot.message if frame and frame.snapshot.state != "converged" else "")
        if session.problem:
            self._tell(session.problem)
        self.remedy.visible = session.infeasible and LEARNERS[session.experiment.learner].title != "mean-field"
        self.instrument.sentence = session.problem or session.event
        self.instrument.state = state_of(
            frame,
            preset=self.preset,
            seed=session.experiment.seed,
            running=running,
            ready=self._ready,
            steps_per_second=session.steps_per_second,
            error=warning,
        )

    def _tell(self, text: str) -> None:
        self.alert.object = text
        self.alert.visible = True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = dark
        for component in (self.units, self.transport, self.history, self.front):
            component.dark = dark
        for plot in (self.cost, self.errors, self.heatmaps):
            plot.restyle(dark)
        for tab in self.tabs:
            tab.restyle(dark)
        self._dirty = True


def _preset_of(experiment: Experiment) -> str:
    """The name of the preset with exactly these knobs; empty if there is none."""
    return next((name for name, preset in PRESETS.items() if preset == experiment), "")


def _thin_and_bold() -> Any:
    return pmui.Typography("thin: as found · bold: aligned to the truth", sx={"fontSize": 14}, margin=0)
