"""Strokes: how a curve of a sweep is drawn. Its colour tells the block or the cost, its dash the learner."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hidviz.sweeps import Series
from hidviz.ui.theme import block_colours, inks

DASHES: Mapping[str, str] = MappingProxyType(
    {
        "mean-field": "solid",
        "mean-field-naive": "dotdash",
        "mean-field-gaussian": "dashdot",
        "mean-field-second-order": "6 2",
        "mean-field-same-time": "10 3 2 3",
        "exact": "dashed",
        "gibbs": "dotted",
        "backprop": "solid",
        "visible": "2 6",
        "visible-lag2": "2 10",
    }
)
CONVERGED_DASHES = {"exact": "12 3"}
COST_DASHES = {"cost": "solid", "held_out": "dashed", "aic": "dotted", "bic": "dotdash"}
START_DASHES = {"right-signed": "dashed", "wrong-signed": "dotted"}
WIDTHS = {"curve": 2.5, "thin": 1.2, "limit": 1.5, "guide": 1.2}


def colour_of(series: Series, dark: bool) -> str:
    """The colour of a curve: its block's, the accent for a training cost, ink for what that is compared with."""
    ink = inks(dark)
    others = {
        "cost": ink.accent,
        "held_out": ink.text,
        "aic": ink.quiet,
        "bic": ink.quiet,
        "limit": ink.quiet,
        "guide": ink.quiet,
    }
    return others.get(series.what) or block_colours(dark)[series.what]


def dash_of(series: Series) -> str:
    """The dash of a curve: of its start or its cost, else of its learner."""
    if series.role == "guide":
        return "2 4"
    if series.start:
        return START_DASHES.get(series.start, "solid")
    if series.ending == "converged" and series.learner in CONVERGED_DASHES:
        return CONVERGED_DASHES[series.learner]
    return COST_DASHES.get(series.what) or DASHES.get(series.learner, "solid")
