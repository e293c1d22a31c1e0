"""Hide a recorded unit, infer it from the others, and compare with what it truly did: a test that has an answer.

    r          correlation of the posterior of the hidden unit with the true states
    r_count    correlation of the number of other units that fire in the same bin with them: the control
    partial    r given that number in the bin before, the same bin and the bin after

Without the control the test misleads: where units fire together, anything that follows the population correlates with
every unit. Only what is left given the count speaks of the unit itself. The hidden unit and its sign are matched on the
stopping part, and all numbers are from the judging part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hidviz.background import one_blas_thread
from hidviz.evaluation import TINY
from hidviz.experiments.fit_parts import fit_model
from hidviz.experiments.l1_path import Strength
from hidviz.learners import hidden_posterior, logistic_fit
from hidviz.network import Couplings, Parts, Recording
from hidviz.numerics import Array

MOST_HIDDEN = 4  # units that are hidden in turn where nobody says which
KEPT = 0.5  # part of r that must be left given the count, to speak of an unseen unit


@dataclass(frozen=True, eq=False)
class HiddenUnit:
    """How well a hidden unit stands for the one that was hidden.

    Args:
        name: of the unit.
        r: correlation of the posterior with the true states.
        chance: standard deviation of r by chance, from the posterior shifted in time.
        r_count: correlation of the number of other units that fire with the true states.
        partial: r given that number in three bins.
        auc: probability that the posterior is higher in a bin with a spike than in one without.
        ceiling: r of the posterior under couplings learned with the unit in sight.
        n_spikes: bins with a spike in the judging part.
    """

    name: str
    r: float
    chance: float
    r_count: float
    partial: float
    auc: float
    ceiling: float
    n_spikes: int

    @property
    def is_the_unit(self) -> bool:
        """Whether at least half of the correlation is left given the count."""
        return self.partial >= KEPT * self.r > 2.0 * KEPT * self.chance

    def in_words(self) -> str:
        """What may be said of it."""
        numbers = (
            f"r {self.r:.2f} (chance {self.chance:.2f}, ceiling {self.ceiling:.2f}), AUC {self.auc:.2f}; the count of "
            f"the other units alone has {self.r_count:.2f}, and given it {self.partial:.3f} is left"
        )
        what = "an unseen unit" if self.is_the_unit else "a shared state that follows the population, not this unit"
        return f"{self.name}: {numbers}. The hidden unit is {what}."


@one_blas_thread()
def hide_unit(
    parts: Parts,
    unit: str | int,
    *,
    n_hidden: int = 1,
    hidden_hidden: bool = True,
    starts: int = 2,
    penalty: float = 0.0,
    l1: Strength = 0.0,
    max_steps: int = 300,
    seed: int = 1,
    sampled: bool = False,
) -> HiddenUnit:
    """Hide one unit, fit hidden units to the others, and compare.

    Args:
        parts: what `divide` made of a recording.
        unit: its name, or its number from 0.
        n_hidden: number of hidden units to infer.
        hidden_hidden: learn M too.
        starts: random starts.
        penalty: weight of the L2 penalty per bin.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part; 0 for none.
        max_steps: most steps of a start.
        seed: of the random starts.
        sampled: learn by sampling, as a scan does where sums over hidden states would take too long.

    Raises:
        ValueError: there is no such unit, or no other.
        Infeasible: there are too many hidden units to sum over, for learning or, if sampled, for reading them off.
    """
    place = _place(parts.learn, unit)
    learn, stop, judge = (_without(part, place) for part in (parts.learn, parts.stop, parts.judge))
    runs = fit_model(
        learn, stop, n_hidden, hidden_hidden=hidden_hidden, starts=starts, seed=seed, penalty=penalty,
        l1=l1, max_steps=max_steps, sampled=sampled,
    )  # fmt: skip
    couplings = runs[0].couplings
    seen = hidden_posterior(couplings, stop).smoothed
    matched = np.array([_correlation(column, _truth(parts.stop, place)) for column in seen.T])
    best = int(np.abs(matched).argmax())
    posterior = np.sign(matched[best] or 1.0) * hidden_posterior(couplings, judge).smoothed[:, best]

    truth, counts = _truth(parts.judge, place), _counts(judge)
    whole = logistic_fit(parts.learn, bias=True, penalty=max(penalty, TINY)).couplings
    known = hidden_posterior(_hidden(whole, place), judge).smoothed[:, 0]
    return HiddenUnit(
        name=parts.learn.name_of(place),
        r=_correlation(posterior, truth),
        chance=_chance(posterior, truth),
        r_count=_correlation(counts[:, 1], truth),
        partial=_correlation(_given(posterior, counts), _given(truth, counts)),
        auc=_auc(posterior, truth),
        ceiling=_correlation(known, truth),
        n_spikes=int((truth > 0).sum()),
    )


def hide_units(parts: Parts, units: Sequence[str | int] | None = None, **fit: Any) -> Iterator[HiddenUnit]:
    """Hide several units, one at a time.

    Args:
        parts: what `divide` made of a recording.
        units: names, or numbers from 0; None for the busiest four.
        **fit: options of `hide_unit`.

    Raises:
        ValueError: there is no such unit, or no other.
        Infeasible: there are too many hidden units to sum over.
    """
    places = [_place(parts.learn, unit) for unit in (busiest(parts) if units is None else units)]
    return (hide_unit(parts, place, **fit) for place in places)


def busiest(parts: Parts) -> tuple[str, ...]:
    """The units that fire in the most bins, but for one that is left to infer them from; four at most."""
    spikes = sum((trial > 0).sum(axis=0) for part in parts[:3] for trial in part.trials)
    order = np.argsort(-np.asarray(spikes), kind="stable")
    return tuple(parts.learn.name_of(int(k)) for k in order[: min(MOST_HIDDEN, parts.learn.n_visible - 1)])


def _place(recording: Recording, unit: str | int) -> int:
    names = [recording.name_of(k) for k in range(recording.n_visible)]
    if recording.n_visible < 2:
        raise ValueError("There must be other units to infer one from, got a recording of one.")
    if isinstance(unit, str):
        if unit not in names:
            raise ValueError(f"There is no unit {unit}; there are {', '.join(names)}.")
        return names.index(unit)
    if not 0 <= unit < len(names):
        raise ValueError(f"Units are counted from 0 to {len(names) - 1}, got {unit}.")
    return unit


def _without(recording: Recording, place: int) -> Recording:
    names = recording.names and (*recording.names[:place], *recording.names[place + 1 :])
    field = None if recording.external_field is None else np.delete(recording.external_field, place, axis=1)
    return Recording([np.delete(trial, place, axis=1) for trial in recording.trials], names, recording.bin, field)


def _truth(recording: Recording, place: int) -> Array:
    """What the unit did at the start of each transition."""
    return recording.transitions().present[:, place].astype(np.float64)


def _counts(recording: Recording) -> Array:
    """(n_transitions, 3) units that fire in the bin before, the same bin and the bin after."""
    data = recording.transitions()
    each = (data.previous, data.present, data.following)
    return np.column_stack([(states > 0).sum(axis=1) for states in each]).astype(np.float64)


def _hidden(couplings: Couplings, place: int) -> Couplings:
    """A network without hidden units, one of its units hidden."""
    others = np.delete(np.arange(couplings.n_visible), place)
    J, h = couplings.J, couplings.h
    return replace(
        couplings, J=J[np.ix_(others, others)], K=J[others, place][:, None], L=J[place, others][None, :],
        M=J[place, place].reshape(1, 1), h=h[others], g=h[[place]],
    )  # fmt: skip


def _correlation(one: Array, other: Array) -> float:
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0.0 else 0.0


def _given(values: Array, controls: Array) -> Array:
    """What of the values is left after linear regression on the controls."""
    x = np.column_stack([controls, np.ones(len(controls))])
    left: Array = values - x @ np.linalg.lstsq(x, values, rcond=None)[0]
    return left


def _chance(posterior: Array, truth: Array) -> float:
    """Spread of r over shifts in time that leave both as slow as they are."""
    n = len(truth)
    return float(
        np.std([_correlation(np.roll(posterior, k), truth) for k in np.linspace(n // 20, n - n // 20, 50, dtype=int)])
    )


def _auc(posterior: Array, truth: Array) -> float:
    """Area under the curve of hits against false alarms: from ranks, ties sharing theirs."""
    spike = truth > 0
    n_spikes, n_silent = int(spike.sum()), int((~spike).sum())
    if not n_spikes or not n_silent:
        return float("nan")
    _, inverse, counts = np.unique(posterior, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - 0.5 * (counts - 1))[inverse]
    return float((ranks[spike].sum() - 0.5 * n_spikes * (n_spikes + 1)) / (n_spikes * n_silent))
