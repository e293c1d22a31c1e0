"""Tab "Learn": the live picture of learning. Costs and errors fall, couplings appear, hidden units can be flipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import panel as pn

from hidviz.experiments import Frame
from hidviz.learners import LEARNERS
from hidviz.network import aligned
from hidviz.ui.components.basic import Button, Buttons, HiddenUnits, Toggle, UnitTools
from hidviz.ui.components.network import Network
from hidviz.ui.components.one_step import OneStep
from hidviz.ui.layout import Html, beside, line, maps, row, square, titled, words
from hidviz.ui.plots.heatmaps import TITLES, Heatmaps
from hidviz.ui.plots.run_curves import CostCurves, ErrorCurves, blocks_of
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.chosen_coupling import ChosenCoupling
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.status import (
    READABLE,
    equivalents_in_words,
    errors_legend,
    gauge_in_words,
    network_caption,
    question,
    scale_strip,
    units_of,
)
from hidviz.ui.text.step import step_in_numbers


class LearnTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose run is shown, and whose hidden units are flipped, swapped and broken.
        on_lesson: called to begin the first lesson.
        large: whether it is read from far away.
    """

    key = "learn"
    title = N_("Learn")

    def __init__(self, session: Session, on_lesson: Callable[[], None], *, large: bool = False) -> None:
        self._session, self._large = session, large
        self._changes, self._readable, self._dark = Changes(), Changes(), False
        self.cost, self.errors, self.heatmaps = CostCurves(), ErrorCurves(), Heatmaps()
        wide = {"sizing_mode": "stretch_width", "margin": 0}
        self.units = HiddenUnits(self._acting(self._flip), styles={"flex": "1 1 300px"}, **wide)
        self.unit_tools = UnitTools(self._acting(session.swap), self._acting(self._break), **wide)
        self.network = Network(self._choose, **wide)
        self.coupling, self.one_step = ChosenCoupling(), OneStep(visible=False, **wide)
        self.history = Buttons(
            Button(_("Undo"), "undo", _("Undo the last flip, swap, edit or load (u)"), self._acting(session.undo)),
            Button(_("Redo"), "redo", _("Redo what was undone (U)"), self._acting(session.redo)),
            columns=0,
            margin=0,
            styles={"margin-left": "auto"},
        )
        self.lesson = Buttons(
            Button(_("One-minute tour"), "play", _("A lesson on this page: the hidden twin"), on_lesson),
            columns=0,
            margin=0,
        )
        self._build()

    @property
    def stirred(self) -> bool:
        """Whether there is a new frame, or another way of looking at it."""
        return self._session.frame is not None and (
            self._changes.stirred(*self._seen) or self._readable.stirred(*self._read, period=self._period)
        )

    @property
    def _seen(self) -> tuple[object, ...]:
        session = self._session
        return session.frame, session.running, session.step_by_step, self.coupling.place

    @property
    def _read(self) -> tuple[object, ...]:
        """All that the parts that are read depend on."""
        return self._session.frame, self._session.running

    @property
    def _period(self) -> float:
        return READABLE * self._session.running

    def look(self) -> bool:
        """Take in a new frame, or another way of looking at it."""
        frame = self._session.frame
        if frame is None:
            return False
        seen = self._changes.due(*self._seen)
        read = self._readable.due(*self._read, period=self._period)
        if seen is not None:
            self._draw(frame)
        if read is not None:
            self._draw_readable(frame)
        return seen is not None or read is not None

    def look_at(self, align: bool, log: bool, *, on_switch: Callable[[], None] | None = None) -> None:
        """Set the switches.

        Args:
            align: whether the couplings are shown aligned to the truth.
            log: whether the cost is shown on a logarithmic axis.
            on_switch: to be called from now on after one of them was switched.
        """
        self.align_switch.value, self.log_switch.value = align, log
        if on_switch is not None:
            for switch in (self.align_switch, self.log_switch):
                switch.param.watch(lambda _: on_switch(), "value")

    def reset(self) -> None:
        """Switches and menus as on a fresh page."""
        self.look_at(align=False, log=False)
        self.units.units, self.unit_tools.n = [], 0
        self.network.chosen, self.coupling.place = 0, None
        self._spoil()

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for part in (
            self.lesson,
            self.network,
            self.one_step,
            self.units,
            self.unit_tools,
            self.history,
            self.log_switch,
            self.align_switch,
        ):
            part.dark = dark
        for plot in (self.cost, self.errors, self.heatmaps):
            plot.restyle(dark)
        self._dark = dark
        self._spoil()

    def close(self) -> None:
        """Nothing runs in the background."""

    def _flip(self, unit: int) -> None:
        """Flip a hidden unit, and draw its couplings, so that their change is seen."""
        self._session.flip(unit)
        self.network.chosen = unit

    def _break(self, unit: int, block: Literal["K", "L"]) -> None:
        """Flip half of a hidden unit, and draw its couplings."""
        self._session.break_flip(unit, block)
        self.network.chosen = unit

    def _choose(self, unit: int) -> None:
        """Draw the couplings of this hidden unit."""
        self.network.chosen = unit
        self._spoil()

    def _acting(self, act: Callable[..., None]) -> Callable[..., None]:
        """The same function, after which the tab is drawn anew."""

        def acted(*arguments: Any) -> None:
            act(*arguments)
            self._spoil()

        return acted

    def _build(self) -> None:
        self.log_switch = Toggle(
            label=_("Logarithmic cost"), help=_("The cost above its lowest value so far, in powers of ten."), margin=0
        )
        self.align_switch = Toggle(
            label=_("Align to truth"),
            help=_(
                "Show the inferred couplings in the gauge nearest to the truth. Only the picture changes: "
                "learning never sees the truth."
            ),
            margin=0,
        )
        for switch in (self.log_switch, self.align_switch):
            switch.param.watch(self._changed, "value")
        self.scale = Html("", margin=0)
        self.gauge_line, self.unit_title = words(), words()
        self.legend = words(size=14)
        pictures = [square(_(title), each.figure) for title, each in zip(TITLES, self.heatmaps.all, strict=True)]
        self.question = words("", size=22, weight=600)
        self.layout = pn.Column(
            line(self.question, self.lesson),
            beside(self.network, maps(*pictures), line(self.align_switch, self.scale), large=self._large),
            line(self.units, self.history),
            self.one_step,
            row(
                titled(_("Cost per bin"), self.cost.figure, self.log_switch),
                titled(_("Errors of the couplings"), self.errors.figure, self.legend),
                basis=370,
            ),
            self.unit_tools,
            line(self.unit_title, self.gauge_line),
            sizing_mode="stretch_width",
            margin=(2, 0),
        )

    def _draw(self, frame: Frame) -> None:
        truth, found = frame.data.truth, frame.snapshot.couplings
        self.cost.show(frame)
        self.errors.show(frame)
        self.legend.object = errors_legend(blocks_of(frame), self._dark)
        for curves in (self.cost, self.errors):
            curves.mark([mark for mark in self._session.marks if mark[0] <= frame.snapshot.step])
        self.heatmaps.show(truth, found, frame.gauge, align=self.align_switch.value)
        self.scale.object = scale_strip(self.heatmaps.scale.largest, dark=self._dark, n_beyond=self.heatmaps.n_beyond)
        self.question.object = question(truth.n_hidden)
        n_found = frame.snapshot.couplings.n_hidden
        hides = LEARNERS[frame.experiment.learner].hidden != "none"
        self._tell_step(frame)
        self.gauge_line.object = gauge_in_words(frame.gauge, n_found, truth.n_hidden) if hides else ""
        self.unit_title.object = f"<b>{_('Hidden units')}</b> · {equivalents_in_words(n_found if hides else 0)}"
        undo = zip((_("Undo"), _("Redo")), self._session.n_undo, strict=True)
        self.history.disabled = [name for name, n in undo if n == 0]

    def _draw_readable(self, frame: Frame) -> None:
        """The cards of the hidden units, and the network."""
        hides = LEARNERS[frame.experiment.learner].hidden != "none"
        self.units.units = units_of(frame, align=self.align_switch.value) if hides else []
        self.unit_tools.n = len(self.units.units)
        self._draw_network(frame)

    def _draw_network(self, frame: Frame) -> None:
        """The inferred network, in the gauge of the maps."""
        found = frame.snapshot.couplings
        shown = aligned(found, frame.data.truth) if self.align_switch.value else found
        largest = self.heatmaps.scale.largest
        self.network.show(shown, frame.data.recording, largest=largest, running=self._session.running)
        self.network.caption = network_caption(self.network.chosen if shown.n_hidden else None)

    def _tell_step(self, frame: Frame) -> None:
        """The step in numbers, where steps are looked at one by one; else nothing is worked out."""
        phases = []
        if self._session.step_by_step:
            followed = self.coupling.followed(frame, self.network.chosen, align=self.align_switch.value)
            phases = step_in_numbers(frame, followed, halves=self._session.halves)
            self.one_step.show(frame.snapshot.step, followed, phases)
        self.one_step.visible = bool(phases)

    def _spoil(self) -> None:
        """All of it is to be drawn anew, at once."""
        self._changes.spoil()
        self._readable.spoil()

    def _changed(self, *_: Any) -> None:
        self.cost.logarithmic = self.log_switch.value
        self._spoil()
