"""The checks of My data: four panels that say whether a model can be relied on and what its hidden units are."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from hidviz.evaluation import FreeRun
from hidviz.experiments import Scan, ScanRow, busiest
from hidviz.ui.components.background_work import BackgroundWork
from hidviz.ui.components.basic import Button
from hidviz.ui.layout import heading, line, row, table_pane, words
from hidviz.ui.plots.agreement import Agreement, Group
from hidviz.ui.plots.shared_state import SharedStatePlot
from hidviz.ui.plots.synchrony import Distribution, Synchrony
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_checks import Checked
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.own_checks import (
    blocks_html,
    checks_in_words,
    free_run_in_words,
    halves_in_words,
    hidden_in_words,
    hidden_table,
    shared_in_words,
)
from hidviz.ui.text.own_scan import called
from hidviz.ui.theme import block_colours, inks

IDLE = N_(
    "A small cost is not enough. Let the model run free beside the data; see what its hidden "
    "units do; fit two halves of the recording; and hide recorded units in turn to see whether "
    "they are found again."
)
WINDOW = 500  # bins
LEGEND = N_("Grey: the data. Violet: the model. Dashed and hollow: lag 1.")


class ChecksSection:
    """The section.

    Args:
        data: the session's own recording.
        on_change: called when something must be drawn again.
    """

    def __init__(self, data: MyData, on_change: Callable[[], None]) -> None:
        self._data, self._on_change = data, on_change
        self._rows: tuple[ScanRow, ...] = ()
        self._drawn: Checked | None = None
        self._dark = self._stale = False
        # A width that is given would be added up over a row, and make the whole page as wide.
        roomy: dict[str, Any] = {"sizing_mode": "stretch_width", "max_width": 380, "margin": (4, 0)}
        self.model = pmui.Select(label=_("Model"), options={"–": -1}, value=-1, size="small", **roomy)
        self.hide = pmui.MultiChoice(label=_("Units to hide in turn"), options=[], value=[], **roomy)
        self.work = BackgroundWork(
            Button(_("Check model"), "play", _("Make all four checks in the background"), self._check, True),
            Button(_("Cancel checks"), "stop", _("Cancel what is under way, and keep what is there"), data.stop_checks),
            _(IDLE), self.model, self.hide,
        )  # fmt: skip
        self.synchrony = Synchrony()
        self.pairs = Agreement(_("Correlations of pairs"), _("correlation in the data"), _("correlation in the model"))
        self.halves = Agreement(
            _("Couplings of two halves"), _("couplings of one half"), _("couplings of the other half")
        )
        self.shared = SharedStatePlot()
        self.said = {name: words(sizing_mode="stretch_width") for name in ("free", "shared", "halves", "hidden")}
        self.first = pmui.IntSlider(
            label=_("First bin"), value=0, start=0, end=1, tooltips=False, size="small", width=320, margin=(4, 8)
        )
        self.first.param.watch(lambda _: self._on_change(), "value")
        self.blocks = words(size=14)
        self.table = table_pane()
        self.panels = self._panels()
        self.layout = pn.Column(
            *self.work.items, *self.panels.values(),
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip

    def show(self) -> None:
        """Draw what is known, and say what is being done."""
        data, checked = self._data, self._data.checked
        self.layout.visible = data.scanned is not None
        if data.scanned is not None and data.scanned.table.rows is not self._rows:
            self._offer(data.scanned.table)
        self.work.show(
            self._state(checked), working=data.checking, possible=not data.scanning,
            done=0.0 if checked is None else checked.n_done / max(checked.n, 1),
        )  # fmt: skip
        if checked is not self._drawn or self._stale:
            self._drawn, self._stale = checked, False
            self._draw()
        else:
            self._draw_window()

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = dark
        self.work.restyle(dark)
        self._stale = True
        for plot in (self.synchrony, self.pairs, self.halves, self.shared):
            plot.restyle(dark)

    @property
    def row(self) -> int:
        """The place of the model that is chosen."""
        return int(self.model.value)

    # Building, once

    def _panels(self) -> dict[str, Any]:
        def figure_of(plot: Any) -> Any:
            return pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0)

        parts: dict[str, tuple[str, tuple[Any, ...]]] = {
            "free": (
                _("Left to itself, does the model behave like the data?"),
                (
                    row(figure_of(self.synchrony.figure), figure_of(self.pairs.figure), basis=360),
                    words(_(LEGEND), size=14),
                ),
            ),
            "shared": (
                _("What the hidden units do"),
                (line(self.first), figure_of(self.shared.above), figure_of(self.shared.below)),
            ),
            "halves": (_("Do two halves of the recording agree?"), (figure_of(self.halves.figure), self.blocks)),
            "hidden": (_("Is a hidden unit a missing cell?"), (self.table,)),
        }
        return {
            name: pn.Column(
                heading(title), self.said[name], *items, sizing_mode="stretch_width", margin=(12, 0), visible=False
            )
            for name, (title, items) in parts.items()
        }

    # Acting

    def _offer(self, table: Scan) -> None:
        """Let the menu offer the models that are there, the chosen one first taken."""
        self._rows, chosen = table.rows, table.chosen
        names = {
            f"{called(each)}{_(' (chosen)') if each is chosen else ''}": k
            for k, each in enumerate(table.rows)
            if each.couplings is not None
        }
        self.model.param.update(options=names, value=table.rows.index(chosen))
        self._offer_units()

    def _offer_units(self) -> None:
        """Let the other menu offer the units, the busiest taken; a choice among the same units stays."""
        scanned = self._data.scanned
        assert scanned is not None
        units = [scanned.recording.name_of(k) for k in range(scanned.recording.n_visible)]
        if units != self.hide.options:
            self.hide.param.update(options=units, value=list(busiest(scanned.parts)))

    def _check(self) -> None:
        scanned = self._data.scanned
        if scanned is not None and 0 <= self.row < len(scanned.table.rows):
            self._data.check(scanned.table.rows[self.row], self.hide.value)

    # Drawing

    def _state(self, checked: Checked | None) -> str:
        data = self._data
        if data.check_problem:
            return _("The checks have ended: {why}", why=escape(data.check_problem))
        if data.checking:
            if checked is None:
                return _("Preparing …")
            return checks_in_words(checked.doing, checked.n_done, checked.n, checked.predicted, checked.seconds_left)
        if checked is None:
            return _(IDLE)
        of = _("Of: {model}.", model=called(checked.row))
        if not checked.row.n_hidden:
            return f"{of} {_('It has no hidden units, so there is nothing more to check.')}"
        if checked.n_done < checked.n:
            of += _(" Cancelled: {n_done} of {n} checks are there and stay.", n_done=checked.n_done, n=checked.n)
        if checked.scanned.table.rows is not (data.scanned and data.scanned.table.rows):
            of += _(" The scan has been made anew since: check again for that.")
        return " ".join([of, *(escape(of_engine(note)) for note in checked.notes)])

    def _draw(self) -> None:
        checked = self._drawn
        known = {
            "free": checked and checked.free_run, "shared": checked and checked.shared,
            "halves": checked and checked.halves, "hidden": checked and checked.hidden,
        }  # fmt: skip
        for name, panel in self.panels.items():
            panel.visible = bool(known[name])
        if checked is None:
            return
        if checked.free_run is not None:
            self.said["free"].object = free_run_in_words(checked.free_run, checked.lag1)
            self._draw_free_run(checked.free_run, checked.lag1)
        if checked.shared is not None:
            self.said["shared"].object = shared_in_words(checked.shared, checked.scanned.recording.bin)
            last = max(1, len(checked.shared.counts) - WINDOW)
            if self.first.end != last:
                self.first.param.update(end=last, value=min(self.first.value, last))
            self._draw_window()
        if checked.halves is not None:
            self.said["halves"].object = halves_in_words(checked.halves)
            colours, halves = block_colours(self._dark), checked.halves
            self.blocks.object = blocks_html({name: colours[name] for name in "JKLM"})
            self.halves.show(
                [Group(getattr(halves.first, name), getattr(halves.second, name), colours[name]) for name in "JKLM"]
            )
        self.said["hidden"].object = hidden_in_words(checked.hidden)
        self.table.object = hidden_table(checked.hidden)

    def _draw_free_run(self, model: FreeRun, lag1: FreeRun | None) -> None:
        ink = inks(self._dark)
        shown = [Distribution(model.data.synchrony, ink.quiet)]
        upper = np.triu_indices(len(model.data.same_bin), 1)
        groups = []
        if lag1 is not None:
            shown.append(Distribution(lag1.model.synchrony, ink.text, "dashed"))
            groups.append(Group(lag1.data.same_bin[upper], lag1.model.same_bin[upper], ink.text, hollow=True))
        shown.append(Distribution(model.model.synchrony, ink.accent))
        groups.append(Group(model.data.same_bin[upper], model.model.same_bin[upper], ink.accent))
        self.synchrony.show(shown)
        self.pairs.show(groups)

    def _draw_window(self) -> None:
        found = self._drawn and self._drawn.shared
        if not found:
            return
        begin = min(self.first.value, max(0, len(found.counts) - WINDOW))
        window = slice(begin, begin + WINDOW)
        self.shared.show(begin, found.posterior[window], found.counts[window], int(found.counts.max()))
