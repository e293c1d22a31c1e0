"""One step: the phases of a learning step in the numbers of one coupling."""

from __future__ import annotations

from collections.abc import Iterable

import param

from hidviz.ui.components.base import Component
from hidviz.ui.text.language import _
from hidviz.ui.text.step import Followed, Phase


class OneStep(Component):
    """A heading and a list of phases; those just seen are marked, one after the other where a step has several."""

    title = param.String(doc="Which step; with X_{a,b} for a letter with a place below it.")
    phases = param.List([], doc="For each phase: its name, what it says, whether it was just seen.")

    def show(self, step: int, followed: Followed, phases: Iterable[Phase]) -> None:
        """Tell of a step."""
        self.put(
            title=_(
                "Step {step:,} in numbers: {symbol}, {words}", step=step, symbol=followed.symbol, words=followed.words
            ),
            phases=[list(each) for each in phases],
        )
