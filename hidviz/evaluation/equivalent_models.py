"""Equivalent models: all that the data cannot tell from this one, one that they can, and a valley that is nearly flat.

    sign flip, relabelling     K ← K P D,  L ← (P D)ᵀ L,  M ← (P D)ᵀ M P D,  g ← (P D)ᵀ g      D = diag(±1): a symmetry
    broken flip                K alone, or L alone                                            no symmetry
    scale valley               K ← K D,  L ← D⁻¹ L,  M ← D⁻¹ M D,  g ← D⁻¹ g                  D = diag(c): nearly one

The flip is the scale c = -1, which tanh, being odd, follows exactly. It follows other scales only where fields are so
weak that it is linear: there the data know the products K_ia L_aj and no more (the paper, after Fig. 3, and beyond it).

Every cost is evaluated anew by a learner, not copied: that they agree is the finding. This is for looking at a model
that has been learned, and no part of learning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import permutations, product
from typing import Literal, NamedTuple

import numpy as np

from hidviz.evaluation.likelihood import cost_per_bin
from hidviz.learners import Beliefs, Infeasible, Learner, regauge_beliefs
from hidviz.network import Couplings, Gauge, n_equivalent_models, regauge
from hidviz.numerics import Array

MOST_UNITS = 3  # hidden units whose 48 equivalent models still fit on a page; four have 384


class Equivalent(NamedTuple):
    """One of the equivalent models: the gauge that leads to it, its couplings, its cost in nats per bin."""

    gauge: Gauge
    couplings: Couplings
    cost: float


def all_gauges(n_hidden: int) -> Iterator[Gauge]:
    """Every gauge of so many hidden units, 2**Nh · Nh! of them, the identity first.

    Raises:
        Infeasible: there are more than 3 hidden units.
    """
    if n_hidden > MOST_UNITS:
        raise Infeasible(
            f"{n_hidden} hidden units have {n_equivalent_models(n_hidden):,} equivalent models, "
            f"too many to list: at most {MOST_UNITS} units are shown in full."
        )
    orders = permutations(range(n_hidden))
    return (Gauge(order, signs) for order in orders for signs in product((1.0, -1.0), repeat=n_hidden))


def iter_equivalents(learner: Learner, couplings: Couplings, beliefs: Beliefs | None = None) -> Iterator[Equivalent]:
    """All models equivalent to this one, each with its cost; the model itself comes first.

    Args:
        learner: what evaluates the costs, prepared for as many hidden units.
        couplings: the model.
        beliefs: where the learner's beliefs about the hidden units start; they are moved along with the units.

    Raises:
        Infeasible: there are more than 3 hidden units.
    """
    for gauge in all_gauges(couplings.n_hidden):
        moved = regauge(couplings, gauge)
        yield Equivalent(gauge, moved, cost_per_bin(learner, moved, beliefs and regauge_beliefs(beliefs, gauge)))


def flip_half(couplings: Couplings, unit: int, block: Literal["K", "L"]) -> Couplings:
    """Half a flip: the sign of one hidden unit changes in K or in L only, which is another model.

    Without M and hidden bias both halves cost the same, since they differ by a whole flip.

    Args:
        couplings: the model.
        unit: the hidden unit, counted from 0.
        block: "K" for what the unit sends, "L" for what it receives.
    """
    K, L = couplings.K.copy(), couplings.L.copy()
    if block == "K":
        K[:, unit] *= -1.0
    else:
        L[unit] *= -1.0
    return replace(couplings, K=K, L=L)


def rescale(couplings: Couplings, factor: float, unit: int | None = None) -> Couplings:
    """The model with one hidden unit, or all of them, with K scaled up by a factor and L scaled down by as much.

    Args:
        couplings: the model.
        factor: c in K → cK, L → L/c; M and g follow, as the unit's scale asks. -1 is the flip.
        unit: the hidden unit, counted from 0; None for all.
    """
    n = couplings.n_hidden
    c = np.full(n, factor) if unit is None else np.where(np.arange(n) == unit, factor, 1.0)
    return replace(
        couplings,
        K=couplings.K * c,
        L=couplings.L / c[:, None],
        M=couplings.M * (c / c[:, None]),
        g=couplings.g / c,
    )


def scale_valley(
    learner: Learner,
    couplings: Couplings,
    factors: Iterable[float],
    unit: int | None = None,
    beliefs: Beliefs | None = None,
) -> Array:
    """Costs along K → cK, L → L/c in nats per bin, one for each factor c; see `rescale`."""
    return np.array([cost_per_bin(learner, rescale(couplings, c, unit), beliefs) for c in factors])


def gauge_label(gauge: Gauge) -> str:
    """A gauge in a few signs: "+2 −1" takes unit 2 first, then unit 1 with the other sign."""
    pairs = zip(gauge.order, gauge.signs, strict=True)
    return " ".join(f"{'−' if sign < 0 else '+'}{unit + 1}" for unit, sign in pairs)
