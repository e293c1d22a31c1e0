"""Figures: the paper's Figs. 3 to 6 as sweeps, in full and quick, with all that the paper leaves unsaid spelled out.

The paper gives neither a stopping rule nor a penalty, and they decide the picture: converged mean field of a small
network runs away from the truth, and so does exact maximum likelihood of short data. Here every experiment carries its
own patience, penalty and box, and `rules` says them in words. Beside the paper's learners stand those that it had not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from hidviz.experiments import Experiment
from hidviz.sweeps.sweep import Sweep, grid

FigureKind = Literal["traces", "costs", "errors", "floors", "phase"]

TEN = tuple(range(1, 11))
"""Networks behind a point, by their seeds."""


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


def _fig3() -> Figure:
    base = Experiment()
    random = grid(base, start_index=(1, 2, 3, 4, 5, 6))
    signed = grid(base, start=("right-signed", "wrong-signed"))
    return Figure(
        "figure3",
        "Fig. 3: random and right-signed starts",
        "From a random start the cost falls smoothly while the errors of K and L before alignment (thin) may stay "
        "large: a hidden unit has come out with its sign flipped. Started with the right signs they are small, and so "
        "they are after alignment (bold); the final cost is the same.",
        "L-BFGS to convergence, largest gradient below 1e-6 nats per bin; no penalty, no box.",
        "traces",
        (*random, *signed),
        (random[0], signed[0]),
    )


def _fig4() -> Figure:
    base = Experiment(n_visible=10, n_hidden=10, model="stochastic", learner="exact", patience=30, n_held_out=100_000)
    limit = replace(base, n_steps=1_000_000, start="truth", max_steps=0, patience=None, n_held_out=0)
    runs = grid(base, n_steps=(300, 1_000, 3_000, 10_000, 30_000, 100_000), seed=TEN)
    limits = grid(limit, seed=TEN)
    return Figure(
        "figure4",
        "Fig. 4: cost against data length, 10 + 10",
        "The training cost rises and the held-out cost falls to the same limit, the cost at the truth of endless data. "
        "AIC and BIC are made from the training cost, per bin; BIC with (N/2) log n, where the paper has N log N. "
        "From each cost that of the truth on the same data is subtracted and the limit added, which takes out the "
        "sampling noise of one data set.",
        "L-BFGS, the best step on held-out data, and a run ends 30 steps after it; no penalty, no box. Without that "
        "rule the likelihood of short data is largest at infinite couplings. Ten networks: the mean, and bars of one "
        "standard deviation over them.",
        "costs",
        (*runs, *limits),
        (*(e for e in runs if e.seed == 1 and e.n_steps <= 1_000), limit),
    )


def _fig5() -> Figure:
    base = Experiment(n_visible=80, model="stochastic", penalty="learned", box=1.5, max_steps=600, n_held_out=0)
    few, many = (replace(base, n_hidden=n_hidden) for n_hidden in (20, 80))
    both, lengths, longest = ("mean-field", "gibbs"), (1_000, 3_000, 10_000, 30_000), (100_000,)
    full = (
        *grid(many, learner=both, n_steps=(*lengths, *longest), seed=TEN[:3]),
        *grid(few, learner=both, n_steps=lengths, seed=TEN[:5]),
        *grid(few, learner=both, n_steps=longest, seed=TEN[:3]),
        *grid(few, learner=("mean-field-gaussian",), n_steps=lengths[:3], seed=TEN[:3]),
    )
    return Figure(
        "figure5",
        "Fig. 5: mean field, 80 + 80 and 80 + 20",
        "With 20 hidden units the errors fall as 1/T, but that of K by mean field (solid) more slowly from T = 10⁴ on: "
        "it nears a floor. With 80, K and L are about as far off as no couplings at all up to T = 10⁴, by either "
        "learner, and begin to be learned at 3·10⁴. At 10⁵ mean field, by now at the box, is hardly further, while "
        "Monte Carlo EM (dotted) has them, and J as 1/T all along.",
        "Mean field by L-BFGS to convergence or 600 steps, which 80 + 80 takes up to T = 3·10⁴, Monte Carlo EM by 600 "
        "decaying Adam steps, the last fifth averaged; a penalty learned from the same data for each block, every "
        "coupling kept within ±1.5, no held-out data. Three networks, and five of 80 + 20 up to T = 3·10⁴ by these "
        "two: the mean of the logarithms, and bars of one standard deviation. Without M, second order is the same as "
        "lowest order.",
        "errors",
        full,
        tuple(e for e in full if e.seed == 1 and e.n_steps == 1_000),
    )


def _fig6() -> Figure:
    base = Experiment(model="stochastic", learner="exact", patience=20, box=2.0, n_held_out=100_000)
    both = ("mean-field", "exact")
    short, middle, long = (300, 1_000, 3_000), (10_000, 30_000), (30_000, 100_000, 300_000)

    def network(n: int) -> tuple[Experiment, ...]:
        own = replace(base, n_visible=n, n_hidden=n)
        free = replace(own, patience=None)
        ascent = replace(own, optimiser="gradient", rate=0.5, n_held_out=30_000)
        learned = replace(free, penalty="learned")
        return (
            *grid(own, learner=(*both, "mean-field-correlated"), n_steps=(*short, *middle), seed=TEN),
            *grid(free, n_steps=long, seed=TEN),
            *grid(free, n_steps=(1_000_000,), seed=TEN if n == 5 else (1,)),
            *grid(replace(free, learner="gibbs"), n_steps=(1_000, 3_000, *middle), seed=TEN),
            *grid(ascent, learner=both, n_steps=short if n == 5 else short[:2], seed=TEN),
            *grid(learned, learner=(*both, "gibbs"), n_steps=(1_000,), seed=TEN),
        )

    five, eight = network(5), network(8)
    sampled = replace(base, n_visible=8, n_hidden=8, patience=None, learner="gibbs")
    return Figure(
        "figure6",
        "Fig. 6: mean field against exact, 5 + 5 and 8 + 8",
        "At T = 300 both learn 8 + 8 about alike. Then they part, by T = 3·10³ at either size: mean field (solid) "
        "flattens, exact learning (dashed) and Monte Carlo EM (dotted) go on, and at large T the errors come near the "
        "1/T line that the information in the data allows (thin). Correlated mean field (dashes with two dots) brings "
        "J of 8 + 8 lower, and nothing else. By gradient ascent, stopped alike, 8 + 8 begins alike too.",
        "L-BFGS, the best step on held-out exact cost, and a run ends 20 steps after it (exact also to convergence, "
        "where T is at least 3·10⁴); in panels of its own gradient ascent at rate .5, whose path passes every scale of "
        "the couplings, stopped alike; Monte Carlo EM by 800 decaying Adam steps, the last fifth averaged; every "
        "coupling kept within ±2, no penalty. In the table alone: all three at T = 10³ with a learned penalty, nothing "
        "held out. Ten networks, one at the longest of 8 + 8: the mean of the logarithms, and bars of one standard "
        "deviation.",
        "errors",
        (*five, *eight, *grid(sampled, n_steps=long[1:2], seed=TEN)),
        tuple(e for e in (*five, *eight) if e.seed == 1 and e.n_steps <= 3_000 and e.penalty != "learned"),
    )


def _floors() -> Figure:
    base = Experiment(model="stochastic", learner="mean-field", patience=20, box=2.0, n_held_out=30_000)
    whole, every = (1_000, 3_000, 10_000, 30_000), ((2, 2), (4, 2), (4, 4), (8, 2), (8, 4), (16, 2), (16, 4), (32, 4))

    def networks(*sizes: tuple[int, int], **knobs: Sequence[Any]) -> tuple[Experiment, ...]:
        each = [replace(base, n_visible=n_visible, n_hidden=n_hidden) for n_visible, n_hidden in sizes]
        return tuple(e for one in each for e in grid(one, **knobs))

    return Figure(
        "floors",
        "Beyond: where mean field ends",
        "The paper asks how large mean field's last errors are for so many hidden and visible units. Their ratio "
        "decides: with as many hidden as visible ones about half of K is never learned, and nothing is gained after "
        "T = 10³; with eight visible ones for each hidden one K ends more than a hundred times lower. Correlated mean "
        "field brings K lower at most sizes with more visible than hidden units, up to eightfold. Where that is "
        "settled, and whether twice the units at the same ratio end lower, `hidviz claims` says. "
        "Bold: T = 30 000; thin: mean field at shorter T.",
        "L-BFGS, the best step on held-out exact cost, and a run ends 20 steps after it; every coupling kept within "
        "±2, no penalty. Ten networks of each size, forty of 2 + 2 and 4 + 4 at the longest T: the mean of the "
        "logarithms, and bars of one standard deviation.",
        "floors",
        (
            *networks(*every, n_steps=whole, seed=TEN),
            *networks((2, 2), (4, 4), n_steps=whole[3:], seed=range(11, 41)),
            *networks(*every, learner=("mean-field-correlated",), n_steps=whole[3:], seed=TEN),
        ),
        networks((8, 2), (16, 2), n_steps=whole[:2], seed=TEN[:1]),
    )


def _phase() -> Figure:
    base = Experiment(n_visible=8, n_steps=10_000, model="stochastic", learner="exact", penalty="learned")
    base = replace(base, n_held_out=0, max_steps=600)
    full = grid(base, variance=(0.25, 1.0, 4.0), n_hidden=(1, 2, 4, 8), seed=TEN)
    return Figure(
        "phase",
        "Beyond: how often hidden states are told wrongly",
        "The share of hidden states whose sign the data tell wrongly, 0 if they tell all and a half if nothing, "
        "against the number of hidden units for each visible one. Dashed: read through the true couplings, which on "
        "average no method can better; solid: through those learned from the same 10,000 bins; thin: what replica "
        "theory says of infinitely many units. Strong couplings tell more, and more hidden units for each visible one "
        "less.",
        "Exact learning by L-BFGS to convergence or 600 steps, the penalty of each block learned from the data, no "
        "box. Eight visible units, ten networks of each size: the mean, and bars of one standard deviation.",
        "phase",
        full,
        tuple(e for e in full if e.seed == 1 and e.n_hidden < 8),
    )


FIGURES: Mapping[str, Figure] = MappingProxyType(
    {"3": _fig3(), "4": _fig4(), "5": _fig5(), "6": _fig6(), "floors": _floors(), "phase": _phase()}
)
"""The paper's figures by number, and those beyond them by name."""
