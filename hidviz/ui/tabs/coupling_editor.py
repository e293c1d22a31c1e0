"""By hand: fields that set one coupling of the estimate, and what came of it in words."""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from hidviz.experiments import Frame
from hidviz.network import MATRICES
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.couplings_table import Row
from hidviz.ui.components.number_fields import NumberField, NumberFields
from hidviz.ui.layout import heading, line, sentence
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import _


class ByHand:
    """Block, receiver, sender, new value, and a button; units are counted as found.

    Args:
        session: whose estimate is changed.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self.block = pmui.Select(label=_("Block"), options=list("JKL"), value="K", size="small", width=90, margin=8)
        self.numbers = NumberFields(
            {
                "receiver": NumberField(_("To unit"), _("Receiver, counted from 1 in its kind, as found."), 1),
                "sender": NumberField(_("From unit"), _("Sender, counted from 1 in its kind, as found."), 1),
                "value": NumberField(_("New value"), _("Of the coupling."), 0.0, whole=False),
            },
            width=110,
        )
        self.buttons = Buttons(
            Button(_("Set coupling"), "step", _("Put this value into the estimate; Undo takes it back"), self._set),
            columns=0, margin=8,
        )  # fmt: skip
        self.answer = sentence()
        fields = line(self.block, self.numbers.form, self.buttons)
        self.layout: Any = pmui.Column(
            heading(_("Set one coupling by hand")), fields, self.answer, sizing_mode="stretch_width", margin=0
        )

    def offer(self, frame: Frame) -> None:
        """Offer the blocks that the estimate has."""
        blocks = [block for block in MATRICES if getattr(frame.snapshot.couplings, block).size]
        if self.block.options != blocks:
            kept = self.block.value if self.block.value in blocks else blocks[-1]
            self.block.param.update(options=blocks, value=kept)

    def propose(self, row: Row) -> None:
        """Fill in one coupling as it was found."""
        if row.block in self.block.options:
            self.block.value = row.block
            self.numbers.show(receiver=row.receiver + 1, sender=row.sender + 1, value=round(row.found, 4))

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.numbers.restyle(dark)
        self.buttons.dark = dark

    def _set(self) -> None:
        frame = self._session.frame
        if frame is None or self.numbers.refused:
            return
        block, row, column = self.block.value, self.numbers["receiver"], self.numbers["sender"]
        n_rows, n_columns = getattr(frame.snapshot.couplings, block).shape
        if not (1 <= row <= n_rows and 1 <= column <= n_columns):
            self.answer.object = _(
                "{block} has receivers 1 to {n_rows} and senders 1 to {n_columns}, got {row} and {column}.",
                block=block,
                n_rows=n_rows,
                n_columns=n_columns,
                row=row,
                column=column,
            )
            return
        try:
            self._session.set_coupling(block, row - 1, column - 1, float(self.numbers["value"]))
        except ValueError as error:
            self.answer.object = str(error)
            return
        self.answer.object = _(
            "{block} {row}, {column} is set; Undo on the Learn tab, or the key u, takes it back.",
            block=block,
            row=row,
            column=column,
        )
