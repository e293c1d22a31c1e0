"""Correlation maps: pairwise correlations of visible units at lags 1 and 2, and what lag 2 adds to lag 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from bokeh.models import HoverTool

from hidviz.evaluation import Correlations
from hidviz.ui.layout import maps, sentence, square
from hidviz.ui.plots.heatmaps import Heatmap, Scale
from hidviz.ui.text.language import N_, _

TITLES = (N_("Lag 1"), N_("Lag 2"), N_("Lag 2, beyond lag 1"))

WHY_LAG_2 = N_(
    "**Why lag 2?** If the visible units were all there is, the past would act on the future "
    "through the present alone, and next to nothing would be left *beyond lag 1*. A hidden unit "
    "listens at t and speaks at t + 2: with M = 0 hidden units carry memory of exactly two steps."
)


class CorrelationMaps:
    """Three maps on one scale, and what to read in them."""

    def __init__(self) -> None:
        self.maps = [Heatmap(_(title)) for title in TITLES]
        for each, later in zip(self.maps, ("t + 1", "t + 2", "t + 2"), strict=True):
            each.figure.xaxis.axis_label, each.figure.yaxis.axis_label = (
                _("unit at t"),
                _("unit at {later}", later=later),
            )
            each.figure.select_one(HoverTool).tooltips = [
                (_("at {later}", later=later), "$y{custom}"),
                (_("at t"), "$x{custom}"),
                (_("correlation"), "@image{+0.000}"),
            ]
        self.line = sentence()
        pictures = [square(_(title), each.figure) for title, each in zip(TITLES, self.maps, strict=True)]
        self.layout: Any = pn.Column(
            maps(*pictures), self.line, sentence(_(WHY_LAG_2)), sizing_mode="stretch_width", margin=0
        )

    def show(self, found: Correlations) -> None:
        """Draw what was counted."""
        shown = (found.lag1, found.lag2, found.beyond)
        largest = max(0.1, float(np.ceil(10.0 * max(np.abs(each).max() for each in shown)) / 10.0))
        for each, matrix in zip(self.maps, shown, strict=True):
            each.fit(Scale(len(matrix), 0, largest))
            each.show(matrix)
        self.line.object = in_words(found, largest)

    def say(self, text: str) -> None:
        """Show a sentence in place of what was counted."""
        self.line.object = text

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for each in self.maps:
            each.restyle(dark)


def in_words(found: Correlations, largest: float) -> str:
    """What is more than chance, and the colours of the maps."""
    if not found.n:
        return _("No trial is long enough for lag 2: it takes three bins.")
    one, two, beyond = (float(np.sqrt((matrix**2).mean())) for matrix in (found.lag1, found.lag2, found.beyond))
    return _(
        "Root mean square: lag 1 **{one:.3f}**, lag 2 **{two:.3f}**, beyond lag 1 **{beyond:.3f}**; "
        "by chance alone {chance:.3f}. Colours run from −{largest:.1f} (blue) to +{largest:.1f} (red).",
        one=one,
        two=two,
        beyond=beyond,
        chance=found.n**-0.5,
        largest=largest,
    )
