"""Solving the E-step equations theta = field(tanh theta), theta = atanh mu, bin by bin.

Plain iteration fails in most networks. Two ways in turn, over the bins that are still open:

    mixing   Anderson's acceleration: the next theta is the combination of the last few whose gap is least. Without
             hidden-to-hidden couplings the bins are independent and each has a combination of its own (depth 3); with
             them, 32 bins in a row share one (depth 8, damping .7).
    ascent   theta += rate (field - theta), an ascent direction of A; a bin whose objective falls takes the step back
             and halves its rate, which starts at ½. With hidden-to-hidden couplings even and odd bins take turns, so
             that each moves with its neighbours at rest, and A never falls.

Mixing is fast near a solution and ascent gets there. A bin counts as converged when every unit obeys
|tanh(field) - mu| <= tolerance, in the returned mu itself. A solution may be one of several.

Long recordings are solved in chunks that stay in cache, each with its neighbours held; with hidden-to-hidden
couplings, pass after pass with the seams at other places, until a pass finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint, in_order
from hidviz.learners.parts.mean_field_cases import Cases
from hidviz.learners.parts.mean_field_objective import (
    Chunk,
    Rows,
    Theory,
    Wiring,
    chunk,
    field,
    field_and_value,
    guess,
)
from hidviz.numerics import Array

_LIMIT = 17.0  # largest |theta|: 1 - tanh(17) = 3e-15 keeps mu strictly inside (-1, 1)
_MIXING, _ASCENT = 40, 20  # sweeps of each before the other has its turn; those of ascent double
_PASSES = 10
_LONG = 2**19  # numbers of a recording from which chunks are larger


def settle(
    theory: Theory, wiring: Wiring, cases: Cases, start: Array | None, tolerance: float, max_sweeps: int
) -> tuple[Array, Array]:
    """Solve the E-step equations from a start, or from a guess where there is none.

    Args:
        theory: the mean-field theory.
        wiring: the couplings.
        cases: the data.
        start: (n, Nh) magnetisations to start from; None for a guess.
        tolerance: largest violation that counts as none.
        max_sweeps: sweeps that a chunk may take in one pass; 0 to leave mu as it is, and only measure it.

    Returns:
        mu, (n, Nh), strictly inside (-1, 1), and its violation |tanh(field) - mu|, (n,), the largest over units.
    """
    n, n_hidden = len(cases.present), wiring.R.shape[1]
    mu = np.empty((n, n_hidden)) if start is None else _inside(start)
    gaps = np.zeros(n)
    if n_hidden == 0:
        return mu, gaps
    if start is None:
        for cut in _cuts(wiring, n):
            c = chunk(theory, wiring, cases, *cut)
            mu[c.first : c.first + len(c.prior)] = _inside(guess(c))
    passes = 0 if max_sweeps == 0 else _PASSES if wiring.coupled else 1
    fewest, changed = n, False
    for k in range(passes):
        cold = start is None and k == 0

        def solve(cut: tuple[int, int], cold: bool = cold) -> bool:
            return _solve(chunk(theory, wiring, cases, *cut), mu, gaps, tolerance, max_sweeps, cold=cold)

        cuts = _cuts(wiring, n, shifted=k % 2 == 1)
        # with M a chunk sees what the one before it has become, else each is by itself
        changed = any([solve(cut) for cut in cuts] if wiring.coupled else list(in_order(solve, cuts)))
        left = int((gaps > tolerance).sum())
        if not changed or left >= fewest:
            break
        fewest = left or 1
    if max_sweeps == 0 or (wiring.coupled and changed):
        for cut in _cuts(wiring, n):
            c = chunk(theory, wiring, cases, *cut)
            rows = np.arange(len(c.prior))
            gaps[c.first + rows] = _gap(mu[c.first + rows], field(c, mu, rows))
    return mu, gaps


def _inside(mu: Array) -> Array:
    edge = float(np.tanh(_LIMIT))
    return np.clip(mu, -edge, edge)


def _cuts(wiring: Wiring, n: int, *, shifted: bool = False) -> Iterator[tuple[int, int]]:
    """Where n rows are cut into chunks; shifted by half of one, so that every seam comes to lie inside."""
    width = len(wiring.R) + wiring.products.shape[1]
    if wiring.coupled:
        size = int(np.clip(40_000 // width, 64, 512))
    elif n * width < _LONG:
        size = int(np.clip(20_000 // width, 32, 512))
    else:  # enough for cores to work side by side
        size = int(np.clip(160_000 // width, 32, 4096))
    cuts = [0, *range(size // 2 if shifted else size, n, size), n]
    for cut in pairwise(cuts):
        checkpoint()
        yield cut


def _gap(mu: Array, fields: Array) -> Array:
    return np.asarray(np.abs(np.tanh(fields) - mu).max(axis=-1))


def _solve(c: Chunk, mu: Array, gaps: Array, tolerance: float, max_sweeps: int, *, cold: bool) -> bool:
    """Solve one chunk in place, its neighbours held; whether anything had to change."""
    n, together = len(c.prior), 32 if c.wiring.coupled else 1
    depth, damping = (8, 0.7) if c.wiring.coupled else (3, 1.0)
    # a last group that is not full repeats the last row, whose copies then move as one
    groups = np.minimum(np.arange(-(-n // together) * together), n - 1).reshape(-1, together)
    if cold and c.wiring.coupled:
        _ascend(c, mu, np.arange(n), _ASCENT)
    ascent = _ASCENT
    sweeps, changed = 0, cold and c.wiring.coupled
    while True:
        waiting = groups
        allowed = min(_MIXING, max(1, max_sweeps - sweeps))  # at least one, to measure what the ascent left
        groups, used = _mix(c, mu, gaps, groups, depth, damping, tolerance, allowed)
        changed |= used > 1 or len(groups) > 0
        sweeps += used
        if len(groups) == 0 or sweeps >= max_sweeps:
            return changed
        ascent = min(ascent, max_sweeps - sweeps)
        _ascend(c, mu, np.unique(groups), ascent)
        sweeps, ascent = sweeps + ascent, 2 * ascent
        groups = waiting if c.wiring.coupled else groups


def _mix(
    c: Chunk,
    mu: Array,
    gaps: Array,
    groups: Rows,
    depth: int,
    damping: float,
    tolerance: float,
    sweeps: int,
) -> tuple[Rows, int]:
    """Anderson mixing of each group of rows, in place; the groups left open, at their best, and the sweeps taken."""
    theta = np.arctanh(mu[c.first + groups]).reshape(len(groups), -1)
    best_gap, best = np.full(len(groups), np.inf), theta
    moves, changes = (np.zeros((len(groups), depth, theta.shape[1])) for _ in range(2))
    previous, used = (theta, theta), 0
    while used < sweeps:
        checkpoint()
        now = mu[c.first + groups]
        fields = np.clip(field(c, mu, groups.ravel()), -_LIMIT, _LIMIT)
        gap = _gap(now, fields.reshape(now.shape))
        gaps[c.first + groups] = gap
        worst = gap.max(axis=1)
        pull = fields.reshape(theta.shape) - theta
        if used:
            k = (used - 1) % depth
            np.subtract(pull, previous[1], out=changes[:, k])
            np.multiply(changes[:, k], damping, out=moves[:, k])
            moves[:, k] += theta
            moves[:, k] -= previous[0]
        used += 1
        still = worst > tolerance
        if not still.any():
            return groups[:0], used
        better = worst < best_gap
        best, best_gap = np.where(better[:, None], theta, best), np.minimum(worst, best_gap)
        lost = worst > 10.0 * best_gap
        moves[lost], changes[lost] = 0.0, 0.0
        keep = _with_neighbours(still, groups) if c.wiring.coupled else still
        if keep.mean() < 0.75:
            groups, best_gap = groups[keep], best_gap[keep]
            theta, pull, best, moves, changes = (x[keep] for x in (theta, pull, best, moves, changes))
        previous = theta, pull
        theta = theta + damping * pull - _explained(pull, moves, changes)
        np.clip(theta, -_LIMIT, _LIMIT, out=theta)
        mu[c.first + groups] = np.tanh(theta).reshape(*groups.shape, -1)
    mu[c.first + groups] = np.tanh(best).reshape(*groups.shape, -1)
    gaps[c.first + groups] = best_gap[:, None]
    return groups[best_gap > tolerance], used


def _with_neighbours(still: NDArray[np.bool_], groups: Rows) -> NDArray[np.bool_]:
    """Groups that are open or border on one: what moves there would open them again."""
    border = np.diff(groups[:, 0]) == groups.shape[1]
    keep = still.copy()
    keep[1:] |= still[:-1] & border
    keep[:-1] |= still[1:] & border
    return keep


def _explained(pull: Array, moves: Array, changes: Array) -> Array:
    """The combination of past moves that goes with the combination of past changes nearest to the pull."""
    gram, load = changes @ changes.transpose(0, 2, 1), changes @ pull[:, :, None]
    size = np.maximum(np.trace(gram, axis1=1, axis2=2), 1e-280)[:, None, None]
    mix = np.linalg.solve(gram / size + 1e-13 * np.eye(gram.shape[1]), load / size)
    return np.asarray((mix.transpose(0, 2, 1) @ moves)[:, 0])


def _ascend(c: Chunk, mu: Array, rows: Rows, sweeps: int) -> None:
    """Damped steps up A in place, each undone where it went down; neighbours in time take turns."""
    turns = [rows[(c.first + rows) % 2 == k] for k in (0, 1)] if c.wiring.coupled else [rows]
    turns = [turn for turn in turns if len(turn)]
    rate = np.full(len(c.prior), 0.5)
    for _ in range(sweeps):
        for turn in turns:
            checkpoint()
            before = mu[c.first + turn]
            fields, height = field_and_value(c, mu, turn)
            theta = np.arctanh(before)
            theta += rate[turn, None] * (np.clip(fields, -_LIMIT, _LIMIT) - theta)
            mu[c.first + turn] = np.tanh(theta)
            fell = field_and_value(c, mu, turn)[1] < height - 1e-10 * (1.0 + np.abs(height))
            mu[c.first + turn[fell]] = before[fell]
            rate[turn] = np.where(fell, 0.5 * rate[turn], np.minimum(1.0, 1.2 * rate[turn]))
