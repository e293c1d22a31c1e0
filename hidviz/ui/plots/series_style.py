"""Strokes and labels of the curves of a sweep: colour tells the block or the cost, the dash the learner.

Whoever draws them, on the page or on paper, asks here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from hidviz.numerics import Array
from hidviz.sweeps import COSTS, Panel, Series
from hidviz.ui.plots.axes import spread
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import _
from hidviz.ui.theme import block_colours, inks

DASHES: Mapping[str, str] = MappingProxyType(
    {
        "mean-field": "solid",
        "mean-field-naive": "dotdash",
        "mean-field-gaussian": "dashdot",
        "mean-field-second-order": "6 2",
        "mean-field-same-time": "10 3 2 3",
        "mean-field-correlated": "14 3 2 3 2 3",
        "exact": "dashed",
        "gibbs": "dotted",
        "backprop": "solid",
        "visible": "2 6",
        "visible-lag2": "2 10",
    }
)
CONVERGED_DASHES = {"exact": "12 3"}
COST_DASHES = {"cost": "solid", "held_out": "dashed", "aic": "dotted", "bic": "dotdash", "true": "dashed"}
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
        "learned": ink.accent,
        "true": ink.text,
        "theory": ink.quiet,
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


def dashes_of(panels: Iterable[Panel]) -> dict[str, str]:
    """What the dashes mean: for every learner, cost or start its dash."""
    names: dict[str, str] = {}
    for series in (series for panel in panels for series in panel.series if series.role == "curve"):
        is_cost = series.what in COSTS and not series.start
        name = COSTS[series.what] if is_cost else series.start or series.label.partition(", ")[2] or series.label
        if series.learner or series.start:
            names.setdefault(name, dash_of(series))
    return names


def notes(panels: Sequence[Panel]) -> list[str]:
    """Sentences below a figure: what thin curves are, how long the bars, and what is to be held against its runs."""
    series = [series for panel in panels for series in panel.series]
    thin = dict.fromkeys(each.label.removeprefix(each.what).strip(" ,") for each in series if each.role == "thin")
    counts = [n for each in series for n in each.networks if each.role == "curve"]
    said = [_("Thin: {thin}.", thin="; ".join(map(of_engine, thin)))] if thin else []
    if counts and max(counts) > 1:
        networks = (
            f"{max(counts)}"
            if min(counts) == max(counts)
            else _("{least} to {most}", least=min(counts), most=max(counts))
        )
        said.append(
            _("Bars: one standard deviation over networks, of which there are {networks} a point.", networks=networks)
        )
    flagged = [
        f"{of_engine(panel.title)}: {'; '.join(map(of_engine, panel.remark.split('; ')))}"
        for panel in panels
        if panel.remark
    ]
    return [*said, *([f"{'. '.join(dict.fromkeys(flagged))}."] if flagged else [])]


def short_name(series: Series) -> str:
    """What is written at the end of a curve: its block or cost, or what it is."""
    if series.start or series.role in ("guide", "limit"):
        return series.label
    return COSTS.get(series.what, series.what)


@dataclass(frozen=True, eq=False)
class EndLabel:
    """A text at the end (x, y) of a curve, at the height that keeps it apart from its neighbours."""

    series: Series
    text: str
    x: float
    y: float
    height: float


def end_labels(
    shown: Sequence[Series],
    x_of: Callable[[Array], Array],
    y_of: Callable[[Array], Array],
    ends: tuple[float, float],
    gap: float,
    name: Callable[[Series], str] = short_name,
) -> list[EndLabel]:
    """The labels of curves, thin ones left out; curves of one name that end together share one.

    Args:
        shown: the curves.
        x_of: from an abscissa to its place on the axis.
        y_of: the same for an ordinate.
        ends: of the ordinate, as places.
        gap: least distance of two labels.
        name: what is written at a curve.
    """
    kept: list[tuple[Series, str, float, float]] = []
    for series in shown:
        if series.role == "thin":
            continue
        x, y, text = float(x_of(series.x[-1:])[0]), float(y_of(series.y[-1:])[0]), name(series)
        if not any(text == other[1] and x == other[2] and abs(y - other[3]) < gap for other in kept):
            kept.append((series, text, x, y))
    low, high = ends
    heights = spread([y for *_, y in kept], gap, low + gap / 2, high - gap / 2) if kept else []
    return [EndLabel(*each, height) for each, height in zip(kept, heights, strict=True)]
