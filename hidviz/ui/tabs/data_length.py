"""Tab "Data length": the paper's figures over the data length, or a sweep of one's own.

Results that ship with hidviz are drawn at once and said to be shipped; Run sweep computes the same experiments here, in
processes of their own, and each point appears when it is there. One sweep runs at a time in a server; others wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.io import hold

from hidviz.background import Runner
from hidviz.sweeps import (
    Measurement,
    Panel,
    Sweep,
    SweepState,
    differing,
    key_of,
    panels,
)
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.export_buttons import ExportButtons
from hidviz.ui.layout import Html, line, row, sentence, table_pane
from hidviz.ui.plots.series_style import dashes_of, notes
from hidviz.ui.plots.sweep import Layer, LengthPlot, legend
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.session import Session
from hidviz.ui.state.sweep_queue import in_turn
from hidviz.ui.tabs.data_length_choice import Choice
from hidviz.ui.tabs.data_length_points import Points, completed, own_points, shipped_points
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _, _n
from hidviz.ui.text.sweep import end_in_words, html_table, progress_in_words
from hidviz.ui.theme import inks
from hidviz.units import duration

N_PLOTS = 4


class LengthsTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose knobs a sweep of one's own starts from.
    """

    key = "length"
    title = N_("Data length")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runner: Runner[SweepState | None] = Runner()
        self._writer: Runner[tuple[str, str]] = Runner()
        self._computed: dict[str, Measurement] = {}
        self._changes = Changes()
        self._written: tuple[str, str] | None = None
        self._build()

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether points have arrived, a page has been written, or the knobs are others."""
        return self._changes.stirred(*self._seen)

    @property
    def _seen(self) -> tuple[object, ...]:
        return self._runner.version, self._writer.version, self._session.wanted

    def look(self) -> bool:
        """Take in the points that have arrived, and draw them; hand out a page that has been written."""
        if self._changes.due(*self._seen) is None:
            return False
        self._hand_out()
        self._take_in()
        with hold():
            self._draw()
        return True

    def _take_in(self) -> int:
        """Take in the points that the sweep has found; how many it has."""
        state = self._runner.latest
        found = state.finished if state else {}
        self._computed |= found
        return len(found)

    def _hand_out(self) -> None:
        """Give a page that has been written to the browser."""
        written = self._writer.latest
        if written is not None and written is not self._written:
            self._written, (name, text) = written, written
            self.exports.hand_out(name, "text/html", text)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._changes.spoil()
        for plot in self.plots:
            plot.restyle(dark)
        self.choice.restyle(dark)
        self.buttons.dark = self.exports.dark = dark
        ink = inks(dark)
        self.exports.param.update(paper=ink.paper, ink=ink.text)

    def close(self) -> None:
        """Give the sweep up; its processes end at their next checkpoint."""
        self._leave()
        self._writer.stop()

    # What a person can do

    def run(self) -> None:
        """Compute what is chosen; a sweep under way is given up."""
        sweep = self.choice.to_run()
        if sweep is None:
            return
        self._leave()
        if self._writer.failure:
            self._writer = Runner()
        self._runner.start(in_turn(sweep))
        self._changes.spoil()

    def cancel(self) -> None:
        """Give the sweep up, and keep the points that are there."""
        n = self._leave()
        self._changes.spoil()
        kept = _n("{n} point is kept.", "{n} points are kept.", n)
        self.progress_line.object = _("Cancelled. {kept}", kept=kept)

    def _leave(self) -> int:
        """Give the sweep up, and keep what it has found; how many points.

        Its runner closes the iterator, which ends its processes.
        """
        self._runner.stop()
        kept = self._take_in()
        self._runner = Runner()
        return kept

    def export(self, what: str) -> None:
        """Hand out the table, or a page with the figures."""
        found, of_traces = self._shown()
        if found.empty:
            self.progress_line.object = _("There is nothing to export yet: run the sweep first.")
        elif what == "CSV":
            self.exports.hand_out(f"{self.choice.name}.csv", "text/csv", found.to_csv(index=False))
        else:
            name, shown = f"{self.choice.name}.html", panels(self.choice.kind, found, of_traces)
            self._writer.start(_written(name, shown, self.choice.title))

    # Building, once

    def _build(self) -> None:
        self.choice = Choice(self._session, self._changed)
        self.buttons = Buttons(
            Button(_("Run sweep"), "play", _("Compute these experiments here, in processes of their own"),
                   self.run, True),
            Button(_("Cancel sweep"), "stop", _("Cancel what is under way, and keep the points that are there"),
                   self.cancel, True),
            columns=0, margin=(4, 0),
        )  # fmt: skip
        self.look_for, self.rules, self.progress_line = sentence(), sentence(), sentence()
        self.source_line = sentence(weight=600)
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 0)
        )
        self.plots = [LengthPlot(f"length-{k}") for k in range(N_PLOTS)]
        self._places = [pn.pane.Bokeh(plot.figure, sizing_mode="stretch_width", margin=0) for plot in self.plots]
        self.legend = Html("", margin=(4, 0), sizing_mode="stretch_width")
        self.show_table = pmui.Switch(label=_("Show table"), value=False, margin=(8, 0))
        self.table = table_pane(visible=False)
        self.exports = ExportButtons(self.export, figures=[plot.figure.name for plot in self.plots], margin=(8, 0))
        self.show_table.param.watch(self._changed, "value")
        self.layout = pn.Column(
            self.choice.layout,
            self.look_for,
            self.rules,
            line(self.buttons, self.source_line),
            self.progress_line,
            self.progress,
            row(*self._places, basis=380),
            self.legend,
            line(self.exports, self.show_table),
            self.table,
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    def _changed(self, *_: Any) -> None:
        self._changes.spoil()

    # Drawing

    def _draw(self) -> None:
        running = not self._runner.ended
        sweep = self.choice.sweep()
        self._say(sweep, running)
        can = {_("Run sweep"): not running and sweep is not None, _("Cancel sweep"): running}
        self.buttons.disabled = [name for name, possible in can.items() if not possible]
        layers = [
            (self._shipped(sweep), True),
            (own_points(self._computed, sweep), False),
        ]
        drawn = [
            (panel, shipped)
            for results, shipped in layers
            if results is not None
            for panel in panels(self.choice.kind, *results)
        ]
        titles = list(dict.fromkeys(panel.title for panel, _ in drawn))[:N_PLOTS]
        for k, (plot, place) in enumerate(zip(self.plots, self._places, strict=True)):
            place.visible = plot.figure.visible = k < len(titles)  # of a pane alone it may not reach the browser
            if k < len(titles):
                plot.show([Layer(panel, shipped) for panel, shipped in drawn if panel.title == titles[k]],
                          self.choice.scale)  # fmt: skip
        dashes = dashes_of(panel for panel, _ in drawn)
        words = notes([panel for panel, _ in drawn])
        self.legend.object = legend(dashes, " ".join(words))
        self.exports.caption = " · ".join([*(f"{dash}: {of_engine(name)}" for name, dash in dashes.items()), *words])
        self.exports.name_of_files = self.choice.name
        self.table.visible = self.show_table.value
        self.table.object = html_table(self._shown()[0]) if self.show_table.value else ""

    def _say(self, sweep: Sweep | None, running: bool) -> None:
        """What is to be seen, where it comes from, and how far it has come."""
        self.look_for.object, self.rules.object = self.choice.words
        self.source_line.object = self._source(sweep)
        state, failure = self._runner.latest, self._runner.failure
        self.progress.visible = running
        self.progress.value = round(100 * state.n_done / state.n_total) if running and state else 0
        said = None
        if failure is not None:
            said = _("The sweep has failed: {failure}", failure=failure)
        elif running:
            said = progress_in_words(state)
        elif state is not None:
            of_this = state.sweep.name == self.choice.name
            said = end_in_words(state) + self._compared(sweep) if of_this else ""
        if unwritten := self._writer.failure:
            said = f"{said or ''} {_('The page could not be written: {failure}', failure=unwritten)}".lstrip()
        if said is not None:
            self.progress_line.object = said

    def _source(self, sweep: Sweep | None) -> str:
        if sweep is None:
            return ""
        here = sum(key_of(experiment) in self._computed for experiment in sweep.experiments)
        shipped, total = self._shipped(sweep), len(sweep.experiments)
        n_shipped = shipped[0]["key"].nunique() if shipped else 0
        parts = []
        if n_shipped:
            parts.append(_("{n} of {total} points shipped with hidviz (hollow)", n=n_shipped, total=total))
        if here:
            parts.append(_("{n} of {total} computed here (filled)", n=here, total=total))
        chosen = self.choice.to_run() or sweep
        expected = duration(chosen.predicted_seconds / (os.cpu_count() or 1))
        if not parts:
            return _n("{n} experiment, about {time} here.", "{n} experiments, about {time} here.", total, time=expected)
        what = _("all") if len(chosen.experiments) == total else _("the one chosen")
        takes = _("To compute {what} takes about {time} here.", what=what, time=expected)
        return f"{'; '.join(parts)}. {takes}"

    def _compared(self, sweep: Sweep | None) -> str:
        """Whether shipped and computed points agree."""
        shipped, own = self._shipped(sweep), own_points(self._computed, sweep)
        if shipped is None or own is None:
            return ""
        both = set(shipped[0]["key"]) & set(own[0]["key"])
        apart = differing(shipped[0], own[0], tolerance=1e-3)
        if not both:
            return ""
        agreeing = len(both) - len(apart)
        return _(" {n} of {total} points shipped too agree with them to 0.1 %.", n=agreeing, total=len(both))

    # Points

    def _shipped(self, sweep: Sweep | None) -> Points | None:
        return shipped_points(self.choice.name, sweep) if self.choice.figure else None

    def _shown(self) -> Points:
        sweep = self.choice.sweep()
        return completed(own_points(self._computed, sweep), self._shipped(sweep))


def _written(name: str, shown: tuple[Panel, ...], title: str) -> Iterator[tuple[str, str]]:
    """The page to export with its name; holoviews is slow to load, hence not on the page's own time."""
    from hidviz.ui.export.overlays import html

    yield name, html(shown, title)
