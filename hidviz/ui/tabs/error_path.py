"""Error path: one error on its way back through the hidden units in time, with all its factors (the paper's Fig. 2).

It follows the estimate as it learns. Receiving hidden unit, sender, bin and delay are chosen; the paths of that delay
come in the order of their strength. Only back-propagation has such paths: its hidden units are a function of the past.
"""

from __future__ import annotations

from typing import Any

import panel_material_ui as pmui

from hidviz.evaluation import excerpt_at, strongest_paths
from hidviz.experiments import Frame
from hidviz.ui.components.number_fields import NumberField, NumberFields
from hidviz.ui.components.schematic import Schematic
from hidviz.ui.layout import Html, offer, row, sentence
from hidviz.ui.text.error_path import Choice, explanation, factors, number, path_picture, shares_in_words, sums, table
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.picture import unit_name

MOST_DELAYS = 8  # steps of the slider
MOST_PATHS = 20
FAR = 200  # delays that the sum over all of them takes in

NO_PATHS = N_(
    "Only back-propagation sends errors along such paths: the hidden units of the present "
    "learner are not a function of the past. Choose the learner **Back-propagation** to follow "
    "one."
)


class ErrorPath:
    """The controls, the drawing and the numbers."""

    def __init__(self) -> None:
        wide = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 0)}
        slide = wide | {"tooltips": False}  # which would cover the label
        self.receiver = pmui.Select(label=_("Receiving hidden unit"), options={unit_name(0, 0): 0}, value=0, **wide)
        self.sender = pmui.Select(label=_("Sending unit"), options={unit_name(0, 1): 0}, value=0, **wide)
        about = _("The bin whose error is followed back.")
        self.bin = NumberFields({"t": NumberField(_("Bin t"), about, 10, bounds=(0, 10))}, self._draw, width=170)
        self.delay = pmui.IntSlider(label=_("Delay q"), value=0, start=0, end=MOST_DELAYS, **slide)
        self.rank = pmui.IntSlider(label=_("Path, strongest first"), value=1, start=1, end=MOST_PATHS, **slide)
        for control in (self.receiver, self.sender, self.delay, self.rank):
            control.param.watch(lambda _: self._draw(), "value")
        self.note = sentence()
        self.schematic = Schematic(_("How an error propagates back"), sizing_mode="stretch_width", margin=0)
        self.numbers = Html("", sizing_mode="stretch_width", margin=0)
        self._frame: Frame | None = None
        self._bar = row(self.receiver, self.sender, self.bin.form, self.delay, self.rank, basis=170)
        self._body = row(self.schematic, self.numbers, basis=380)
        self.layout: Any = pmui.Column(self._bar, self.note, self._body, sizing_mode="stretch_width", margin=0)

    def show(self, frame: Frame, *, continuous: bool) -> None:
        """Follow a frame; `continuous` says whether its beliefs are the states of continuous hidden units."""
        beliefs = frame.snapshot.estimate.beliefs
        usable = continuous and beliefs is not None and beliefs.hidden.shape[1] > 0
        self._frame = frame if usable else None
        self._bar.visible = self._body.visible = usable
        if usable:
            self._fit(frame)
            self._draw()
        else:
            self.note.object = _(NO_PATHS)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.schematic.restyle(dark)
        self.bin.restyle(dark)

    def _fit(self, frame: Frame) -> None:
        """Offer the units and bins that this frame has."""
        n_visible, n_hidden = frame.snapshot.couplings.n_visible, frame.snapshot.couplings.n_hidden
        n_senders = n_visible + n_hidden * ("M" in frame.setup.learner.learned)
        offer(self.receiver, {unit_name(n_visible + a, n_visible): a for a in range(n_hidden)})
        offer(self.sender, {unit_name(unit, n_visible): unit for unit in range(n_senders)})
        self.bin.bound("t", 0, frame.data.recording.n_bins - 2)

    def _draw(self) -> None:
        """Draw the chosen path of the frame followed."""
        if self._frame is None:
            return
        snapshot, recording = self._frame.snapshot, self._frame.data.recording
        couplings, beliefs = snapshot.couplings, snapshot.estimate.beliefs
        assert beliefs is not None
        t = self.bin["t"]
        recurrent = bool(couplings.M.any())
        seen = excerpt_at(couplings, recording, beliefs.hidden, t, FAR if recurrent else 1)
        longest = min(MOST_DELAYS, seen.n_delays - 1) if recurrent else min(0, seen.n_delays - 1)
        self.delay.disabled = longest < 1
        choice = Choice(self.receiver.value, self.sender.value, t, min(self.delay.value, longest))
        paths = strongest_paths(seen, choice.receiver, choice.q, MOST_PATHS) if longest >= 0 else []
        self._body.visible = bool(paths)
        if not paths:
            self.note.object = (
                _("The trial ends before an error could follow bin {t:,}: choose an earlier one.", t=t)
                if longest < 0
                else _("No error comes back here: every path has a factor 0.")
            )
            return
        rank = min(self.rank.value, len(paths))
        if self.rank.end != max(2, len(paths)):
            self.rank.param.update(end=max(2, len(paths)), value=rank)
        path = paths[rank - 1]
        self.note.object = explanation(choice, recurrent)
        self.schematic.show(path_picture(seen, path, choice))
        rows = [
            (each.name, f"{each.bin:,}", number(each.value), number(each.product))
            for each in factors(seen, path, choice)
        ]
        added = [(what, number(value)) for what, value in sums(seen, choice, snapshot.estimate.gradient)]
        self.numbers.object = (
            table(
                _("Factors of path {rank}", rank=rank), (_("factor"), _("bin"), _("value"), _("product so far")), rows
            )
            + table(_("From this delay to the gradient"), (), added)
            + f'<div style="font-size:14px">{shares_in_words(seen, choice)}</div>'
        )
