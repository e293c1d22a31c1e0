"""Gauge: the relabellings and sign flips of hidden units that visible data cannot see.

Flipping sigma_a → -sigma_a with column a of K, row a of L, row and column a of M and the bias g_a, and any permutation
of the hidden labels, leave the law of the visible units unchanged: 2**Nh · Nh! equivalent models. (The paper, after
Fig. 3, names K and L only; with hidden-to-hidden couplings M flips too.) Everything here is pure; alignment is for
looking and scoring, never part of learning. A network with fewer hidden units than another is compared as if it had
further ones with no couplings at all, which is what the absence of a unit means.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment

from hidviz.network.couplings import Couplings
from hidviz.numerics import Array


@dataclass(frozen=True, eq=False, init=False)
class Gauge:
    """A relabelling with signs: position a of the result takes hidden unit order[a], times signs[a].

    Args:
        order: (Nh,) a permutation of 0 … Nh-1.
        signs: (Nh,) entries +1 or -1.

    Raises:
        ValueError: order is no permutation, or a sign is not ±1.
    """

    order: NDArray[np.intp]
    signs: Array

    def __init__(self, order: ArrayLike, signs: ArrayLike) -> None:
        new_order, new_signs = np.array(order, dtype=np.intp), np.array(signs, dtype=np.float64)
        if new_order.ndim != 1 or not np.array_equal(np.sort(new_order), np.arange(len(new_order))):
            raise ValueError(f"order must be a permutation of 0 … Nh-1, got {new_order}.")
        if new_signs.shape != new_order.shape or not (np.abs(new_signs) == 1.0).all():
            raise ValueError(f"signs must hold {len(new_order)} entries +1 or -1, got {new_signs}.")
        new_order.flags.writeable = new_signs.flags.writeable = False
        object.__setattr__(self, "order", new_order)
        object.__setattr__(self, "signs", new_signs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Gauge, (self.order, self.signs)  # so that a copy is read-only again

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Gauge):
            return NotImplemented
        return np.array_equal(self.order, other.order) and np.array_equal(self.signs, other.signs)

    def __hash__(self) -> int:
        return hash((self.order.tobytes(), self.signs.tobytes()))

    @property
    def is_identity(self) -> bool:
        """Whether nothing moves and nothing flips."""
        return bool((self.order == np.arange(len(self.order))).all() and (self.signs > 0).all())

    def then(self, later: Gauge) -> Gauge:
        """The gauge that first applies this one, then `later`."""
        return Gauge(self.order[later.order], self.signs[later.order] * later.signs)

    def inverse(self) -> Gauge:
        """The gauge that undoes this one."""
        back = np.argsort(self.order)
        return Gauge(back, self.signs[back])


def identity(n_hidden: int) -> Gauge:
    """The gauge that changes nothing."""
    return Gauge(np.arange(n_hidden), np.ones(n_hidden))


def flip(n_hidden: int, unit: int) -> Gauge:
    """The gauge that flips the sign of one hidden unit, counted from 0."""
    return Gauge(np.arange(n_hidden), np.where(np.arange(n_hidden) == unit, -1.0, 1.0))


def swap(n_hidden: int, first: int, second: int) -> Gauge:
    """The gauge that exchanges the labels of two hidden units, counted from 0."""
    order = np.arange(n_hidden)
    order[[first, second]] = order[[second, first]]
    return Gauge(order, np.ones(n_hidden))


def n_equivalent_models(n_hidden: int) -> int:
    """Number of models that no visible data can tell apart: 2**Nh · Nh!."""
    return int(2**n_hidden * factorial(n_hidden))


def regauge(couplings: Couplings, gauge: Gauge) -> Couplings:
    """The equivalent couplings with hidden units relabelled and flipped; exact in every bit.

    Raises:
        ValueError: the gauge is for another number of hidden units.
    """
    if len(gauge.order) != couplings.n_hidden:
        raise ValueError(f"The gauge is for {len(gauge.order)} hidden units, the couplings have {couplings.n_hidden}.")
    order, signs = gauge.order, gauge.signs
    return Couplings(
        J=couplings.J,
        K=couplings.K[:, order] * signs,
        L=couplings.L[order] * signs[:, None],
        M=couplings.M[np.ix_(order, order)] * np.outer(signs, signs),
        h=couplings.h,
        g=couplings.g[order] * signs,
    )


def with_hidden(couplings: Couplings, n_hidden: int) -> Couplings:
    """The same network with unconnected hidden units appended, up to n_hidden; itself if it has as many."""
    more = n_hidden - couplings.n_hidden
    if more <= 0:
        return couplings
    return Couplings(
        J=couplings.J,
        K=np.pad(couplings.K, ((0, 0), (0, more))),
        L=np.pad(couplings.L, ((0, more), (0, 0))),
        M=np.pad(couplings.M, ((0, more), (0, more))),
        h=couplings.h,
        g=np.pad(couplings.g, (0, more)),
    )


def overlaps(estimate: Couplings, truth: Couplings) -> Array:
    """C = K_trueᵀ K_est + L_true L_estᵀ, (Nh, Nh): how well each true (row) and found (column) hidden unit agree.

    Both are taken with the larger of the two numbers of hidden units.
    """
    n = max(estimate.n_hidden, truth.n_hidden)
    found, true = with_hidden(estimate, n), with_hidden(truth, n)
    return true.K.T @ found.K + true.L @ found.L.T


def cosines(estimate: Couplings, truth: Couplings) -> Array:
    """`overlaps` divided by the lengths of both units' couplings: in [-1, 1], 0 where a unit has no couplings."""
    n = max(estimate.n_hidden, truth.n_hidden)
    found, true = (_lengths(with_hidden(each, n)) for each in (estimate, truth))
    size = np.outer(true, found)
    return np.divide(overlaps(estimate, truth), size, out=np.zeros((n, n)), where=size > 0.0)


def best_gauge(estimate: Couplings, truth: Couplings) -> Gauge:
    """The gauge of the estimate that minimises the summed square error of K and L against the truth.

    Linear assignment on |C| with the signs of C, C from `overlaps`, is exactly optimal. M is left out of the
    criterion, which it would make quadratic in the gauge. The truth may be any other network, such as a second
    estimate. With unequal numbers of hidden units the gauge is for the larger: see `with_hidden` and `aligned`.
    """
    agreement = overlaps(estimate, truth)
    true_units, order = linear_sum_assignment(-np.abs(agreement))
    return Gauge(order, np.where(agreement[true_units, order] < 0.0, -1.0, 1.0))


def aligned(estimate: Couplings, truth: Couplings) -> Couplings:
    """The estimate in its best gauge, with as many hidden units as the larger of the two."""
    gauge = best_gauge(estimate, truth)
    return regauge(with_hidden(estimate, len(gauge.order)), gauge)


def _lengths(couplings: Couplings) -> Array:
    squares: Array = (couplings.K**2).sum(axis=0) + (couplings.L**2).sum(axis=1)
    return np.sqrt(squares)
