"""Logistic regression: the best couplings to ±1 units from what is seen, by Newton's method on every bin.

    maximise  Σ_t [ s'H - log 2cosh H ] / n - ½ Σ_k λ_k w_k²        H = Σ_k w_k x_k(t)        one row w a unit

λ_k is the penalty, but for a bias: a penalty on it would move rates, so it has `BIAS_PENALTY` at most, which moves none
and yet keeps the bias of a unit finite that never fires.

Concave, so a step that overshoots is halved and the rest is quadratic convergence. The curvature is that of all bins:
in sparse recordings a sample of them misses the few spikes that hold a coupling. What bins see repeats itself, in
sparse recordings most of all, so each distinct input is kept once with its count and the sum of what followed it.

Where an input predicts some states of a unit perfectly (a unit that is always silent after another has fired), the
likelihood alone rises for ever: without a penalty there is no optimum, with one it is the penalty that holds the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.numerics import Array, log_2cosh

_STEPS = 60  # of Newton's method; a dozen suffice where the optimum is finite
_SETTLED = 1e-7  # the last step changes no coupling by more
RIDGE = 1e-9  # curvature lent to directions that no data constrain: silent or duplicate units
BIAS_PENALTY = 1e-6  # per bin: moves the mean state of a unit by a few millionths
_BLOCK = 2**18  # numbers in a block of inputs
_HELD, _AWAY = 0.25, 6  # a row whose field would still move by this after so many steps without the penalty grows


class Rows(NamedTuple):
    """Fitted rows.

    Args:
        couplings: (units, inputs) the best row of every unit.
        settled: (units,) whether its last step was small: without a penalty, whether it has a finite optimum.
        held: (units,) whether only the penalty keeps it finite, as some states are predicted perfectly.
    """

    couplings: Array
    settled: NDArray[np.bool_]
    held: NDArray[np.bool_]


def best_rows(
    senders: NDArray[np.int8],
    doubled: NDArray[np.int8],
    penalty: float,
    *,
    bias: int | None = None,
    offset: Array | None = None,
) -> Rows:
    """The best row of couplings to every unit.

    Args:
        senders: (inputs, n) what is seen in each of n bins, -1, 0 or 1.
        doubled: (units, n) twice the state that follows.
        penalty: penalty/2 times the sum of squares is added to the cost per bin.
        bias: the place of the input that is always 1; its weight is at most `BIAS_PENALTY`.
        offset: (units, n) what is added to the field of each unit, and not fitted; None for nothing.
    """
    weights = np.full(len(senders), penalty, np.float64)
    if bias is not None:
        weights[bias] = min(penalty, BIAS_PENALTY)
    cases, n_units = distinct_inputs(senders, doubled, keep=offset is not None), len(doubled)
    at_zero = row_curvature(cases, np.zeros(len(senders)))
    found = Rows(np.zeros((n_units, len(senders))), np.zeros(n_units, bool), np.zeros(n_units, bool))
    for i in range(n_units):
        if offset is not None:
            cases = cases._replace(offset=offset[i])
            at_zero = row_curvature(cases, np.zeros(len(senders)))
        found.couplings[i], found.settled[i], found.held[i] = _climb(cases, cases.sums[i], at_zero, weights)
    return found


class Cases(NamedTuple):
    """Each distinct input once: (inputs, m) of them, (m,) how often, (units, m) sum of the states that follow.

    Of one unit at a time, (m,) an offset of the field; None for nothing.
    """

    inputs: NDArray[np.int8]
    counts: Array
    sums: Array
    n: int
    offset: Array | None = None

    def field(self, w: Array, part: slice, x: Array) -> Array:
        """The field of a row in some of the inputs."""
        return w @ x if self.offset is None else w @ x + self.offset[part]


def distinct_inputs(senders: NDArray[np.int8], doubled: NDArray[np.int8], *, keep: bool = False) -> Cases:
    """The cases, in any order; as they come where hardly any repeats, or all are to be kept."""
    n = senders.shape[1]
    if keep:
        return Cases(senders, np.ones(n), doubled / np.float64(2.0), n)
    rows = np.ascontiguousarray(senders.T)
    keys = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if 2 * len(first) > n:
        return Cases(senders, np.ones(n), doubled / np.float64(2.0), n)
    sums = np.empty((len(doubled), len(first)))
    for into, unit in zip(sums, doubled, strict=True):
        into[:] = np.bincount(inverse, weights=unit, minlength=len(first))
    sums *= 0.5
    return Cases(np.ascontiguousarray(senders[:, first]), counts.astype(np.float64), sums, n)


def row_slope(cases: Cases, sums: Array, w: Array, weights: Array | float) -> tuple[float, Array]:
    """Penalised log likelihood per bin of one row, and its slope."""
    value, slope = 0.0, np.zeros(len(w))
    for part, x in _blocks(cases):
        field = cases.field(w, part, x)
        counts, sum_after = cases.counts[part], sums[part]
        value += float(sum_after @ field - counts @ log_2cosh(field))
        slope += x @ (sum_after - counts * np.tanh(field))
    return value / cases.n - 0.5 * float((weights * w) @ w), slope / cases.n - weights * w


def row_curvature(cases: Cases, w: Array) -> Array:
    """Curvature of the log likelihood of one row per bin, turned positive."""
    curvature = np.zeros((len(w), len(w)))
    for part, x in _blocks(cases):
        tanh = np.tanh(cases.field(w, part, x))
        curvature += (x * (cases.counts[part] * (1.0 - tanh) * (1.0 + tanh))) @ x.T
    return curvature / cases.n


def _blocks(cases: Cases) -> Iterator[tuple[slice, Array]]:
    n_inputs, n = cases.inputs.shape
    width = max(_BLOCK // n_inputs, 256)
    for begin in range(0, n, width):
        checkpoint()
        part = slice(begin, begin + width)
        yield part, cases.inputs[:, part].astype(np.float64)


def _climb(cases: Cases, sums: Array, at_zero: Array, weights: Array) -> tuple[Array, bool, bool]:
    """The best row, whether it settled, and whether only the penalty holds it.

    The curvature is kept as long as each step with it cuts the slope tenfold; that affects only how many there are.
    """
    added = np.diag(weights + RIDGE)
    w, curvature, settled = np.zeros(len(cases.inputs)), at_zero, False
    value, slope = row_slope(cases, sums, w, weights)
    for _ in range(_STEPS):
        steep, before = np.abs(slope).max(), value
        step = np.linalg.solve(curvature + added, slope)
        value, slope = row_slope(cases, sums, w + step, weights)
        while value < before - 1e-12 * abs(before):
            step *= 0.5
            value, slope = row_slope(cases, sums, w + step, weights)
        w = w + step
        settled = bool(np.abs(step).max() < _SETTLED)
        if settled:
            break
        if np.abs(slope).max() > 0.1 * steep:
            curvature = row_curvature(cases, w)
    return w, settled, bool(weights.all()) and _grows(cases, sums, w)


def _grows(cases: Cases, sums: Array, w: Array) -> bool:
    """Whether the row goes on and on without a penalty: Newton's steps to a finite optimum would shrink."""
    for _ in range(_AWAY):
        ridge = RIDGE * np.eye(len(w))
        step = np.linalg.solve(row_curvature(cases, w) + ridge, row_slope(cases, sums, w, 0.0)[1])
        reach = float(np.abs(step).sum())
        if reach < _HELD:
            return False
        w = w + step / max(1.0, reach)
    return True
