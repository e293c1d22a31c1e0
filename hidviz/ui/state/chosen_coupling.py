"""Chosen coupling: the one coupling that the page follows in numbers."""

from __future__ import annotations

import numpy as np

from hidviz.experiments import Frame
from hidviz.network import identity, regauge
from hidviz.ui.text.step import Followed


class ChosenCoupling:
    """The coupling that was chosen on the page, or else one of those of the hidden unit that is drawn."""

    def __init__(self) -> None:
        self.place: tuple[str, int, int] | None = None  # block, receiver, sender; hidden units as aligned to the truth
        self._taken: tuple[tuple[object, ...], Followed] | None = None  # without a choice: for what, and which

    def followed(self, frame: Frame, unit: int, *, align: bool) -> Followed:
        """The coupling to follow.

        Args:
            frame: what is shown.
            unit: the hidden unit that is drawn, counted from 0 under the labels shown. Without a choice its strongest
                K is followed, and stays so while it grows or shrinks; the strongest J where there are no hidden units.
            align: whether couplings are shown under the labels and signs of the truth.
        """
        return self._chosen(frame, align) or self._strongest(frame, unit, align)

    def _chosen(self, frame: Frame, align: bool) -> Followed | None:
        """What was chosen, under the labels shown; None where this estimate has no such coupling."""
        if self.place is None:
            return None
        found = frame.snapshot.couplings
        block, receiver, sender = self.place
        n, order = found.n_hidden, frame.gauge.order
        fits = len(order) == n
        gauge = frame.gauge if align and fits else identity(n)
        if not (align and fits):
            known = [*order.tolist(), *range(len(order), receiver + sender + 1)]
            receiver = known[receiver] if block in "LM" else receiver
            sender = known[sender] if block in "KM" else sender
        rows, columns = getattr(found, block).shape
        return Followed(block, receiver, sender, gauge) if receiver < rows and sender < columns else None

    def _strongest(self, frame: Frame, unit: int, align: bool) -> Followed:
        found = frame.snapshot.couplings
        n = found.n_hidden
        gauge = frame.gauge if align and len(frame.gauge.order) == n else identity(n)
        unit = min(unit, max(0, n - 1))
        reason = (frame.data, frame.experiment.learner, frame.experiment.start_index, n, unit, gauge)
        if self._taken is None or self._taken[0] != reason:
            sizes = np.abs(regauge(found, gauge).K[:, [unit]] if n else found.J)
            receiver, sender = (int(k) for k in np.unravel_index(sizes.argmax(), sizes.shape))
            self._taken = reason, Followed("K", receiver, unit, gauge) if n else Followed("J", receiver, sender, gauge)
        return self._taken[1]
