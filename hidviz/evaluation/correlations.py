"""Correlations: what visible data show before any inference, rates and pairwise correlations at lags 0, 1 and 2.

    lag k:      C_ij = correlation of s_i(t+k) with s_j(t)          rows are later, columns earlier
    beyond:     the same at lag 2, given all of s(t+1): partial correlations

If the visible units were all there is, the past would act on the future through the present alone, and hardly anything
would be left beyond lag 1. A hidden unit without M listens at t and speaks at t+2: a memory of exactly two bins.

Linear measures, so "hardly" and not "nothing": couplings follow from a likelihood (see the learners), not from these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.network import Recording
from hidviz.numerics import Array, States

BLOCK_NUMBERS = 2**21  # numbers in a block; sums of fewer than 2**24 products of ±1 are exact in single precision
_VANISHES = 1e-9  # a variance below this is rounding: the unit does not change, or is known already


class Correlations(NamedTuple):
    """Correlations of every pair of visible units, each (Nv, Nv), in [-1, 1].

    Pairs with a unit that never changes are 0. `n` is the number of triples of bins behind them: by chance alone an
    entry has a standard deviation of about 1/sqrt(n).
    """

    lag0: Array
    lag1: Array
    lag2: Array
    beyond: Array
    n: int


def rates(states: NDArray[np.int8] | Array, *, block: int = BLOCK_NUMBERS) -> Array:
    """Mean of (1 + state)/2 of each unit, (n_units,): for ±1 units the fraction of bins with a spike.

    Args:
        states: (T, n_units).
        block: how many numbers are summed at a time.
    """
    total, rows = np.zeros(states.shape[1]), _block_rows(states.shape[1], block)
    for begin in range(0, len(states), rows):
        checkpoint()
        total += states[begin : begin + rows].sum(axis=0, dtype=np.float64)
    return 0.5 + 0.5 * total / len(states)


def correlations(recording: Recording, *, block: int = BLOCK_NUMBERS) -> Correlations:
    """Correlations over all triples s(t), s(t+1), s(t+2) that lie within one trial.

    Args:
        recording: the visible history.
        block: how many numbers are multiplied at a time.
    """
    n_visible = recording.n_visible
    n, total, product = 0, np.zeros(3 * n_visible), np.zeros((3 * n_visible, 3 * n_visible))
    for trial in recording.trials:
        rows = _block_rows(3 * n_visible, block)
        for begin in range(0, len(trial) - 2, rows):
            checkpoint()
            triples = _triples(trial[begin : begin + rows + 2])
            n += len(triples)
            total += triples.sum(axis=0, dtype=np.float64)
            product += triples.T @ triples
    mean = total / max(n, 1)
    covariance = product / max(n, 1) - np.outer(mean, mean)
    later, middle, earlier = (slice(k * n_visible, (k + 1) * n_visible) for k in range(3))
    plain = _normalised(covariance)

    outer = np.r_[later, earlier]
    pull = covariance[outer, middle] @ np.linalg.pinv(covariance[middle, middle], rcond=_VANISHES, hermitian=True)
    given = _normalised(covariance[np.ix_(outer, outer)] - pull @ covariance[middle, outer])
    return Correlations(
        lag0=plain[middle, middle],
        lag1=plain[later, middle],
        lag2=plain[later, earlier],
        beyond=given[:n_visible, n_visible:],
        n=n,
    )


def _triples(states: States) -> NDArray[np.float32]:
    """[s(t+2), s(t+1), s(t)] side by side, for every t that has them."""
    return np.concatenate([states[2:], states[1:-1], states[:-2]], axis=1).astype(np.float32)


def _block_rows(n_columns: int, block: int) -> int:
    return max(1, block // max(1, n_columns))


def _normalised(covariance: Array) -> Array:
    """Correlations of a covariance matrix; 0 for whatever does not vary."""
    variance = np.diagonal(covariance)
    varies = variance > _VANISHES
    scale = np.where(varies, 1.0 / np.sqrt(np.where(varies, variance, 1.0)), 0.0)
    correlation: Array = covariance * np.outer(scale, scale)
    return correlation
