"""Tab "Inspect": one unit's couplings, drawn and in numbers, with how well each is known, and a hand to set one.

The table is what the pictures cannot be: readable by keyboard and screen reader, with the same numbers. All of it
follows the run while the tab is in front, a few times a second.
"""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from hidviz.experiments import Frame
from hidviz.network import Couplings
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.couplings_table import CouplingsTable, Row, rows_of_unit
from hidviz.ui.components.schematic import Schematic
from hidviz.ui.layout import heading, line, offer, row, sentence, square, titled, titling
from hidviz.ui.plots.heatmaps import scale_for
from hidviz.ui.plots.inspector import InspectorMap, Scatter
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.chosen_coupling import ChosenCoupling
from hidviz.ui.state.error_bar_worker import Knowing
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.coupling_editor import ByHand
from hidviz.ui.tabs.network import WHOSE, drawn
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.picture import block_of, network_picture, unit_name

PERIOD = 0.25  # seconds between two pictures of a running table: faster cannot be read
PERIOD_OF_MANY = 1.0  # the same where a picture has so many cells that sending them takes its time
MANY = 100  # units
MOST_LINES = 400


class InspectorTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose estimate is looked at, and changed by hand.
        coupling: takes in the coupling that is chosen here.
    """

    key = "inspector"
    title = N_("Inspect")

    def __init__(self, session: Session, coupling: ChosenCoupling) -> None:
        self._session, self._coupling = session, coupling
        self._changes = Changes()
        self._rows: list[Row] = []
        self._knowing = Knowing()
        self.by_hand = ByHand(session)
        self.table = CouplingsTable(self._choose_row, sizing_mode="stretch_width", margin=0)
        self.schematic = Schematic(_("Couplings of the unit"), self._choose_unit, sizing_mode="stretch_width", margin=0)
        self.map, self.scatter = InspectorMap(self._choose_cell), Scatter()
        self._build()

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether there is a new frame, a few times a second while running, or more is known of it."""
        return self._session.frame is not None and self._changes.stirred(*self._seen, period=self._period)

    @property
    def _seen(self) -> tuple[object, ...]:
        return self._session.frame, self._session.running, self._knowing.version

    @property
    def _period(self) -> float:
        """Seconds between two pictures."""
        frame = self._session.frame
        if frame is None or not self._session.running:
            return 0.0
        couplings = frame.snapshot.couplings
        return PERIOD if couplings.n_visible + couplings.n_hidden < MANY else PERIOD_OF_MANY

    def look(self) -> bool:
        """Take in a new frame, a few times a second while running, and what has become known of it."""
        frame = self._session.frame
        if frame is None:
            return False
        seen = self._seen
        self._knowing.follow(frame, running=self._session.running)
        if self._changes.due(*seen, period=self._period) is None:
            return False
        self._draw(frame)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._changes.spoil()
        self.buttons.dark = self.table.dark = dark
        self.by_hand.restyle(dark)
        for part in (self.schematic, self.map, self.scatter):
            part.restyle(dark)

    def close(self) -> None:
        """Give up what is being worked out."""
        self._knowing.stop()

    # Building, once

    def _build(self) -> None:
        self.unit = pmui.Select(label=_("Unit"), options={}, size="small", width=140, margin=(8, 8, 8, 0))
        self.whose = pmui.Select(
            label=_("Couplings drawn"),
            options={_(whose): whose for whose in WHOSE},
            value=WHOSE[2],
            size="small",
            width=184,
            margin=(8, 0),
        )
        for choice in (self.unit, self.whose):
            choice.param.watch(self._changed, "value")
        self.buttons = Buttons(
            Button(_("Error bars"), "play", _("Work out the standard error of each coupling shown now"), self._ask),
            columns=0, margin=8,
        )  # fmt: skip
        self.stop = pmui.Button(label=_("Cancel"), variant="outlined", visible=False, on_click=self._give_up, margin=8)
        self.told, self.picture_line, self.bars_line = sentence(), sentence(), sentence()
        self.unit_title = heading("")
        picture = pmui.Column(
            self.picture_line, self.schematic, pn.Spacer(height=12), self.by_hand.layout,
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        self.layout = pmui.Column(
            line(self.unit, self.whose, self.buttons, self.stop),
            self.unit_title,
            self.told,
            row(pmui.Column(self.table, margin=0), picture, basis=420),
            self.bars_line,
            row(
                square(_("Aligned: point at a cell, or press it"), self.map.heatmap.figure),
                titled(_("True against inferred, aligned"), self.scatter.figure),
                basis=320,
            ),
            sizing_mode="stretch_width",
            margin=(8, 0),
        )

    # Acting

    def _changed(self, *_: Any) -> None:
        self._changes.spoil()

    def _choose_row(self, k: int) -> None:
        if 0 <= k < len(self._rows):
            self._choose(self._rows[k])

    def _choose(self, chosen: Row) -> None:
        self._coupling.place = (chosen.block, chosen.receiver, chosen.sender)
        self.by_hand.propose(chosen)
        self._changes.spoil()

    def _choose_cell(self, receiver: int, sender: int) -> None:
        """Go to a cell of the map: to its hidden unit if it has one, else to its receiver."""
        frame = self._session.frame
        if frame is None:
            return
        n_visible = frame.data.truth.n_visible
        unit = sender if receiver < n_visible <= sender else receiver
        block = block_of(receiver, sender, n_visible)
        place = (block, receiver - n_visible * (block in "LM"), sender - n_visible * (block in "KM"))
        if unit in self.unit.options.values():
            self.unit.value = unit
            cell = [each for each in rows_of_unit(frame, unit) if (each.block, each.receiver, each.sender) == place]
            if cell:
                self._choose(cell[0])

    def _choose_unit(self, unit: int | None) -> None:
        if unit in self.unit.options.values():
            self.unit.value = unit

    def _ask(self) -> None:
        if self._session.frame is not None:
            self._knowing.ask(self._session.frame)
            self._changes.spoil()

    def _give_up(self, _: Any) -> None:
        self._knowing.stop()
        self._changes.spoil()

    # Drawing, many times

    def _draw(self, frame: Frame) -> None:
        running, known = self._session.running, self._knowing.known
        bars = known.standard_errors if known else None
        self._offer_units(frame)
        unit, n_visible = self.unit.value, frame.data.truth.n_visible
        self._rows = rows_of_unit(frame, unit, bars)
        places = [(each.block, each.receiver, each.sender) for each in self._rows]
        chosen = places.index(self._coupling.place) if self._coupling.place in places else -1
        name = unit_name(unit, n_visible)
        self.unit_title.object = titling(_("Couplings of {unit}", unit=name))
        self.told.object = self._rows[chosen].in_words() if chosen >= 0 else _("Select a row for details.")
        self.table.show(_("Couplings of {unit}", unit=name), self._rows, chosen=chosen, running=running)
        self._draw_unit(frame, unit)
        self.map.show(frame, bars)
        self.scatter.show(frame)
        self.by_hand.offer(frame)
        self.bars_line.object = self._knowing.in_words(frame, running=running)
        self.stop.visible = self._knowing.working
        self.buttons.disabled = [_("Error bars")] if self._knowing.working else []

    def _draw_unit(self, frame: Frame, unit: int) -> None:
        couplings: Couplings = drawn(self.whose.value, frame)
        there = unit < couplings.n_visible + couplings.n_hidden
        picture = network_picture(
            couplings,
            largest=scale_for(frame.data.truth, couplings.n_hidden).largest,
            n_edges=MOST_LINES,
            unit=unit if there else couplings.n_visible + couplings.n_hidden,
        )
        self.picture_line.object = picture.says if there else _("This network has no such unit.")
        self.schematic.show(picture)

    def _offer_units(self, frame: Frame) -> None:
        n = max(frame.data.truth.n_hidden, frame.snapshot.couplings.n_hidden)
        n_visible = frame.data.truth.n_visible
        units = [*range(n_visible, n_visible + n), *range(n_visible)]
        offer(self.unit, {unit_name(unit, n_visible): unit for unit in units})
