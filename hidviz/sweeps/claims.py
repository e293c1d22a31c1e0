"""Claims: a sentence, the numbers that it rests on, and whether they bear it out.

A claim is one or more numbers, each with the range in which it must lie. Each number is a mean over networks with its
standard error (`hidviz.sweeps.spread`); the claim holds if the interval of every number lies within its range, fails
if one lies outside, and is not settled otherwise. What rests on fewer than `FEWEST` networks is not settled either, nor
what rests on runs of which half or more were to converge and have not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from hidviz.sweeps.spread import FEWEST, Estimate
from hidviz.units import raised, signed


@dataclass(frozen=True)
class Claim:
    """One line of the table of claims.

    Args:
        figure: its name in FIGURES.
        claim: what is said.
        found: the numbers, with their standard errors.
        networks: how many are behind each number, the least and the most.
        flagged: how many of the runs behind it reached the box or have not converged.
        verdict: "yes", "no" or "not settled", and for which numbers.
    """

    figure: str
    claim: str
    found: str
    networks: str
    flagged: str
    verdict: str


@dataclass(frozen=True)
class Number:
    """One number of a claim, and the range in which it must lie for the claim to hold."""

    name: str
    value: Estimate
    low: float
    high: float
    words: Callable[[Estimate], str]


def markdown(found: Sequence[Claim]) -> str:
    """The claims as a table of Markdown."""
    rows = [f"| {c.figure} | {c.claim} | {c.found} | {c.networks} | {c.flagged} | {c.verdict} |" for c in found]
    heads = ["| figure | claim | found | networks | flagged | holds |", "| --- | --- | --- | ---: | ---: | --- |"]
    return "\n".join([*heads, *rows])


def judged(figure: str, claim: str, numbers: Sequence[Number], behind: pd.DataFrame) -> Claim:
    """A claim with its verdict, and the rows of the table behind it."""
    verdicts = {n.name: n.value.verdict(n.low, n.high) if _settles(n.value, behind) else "not settled" for n in numbers}
    kinds = [kind for kind in ("yes", "no", "not settled") if kind in verdicts.values()]
    by_kind = [", ".join(name.rstrip(":") for name, its in verdicts.items() if its == kind) for kind in kinds]
    each = "; ".join(f"{kind}: {names}" for kind, names in zip(kinds, by_kind, strict=True))
    verdict = kinds[0] if len(kinds) == 1 else each
    found = ", ".join(f"{n.name} {n.words(n.value)}".strip() for n in numbers)
    counts = sorted({n.value.networks for n in numbers})
    networks = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return Claim(figure, claim, found, networks, _flagged(behind), verdict)


def one_of(
    figure: str,
    claim: str,
    found: str,
    value: Estimate,
    choices: Mapping[str, tuple[float, float]],
    behind: pd.DataFrame,
) -> Claim:
    """In which of several ranges a power lies; else in which direction it goes, as far as that is settled."""
    directions = {"falls; power not settled": (-np.inf, 0.0), "rises; power not settled": (0.0, np.inf)}
    within = [name for name, (low, high) in {**choices, **directions}.items() if value.verdict(low, high) == "yes"]
    verdict = within[0] if within and _settles(value, behind) else "not settled"
    return Claim(figure, claim, found, str(value.networks), _flagged(behind), verdict)


def _settles(value: Estimate, behind: pd.DataFrame) -> bool:
    runs = behind.drop_duplicates("key")
    unconverged = runs["flag"].str.contains("unconverged").sum()
    return value.networks >= FEWEST and 2 * unconverged < len(runs)


def _flagged(behind: pd.DataFrame) -> str:
    runs = behind.drop_duplicates("key")
    return f"{int((runs['flag'] != '').sum())} of {len(runs)}"


# How numbers are written


def plain(value: Estimate) -> str:
    """A number with its standard error, to two decimals."""
    return _said(value, signed(value.mean, 2) + _error(value.error, 2))


def percent(value: Estimate) -> str:
    """A mean logarithm of a ratio as per cent above 1, its error alike."""
    r = np.exp(value.mean)
    return _said(value, signed(100.0 * (r - 1.0), 0) + _error(100.0 * r * value.error, 0) + " %")


def size(value: Estimate) -> str:
    """A mean logarithm as the quantity itself."""
    r = np.exp(value.mean)
    return _said(value, f"{r:.2g}" + (f" ± {r * value.error:.1g}" if np.isfinite(value.error) else ""))


def _said(value: Estimate, words: str) -> str:
    return words if value.networks else "–"


def _error(error: float, digits: int) -> str:
    return f" ± {error:.{digits}f}".replace("± 0.", "± .") if np.isfinite(error) else ""


def thousandths(value: Estimate) -> str:
    """A number with its standard error, to three decimals."""
    return _said(value, signed(value.mean, 3) + _error(value.error, 3))


def length(T: int) -> str:
    """T as 3·10⁴."""
    power = int(np.floor(np.log10(T)))
    head = T // 10**power
    return f"{T}" if T < 1_000 else f"10{raised(power)}" if head == 1 else f"{head}·10{raised(power)}"
