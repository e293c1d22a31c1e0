"""Dashboard: buttons, knobs, status and tabs, for a page or a notebook.

The page pulls. A tick looks at the session; if nothing has changed it returns at once, else it draws one frame inside
one hold, at the pace of `hidviz.ui.pace`. The worker never touches anything here.
"""

from __future__ import annotations

import io
import logging
import time
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.io import hold
from panel.io.callbacks import PeriodicCallback

from hidviz.bundle import load_bundle
from hidviz.experiments import Experiment
from hidviz.frames import Frame
from hidviz.gauge import Gauge
from hidviz.presets import ABOUT_PRESETS, PRESETS
from hidviz.ui.compare_tab import CompareTab
from hidviz.ui.components import Button, Buttons, Instrument, TabBar
from hidviz.ui.controls import Controls
from hidviz.ui.data_tab import DataTab
from hidviz.ui.degeneracy_tab import DegeneracyTab
from hidviz.ui.help import HELP
from hidviz.ui.inspector_tab import InspectorTab
from hidviz.ui.keeping import export_button
from hidviz.ui.learn_tab import LearnTab
from hidviz.ui.learner_note import LearnerNote
from hidviz.ui.lengths import LengthsTab
from hidviz.ui.link import TABS, Link, write_link
from hidviz.ui.pace import Pace
from hidviz.ui.restarts_tab import RestartsTab
from hidviz.ui.scores_tab import ScoresTab
from hidviz.ui.session import Session
from hidviz.ui.shipped import shipped_frame
from hidviz.ui.tabs import Tab
from hidviz.ui.words import READABLE, Remedy, reading, remedy_for, state_of

PERIOD = 50  # milliseconds between looks at the session
LOG = logging.getLogger(__name__)
KEYS = (" ", "s", "r", "a", "u", "U", "?", "Escape", *"123456789")


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
        self.on_query: Callable[[str], None] = lambda _: None
        self._dirty = True
        self._ready = False  # whether the browser is connected, so that what it sends arrives
        self._pace = Pace()
        self._read_at = 0.0
        self._told = ""
        self._remedy: Remedy | None = None
        session = self.session
        self.learn = LearnTab(session)
        self._makers: tuple[tuple[type[Tab], Callable[[], Tab]], ...] = (
            (LearnTab, lambda: self.learn),
            (DataTab, lambda: DataTab(session)),
            (LengthsTab, lambda: LengthsTab(session)),
            (RestartsTab, lambda: RestartsTab(session, self._load, lambda: session.world)),
            (DegeneracyTab, lambda: DegeneracyTab(session, self._go_to)),
            (InspectorTab, lambda: InspectorTab(session)),
            (CompareTab, lambda: CompareTab(session)),
            (ScoresTab, lambda: ScoresTab(session)),
        )
        self.tabs: dict[int, Tab] = {0: self.learn}  # the others are built when they first come forward
        self._dark = dark
        self._build(TABS.index(link.tab))
        if link.notices:
            self._tell("This link could not be used in full; defaults stand in. " + " ".join(link.notices))
        self.restyle(dark)
        if link.step is not None:
            self.session.run_to(link.step)
        self._come_forward()
        self._draw()
        self._callback = PeriodicCallback(callback=self._tick, period=PERIOD, background=True, log=False)
        pn.state.onload(self._callback.start)
        if pn.state.curdoc is not None:
            pn.state.on_session_destroyed(self._leave)

    def _leave(self, context: Any) -> None:
        """The session has ended: end its work, and the views of its notifications, which Panel keeps for ever."""
        self.close()
        for ref, (_, _, document, _) in list(pn.state._views.items()):
            if document is context._document:
                del pn.state._views[ref]

    def close(self) -> None:
        """End the worker and the tick."""
        self._callback.stop()
        self._pace.end()
        self.session.close()
        for tab in self.tabs.values():
            tab.close()

    # Building, once

    def _build(self, first_tab: int) -> None:
        self.controls = Controls(self.session.experiment, self._change)
        self.note = LearnerNote()
        self.note.show(self.session.experiment)
        self.instrument = Instrument(self._key, keys=list(KEYS), sizing_mode="stretch_width", margin=0)
        self.transport = self._transport()
        self.front = TabBar(
            titles=[kind.title for kind, _ in self._makers],
            active=first_tab,
            sizing_mode="stretch_width",
            margin=(0, 0, 4, 0),
        )
        self.front.param.watch(self._come_forward, "active")
        self._places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in self._makers]
        self.reading = pmui.Typography("", sx={"fontSize": 15, "fontVariantNumeric": "tabular-nums"}, margin=(0, 4))
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 4)
        )
        self.alert = pmui.Alert("", severity="warning", visible=False, closeable=True, margin=(0, 0, 8, 0))
        self.remedy = pmui.Button(label="", variant="outlined", visible=False, on_click=self._cure)
        self.help_sheet = pmui.Dialog(
            pmui.Typography(HELP, sx={"fontSize": 16}),
            title="hidviz",
            open=False,
            show_close_button=True,
            close_on_click=True,
        )

    def _transport(self) -> Buttons:
        def button(name: str, icon: str, help_text: str, act: Callable[[], None], primary: bool = False) -> Button:
            return Button(name, icon, help_text, lambda: self._act(act), primary)

        session = self.session
        run = "Learn, step after step; a run that has ended starts over (space)"
        return Buttons(
            button("Run", "play", run, session.run, True),
            button("Pause", "pause", "Stop here and keep everything (space)", session.pause, True),
            button("Step", "step", "One step of the optimiser (s)", session.step),
            button("Rewind", "rewind", "Back to the same start on the same data (r)", session.rewind),
            button("New start", "start", "Another random start on the same data", self._new_start),
            button("New data", "data", "Another true network and its data", self._new_data),
            sizing_mode="stretch_width",
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
            self._keeping(),
            sizing_mode="stretch_width",
            margin=(8, 8),
        )

    def _keeping(self) -> Any:
        """A button that puts the run into a file, and one that takes it out again."""
        shared = {"variant": "outlined", "sizing_mode": "stretch_width", "margin": 4}
        keep = export_button(lambda: (self.session.experiment, self.session.frame))
        take = pmui.FileInput(label="Open a run", accept=".zip", multiple=False, max_file_size=20_000_000, **shared)
        take.param.watch(lambda event: self.open(event.new), "value")
        return pmui.Row(keep, take, sizing_mode="stretch_width", margin=(8, 0))

    @property
    def main(self) -> Any:
        """The status line, and one tab in front."""
        return pn.Column(
            self.alert, self.remedy, self.help_sheet, self.instrument, self.front, *self._places,
            sizing_mode="stretch_width", margin=(8, 16),
        )  # fmt: skip

    def __panel__(self) -> Any:
        return pmui.Row(
            pmui.Column(self.sidebar, width=320, margin=0), self.main, sizing_mode="stretch_width", margin=0
        )

    def _come_forward(self, *_: Any) -> None:
        """Show the tab in front; it is built and sent to the browser when it first is."""
        active = self.front.active
        if active not in self.tabs:
            self.tabs[active] = self._makers[active][1]()
            self.tabs[active].restyle(self._dark)
        if not self._places[active].objects:
            self._places[active].append(self.tabs[active].layout)
        for k, place in enumerate(self._places):
            place.visible = k == active
        self._knobs_changed()

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
        self._knobs_changed()

    def _load(self, experiment: Experiment, frame: Frame) -> None:
        self.session.load(experiment, frame)
        self._knobs_changed()

    def _go_to(self, gauge: Gauge) -> None:
        self._act(lambda: self.session.apply(gauge, "Another of the equivalent models: the cost stays."))

    def open(self, content: bytes | None) -> None:
        """Show a run from a bundle; a damaged one is answered with a sentence and changes nothing."""
        if content is None:
            return
        try:
            self.session.open(load_bundle(io.BytesIO(content)))
        except ValueError as error:
            self._tell(str(error))
            return
        self._knobs_changed()

    def choose_preset(self, name: str) -> None:
        """Take over a preset, as a fresh page with it would."""
        self.session.adopt(PRESETS[name])
        self.session.event = ABOUT_PRESETS[name].look_for
        self._knobs_changed()

    def _knobs_changed(self) -> None:
        self.preset = _preset_of(self.session.experiment)
        self.controls.show(self.session.experiment)
        self.note.show(self.session.experiment)
        self.on_query(self.query())
        self._dirty = True

    def query(self, *, step: int | None = None) -> str:
        """The query string that leads back to these knobs and this tab, starting with ? unless it is empty."""
        tab = self._makers[self.front.active][0].key
        text = write_link(self.session.experiment, preset=self.preset, step=step, tab=tab)
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

    def _cure(self, _: Any) -> None:
        if self._remedy is not None:
            self._change(**self._remedy.knobs)

    def _key(self, key: str) -> None:
        session, align = self.session, self.learn.align_switch
        acts = {
            " ": session.pause if session.running else session.run,
            "s": session.step,
            "r": session.rewind,
            "u": session.undo,
            "U": session.redo,
            "?": self.help,
            "Escape": lambda: setattr(self.help_sheet, "open", False),
            "a": lambda: setattr(align, "value", not align.value),
        } | {str(unit + 1): lambda unit=unit: session.flip(unit) for unit in range(9)}
        self._act(acts[key])

    # Drawing, many times

    async def _tick(self) -> None:
        """Look at the session; draw if something changed and the browser keeps up."""
        waiting = self.instrument.frame - self.instrument.drawn
        if not self._pace.allows(waiting, asked=self._dirty):
            return
        self._dirty, self._ready = self._dirty or not self._ready, True
        try:
            self._draw()
        except Exception as error:  # a picture that fails must say so, and must not take the page with it
            LOG.exception("drawing failed")
            self._tell(f"This view could not be drawn ({error}). Rewind, or choose another preset.")

    def _draw(self) -> None:
        """One frame, if anything changed since the last one."""
        changed = self.session.poll() or self._dirty
        self._dirty = False
        with self._pace.drawing(), hold():
            if self.tabs[self.front.active].look() or changed:
                self._draw_words()
                self._pace.sent()

    def _draw_words(self) -> None:
        session, frame, progress = self.session, self.session.frame, self.session.progress
        running, speed = session.running, session.steps_per_second
        self._pace.running = running
        self.progress.visible = progress is not None
        self.progress.value = round(100 * progress.fraction) if progress else 0
        if not running or time.monotonic() - self._read_at > READABLE:
            self.reading.object = progress.what + " …" if progress else reading(frame, speed, running)
            self._read_at = time.monotonic()
        self.transport.disabled = ["Run"] if running else ["Pause"]
        warning = session.problem or (frame.snapshot.message if frame and frame.snapshot.state != "converged" else "")
        self._warn(warning)
        state = state_of(
            frame,
            preset=self.preset,
            seed=session.experiment.seed,
            running=running,
            ready=self._ready,
            steps_per_second=speed,
            error=warning,
        )
        self.instrument.param.update(
            sentence=session.problem or session.event, state=state, frame=self.instrument.frame + 1
        )

    def _warn(self, warning: str) -> None:
        """Say each kind of warning once, with its cure beside it."""
        self._remedy = remedy_for(warning, self.session.infeasible)
        kind = warning.split(" ")[0]
        if kind == self._told:
            return
        if warning or self._told:
            self._tell(warning)
        self._told = kind
        self.remedy.param.update(visible=self._remedy is not None, label=self._remedy.label if self._remedy else "")

    def _tell(self, text: str) -> None:
        self.alert.param.update(object=text, visible=bool(text))

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = dark
        self.transport.dark = self.front.dark = dark
        for tab in self.tabs.values():
            tab.restyle(dark)
        self._dirty = True


def _preset_of(experiment: Experiment) -> str:
    """The name of the preset with exactly these knobs; empty if there is none."""
    return next((name for name, preset in PRESETS.items() if preset == experiment), "")
