"""Examine: whether a model chosen for a recording can be relied on, in five ways; each may be asked for alone.

    free run       left to itself, does the model behave like the data
    halves         do two halves of the recording give the same couplings, block by block
    spread         do several starts end in the same model
    error bars     how well the data tell each coupling, from the curvature of the likelihood
    stationarity   is it worth as much late in the recording as early

Small error bars alone are no proof: they say how sharp the maximum is, not that another half of the data has the same.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hidviz.background import on_one_blas_thread
from hidviz.evaluation import Difference, ErrorBars, FreeRun, error_bars, free_run, paired
from hidviz.experiments.fit_parts import fit_model
from hidviz.experiments.scan_table import ScanRow
from hidviz.learners import Infeasible
from hidviz.network import BLOCKS, Couplings, Parts, aligned
from hidviz.numerics import Array

AGREEING = 0.01  # nats per bin, within which starts count as having found the same model


@dataclass(frozen=True, eq=False)
class Halves:
    """Two halves of the part learned from, fitted apart, the second aligned to the first.

    Args:
        first: couplings from every other block.
        second: couplings from the blocks between.
        correlation: of the entries of each block; not a number where a block has fewer than three.
    """

    first: Couplings
    second: Couplings
    correlation: dict[str, float]


@dataclass(frozen=True, eq=False)
class Spread:
    """Several starts of the same fit, aligned to the best.

    Args:
        costs: on the stopping part, rising, nats per bin.
        deviation: root mean square deviation of each block from the best start's, over starts that agree with it in
            cost.
        n_agreeing: how many do, the best included.
    """

    costs: tuple[float, ...]
    deviation: dict[str, float]
    n_agreeing: int


@dataclass(frozen=True, eq=False)
class Stationarity:
    """Judged cost over the recording.

    Args:
        gains: of each judging block on lag 1, in order of time, nats per bin.
        early: mean of the first half of them.
        late: mean of the second half.
    """

    gains: Array
    early: Difference
    late: Difference


@dataclass(frozen=True, eq=False)
class Examination:
    """What is known so far; None for what is not asked for, or not yet there.

    Args:
        couplings: of the model.
        free_run: see the module.
        halves: see the module.
        spread: see the module.
        error_bars: see the module.
        stationarity: see the module.
        notes: why something is missing.
    """

    couplings: Couplings
    free_run: FreeRun | None = None
    halves: Halves | None = None
    spread: Spread | None = None
    error_bars: ErrorBars | None = None
    stationarity: Stationarity | None = None
    notes: tuple[str, ...] = ()


CHECKS = ("free_run", "stationarity", "halves", "spread", "error_bars")


@on_one_blas_thread
def examine(
    row: ScanRow,
    parts: Parts,
    lag1: ScanRow,
    *,
    checks: tuple[str, ...] = CHECKS,
    starts: int = 4,
    penalty: float = 0.0,
    seed: int = 1,
) -> Generator[Examination, None, None]:
    """Examine a model of a scan, yielding what is known after each check.

    Args:
        row: the model.
        parts: what the scan learned from.
        lag1: the first row of the same scan.
        checks: which of `CHECKS` to make, in this order.
        starts: random starts for the spread.
        penalty: weight of the L2 penalty per bin of whatever is fitted again: that of the scan.
        seed: of whatever is random.

    Raises:
        ValueError: there is no such check, or the model has no couplings.
    """
    if unknown := set(checks) - set(CHECKS):
        raise ValueError(f"Checks must be among {', '.join(CHECKS)}, got {', '.join(sorted(unknown))}.")
    if row.couplings is None:
        raise ValueError(f"The model must have been fitted to be examined: {row.note}")
    couplings, found = row.couplings, Examination(row.couplings)
    parts = parts.with_external_field(row.external_field)

    def made(check: str) -> Any:
        if check == "free_run":
            trials = [trial for part in (parts.learn, parts.stop, parts.judge) for trial in part.trials]
            return free_run(couplings, parts.learn.with_trials(trials), np.random.default_rng([seed, 0]))
        if check == "stationarity":
            return stationarity(row, lag1)
        if check == "halves":
            return halves(row, parts, penalty=penalty, seed=seed)
        if check == "spread":
            return spread(row, parts, starts=starts, penalty=penalty, seed=seed)
        return error_bars(
            couplings, parts.learn, hidden_hidden=row.hidden_hidden, bias=True,
            zeros_held=row.path is not None,
        )  # fmt: skip

    for check in checks:
        try:
            found = replace(found, **{check: made(check)})
        except Infeasible as refusal:
            found = replace(found, notes=(*found.notes, f"{check.replace('_', ' ')}: {refusal}"))
        yield found


def halves(row: ScanRow, parts: Parts, *, penalty: float = 0.0, seed: int = 1) -> Halves:
    """Fit the same model to two halves of the part learned from, as it was fitted, each stopped by all that stops."""
    found = []
    for which in (0, 1):
        half = parts.learn.with_trials(parts.learn.trials[which::2])
        runs = fit_model(
            half, parts.stop, row.n_hidden, hidden_hidden=row.hidden_hidden, starts=2, seed=seed, penalty=penalty,
            l1=row.l1, max_steps=row.max_steps, sampled=row.sampled,
        )  # fmt: skip
        found.append(runs[0].couplings)
    first, second = found[0], aligned(found[1], found[0])
    correlation = {name: _correlation(getattr(first, name), getattr(second, name)) for name in BLOCKS}
    return Halves(first, second, correlation)


def spread(row: ScanRow, parts: Parts, *, starts: int = 4, penalty: float = 0.0, seed: int = 1) -> Spread:
    """Fit the same model from other starts, as it was fitted, and compare where they end."""
    runs = fit_model(
        parts.learn, parts.stop, row.n_hidden, hidden_hidden=row.hidden_hidden, starts=starts, seed=seed + 1,
        penalty=penalty, l1=row.l1, max_steps=row.max_steps, sampled=row.sampled,
    )  # fmt: skip
    best = runs[0]
    agreeing = [run for run in runs if run.reached - best.reached < AGREEING]
    deviation = {
        name: _rms([getattr(aligned(run.couplings, best.couplings), name) - getattr(best.couplings, name)
                    for run in agreeing[1:]])
        for name in BLOCKS
    }  # fmt: skip
    return Spread(tuple(run.reached for run in runs), deviation, len(agreeing))


def stationarity(row: ScanRow, lag1: ScanRow) -> Stationarity:
    """The gain on lag 1 over the judging blocks, which lie in order of time."""
    gains = lag1.judged - row.judged
    middle = len(gains) // 2
    nothing = np.zeros(len(gains))
    return Stationarity(gains, paired(gains[:middle], nothing[:middle]), paired(gains[middle:], nothing[middle:]))


def _correlation(one: Array, other: Array) -> float:
    if one.size < 3 or not one.std() or not other.std():
        return float("nan")
    return float(np.corrcoef(one.ravel(), other.ravel())[0, 1])


def _rms(differences: list[Array]) -> float:
    flat = [difference.ravel() for difference in differences if difference.size]
    return float(np.sqrt(np.mean(np.concatenate(flat) ** 2))) if flat else float("nan")
