"""Sparse logistic regression: rows in which most couplings are exactly zero, by an L1 penalty.

    minimise  -Σ_t [ s'H - log 2cosh H ] / n + Σ_k λ_k |w_k|          λ_k = 0 for inputs left free, such as the bias

Newton's method as in `logistic`, but each step solves the quadratic model with its penalty, coordinate by coordinate:

    v_k ← soft(b_k - Σ_{m≠k} C_km v_m, λ_k) / C_kk          soft(z, λ) = sign(z) max(|z| - λ, 0)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hidviz.learners.parts.logistic import RIDGE, Cases, distinct_inputs, row_curvature, row_slope
from hidviz.numerics import Array

_STEPS = 50
_SWEEPS = 500
_SETTLED = 1e-7  # the last step, or sweep, changes no coupling by more


def sparse_rows(
    senders: NDArray[np.int8],
    doubled: NDArray[np.int8],
    weights: Array,
    *,
    start: Array,
    offset: Array | None = None,
) -> Array:
    """The best sparse row of couplings to every unit.

    Args:
        senders: (inputs, n) what is seen in each of n bins.
        doubled: (units, n) twice the state that follows.
        weights: (units, inputs) λ; 0 for inputs that are left free.
        start: (units, inputs) rows to start from; those of a larger weight save steps.
        offset: (units, n) what is added to the field of each unit; None for nothing.
    """
    cases = distinct_inputs(senders, doubled, keep=offset is not None)
    offsets = [None] * len(doubled) if offset is None else offset
    return np.array(
        [
            _descend(cases._replace(offset=own), sums, to_unit, row)
            for own, sums, to_unit, row in zip(offsets, cases.sums, weights, start, strict=True)
        ]
    )


def _descend(cases: Cases, sums: Array, weights: Array, start: Array) -> Array:
    w = start.copy()
    value, rise = row_slope(cases, sums, w, 0.0)
    cost = weights @ np.abs(w) - value
    for _ in range(_STEPS):
        C = row_curvature(cases, w) + RIDGE * np.eye(len(w))
        step = _lasso(C, C @ w + rise, weights, w) - w
        while True:
            moved = w + step
            value, rise = row_slope(cases, sums, moved, 0.0)
            after = weights @ np.abs(moved) - value
            if after <= cost + 1e-12 * abs(cost):
                break
            step *= 0.5
        w, cost = moved, after
        if np.abs(step).max() < _SETTLED:
            break
    return w


def _lasso(C: Array, b: Array, weights: Array, start: Array) -> Array:
    """Minimise ½ vᵀC v - bᵀv + Σ λ_k |v_k|."""
    v = start.copy()
    rest = b - C @ v
    for _ in range(_SWEEPS):
        largest = 0.0
        for k, (own, weight) in enumerate(zip(np.diagonal(C), weights, strict=True)):
            z = rest[k] + own * v[k]
            change = np.sign(z) * max(abs(z) - weight, 0.0) / own - v[k]
            if change:
                v[k] += change
                rest -= C[k] * change
                largest = max(largest, abs(change))
        if largest < 0.1 * _SETTLED:
            break
    return v
