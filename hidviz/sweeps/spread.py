"""Spread: what several networks say together, each of them counted once.

Networks differ more than data do: one is harder to learn than another at every length. Hence every number here is made
for each network first, a slope, a logarithm of a ratio, and then averaged; its error is the standard error of the mean.
One network, or one rule of stopping on one side and another on the other, settles nothing.

    Estimate    a mean over networks, its standard error, and how many there were
    whole       the rows of curves that have networks at all lengths
    slopes      of log error over log T
    ratio       of the errors of two learners on the same data
    flags       what is to be held against a run
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy.stats import t as student

from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS

LEVEL = 0.95  # of the intervals that decide
FEWEST = 3  # networks that settle anything
CURVE = ["n_visible", "n_hidden", "learner", "by", "stopped"]
"""Columns whose values name one curve over T; `by` and `stopped` are added by `with_rules`."""

FLAGS = {"box": "at the box", "unconverged": "not converged"}

Verdict = Literal["yes", "no", "not settled"]


@dataclass(frozen=True)
class Estimate:
    """A mean over networks.

    Args:
        mean: of one number from each network.
        error: its standard error, from their spread; NaN for a single network.
        networks: how many.
        freedom: degrees of freedom of the error; one less than networks when None.
    """

    mean: float
    error: float
    networks: int
    freedom: float | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """Between which values the mean lies at `LEVEL`, by Student's t; anywhere, for a single network."""
        if self.networks < 2:
            return -np.inf, np.inf
        freedom = self.networks - 1 if self.freedom is None else self.freedom
        half = float(student.ppf(0.5 + 0.5 * LEVEL, freedom)) * self.error
        return self.mean - half, self.mean + half

    def verdict(self, low: float, high: float) -> Verdict:
        """Whether the mean lies between two values: "yes" if its interval does, "no" if they do not meet."""
        least, most = self.interval
        if low <= least and most <= high:
            return "yes"
        return "no" if most < low or high < least else "not settled"


def estimate(values: Iterable[float]) -> Estimate:
    """The mean of one number from each network; NaN of none."""
    found = np.asarray([value for value in values if np.isfinite(value)], dtype=np.float64)
    if not len(found):
        return Estimate(np.nan, np.nan, 0)
    error = float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else np.nan
    return Estimate(float(found.mean()), error, len(found))


def difference(one: Estimate, other: Estimate) -> Estimate:
    """One mean less another, of other networks; degrees of freedom as Welch counts them."""
    networks = min(one.networks, other.networks)
    if networks < 2:
        return Estimate(one.mean - other.mean, np.nan, networks)
    parts = np.array([one.error**2, other.error**2])
    weights = parts**2 / (np.array([one.networks, other.networks]) - 1.0)
    total = float(parts.sum())
    freedom = total**2 / float(weights.sum()) if total else networks - 1.0
    return Estimate(one.mean - other.mean, float(np.sqrt(total)), networks, freedom)


def is_limit(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are long runs at the truth, whose cost stands for the limit of endless data."""
    return (table["start"] == "truth") & (table["max_steps"] == 0)


def with_rules(table: pd.DataFrame) -> pd.DataFrame:
    """The table with two columns more: `stopped`, on held-out data, and `by`, what else is not the default.

    Runs that differ in either belong to different curves. `by` names an optimiser that was asked for, and a penalty
    that was learned.
    """
    learned = table["penalty"].astype(str) == "learned" if "penalty" in table else pd.Series(False, table.index)
    optimiser = table["optimiser"] if "optimiser" in table else pd.Series(None, table.index, dtype=object)
    names = [
        ", ".join(words for words, said in ((optimiser_words(name), name), ("learned penalty", by_data)) if said)
        for name, by_data in zip(optimiser.where(optimiser.notna(), ""), learned, strict=True)
    ]
    return table.assign(stopped=table["patience"].notna(), by=names)


def optimiser_words(name: str | None) -> str:
    """What an optimiser is called within a sentence; nothing where none was asked for."""
    return OPTIMISERS[name].title.lower() if name else ""


def flags(table: pd.DataFrame) -> pd.Series[str]:
    """What is to be held against each row: "box", "unconverged", both, or nothing.

    A coupling has reached the box; a run was to converge and has not, be it that it got stuck, diverged, or met its
    last step. A run stopped by held-out data has ended as it should, and so has a sampling learner, which never
    converges.
    """
    box = table["box"].astype(float).fillna(np.inf)
    boxed = table["largest"].astype(float) >= box * (1.0 - 1e-9)
    sampling = table["learner"].map(lambda name: LEARNERS[name].stochastic)
    as_it_should = (table["state"] == "converged") | (
        (table["state"] == "finished") & (table["patience"].notna() | sampling | (table["max_steps"] == 0))
    )
    words = [
        " and ".join([*["box"] * bool(at_box), *["unconverged"] * (not well)])
        for at_box, well in zip(boxed, as_it_should, strict=True)
    ]
    return pd.Series(words, table.index, dtype=object)


def flag_words(table: pd.DataFrame) -> str:
    """How many of the runs behind a table are flagged, in words; empty if none is."""
    runs = table.drop_duplicates("key")
    if "flag" not in runs:
        return ""
    counts = [(int(runs["flag"].str.contains(flag).sum()), words) for flag, words in FLAGS.items()]
    parts = [f"{n} of {len(runs)} runs {words}" for n, words in counts if n]
    return "; ".join(parts)


def whole(table: pd.DataFrame, *, low: float = 0.0, high: float = np.inf) -> pd.DataFrame:
    """The rows from which slopes are made: of each curve the networks that have all its lengths.

    Networks of which some go further than others would mix what curves do early and late. A curve has the lengths that
    at least `FEWEST` networks have, or as many as any length has.

    Args:
        table: of a sweep over the data length.
        low: least T to include, in bins.
        high: largest T to include.
    """
    chosen = table[~is_limit(table) & table["n_steps"].between(low, high)]
    curves = with_rules(chosen).groupby(CURVE, sort=False)
    return pd.concat([chosen.head(0), *(_of_all_lengths(curve)[chosen.columns] for _, curve in curves)])


def _of_all_lengths(curve: pd.DataFrame) -> pd.DataFrame:
    networks = curve.groupby("n_steps")["seed"].nunique()
    at = curve[curve["n_steps"].isin(networks.index[networks >= min(FEWEST, networks.max())])]
    lengths = at.groupby("seed")["n_steps"].nunique()
    return at[at["seed"].isin(lengths.index[lengths == at["n_steps"].nunique()])]


def slopes(table: pd.DataFrame, *, low: float = 0.0, high: float = np.inf) -> pd.DataFrame:
    """Slopes of log error over log T: -1 where errors fall as 1/T.

    Each network has a slope of its own, by ordinary least squares; what is given is their mean, over `whole` curves.

    Args:
        table: of a sweep over the data length.
        low: least T to include, in bins.
        high: largest T to include.

    Returns:
        A row for each curve (see `CURVE`) and block in which a network has at least two lengths: `slope`, its standard
        error `error` from the spread over networks (NaN for a single one), the number of `networks`, and the `low` and
        `high` T among them.
    """
    keys = [*CURVE, "block"]
    chosen = with_rules(whole(table[table["mse_aligned"] > 0.0], low=low, high=high))
    rows = []
    for names, group in chosen.groupby(keys, sort=False):
        lines = [one for _, one in group.groupby("seed") if one["n_steps"].nunique() > 1]
        if not lines:
            continue
        mean = estimate(_slope(one["n_steps"], one["mse_aligned"]) for one in lines)
        lengths = pd.concat(lines)["n_steps"]
        rows.append(
            dict(zip(keys, names, strict=True))
            | {"slope": mean.mean, "error": mean.error, "networks": mean.networks}
            | {"low": lengths.min(), "high": lengths.max()}
        )
    return pd.DataFrame(rows, columns=[*keys, "slope", "error", "networks", "low", "high"])


def ratio(one: pd.DataFrame, other: pd.DataFrame) -> Estimate:
    """Mean logarithm of the ratio of two learners' errors, paired: on each network, their own ratio.

    Args:
        one: rows of one block and one T.
        other: rows of the other learner, likewise.
    """
    errors = [rows.set_index("seed")["mse_aligned"].astype(float) for rows in (one, other)]
    return estimate(np.log((errors[0] / errors[1]).dropna().to_numpy(float)))


def _slope(lengths: pd.Series[float], errors: pd.Series[float]) -> float:
    x, y = np.log(lengths.to_numpy(float)), np.log(errors.to_numpy(float))
    dx = x - x.mean()
    return float(dx @ y / (dx @ dx))
