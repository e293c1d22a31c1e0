"""Tab "Compare": pinned runs, two of them side by side: curves, knobs that differ, couplings on one scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui

from hidviz.background import Runner
from hidviz.evaluation import rms_errors
from hidviz.experiments import Experiment, Frame, Progress, iter_run
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS
from hidviz.network import aligned, best_gauge, with_hidden
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.layout import heading, maps, row, sentence, square, table_pane, titled
from hidviz.ui.plots.curves import Curves, Line
from hidviz.ui.plots.heatmaps import Heatmap, block_matrix, scale_for
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.knobs import KNOBS, TITLES, shown
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import N_, _, _n
from hidviz.ui.text.status import gauge_in_words
from hidviz.ui.theme import inks

MOST_PINS = 20
MOMENTUM_STEPS = 600  # as many as it needs at Fig. 3 to come near
PERIOD = 0.2  # seconds between looks at what is being learned
WITH_MOMENTUM = N_("Compare with momentum")
IDLE = N_(
    "Two runs side by side: their costs, the knobs that differ, and their couplings, aligned. "
    "Pin the run that the Learn tab shows, change something, and pin again; or see in one press "
    "what momentum makes of the same data."
)


@dataclass(frozen=True, eq=False)
class Pin:
    """A run as it was when it was pinned."""

    name: str
    frame: Frame


def differing_knobs(one: Experiment, other: Experiment) -> list[tuple[str, str, str]]:
    """Label and both values of exactly the knobs in which two experiments differ."""
    first, second = shown(one), shown(other)
    return [
        (_(knob.label), _named(knob.name, first), _named(knob.name, second))
        for knob in KNOBS
        if first[knob.name] != second[knob.name]
    ]


def _named(name: str, values: Mapping[str, Any]) -> str:
    """The value of a knob as the form has it."""
    return _(TITLES[name][values[name]]) if name in TITLES else str(values[name])


class CompareTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose runs can be pinned.
    """

    key = "compare"
    title = N_("Compare")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pins: tuple[Pin, ...] = ()
        self._count, self._pending = 0, False
        self._learner: Runner[Progress | Frame] = Runner(counts=lambda item: isinstance(item, Frame))
        self._changes = Changes()
        self._build()

    @property
    def stirred(self) -> bool:
        """Whether another pair was chosen, or a run to compare with has come further."""
        return self._changes.stirred(self._learner.version, period=PERIOD)

    def look(self) -> bool:
        """Draw if another pair was chosen; pinned runs themselves never change."""
        if self._changes.due(self._learner.version, period=PERIOD) is None:
            return False
        self._take_learned()
        pair = [pin for select in self.selects for pin in self._pins if pin.name == select.value]
        if len(pair) == 2:
            self._draw(*pair)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ink = inks(dark)
        self.curves.paint({"one": ink.accent, "other": ink.text}, dark)
        self.buttons.dark = dark
        for heatmap in self.heatmaps:
            heatmap.restyle(dark)
        self._changes.spoil()

    def close(self) -> None:
        """Give up what is being learned."""
        self._learner.stop()

    def pin(self) -> None:
        """Keep the run that is shown now."""
        if self._session.frame is not None:
            self._pin(self._session.frame)

    def with_momentum(self) -> None:
        """Keep the run that is shown now, and learn the same by momentum to be compared with it."""
        frame = self._session.frame
        if frame is None or not self._learner.ended:
            return
        self._pin(frame)
        steps = max(frame.snapshot.step, MOMENTUM_STEPS)
        other = replace(frame.experiment, optimiser="momentum", rate=None, max_steps=steps)
        self._pending = True
        self._learner.start(iter_run(other, frame.data))

    def _take_learned(self) -> None:
        """Pin what has been learned by momentum once it is there; until then say how far it has come."""
        if not self._pending:
            return
        ended, item = self._learner.ended, self._learner.latest  # in this order: then the last one is there
        self.buttons.disabled = [] if ended else [_(WITH_MOMENTUM)]
        if ended:
            self._pending = False
            if isinstance(item, Frame):
                self._pin(item)
            else:
                self.hint.object = str(self._learner.failure)
        elif isinstance(item, Frame):
            self.hint.object = _("Learning the same by momentum: step {step:,} …", step=item.snapshot.step)

    def _pin(self, frame: Frame) -> None:
        self._count += 1
        used = frame.experiment
        how = f"{_(LEARNERS[used.learner].title)}, {_(OPTIMISERS[used.optimiser_used].title)}"
        name = f"{self._count}: {how}, {_('step')} {frame.snapshot.step}, {frame.snapshot.cost:.4f}"
        self._pins = (*self._pins, Pin(name, frame))[-MOST_PINS:]
        names = [pin.name for pin in self._pins]
        for select in self.selects:
            chosen = select.value if select.value in names else names[-1]
            select.param.update(options=names, value=chosen, visible=True)
        self.selects[1].value = names[-1]
        self.hint.object = _n(
            "{n} run pinned. Change a knob, run, and pin another.",
            "{n} runs pinned. Change a knob, run, and pin another.", len(names),
        )  # fmt: skip
        self.panes.visible = len(names) > 1
        self._changes.spoil()

    def _build(self) -> None:
        self.buttons = Buttons(
            Button(_("Pin this run"), "pin", _("Keep the run as it is now, to compare it with others"), self.pin, True),
            Button(_(WITH_MOMENTUM), "play", _("Pin this run, learn the same by momentum, and set both side by side"),
                   self.with_momentum),
            columns=0, margin=(8, 16, 8, 0),
        )  # fmt: skip
        self.hint = sentence(_(IDLE))
        self.selects = [
            pmui.Select(
                label=label,
                options=[],
                visible=False,
                size="small",
                width=None,
                max_width=420,
                margin=(8, 16, 8, 0),
                styles={"flex": "1 1 330px", "min-width": "0"},
                sx={"& .MuiSelect-select": {"fontSize": 15}},
            )
            for label in (_("One"), _("Other"))
        ]
        for select in self.selects:
            select.param.watch(self._changed, "value")
        self.curves = Curves({"one": (3.0, "solid"), "other": (2.0, "dashed")}, _("nats per bin"), _("Costs compared"))
        self.heatmaps = [Heatmap(_(name)) for name in (N_("one"), N_("other"), N_("difference"))]
        self.knobs = table_pane()
        self.verdict = sentence(margin=(8, 0))

        knobs = pmui.Column(heading(_("Knobs that differ")), self.knobs, margin=0)
        titles = (_("One"), _("Other, aligned to one"), _("Other − one"))
        pictures = [square(title, heatmap.figure) for title, heatmap in zip(titles, self.heatmaps, strict=True)]
        self.panes = pn.Column(
            row(titled(_("Cost per bin"), self.curves.figure), knobs, basis=360),
            self.verdict,
            maps(*pictures),
            sizing_mode="stretch_width",
            margin=0,
            visible=False,  # until there is something to compare
        )
        self.layout = pmui.Column(
            pn.FlexBox(self.buttons, *self.selects, align_items="center", sizing_mode="stretch_width"),
            self.hint,
            self.panes,
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    def _draw(self, one: Pin, other: Pin) -> None:
        lines = [
            Line(name, f"{_(name)} {pin.frame.snapshot.cost:.4f}", pin.frame.trace["step"], pin.frame.trace["cost"])
            for name, pin in (("one", one), ("other", other))
        ]
        costs = np.concatenate([line.y for line in lines])
        pad = 0.08 * max(float(np.ptp(costs)), 1e-3)
        self.curves.draw(lines, float(costs.min()) - pad, float(costs.max()) + pad)
        self._draw_knobs(one, other)
        self._draw_couplings(one, other)

    def _draw_knobs(self, one: Pin, other: Pin) -> None:
        rows = "".join(
            f'<tr><th scope="row">{escape(label)}</th><td>{escape(a)}</td><td>{escape(b)}</td></tr>'
            for label, a, b in differing_knobs(one.frame.experiment, other.frame.experiment)
        )
        columns = "".join(f'<th scope="col">{title}</th>' for title in ("", _("one"), _("other")))
        head = f"<thead><tr>{columns}</tr></thead>"
        self.knobs.object = (
            f"<table>{head}<tbody>{rows}</tbody></table>" if rows else f"<p>{_('None: the same knobs.')}</p>"
        )

    def _draw_couplings(self, one: Pin, other: Pin) -> None:
        first, second = one.frame.snapshot.couplings, other.frame.snapshot.couplings
        if first.n_visible != second.n_visible:
            self.verdict.object = _(
                "The two runs have other numbers of visible units: their couplings cannot be compared."
            )
            return
        n = max(first.n_hidden, second.n_hidden)
        gauge, brought = best_gauge(second, first), aligned(second, first)
        errors = rms_errors(brought, with_hidden(first, n), align=False)
        apart = ", ".join(f"{block} {errors[block]:.4f}" for block in "JKL")
        same = _("Both have the same labels and signs.") if gauge.is_identity else ""
        aligning = same or gauge_in_words(gauge, second.n_hidden, first.n_hidden)
        self.verdict.object = _("{aligning} The rms differences are then {apart}.", aligning=aligning, apart=apart)
        scale = scale_for(one.frame.data.truth, n)
        matrices = [block_matrix(couplings, n) for couplings in (first, brought)]
        for heatmap, matrix in zip(self.heatmaps, [*matrices, matrices[1] - matrices[0]], strict=True):
            heatmap.fit(scale)
            heatmap.show(matrix)

    def _changed(self, *_: Any) -> None:
        self._changes.spoil()
