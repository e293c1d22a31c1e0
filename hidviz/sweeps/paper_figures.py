"""Figures: the paper's Figs. 3 to 6 as sweeps, in full and quick, with all that the paper leaves unsaid spelled out.

The paper gives neither a stopping rule nor a penalty, and they decide the picture: converged mean field of a small
network runs away from the truth, and so does exact maximum likelihood of short data. Here every experiment carries its
own patience, penalty and box, and `rules` says them in words. Beside the paper's learners stand those that it had not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np
import pandas as pd

from hidviz.experiments import Experiment
from hidviz.sweeps.sweep import Sweep, grid

FigureKind = Literal["traces", "costs", "errors", "floors", "phase"]


@dataclass(frozen=True)
class Figure:
    """One figure of the paper.

    Args:
        name: its name in file names.
        title: its name on the page.
        look_for: what must be seen.
        rules: stopping rule, penalty and box.
        kind: what is drawn: traces over the steps, costs over T, errors over T, how the errors end, or how
            often hidden states are told wrongly.
        full: the experiments.
        quick: fewer and shorter ones, with the same picture in outline.
    """

    name: str
    title: str
    look_for: str
    rules: str
    kind: FigureKind
    full: tuple[Experiment, ...]
    quick: tuple[Experiment, ...]

    def sweep(self, *, quick: bool = False) -> Sweep:
        """Its experiments as a sweep."""
        chosen = self.quick if quick else self.full
        return Sweep(self.name, chosen, with_traces=self.kind == "traces", with_states=self.kind == "phase")


def is_limit(table: pd.DataFrame) -> pd.Series[bool]:
    """Which rows are long runs at the truth, whose cost stands for the limit of endless data."""
    return (table["start"] == "truth") & (table["max_steps"] == 0)


def slopes(table: pd.DataFrame, *, low: float = 0.0, high: float = np.inf) -> pd.DataFrame:
    """Slopes of log error over log T, by ordinary least squares: -1 where errors fall as 1/T.

    Several networks (seeds) share a slope, and each has a height of its own, since one is harder to learn than another.

    Args:
        table: of a sweep over the data length.
        low: least T to include, in bins.
        high: largest T to include.

    Returns:
        A row for each size, learner, stopping rule and block with at least two lengths: `slope`, its standard error
        `error` (NaN where too few points are left to judge by), the number of `points`, and the `low` and `high` T
        among them.
    """
    keys = ["n_visible", "n_hidden", "learner", "stopped", "block"]
    chosen = table[~is_limit(table) & table["n_steps"].between(low, high) & (table["mse_aligned"] > 0.0)]
    chosen = chosen.assign(stopped=chosen["patience"].notna())
    rows = []
    for names, group in chosen.groupby(keys, sort=False):
        if group.groupby("seed")["n_steps"].nunique().max() < 2:
            continue
        slope, error = _line(group[["n_steps", "mse_aligned"]].astype(float).apply(np.log), group["seed"])
        lengths = group["n_steps"]
        row = dict(zip(keys, names, strict=True))
        rows.append(
            row | {"slope": slope, "error": error, "points": len(group), "low": lengths.min(), "high": lengths.max()}
        )
    return pd.DataFrame(rows, columns=[*keys, "slope", "error", "points", "low", "high"])


def floors(table: pd.DataFrame, *, near: float = 1.5) -> pd.DataFrame:
    """Where errors end, and from which data length on they are there.

    Args:
        table: of a sweep over the data length by one learner.
        near: an error within this factor of its last one has reached it.

    Returns:
        A row for each size and block: `floor`, the mean square error at the longest T, and `onset`, the T from which on
        it is near that, interpolated on logarithmic axes. An error that still falls as 1/T has its onset at T / near.
    """
    rows = []
    for names, group in table.groupby(["n_visible", "n_hidden", "block"]):
        means = group.assign(log=np.log(group["mse_aligned"])).groupby("n_steps")["log"].mean()
        lengths, above = np.log(means.index.to_numpy(float)), means.to_numpy() - means.iloc[-1] - np.log(near)
        last = int(np.flatnonzero(above > 0.0).max(initial=-1))
        share = above[last] / (above[last] - above[last + 1]) if last >= 0 else 0.0
        onset = lengths[0] if last < 0 else lengths[last] + share * (lengths[last + 1] - lengths[last])
        rows.append((*names, float(np.exp(means.iloc[-1])), float(np.exp(onset))))
    return pd.DataFrame(rows, columns=["n_visible", "n_hidden", "block", "floor", "onset"])


def _line(points: pd.DataFrame, seeds: pd.Series[int]) -> tuple[float, float]:
    """Slope of the least-squares lines, one beside the other for each seed, through the points; and its error."""
    dx, dy = (points - points.groupby(seeds).transform("mean")).to_numpy().T
    slope = float(dx @ dy / (dx @ dx))
    freedom = len(dx) - seeds.nunique() - 1
    if freedom < 1:
        return slope, np.nan
    residual = dy - slope * dx
    return slope, float(np.sqrt(residual @ residual / freedom / (dx @ dx)))


def _fig3() -> Figure:
    base = Experiment()
    random = grid(base, start_index=(1, 2, 3, 4, 5, 6))
    signed = grid(base, start=("right-signed", "wrong-signed"))
    return Figure(
        "figure3",
        "Fig. 3: random and right-signed starts",
        "From a random start the cost falls smoothly while the errors of K and L as found (thin) may stay large: a "
        "hidden unit has come out with its sign flipped. Started with the right signs they are small, and so they are "
        "after alignment (bold); the final cost is the same.",
        "L-BFGS to convergence, largest gradient below 1e-6 nats per bin; no penalty, no box.",
        "traces",
        (*random, *signed),
        (random[0], signed[0]),
    )


def _fig4() -> Figure:
    base = Experiment(n_visible=10, n_hidden=10, model="stochastic", learner="exact", patience=30, n_held_out=100_000)
    limit = replace(base, n_steps=1_000_000, start="truth", max_steps=0, patience=None, n_held_out=0)
    runs = grid(base, n_steps=(300, 1_000, 3_000, 10_000, 30_000, 100_000))
    return Figure(
        "figure4",
        "Fig. 4: cost against data length, 10 + 10",
        "The training cost rises and the held-out cost falls to the same limit, the cost at the truth of endless data. "
        "AIC and BIC are made from the training cost, per bin; BIC with (N/2) log n, where the paper has N log N. "
        "Every cost is drawn relative to the truth's on the same data, which takes out the sampling noise of one data "
        "set.",
        "L-BFGS, the best step on held-out data, and a run ends 30 steps after it; no penalty, no box. Without that "
        "rule the likelihood of short data is largest at infinite couplings.",
        "costs",
        (*runs, limit),
        (*runs[:2], limit),
    )


def _fig5() -> Figure:
    base = Experiment(n_visible=80, model="stochastic", learner="mean-field", box=0.7, n_held_out=0)
    short, long = (1_000, 3_000, 10_000), (30_000, 100_000)

    def few(learner: str, lengths: Sequence[int]) -> tuple[Experiment, ...]:
        steps = 600 if learner == "gibbs" else 300
        return grid(replace(base, n_hidden=20, learner=learner, max_steps=steps), n_steps=lengths)

    def many(learner: str, lengths: Sequence[int]) -> tuple[Experiment, ...]:
        steps = 300 if learner == "gibbs" else 60
        one = replace(base, n_hidden=80, learner=learner, max_steps=steps)
        return tuple(replace(one, n_steps=T, penalty=80 / T) for T in lengths)

    return Figure(
        "figure5",
        "Fig. 5: mean field, 80 + 80 and 80 + 20",
        "With 20 hidden units every error falls as 1/T, until K meets a floor. With 80, K and L are hardly learned up "
        "to T = 10⁴, by any learner, and J by mean field falls more slowly than 1/T from the first, toward a floor. "
        "Monte Carlo EM (dotted) takes J on along 1/T.",
        "Mean field by L-BFGS to convergence or 300 steps (60 for 80 + 80), Monte Carlo EM by 600 (300) decaying Adam "
        "steps, the last fifth averaged; every coupling kept within ±0.7, no held-out data. For 80 + 80 a penalty of "
        "80/T per bin, the precision of the couplings' own distribution, without which short data are fitted to death; "
        "for 80 + 20 no penalty. Without M, second order is the same as lowest order.",
        "errors",
        (
            *many("mean-field", (*short, *long)),
            *many("mean-field-gaussian", short),
            *many("gibbs", (*short, *long)),
            *few("mean-field", (*short, *long)),
            *few("mean-field-gaussian", short),
            *few("gibbs", (*short, *long)),
        ),
        (
            *many("mean-field", short[:1]),
            *many("gibbs", short[:1]),
            *few("mean-field", short[:2]),
            *few("gibbs", short[:1]),
        ),
    )


def _fig6() -> Figure:
    base = Experiment(model="stochastic", learner="exact", patience=20, box=2.0, n_held_out=100_000)
    short, middle, long = (300, 1_000, 3_000), (10_000, 30_000), (30_000, 100_000, 300_000)
    seeds = (1, 2, 3)

    def network(n: int, longest: Sequence[int]) -> tuple[Experiment, ...]:
        own = replace(base, n_visible=n, n_hidden=n)
        free = replace(own, patience=None)
        return (
            *grid(own, learner=("mean-field", "exact"), n_steps=short, seed=(*seeds, 4, 5, 6)),
            *grid(own, learner=("mean-field", "exact"), n_steps=middle, seed=seeds),
            *grid(free, n_steps=long, seed=seeds),
            *grid(free, n_steps=(1_000_000,), seed=longest),
            *grid(replace(free, learner="gibbs"), n_steps=(1_000, 3_000, *middle), seed=seeds),
        )

    five, eight = network(5, seeds), network(8, seeds[:1])
    sampled = replace(base, n_visible=8, n_hidden=8, patience=None, learner="gibbs", n_steps=100_000)
    return Figure(
        "figure6",
        "Fig. 6: mean field against exact, 5 + 5 and 8 + 8",
        "Up to T = 10³ both learn about alike. Then they part: mean field (solid) flattens, exact learning (dashed) "
        "and Monte Carlo EM (dotted) go on, and at large T every one of their errors falls as 1/T.",
        "L-BFGS, the best step on held-out exact cost, and a run ends 20 steps after it (exact also to convergence, "
        "where T is at least 3·10⁴); Monte Carlo EM by 800 decaying Adam steps, the last fifth averaged; every "
        "coupling kept within ±2, no penalty. Three networks, six up to T = 3·10³, one at the longest for 8 + 8: the "
        "mean of the logarithms, and bars from the least to the largest.",
        "errors",
        (*five, *eight, sampled),
        tuple(e for e in (*five, *eight) if e.seed == 1 and e.n_steps <= 3_000),
    )


def _floors() -> Figure:
    base = Experiment(model="stochastic", learner="mean-field", patience=20, box=2.0, n_held_out=30_000)
    sizes = [(ratio * n_hidden, n_hidden) for n_hidden in (2, 4) for ratio in (1, 2, 4, 8)]

    def networks(sizes: Sequence[tuple[int, int]], lengths: Sequence[int]) -> tuple[Experiment, ...]:
        each = [replace(base, n_visible=n_visible, n_hidden=n_hidden) for n_visible, n_hidden in sizes]
        return tuple(e for one in each for e in grid(one, n_steps=lengths, seed=(1, 2)))

    return Figure(
        "floors",
        "Beyond: where mean field ends",
        "The paper asks how large mean field's last errors are, and from which T on, for so many hidden and visible "
        "units. Their ratio decides: with as many hidden as visible ones over half of K is never learned, and nothing "
        "is gained after T = 10³; with eight visible ones for each hidden one K ends below 10⁻³, and J still falls as "
        "1/T. Twice the units at the same ratio end at about the same K. Bold: T = 30 000; thin: shorter.",
        "L-BFGS, the best step on held-out exact cost, and a run ends 20 steps after it; every coupling kept within "
        "±2, no penalty. Two networks of each size: the mean of the logarithms.",
        "floors",
        networks(sizes, (1_000, 3_000, 10_000, 30_000)),
        networks(sizes[2:4], (1_000, 3_000)),
    )


def _phase() -> Figure:
    base = Experiment(n_visible=8, n_steps=10_000, model="stochastic", learner="exact", penalty="learned")
    base = replace(base, n_held_out=0, max_steps=600)
    full = grid(base, variance=(0.25, 1.0, 4.0), n_hidden=(1, 2, 4, 8), seed=(1, 2, 3))
    return Figure(
        "phase",
        "Beyond: how often hidden states are told wrongly",
        "The share of hidden states whose sign the data tell wrongly, 0 if they tell all and a half if nothing, "
        "against the number of hidden units for each visible one. Dashed: read through the true couplings, which no "
        "method can better; solid: through those learned from the same 10,000 bins. Strong couplings tell more, and "
        "more hidden units for each visible one less.",
        "Exact learning by L-BFGS to convergence or 600 steps, the penalty of each block learned from the data, no "
        "box. Eight visible units, three networks of each size: the mean, and bars from the least to the largest.",
        "phase",
        full,
        tuple(e for e in full if e.seed == 1 and e.n_hidden < 8),
    )


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {"3": _fig3(), "4": _fig4(), "5": _fig5(), "6": _fig6(), "floors": _floors(), "phase": _phase()}
)
"""The paper's figures by number, and those beyond them by name."""
