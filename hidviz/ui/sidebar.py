"""Sidebar: buttons, a line of numbers, knobs, what the learner assumes, and the run as a file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import panel as pn
import panel_material_ui as pmui

from hidviz.experiments import LARGEST_FILE, Experiment, Frame
from hidviz.learners import LEARNERS
from hidviz.ui.components.basic import Button, Buttons, Reading
from hidviz.ui.components.learner_note import LearnerNote
from hidviz.ui.components.run_file import RunFile
from hidviz.ui.controls import Controls
from hidviz.ui.export.button import export_button
from hidviz.ui.state.session import Session
from hidviz.ui.text.status import READABLE, reading

BUTTONS = (
    ("Run", "play", "Learn, step after step; a run that has ended starts over (space)"),
    ("Pause", "pause", "Stop here and keep everything (space)"),
    ("Step", "step", "One step of the optimiser (s)"),
    ("Half step", "half", "Where learning alternates: the M-step moves the couplings, the E-step settles beliefs (h)"),
    ("Rewind", "rewind", "Back to the same start on the same data (r)"),
    ("New start", "start", "Another random start on the same data"),
    ("New data", "data", "Another true network and its data"),
    ("Reset all", "reset", "Knobs, run and views as on a fresh page"),
)
PRIMARY = ("Run", "Pause")


class Sidebar:
    """The left side of the page.

    Args:
        wanted: gives the experiment that the knobs stand for.
        acts: what each of the buttons does.
        on_change: called with the knobs that were turned; raises ValueError to refuse.
        shown: the newest frame of the run that Export hands out.
        on_open: called with the content of a file that was chosen.
        on_refused: called with a sentence about a file that was not taken.
    """

    def __init__(
        self,
        wanted: Callable[[], Experiment],
        acts: Mapping[str, Callable[[], None]],
        *,
        on_change: Callable[..., None],
        shown: Callable[[], Frame | None],
        on_open: Callable[[bytes], None],
        on_refused: Callable[[str], None],
    ) -> None:
        wide = {"sizing_mode": "stretch_width"}
        buttons = [Button(name, icon, text, acts[name], name in PRIMARY) for name, icon, text in BUTTONS]
        self.transport = Buttons(*buttons, margin=0, **wide)
        self.reading = Reading(margin=(8, 4), **wide)
        self._wanted = wanted
        self.controls = Controls(wanted, on_change)
        self.note = LearnerNote(on_change, margin=(0, 4), **wide)
        take = RunFile(
            on_open, on_refused, LARGEST_FILE, label="Open a run", accept=".zip", variant="outlined", margin=4, **wide
        )
        self._read_at = 0.0
        self.layout = pn.Column(
            self.transport,
            self.reading,
            self.controls.form,
            self.note,
            pmui.Row(export_button(shown), take, margin=(8, 0), **wide),
            margin=(8, 8),
            **wide,
        )
        self.show()

    def show(self) -> None:
        """Show the knobs as they stand, and describe the learner."""
        self.controls.show()
        self.note.show(self._wanted())

    def draw(self, session: Session) -> None:
        """What can be pressed now, the numbers under the buttons, and the equations in play."""
        frame, progress, running = session.frame, session.progress, session.running
        phases = LEARNERS[session.wanted.learner].phases
        self.transport.disabled = ["Run" if running else "Pause", *([] if phases else ["Half step"])]
        if not running or time.monotonic() - self._read_at > READABLE:
            self.reading.param.update(
                text=progress.what + " …" if progress else reading(frame, session.steps_per_second, running),
                percent=round(100 * progress.fraction) if progress else -1,
            )
            self._read_at = time.monotonic()
        shown = frame.snapshot.phase if frame and session.halves else ""
        self.note.active = [place for place, phase in enumerate(phases) if shown and shown in phase]

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for part in (self.transport, self.reading, self.controls.form, self.note):
            part.dark = dark
