"""Panels: what a figure of a sweep shows, as labelled curves, before anybody draws it.

A panel is drawn by the page, by holoviews, or by whoever likes. It says what each curve is (a block, a cost), by which
learner, over how many networks, and how far these spread; colours and dashes are for the one who draws. Runs that
differ in how they stop or in their optimiser never share a curve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from hidviz.evaluation import replica_theory
from hidviz.learners import LEARNERS
from hidviz.network import BLOCKS
from hidviz.numerics import Array
from hidviz.sweeps.paper_figures import FigureKind
from hidviz.sweeps.spread import flag_words, is_limit, with_rules

COSTS = {"cost": "training", "held_out": "held-out", "aic": "AIC", "bic": "BIC"}

Role = Literal["curve", "thin", "limit", "guide"]


@dataclass(frozen=True, eq=False)
class Series:
    """One curve.

    Args:
        what: the block or cost it shows, or "guide"; decides its colour.
        learner: a name in LEARNERS; decides its dash. Empty where there is no learner.
        label: for the legend.
        x, y: the points, in the order of x.
        low, high: a standard deviation over networks below and above y, which is their mean; y itself with a single
            one. Of errors all three are of logarithms.
        role: a curve of results, a thin one beside it, a limit, or a guide to the eye.
        start: a name in STARTS where curves differ in that; decides their dash.
        ending: "stopped" or "converged" where a learner has a curve of each.
        networks: how many networks are behind each point; empty where there is but one, or none.
    """

    what: str
    learner: str
    label: str
    x: Array
    y: Array
    low: Array
    high: Array
    role: Role = "curve"
    start: str = ""
    ending: str = ""
    networks: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one abscissa, what is written on the axes, and what is to be held against the runs behind them."""

    title: str
    x_label: str
    y_label: str
    logarithmic: bool
    series: tuple[Series, ...]
    remark: str = ""


def panels(
    kind: FigureKind | Literal["own"], table: pd.DataFrame, traces: pd.DataFrame | None = None
) -> tuple[Panel, ...]:
    """The panels of a figure: errors over T or over Nv, costs over T, traces, or shares of wrong signs.

    Args:
        kind: as in Figure; "own" for both errors and costs.
        table: of `sweeps.table`; may be empty.
        traces: of `sweeps.traces`, for a figure of traces.
    """
    if table.empty:
        return ()
    if kind == "traces":
        return tuple(_trace_panels(table, pd.DataFrame() if traces is None else traces))
    if kind == "floors":
        return tuple(_floor_panels(table))
    if kind == "phase":
        return tuple(_phase_panels(table))
    shown: list[Panel] = []
    if kind in ("errors", "own"):
        shown += _error_panels(table)
    if kind in ("costs", "own"):
        shown += _cost_panels(table)
    return tuple(shown)


def _error_panels(table: pd.DataFrame) -> Iterator[Panel]:
    """Errors over T, a panel for each size and for what else is not the default; 1/T as the information has it.

    Beside others, runs of one single length are for the table: they make no curve.
    """
    found = with_rules(table[~is_limit(table)])
    several = found.groupby(["n_visible", "n_hidden", "by"])["n_steps"].transform("nunique") > 1
    found = found[several] if several.any() else found
    both_endings = _with_both_endings(found)
    for (n_visible, n_hidden, by), network in found.groupby(["n_visible", "n_hidden", "by"], sort=False):
        series = [
            _series(block, ending, rows, "mse_aligned")
            for ending, rows in _by_learner(network, both_endings)
            for block in BLOCKS
            if ((rows["block"] == block) & (rows["mse_aligned"] > 0.0)).any()
        ]
        if series:
            title = f"{n_visible} visible + {n_hidden} hidden units" + (f", {by}" if by else "")
            lines = list(_expected(network)) or [_guide(series)]
            yield Panel(
                title, "T (time bins)", "mean square error, aligned", True, (*series, *lines), flag_words(network)
            )


def _expected(rows: pd.DataFrame) -> Iterator[Series]:
    """For every block the line height / T below which no unbiased estimate lies, from the shortest T to the longest."""
    if "mse_expected" not in rows:
        return
    x = np.geomspace(rows["n_steps"].min(), rows["n_steps"].max(), 61)  # a curve, where an axis is linear
    for block, known in rows.dropna(subset=["mse_expected"]).groupby("block"):
        heights = known.assign(height=known["mse_expected"] * known["n_steps"]).groupby("seed")["height"].mean()
        y: Array = float(np.exp(np.log(heights.to_numpy(np.float64)).mean())) / x
        yield Series(str(block), "", f"{block} 1/T from the information at the true couplings", x, y, y, y, "thin")


def _floor_panels(table: pd.DataFrame) -> Iterator[Panel]:
    """Errors over Nv for each Nh: each learner's bold curve at its largest T, and a thin one at each of the others."""
    for n_hidden, networks in table.groupby("n_hidden"):
        longest = networks.groupby("learner")["n_steps"].max()
        series = []
        for (learner, n_steps), rows in networks.groupby(["learner", "n_steps"], sort=False):
            role: Role = "curve" if n_steps == longest.loc[str(learner)] else "thin"
            for block in "JKL":
                found = _series(block, "", rows, "mse_aligned", along="n_visible")
                name = found.label if role == "curve" else block
                series.append(replace(found, label=f"{name}, T = {n_steps:,}", role=role))
        y_label, remark = "mean square error, aligned", flag_words(networks)
        yield Panel(f"{n_hidden} hidden units", "visible units", y_label, True, tuple(series), remark)


def _phase_panels(table: pd.DataFrame) -> Iterator[Panel]:
    """Shares of wrong signs over Nh / Nv, a panel for each coupling variance."""
    once = table.drop_duplicates("key")
    once = once.assign(ratio=once["n_hidden"] / once["n_visible"])
    for variance in sorted(once["variance"].unique()):
        networks, series = once[once["variance"] == variance], []
        for what, column in (("true", "wrong_signs_at_truth"), ("learned", "wrong_signs")):
            known = networks.dropna(subset=[column])
            if len(known):
                series.append(_over_networks(Series(what, "", f"{what} couplings", *NOWHERE), known, column, "ratio"))
        if series:
            series.append(_replica_theory(float(variance), networks["ratio"].to_numpy(np.float64)))
            title = f"coupling variance {variance:g}"
            yield Panel(title, "hidden units for each visible one", "share of wrong signs", False, tuple(series))


def _replica_theory(variance: float, ratios: Array) -> Series:
    """The share of wrong signs at the true couplings that infinitely many units would have, without M and biases."""
    x = np.geomspace(ratios.min(), ratios.max(), 25)
    y = np.array([replica_theory(variance, float(ratio)).wrong_signs for ratio in x])
    return Series("theory", "", "replica theory of infinitely many units, true couplings", x, y, y, y, "thin")


def _cost_panels(table: pd.DataFrame) -> Iterator[Panel]:
    """Costs relative to the truth's on the same data, plus the limit: what endless data would cost."""
    once = with_rules(table.drop_duplicates("key"))
    for (n_visible, n_hidden), network in once.groupby(["n_visible", "n_hidden"], sort=False):
        long, found = network[is_limit(network)], network[~is_limit(network)]
        known = found[found["cost_at_truth"].notna()]
        if known.empty:
            continue
        longest = known.sort_values("n_steps")["cost_at_truth"].iloc[-1]
        limit = float(long["cost"].mean() if len(long) else longest)
        series = []
        for ending, rows in _by_learner(known, _with_both_endings(known)):
            for name in COSTS:
                truth = rows["held_out_at_truth" if name == "held_out" else "cost_at_truth"]
                curve = rows.assign(**{name: rows[name] - truth + limit}).dropna(subset=[name])
                if len(curve):
                    series.append(_series(name, ending, curve, name))
        ends = np.array([known["n_steps"].min(), known["n_steps"].max()], dtype=np.float64)
        flat = np.full(2, limit)
        series.append(Series("limit", "", f"T → ∞: {limit:.3f}", ends, flat, flat, flat, "limit"))
        title = f"Costs, {n_visible} + {n_hidden}"
        yield Panel(title, "T (time bins)", "cost − the truth's + its limit (nats per bin)", False, tuple(series))


def _trace_panels(table: pd.DataFrame, traces: pd.DataFrame) -> Iterator[Panel]:
    """The cost of every start, and the errors of the first start of each kind."""
    starts = [(row["key"], row["start"], row["start_index"]) for _, row in table.drop_duplicates("key").iterrows()]
    names = {key: start if start != "random" else f"random {index}" for key, start, index in starts}
    runs = {key: traces[traces["key"] == key] for key in names} if len(traces) else {}
    costs = [
        _curve("cost", names[key], runs[key]["step"], runs[key]["cost"], start=start)
        for key, start, _ in starts
        if key in runs and len(runs[key])
    ]
    if costs:
        yield Panel("Cost of every start", "step", "cost (nats per bin)", False, tuple(costs))
    seen: set[str] = set()
    for key, start, _ in starts:
        if start in seen or key not in runs or not len(runs[key]) or start == "wrong-signed":
            continue
        seen.add(start)
        run, series = runs[key], []
        for block in table.loc[table["key"] == key, "block"]:
            series.append(_curve(block, f"{block} unaligned", run["step"], run[f"rms_{block}"], "thin"))
            series.append(_curve(block, f"{block} aligned", run["step"], run[f"aligned_{block}"]))
        yield Panel(f"Errors, {start} start", "step", "rms error", False, tuple(series))


def _with_both_endings(rows: pd.DataFrame) -> set[str]:
    """Learners that have runs which end either way, of a table with its rules."""
    ends = rows.groupby("learner")["stopped"].nunique()
    return set(ends[ends > 1].index)


def _by_learner(rows: pd.DataFrame, both: set[str]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Groups that make one curve: a learner, and where it is among those that end either way, how its runs do.

    Args:
        rows: of a table with its rules (`with_rules`).
        both: learners whose curves name how their runs end.
    """
    for (learner, _), group in rows.groupby(["learner", "by"], sort=False):
        for choice in (True, False):
            part = group[group["stopped"] == choice]
            if len(part):
                yield ("stopped" if choice else "converged") if learner in both else "", part


def _series(what: str, ending: str, rows: pd.DataFrame, column: str, *, along: str = "n_steps") -> Series:
    """A curve over T, or another knob."""
    errors = column.startswith("mse")
    chosen = rows[rows["block"] == what] if errors else rows
    learner = str(rows["learner"].iloc[0])
    label = ", ".join(filter(None, [COSTS.get(what, what), LEARNERS[learner].title, ending]))
    return _over_networks(Series(what, learner, label, *NOWHERE, ending=ending), chosen, column, along)


def _over_networks(series: Series, rows: pd.DataFrame, column: str, along: str) -> Series:
    """The series with its points: mean and standard deviation over networks, of logarithms for errors."""
    forth, back = _SCALES[column.startswith("mse")]
    values = pd.Series(forth(rows[column].to_numpy(np.float64)), rows.index).groupby(rows[along])
    mean, spread = values.mean(), values.std().fillna(0.0)
    return replace(
        series,
        x=mean.index.to_numpy(np.float64),
        y=back(np.asarray(mean, np.float64)),
        low=back(np.asarray(mean - spread, np.float64)),
        high=back(np.asarray(mean + spread, np.float64)),
        networks=tuple(values.count()),
    )


NOWHERE = (np.empty(0),) * 4
_SCALES: tuple[tuple[Callable[[Array], Array], Callable[[Array], Array]], ...] = (
    (np.asarray, np.asarray),
    (np.log, np.exp),
)


def _curve(what: str, label: str, x: ArrayLike, y: ArrayLike, role: Role = "curve", start: str = "") -> Series:
    points = np.asarray(y, dtype=np.float64)
    return Series(what, "", label, np.asarray(x, dtype=np.float64), points, points, points, role, start)


def _guide(series: Sequence[Series]) -> Series:
    """A line that falls as 1/T, through the last point of the lowest curve of J (or of whatever there is)."""
    candidates = [s for s in series if s.what == "J"] or list(series)
    lowest = min(candidates, key=lambda s: s.y[-1] * s.x[-1])
    x = np.array([min(s.x[0] for s in series), max(s.x[-1] for s in series)])
    y = lowest.y[-1] * lowest.x[-1] / x
    return Series("guide", "", "1/T", x, y, y, y, "guide")
