"""The paper's claims about its figures, and what was asked beyond it, judged by the tables of the figures.

    claims({"3": table, "4": …})  →  Claim, Claim, …

Both sides of a comparison have learned by one rule, on the same data, network by network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np
import pandas as pd

from hidviz.evaluation import replica_theory
from hidviz.sweeps.claims import Claim, Number, judged, length, one_of, percent, plain, size, thousandths
from hidviz.sweeps.heights import BLOCKS
from hidviz.sweeps.spread import FEWEST, Estimate, difference, estimate, is_limit, ratio, slopes, whole, with_rules

ALIKE = np.log(1.25)  # errors within a quarter of each other are about alike
SLOPE = 0.15  # a slope within this of -1 falls as 1/T, within this of 0 is flat
POWER = 0.25  # a power of Nh within this of -1 goes as 1/Nh, within this of 0 stays
SIZES = (5, 8)


def claims(tables: Mapping[str, pd.DataFrame]) -> tuple[Claim, ...]:
    """All claims about the figures whose tables are given, by their names in FIGURES."""
    return tuple(claim for name, judge in _JUDGES.items() if name in tables for claim in judge(tables[name]))


def _figure_3(table: pd.DataFrame) -> Iterator[Claim]:
    runs = table.drop_duplicates("key")
    costs = estimate([float(runs["cost"].max() - runs["cost"].min())])
    yield judged(
        "3", "any start reaches one cost",
        [Number(f"{len(runs)} starts of one network within", costs, 0.0, 1e-9, lambda e: f"{e.mean:.0e} nats")], runs,
    )  # fmt: skip


def _figure_4(table: pd.DataFrame) -> Iterator[Claim]:
    runs = table[~is_limit(table)].drop_duplicates("key")
    half = runs["n_parameters"] / (2.0 * runs["n_steps"])
    shares = runs.assign(
        above=(runs["held_out"] - runs["held_out_at_truth"]) / half,
        below=(runs["cost_at_truth"] - runs["cost"]) / half,
    )
    for column, words in (
        ("above", "held-out cost above the truth's, in units of N/2T, is 1 once data are plentiful"),
        ("below", "training cost below the truth's, in the same units, likewise"),
    ):
        numbers = [
            Number(f"T = {length(T)}:", estimate(at[column]), 1.0 - 0.15, 1.0 + 0.15, lambda e: plain(e).lstrip("+"))
            for T in sorted(int(T) for T in shares["n_steps"].unique() if T >= 10_000)
            for at in [shares[shares["n_steps"] == T]]
        ]
        yield judged("4", words, numbers, shares[shares["n_steps"] >= 10_000])


def _figure_5(table: pd.DataFrame) -> Iterator[Claim]:
    few, many = (table[table["n_hidden"] == n] for n in (20, 80))
    mean_field, sampled = (few[few["learner"] == name] for name in ("mean-field", "gibbs"))
    yield _falls("5", "80 + 20, mean field: J and L ∝ 1/T from 3·10³ on", mean_field, "JL", low=3_000)
    yield _flatter("5", "80 + 20, mean field: K ∝ 1/T no more from 10⁴ on", mean_field, "K", low=10_000)
    yield _falls("5", "80 + 20, Monte Carlo EM: 1/T from 3·10³ on", sampled, "JKL", low=3_000)
    for T in (10_000, 30_000, 100_000):
        yield _beside_sampled("80 + 20", few, T)
    mean_field, sampled = (many[many["learner"] == name] for name in ("mean-field", "gibbs"))
    yield _falls("5", "80 + 80, mean field: J ∝ 1/T up to 10⁴", mean_field, "J", high=10_000)
    yield _falls("5", "80 + 80, Monte Carlo EM: J ∝ 1/T", sampled, "J")
    for words, rows in (("mean field", mean_field), ("Monte Carlo EM", sampled)):
        for T in (1_000, 10_000):
            claim = f"80 + 80, {words}, T = {length(T)}: K and L no nearer to the truth than no couplings at all"
            yield _against_none(claim, rows, T, -ALIKE, np.inf)
        for T in (30_000, 100_000):
            claim = f"80 + 80, {words}, T = {length(T)}: K and L nearer to it than that"
            yield _against_none(claim, rows, T, -np.inf, -ALIKE)
    yield _flat("5", "80 + 80, mean field: flat from 3·10⁴ to 10⁵", mean_field, "JKL", low=30_000)
    for T in (10_000, 30_000, 100_000):
        yield _beside_sampled("80 + 80", many, T)


def _beside_sampled(size: str, rows: pd.DataFrame, T: int) -> Claim:
    claim = f"{size}, T = {length(T)}: mean field about as good as Monte Carlo EM"
    return _compared("5", claim, rows[rows["n_steps"] == T], ("mean-field", "gibbs"), -ALIKE, ALIKE)


def _against_none(claim: str, rows: pd.DataFrame, T: int, low: float, high: float) -> Claim:
    """Errors over those of couplings that are all zero, which are the variances of the true ones."""
    at = rows[rows["n_steps"] == T]
    senders = at["n_visible"].where(at["block"] == "L", at["n_hidden"])
    at = at.assign(excess=np.log(at["mse_aligned"] * senders / at["variance"]))
    numbers = [Number(b, estimate(at.loc[at["block"] == b, "excess"]), low, high, percent) for b in "KL"]
    return judged("5", claim, numbers, at)


def _figure_6(table: pd.DataFrame) -> Iterator[Claim]:
    table = with_rules(table)
    default, ascent, learned = (table[table["by"] == by] for by in ("", "gradient ascent", "learned penalty"))
    rules = (("by L-BFGS", default[default["stopped"]]), ("by gradient ascent", ascent))
    for T in (300, 1_000):
        for n in SIZES:
            for words, rows in rules:
                claim = f"{n} + {n}, T = {length(T)}, stopped, {words}: mean field about as good as exact"
                yield _against(claim, rows, n, T, -ALIKE, ALIKE)
    for learner, words in (("mean-field", "mean field"), ("gibbs", "Monte Carlo EM")):
        for n in SIZES:
            claim = f"{n} + {n}, T = 10³, learned penalty alone: {words} about as good as exact"
            yield _against(claim, learned, n, 1_000, -ALIKE, ALIKE, learner)
    stopped = default[default["stopped"]]
    for n in SIZES:
        claim = f"{n} + {n}: they have parted by T = 3·10³, above exact"
        yield _against(claim, stopped, n, 3_000, ALIKE, np.inf)
    mean_field = stopped[stopped["learner"] == "mean-field"]
    for n in SIZES:
        claim = f"{n} + {n}: mean field is flat from 10⁴ to 3·10⁴"
        yield _flat("6", claim, mean_field[mean_field["n_visible"] == n], "JKL", low=10_000)
    yield from _floors_of_figure_6(mean_field)
    yield from _correlated("6", stopped[stopped["n_steps"] == stopped["n_steps"].max()])
    free = default[~default["stopped"]]
    for n in SIZES:
        exact = free[(free["learner"] == "exact") & (free["n_visible"] == n)]
        yield _falls("6", f"{n} + {n}, exact: 1/T from 3·10⁴ on", exact, "JKL", low=30_000)
        if "mse_expected" in exact:
            yield _height(f"{n} + {n}, exact at T = 3·10⁵: error as the information has it", exact)
    for n in SIZES:
        claim = f"{n} + {n}, T = 3·10⁴, to the end: Monte Carlo EM about as good as exact"
        yield _against(claim, free, n, 30_000, -ALIKE, ALIKE, "gibbs")


def _against(
    claim: str, rows: pd.DataFrame, n: int, T: int, low: float, high: float, learner: str = "mean-field"
) -> Claim:
    """A learner's errors over exact ones of the same rule, network by network."""
    at = rows[(rows["n_visible"] == n) & (rows["n_steps"] == T)]
    return _compared("6", claim, at, (learner, "exact"), low, high)


def _compared(figure: str, claim: str, at: pd.DataFrame, learners: tuple[str, str], low: float, high: float) -> Claim:
    """One learner's errors over another's, on the networks that both have learned."""
    seeds = [set(at.loc[at["learner"] == name, "seed"]) for name in learners]
    at = at[at["learner"].isin(learners) & at["seed"].isin(seeds[0] & seeds[1])]
    found = []
    for block in BLOCKS:
        one, other = (at[(at["learner"] == name) & (at["block"] == block)] for name in learners)
        found.append(Number(block, ratio(one, other), low, high, percent))
    return judged(figure, claim, found, at)


def _floors_of_figure_6(mean_field: pd.DataFrame) -> Iterator[Claim]:
    """How the errors that mean field ends with go with the number of units, Nv = Nh."""
    at = mean_field[mean_field["n_steps"] == mean_field["n_steps"].max()]
    numbers = []
    for block in BLOCKS:
        ends = [_log_errors(at[(at["n_visible"] == n) & (at["block"] == block)]) for n in SIZES]
        power = _scaled(difference(ends[1], ends[0]), 1.0 / np.log(SIZES[1] / SIZES[0]))
        numbers.append(Number(f"{block} ∝ Nh to the", power, -1.0 - POWER, -1.0 + POWER, plain))
    yield judged("6", "mean field's floor ∝ 1/Nh, 5 + 5 to 8 + 8 at T = 3·10⁴", numbers, at)


def _height(claim: str, exact: pd.DataFrame) -> Claim:
    """Errors over the height of the 1/T line."""
    at = exact[exact["n_steps"] == 300_000]
    at = at.assign(ratio=np.log(at["mse_aligned"] / at["mse_expected"]))
    numbers = [Number(b, estimate(at.loc[at["block"] == b, "ratio"]), -ALIKE, ALIKE, percent) for b in BLOCKS]
    return judged("6", claim, numbers, at)


def _floors(table: pd.DataFrame) -> Iterator[Claim]:
    """Whether K's floor goes as 1/Nh at a fixed ratio of visible to hidden units, or stays."""
    K = table[(table["block"] == "K") & (table["learner"] == "mean-field")]
    K = K.assign(ratio=K["n_visible"] / K["n_hidden"])
    for share, rows in K.groupby("ratio"):
        networks = rows.groupby(["n_steps", "n_hidden"])["seed"].nunique().unstack().min(axis=1)
        T = int(networks[networks >= min(FEWEST, networks.max())].index.max())
        at = rows[rows["n_steps"] == T]
        few, many = (_log_errors(at[at["n_hidden"] == n]) for n in (2, 4))
        power = _scaled(difference(many, few), 1.0 / np.log(2.0))
        yield one_of(
            "floors",
            f"Nv = {share:g} Nh, T = {length(T)}: K's last error from Nh = 2 to 4",
            f"{size(few)} to {size(many)}, ∝ Nh to the {plain(power)}",
            power,
            {"stays": (-POWER, POWER), "∝ 1/Nh": (-1.0 - POWER, -1.0 + POWER)},
            at,
        )
        late = whole(rows, low=10_000)
        flat = [replace(_slopes(late[late["n_hidden"] == n], "K", -SLOPE, SLOPE)[0], name=f"Nh = {n}:") for n in (2, 4)]
        yield judged("floors", f"Nv = {share:g} Nh: K is flat from 10⁴ to 3·10⁴", flat, late)
    yield from _correlated("floors", table)


def _correlated(figure: str, table: pd.DataFrame) -> Iterator[Claim]:
    """Whether the errors end lower where hidden units of one bin move together."""
    pair, size_and_length = ("mean-field-correlated", "mean-field"), ["n_visible", "n_hidden", "n_steps"]
    for _, at in table[table["learner"].isin(pair)].groupby(size_and_length):
        if pair[0] in set(at["learner"]):
            n_visible, n_hidden, T = (int(at[name].iloc[0]) for name in size_and_length)
            claim = f"{n_visible} + {n_hidden}, T = {length(T)}: correlated mean field ends below mean field"
            yield _compared(figure, claim, at, pair, -np.inf, 0.0)


def _phase(table: pd.DataFrame) -> Iterator[Claim]:
    runs = table.drop_duplicates("key")
    at_truth = runs.set_index(["variance", "n_hidden", "seed"])["wrong_signs_at_truth"].astype(float)
    excess = runs.assign(excess=runs["wrong_signs"] - runs["wrong_signs_at_truth"])
    for words, one, other in (
        ("stronger couplings tell more: wrong signs at g² = 4 less those at 1, Nh = 4", (4.0, 4), (1.0, 4)),
        ("more hidden units tell less: wrong signs at Nh = 4 less those at 8, g² = 1", (1.0, 4), (1.0, 8)),
    ):
        gap = estimate(
            at_truth.xs(one, level=("variance", "n_hidden")) - at_truth.xs(other, level=("variance", "n_hidden"))
        )
        behind = runs[[place in (one, other) for place in zip(runs["variance"], runs["n_hidden"], strict=True)]]
        yield judged("phase", words, [Number("", gap, -np.inf, 0.0, thousandths)], behind)
    in_theory = [
        replica_theory(variance, n_hidden / n_visible).wrong_signs
        for variance, n_hidden, n_visible in zip(runs["variance"], runs["n_hidden"], runs["n_visible"], strict=True)
    ]
    for variance, rows in runs.assign(gap=runs["wrong_signs_at_truth"] - in_theory).groupby("variance"):
        by_size = rows.groupby("n_hidden")["gap"]
        gaps = [Number(f"Nh = {n}:", estimate(gap), -0.01, 0.01, thousandths) for n, gap in by_size]
        claim = f"g² = {variance:g}: wrong signs at the truth less those of replica theory: .01 at most"
        yield judged("phase", claim, gaps, rows)
    for variance, rows in excess.groupby("variance"):
        numbers = [
            Number(f"Nh = {n}:", estimate(each["excess"]), -0.005, 0.005, partial(_signs, each["wrong_signs_at_truth"]))
            for n, each in rows.groupby("n_hidden")
        ]
        claim = f"g² = {variance:g}: wrong signs at the truth, and how many more with learned couplings: .005 at most"
        yield judged("phase", claim, numbers, rows)


def _signs(at_truth: pd.Series[float], excess: Estimate) -> str:
    return f"{at_truth.mean():.3f} {thousandths(excess)}".replace("0.", ".")


def _falls(
    figure: str, claim: str, table: pd.DataFrame, blocks: str, *, low: float = 0.0, high: float = np.inf
) -> Claim:
    at = whole(table, low=low, high=high)
    return judged(figure, claim, _slopes(at, blocks, -1.0 - SLOPE, -1.0 + SLOPE), at)


def _flat(figure: str, claim: str, table: pd.DataFrame, blocks: str, *, low: float) -> Claim:
    at = whole(table, low=low)
    return judged(figure, claim, _slopes(at, blocks, -SLOPE, SLOPE), at)


def _flatter(figure: str, claim: str, table: pd.DataFrame, blocks: str, *, low: float) -> Claim:
    at = whole(table, low=low)
    return judged(figure, claim, _slopes(at, blocks, -1.0 + SLOPE, np.inf), at)


def _slopes(table: pd.DataFrame, blocks: str, least: float, most: float) -> list[Number]:
    found = slopes(table).set_index("block")
    values = {b: Estimate(row["slope"], row["error"], int(row["networks"])) for b, row in found.iterrows()}
    return [Number(b, values.get(b, estimate(())), least, most, plain) for b in blocks]


def _log_errors(rows: pd.DataFrame) -> Estimate:
    return estimate(np.log(rows["mse_aligned"].astype(float)))


def _scaled(value: Estimate, by: float) -> Estimate:
    return Estimate(value.mean * by, value.error * abs(by), value.networks, value.freedom)


_JUDGES: Mapping[str, Callable[[pd.DataFrame], Iterator[Claim]]] = MappingProxyType(
    {"3": _figure_3, "4": _figure_4, "5": _figure_5, "6": _figure_6, "floors": _floors, "phase": _phase}
)
