"""Restarts tab: many random starts on the same data in the background, and where each of them ended.

They learn from the knobs as they stand when Run starts is pressed, in a Runner of the tab's own, whatever the page does
meanwhile. A run is loaded by its mark or by its row in the table, and is then the page's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import panel as pn
import panel_material_ui as pmui
from panel.io import hold

from hidviz.background import Runner
from hidviz.experiments import (
    MOST_STARTS,
    SAME,
    Data,
    Experiment,
    Frame,
    Progress,
    Restarts,
    restarts,
    shipped_restarts,
)
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.number_fields import NumberField, NumberFields
from hidviz.ui.components.runs_table import RunsTable, rows_of
from hidviz.ui.layout import Html, line, row, sentence
from hidviz.ui.plots.restarts import WITHIN, RestartsPlot, legend, marks_of
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.session import Session
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _

PERIOD = 0.2  # seconds between drawings while the starts are learning
IDLE = N_("Learn from many random starts on the same data: do they end at one model, up to signs and labels?")
SHOWN = N_("An example, eight finished starts of Fig. 3:")


class RestartsTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose knobs are used.
        on_load: called with the newest frame of a run, to make it the page's own.
        data: gives the data of the session's knobs where they are made already; they are simulated otherwise.
    """

    key = "restarts"
    title = N_("Restarts")

    def __init__(
        self,
        session: Session,
        on_load: Callable[[Frame], None],
        data: Callable[[], Data | None] = lambda: None,
    ) -> None:
        self._session, self._on_load, self._world = session, on_load, data
        self._runner: Runner[Progress | Restarts] = Runner(counts=lambda item: isinstance(item, Restarts))
        self._keeper: Runner[Restarts] = Runner()  # of what is to be seen before anything has been run
        self._keeper.start(shipped_restarts() for _ in range(1))
        self._experiment: Experiment | None = None  # that the starts belong to
        self._table: Restarts | None = None
        self._changes = Changes()
        self.plot = RestartsPlot(self._load)
        self.table = RunsTable(self._load, sizing_mode="stretch_width", margin=(12, 0, 0, 0))
        self._build()

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether the starts have come further, or the page shows another run."""
        return self._changes.stirred(*self._seen, period=self._period)

    @property
    def _seen(self) -> tuple[object, ...]:
        return (self._runner.version, self._keeper.version), self._session.frame, self._session.wanted

    @property
    def _period(self) -> float:
        return PERIOD * self._runner.running

    def look(self) -> bool:
        """Take in how far the starts have come, and which of them the page shows."""
        changed = self._changes.due(*self._seen, period=self._period)
        if changed is None:
            return False
        with hold():
            if changed[0]:
                self._draw()
            self._draw_state()
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.plot.restyle(dark)
        self.table.dark = self.buttons.dark = dark
        self.number.restyle(dark)

    def close(self) -> None:
        """Give all starts up."""
        self._runner.stop()
        self._keeper.stop()

    # Building, once

    def _build(self) -> None:
        about = _("How many random starts, from 1 to {n}. Acts when Run starts is pressed.", n=MOST_STARTS)
        self.number = NumberFields({"n": NumberField(_("Number of starts"), about, 8)}, width=160)
        self.buttons = Buttons(
            Button(_("Run starts"), "play", _("Learn from all starts in turn; go on if paused"), self.run,
                   primary=True),
            Button(_("Pause starts"), "pause", _("Wait, and keep everything"), self._runner.pause),
            columns=0, margin=0, disabled=[_("Pause starts")],
        )  # fmt: skip
        self.stop = pmui.Button(
            label=_("Cancel starts"),
            variant="outlined",
            disabled=True,
            on_click=lambda _: self._runner.stop(),
            margin=0,
        )
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 0)
        )
        self.found = sentence(_(IDLE))
        self.notice = sentence(style="italic")
        self.legend = Html("", margin=(4, 0), sizing_mode="stretch_width")
        plots = [pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0) for plot in self.plot.figures.values()]
        self.pictures = pmui.Column(
            row(*plots, basis=360), self.legend, self.table,
            sizing_mode="stretch_width", margin=(8, 0), visible=False,
        )  # fmt: skip
        head = line(self.number.form, self.buttons, self.stop)
        self.layout = pmui.Column(
            head, self.progress, self.found, self.notice, self.pictures,
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip

    # Acting

    def run(self) -> None:
        """Go on if paused; else take the knobs as they stand and begin with all starts."""
        if not self._runner.ended:
            self._runner.resume()
            return
        if self.number.refused:
            return
        try:
            items = restarts(self._session.wanted, self.number["n"], self._world())
        except ValueError as error:
            self.number.answer("n", str(error))
            return
        self._experiment, self._table = self._session.wanted, None
        self.pictures.visible = False
        self._runner.start(items)

    def _load(self, index: int) -> None:
        start = next((start for start in self._table.starts if start.index == index), None) if self._table else None
        if start is not None:
            self._on_load(start.frame)

    # Drawing

    def _draw(self) -> None:
        item = self._runner.latest
        if self._experiment is None and self._keeper.latest is not None:
            self._draw_starts(self._keeper.latest)
            self.found.object = f"{_(IDLE)} {_(SHOWN)} {in_words(self._keeper.latest)}"
        if isinstance(item, Restarts):
            self._draw_starts(item)
            self.found.object = in_words(item)
        elif isinstance(item, Progress):
            self.found.object = f"{of_engine(item.what)} …"
        if self._runner.failure:
            self.found.object = str(self._runner.failure)
        self.progress.visible = not self._runner.ended
        self.progress.value = round(100 * (item.n_ended / item.n if isinstance(item, Restarts) else 0.0))
        self.buttons.disabled = [_("Run starts")] if self._runner.running else [_("Pause starts")]
        self.stop.disabled = self._runner.ended

    def _draw_starts(self, table: Restarts) -> None:
        self._table = table
        marks = marks_of(table)
        self.plot.show(table, marks)
        self.legend.object = legend(table, marks)
        self.table.runs = rows_of(table, {gauge: mark.colour for gauge, mark in marks.items()})
        self.pictures.visible = True

    def _draw_state(self) -> None:
        """Mark the run that the page shows, and say if these starts belong to other knobs."""
        session = self._session
        snapshot = session.frame.snapshot if session.frame else None
        starts = self._table.starts if self._table else ()
        self.table.shown = next((start.index for start in starts if start.frame.snapshot is snapshot), 0)
        changed = self._experiment is not None and not same_but_start(session.wanted, self._experiment)
        self.notice.object = (
            _("The knobs have changed since these starts were run; loading one brings its own knobs back.")
            if changed
            else ""
        )


def same_but_start(one: Experiment, other: Experiment) -> bool:
    """Whether two experiments differ in the random start at most."""
    return replace(one, start="random", start_index=1) == replace(other, start="random", start_index=1)


def in_words(table: Restarts) -> str:
    """How far the starts have come and how many of them agree."""
    ended = (
        _("all have ended") if table.n_ended == table.n else _("{n_ended} of them have ended", n_ended=table.n_ended)
    )
    best = table.n_best()
    who = _(
        "**{best} of {n} starts reached the best cost**, {lowest:.6f} nats per bin, within {within}",
        best=best,
        n=table.n,
        lowest=table.lowest,
        within=WITHIN,
    )
    if not best:
        who = _("{n} starts, the lowest cost so far {lowest:.6f} nats per bin", n=table.n, lowest=table.lowest)
    gauges = len({start.gauge for start in table.starts if start.cost <= table.lowest + SAME})
    different = _(" in {gauges} different gauges", gauges=gauges) if best > 1 and gauges > 1 else ""
    return f"{who}{different}; {ended}."
