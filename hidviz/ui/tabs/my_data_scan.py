"""The scan of My data: what to scan, rows as they come, one chart with paired errors, and the answer in words."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import Any

import panel as pn

from hidviz.ui.components.background_work import BackgroundWork
from hidviz.ui.components.basic import Button
from hidviz.ui.components.form import Form
from hidviz.ui.layout import table_pane, words
from hidviz.ui.plots.gains import Gains
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_scan import Plan, Scanned
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.my_data import on_the_page
from hidviz.ui.text.own_scan import answer, end_in_words, progress_in_words, rows_table

IDLE = N_(
    "Models with more and more hidden units learn from three fifths of the recording; one fifth "
    "stops them, and the last fifth, which none of them has seen, judges them. Rows appear as "
    "they come; cancel whenever you like."
)
WHICH = {"both": N_("both"), "no": N_("without"), "yes": N_("with")}
HELP = {
    "most": N_("The scan begins with none."),
    "coupled": N_(
        "Whether they are coupled to each other and themselves from bin to bin; without, they forget after one."
    ),
    "repeats": N_("What is the same in all trials, as an input of its own; only with 20 trials or more of one length."),
    "starts": N_("Random starts of each model; the best is kept."),
    "sparse": (
        N_(
            "Sets couplings that the data do not ask for to exactly zero, in every model, lag 1 and lag "
            "2 too; how strongly, the part that stops the steps decides. Takes several times as long."
        )
    ),
}
FIELDS = {
    "most": (N_("Most hidden units"), [(str(k), str(k)) for k in range(1, 7)]),
    "coupled": (N_("Memory (M)"), list(WHICH.items())),
    "repeats": (N_("Stimulus h(t)"), list(WHICH.items())),
    "starts": (N_("Starts"), [(str(k), str(k)) for k in (1, 2, 3, 5, 8)]),
}
SPARSE = N_("Sparse couplings (L1)")


class ScanSection:
    """The section.

    Args:
        data: the session's own recording.
    """

    def __init__(self, data: MyData) -> None:
        self._data = data
        self._plan = Plan()
        self.form = Form(
            self._turned,
            groups=[{"title": "", "folded": False, "rows": [list(FIELDS), ["sparse"]]}],
            fields={
                name: {"kind": "choice", "label": _(label), "options": [[key, _(text)] for key, text in options],
                       "help": _(HELP[name])}
                for name, (label, options) in FIELDS.items()
            } | {"sparse": {"kind": "switch", "label": _(SPARSE), "help": _(HELP["sparse"])}},
            values=self._values(), margin=0, sizing_mode="stretch_width", max_width=640,
        )  # fmt: skip
        self.work = BackgroundWork(
            Button(_("Start scan"), "play", _("Learn and judge these models in the background"), self._start, True),
            Button(
                _("Cancel scan"),
                "stop",
                _("Cancel what is under way, and keep the rows that are there"),
                data.stop_scan,
            ),
            _(IDLE),
        )
        self.notice = words(sizing_mode="stretch_width", styles={"font-style": "italic"}, visible=False)
        self.answer = words(size=17, sizing_mode="stretch_width", margin=(8, 0))
        self.plot = Gains()
        self.table = table_pane()
        self.found = pn.Column(
            self.notice, self.answer,
            pn.pane.Bokeh(self.plot.figure, sizing_mode="stretch_width", margin=0), self.table,
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip
        self.layout = pn.Column(
            self.form, *self.work.items, self.found,
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip

    def show(self) -> None:
        """Draw how far the scan has come, and of what it is."""
        data, scanned = self._data, self._data.scanned
        self.layout.visible = data.looked is not None
        self.form.disabled = [*FIELDS, "sparse"] if data.scanning else []
        done = 0.0 if scanned is None else len(scanned.table.rows) / scanned.table.n
        self.work.show(self._state(scanned), working=data.scanning, done=done)
        self.found.visible = scanned is not None
        if scanned is None:
            return
        table = scanned.table
        self.notice.visible = scanned.looked is not data.looked
        wide = "" if scanned.looked.bin is None else _(" in bins of {bin:g} ms", bin=1000 * scanned.looked.bin)
        self.notice.object = _(
            "These rows are of {title}{wide}, as it was when the scan began, not of what is shown above: "
            "start the scan again for that.",
            title=escape(scanned.looked.source.title),
            wide=wide,
        )
        self.answer.object = answer(table, complete=scanned.complete)
        self.plot.show(table, scanned.plan.most)
        self.table.object = rows_table(table)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.plot.restyle(dark)
        self.work.restyle(dark)
        self.form.dark = dark

    def _state(self, scanned: Scanned | None) -> str:
        data = self._data
        if data.scan_problem:
            return _("The scan has ended: {why}", why=escape(on_the_page(data.scan_problem)))
        if data.scanning:
            return _("Preparing …") if scanned is None else progress_in_words(scanned.table)
        if scanned is not None:
            return end_in_words(scanned.table, stopped=not scanned.complete)
        return _(IDLE)

    def _start(self) -> None:
        self._data.scan(self._plan)

    def _turned(self, name: str, value: str | bool) -> None:
        if name == "sparse":
            self._plan = replace(self._plan, sparse=value is True)
        elif isinstance(value, str) and value in dict(FIELDS[name][1]):
            changed: dict[str, Any] = {name: value if value in WHICH else int(value)}
            self._plan = replace(self._plan, **changed)
        self.form.values = self._values()

    def _values(self) -> dict[str, str | bool]:
        plan = self._plan
        return {
            "most": str(plan.most), "coupled": plan.coupled, "repeats": plan.repeats, "starts": str(plan.starts),
            "sparse": plan.sparse,
        }  # fmt: skip
