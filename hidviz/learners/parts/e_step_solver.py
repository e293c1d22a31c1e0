"""Solving the E-step equations theta = field(tanh theta), theta = atanh mu, bin by bin.

Plain iteration fails in most networks: mixing and ascent take turns over the bins that are still open, as
`e_step_moves` says. Without hidden-to-hidden couplings the bins are independent, see `e_step_bins`; with them, as here,
32 bins in a row share one combination (depth 8, damping .7). A bin counts as converged when every unit obeys
|tanh(field) - mu| <= tolerance, in the returned mu itself. A solution may be one of several.

Long recordings are solved in chunks that stay in cache, each with its neighbours held, pass after pass with the seams
at other places, until a pass finds nothing to change.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.learners.parts.e_step_bins import settle_bins
from hidviz.learners.parts.e_step_moves import ASCENT, LIMIT, LOST, MIXING, Settled, ascend, gap, inside
from hidviz.learners.parts.mean_field_cases import Cases
from hidviz.learners.parts.mean_field_objective import Chunk, Rows, Theory, Wiring, chunk, field, guess
from hidviz.numerics import Array

_PASSES = 10
_TOGETHER, _DEPTH, _DAMPING = 32, 8, 0.7  # bins in a row that share a combination; of how many moves


def settle(
    theory: Theory, wiring: Wiring, cases: Cases, start: Array | None, tolerance: float, max_sweeps: int
) -> Settled:
    """Solve the E-step equations from a start, or from a guess where there is none.

    Args:
        theory: the mean-field theory.
        wiring: the couplings.
        cases: the data.
        start: (n, Nh) magnetisations to start from; None for a guess.
        tolerance: largest violation that counts as none.
        max_sweeps: sweeps that a bin, or a chunk in one pass, may take; 0 to leave mu as it is, and only measure it.
    """
    n, n_hidden = len(cases.present), wiring.R.shape[1]
    mu = np.empty((n, n_hidden)) if start is None else inside(start)
    found = Settled(mu, np.zeros(n), np.zeros(n, np.intp))
    if n_hidden == 0:
        return found
    if wiring.coupled or max_sweeps == 0:
        _settle_chain(theory, wiring, cases, found, tolerance, max_sweeps, cold=start is None)
    else:
        settle_bins(theory, wiring, cases, found, tolerance, max_sweeps, cold=start is None)
    return found


def _settle_chain(
    theory: Theory, wiring: Wiring, cases: Cases, found: Settled, tolerance: float, max_sweeps: int, *, cold: bool
) -> None:
    """Solve all rows in place, each with its neighbours in time."""
    n = len(cases.present)
    if cold:
        for cut in _cuts(wiring, n):
            c = chunk(theory, wiring, cases, *cut)
            found.mu[c.first : c.first + len(c.prior)] = inside(guess(c))
    fewest, changed = n, max_sweeps == 0
    for k in range(_PASSES if max_sweeps else 0):
        solved = [
            _solve(chunk(theory, wiring, cases, *cut), found, tolerance, max_sweeps, cold=cold and k == 0)
            for cut in _cuts(wiring, n, shifted=k % 2 == 1)
        ]
        changed = any(solved)
        left = int((found.gaps > tolerance).sum())
        if not changed or left >= fewest:
            break
        fewest = left or 1
    for cut in _cuts(wiring, n) if changed else ():
        c = chunk(theory, wiring, cases, *cut)
        rows = np.arange(len(c.prior))
        found.gaps[c.first + rows] = gap(found.mu[c.first + rows], field(c, found.mu, rows))


def _cuts(wiring: Wiring, n: int, *, shifted: bool = False) -> Iterator[tuple[int, int]]:
    """Where n rows are cut into chunks; shifted by half of one, so that every seam comes to lie inside."""
    size = int(np.clip(40_000 // (len(wiring.R) + wiring.products.shape[1]), 64, 512))
    for cut in pairwise([0, *range(size // 2 if shifted else size, n, size), n]):
        checkpoint()
        yield cut


def _solve(c: Chunk, found: Settled, tolerance: float, max_sweeps: int, *, cold: bool) -> bool:
    """Solve one chunk in place, its neighbours held; whether anything had to change."""
    n = len(c.prior)
    # a last group that is not full repeats the last row, whose copies then move as one
    everything = groups = np.minimum(np.arange(-(-n // _TOGETHER) * _TOGETHER), n - 1).reshape(-1, _TOGETHER)
    if cold:
        ascend(c, found, np.arange(n), ASCENT)
    sweeps, ascent, changed = 0, ASCENT, cold
    while True:
        allowed = min(MIXING, max(1, max_sweeps - sweeps))  # at least one, to measure what the ascent left
        groups, used = _mix(c, found, everything, tolerance, allowed)
        changed |= used > 1 or len(groups) > 0
        sweeps += used
        if len(groups) == 0 or sweeps >= max_sweeps:
            return changed
        ascent = min(ascent, max_sweeps - sweeps)
        ascend(c, found, np.unique(groups), ascent)
        sweeps, ascent = sweeps + ascent, 2 * ascent


def _mix(c: Chunk, found: Settled, groups: Rows, tolerance: float, sweeps: int) -> tuple[Rows, int]:
    """Anderson mixing of each group of rows, in place; the groups left open, at their best, and the sweeps taken."""
    mu, gaps, n_sweeps = found
    theta = np.arctanh(mu[c.first + groups]).reshape(len(groups), -1)
    best_gap, best = np.full(len(groups), np.inf), theta
    moves, changes = (np.zeros((len(groups), _DEPTH, theta.shape[1])) for _ in range(2))
    previous, used = (theta, theta), 0
    while used < sweeps:
        checkpoint()
        now = mu[c.first + groups]
        fields = np.clip(field(c, mu, groups.ravel()), -LIMIT, LIMIT)
        gaps_now = gap(now, fields.reshape(now.shape))
        gaps[c.first + groups] = gaps_now
        n_sweeps[c.first + groups] += 1
        worst = gaps_now.max(axis=1)
        pull = fields.reshape(theta.shape) - theta
        if used:
            k = (used - 1) % _DEPTH
            np.subtract(pull, previous[1], out=changes[:, k])
            np.multiply(changes[:, k], _DAMPING, out=moves[:, k])
            moves[:, k] += theta
            moves[:, k] -= previous[0]
        used += 1
        still = worst > tolerance
        if not still.any():
            return groups[:0], used
        better = worst < best_gap
        best, best_gap = np.where(better[:, None], theta, best), np.minimum(worst, best_gap)
        lost = worst > LOST * best_gap
        moves[lost], changes[lost] = 0.0, 0.0
        keep = _with_neighbours(still, groups)
        if keep.mean() < 0.75:
            groups, best_gap = groups[keep], best_gap[keep]
            theta, pull, best, moves, changes = (x[keep] for x in (theta, pull, best, moves, changes))
        previous = theta, pull
        theta = theta + _DAMPING * pull - _explained(pull, moves, changes)
        np.clip(theta, -LIMIT, LIMIT, out=theta)
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
