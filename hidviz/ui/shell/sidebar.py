"""Sidebar: knobs, what the learner assumes, the run as a file, and the way back to a fresh page."""

from __future__ import annotations

from collections.abc import Callable

import panel as pn
import panel_material_ui as pmui

from hidviz.experiments import LARGEST_FILE, Experiment, Frame
from hidviz.learners import LEARNERS
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.learner_note import LearnerNote
from hidviz.ui.components.run_file import RunFile
from hidviz.ui.export.button import export_button
from hidviz.ui.shell.controls import Controls
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import _
from hidviz.ui.text.status import penalty_in_words


class Sidebar:
    """The left side of the page.

    Args:
        wanted: gives the experiment that the knobs stand for.
        on_change: called with the knobs that were turned; raises ValueError to refuse.
        shown: the newest frame of the run that Export hands out.
        on_open: called with the content of a file that was chosen.
        on_refused: called with a sentence about a file that was not taken.
        on_reset: called to make everything as on a fresh page.
    """

    def __init__(
        self,
        wanted: Callable[[], Experiment],
        *,
        on_change: Callable[..., None],
        shown: Callable[[], Frame | None],
        on_open: Callable[[bytes], None],
        on_refused: Callable[[str], None],
        on_reset: Callable[[], None],
    ) -> None:
        wide = {"sizing_mode": "stretch_width"}
        reset = Button(_("Reset all"), "reset", _("Knobs, run and views as on a fresh page"), on_reset)
        self.last = Buttons(reset, columns=0, margin=(8, 4), **wide)
        self._wanted = wanted
        self.controls = Controls(wanted, on_change)
        self.note = LearnerNote(on_change, margin=(0, 4), **wide)
        take = RunFile(
            on_open,
            on_refused,
            LARGEST_FILE,
            label=_("Open a run"),
            accept=".zip",
            variant="outlined",
            margin=4,
            **wide,
        )
        self.layout = pn.Column(
            self.controls.form,
            self.note,
            pmui.Row(export_button(shown), take, margin=(8, 0), **wide),
            self.last,
            margin=(8, 8),
            **wide,
        )
        self.show()

    def show(self) -> None:
        """Show the knobs as they stand, and describe the learner."""
        self.controls.show()
        self.note.show(self._wanted())

    def draw(self, session: Session) -> None:
        """Mark the equations in play, and state what a penalty has learned."""
        frame, phases = session.frame, LEARNERS[session.wanted.learner].phases
        self.note.learned = penalty_in_words(frame.snapshot.penalty) if frame else ""
        shown = frame.snapshot.phase if frame and session.halves else ""
        self.note.active = [place for place, phase in enumerate(phases) if shown and shown in phase]

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for part in (self.controls.form, self.note, self.last):
            part.dark = dark
