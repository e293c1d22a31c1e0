"""The E-step without hidden-to-hidden couplings: a bin by itself, and a fixed number of bins at work.

A bin that is solved makes place for the next one, so that as many rows as pay go through every product, however slow
single bins are. Each has a combination of its own of its last three moves. Those that mixing has not solved in its turn
are put aside, and are taken together when all have had theirs, by ascent, Newton's method and mixing in turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.background import checkpoint, in_order
from hidviz.learners.parts.e_step_moves import ASCENT, LIMIT, LOST, MIXING, Settled, ascend, gap, inside, newton
from hidviz.learners.parts.mean_field_cases import Cases, some
from hidviz.learners.parts.mean_field_objective import Chunk, Theory, Wiring, chunk, field, guess
from hidviz.numerics import Array, Index

_DEPTH = 3
_NUMBERS, _FEWEST, _MOST = 40_000, 64, 1024  # numbers in one array of the bins at work; bins at work
_CROWD = 8  # bins leave when one in so many is solved: each time costs as much as a sweep of a few
_SPAN = 200_000  # numbers of the data that one core takes at a time


def settle_bins(
    theory: Theory, wiring: Wiring, cases: Cases, found: Settled, tolerance: float, max_sweeps: int, *, cold: bool
) -> None:
    """Solve all rows in place.

    Args:
        theory: the mean-field theory.
        wiring: the couplings.
        cases: the data.
        found: where to start from, unless `cold`, and where the solution goes.
        tolerance: largest violation that counts as none.
        max_sweeps: sweeps of mixing and ascent that a bin may take.
        cold: whether to start from a guess.
    """
    mix = _Mixing(theory, wiring, cases, found, tolerance)
    size = max(1, _SPAN // mix.width)

    def turn(rows: Index, climbing: int, mixing: int, *, cold: bool = False) -> Index:
        """The rows that are open after so many sweeps of each."""

        def work(part: Index) -> Index:
            _climb(mix, part, climbing)
            return mix(part, mixing, cold=cold)

        return np.concatenate(list(in_order(work, [rows[k : k + size] for k in range(0, len(rows), size)])))

    used, ascent = min(MIXING, max_sweeps), ASCENT
    rows = turn(np.arange(len(found.mu)), 0, used, cold=cold)
    while len(rows) and used < max_sweeps:
        ascent = min(ascent, max_sweeps - used)
        mixing = min(MIXING, max(1, max_sweeps - used - ascent))  # at least one, to measure what the ascent left
        rows, used, ascent = turn(rows, ascent, mixing), used + ascent + mixing, 2 * ascent


class _AtWork(NamedTuple):
    """The bins at work, n of them; changed in place.

    Args:
        row: (n,) which rows they are.
        age: (n,) sweeps that each has taken.
        theta: (n, Nh).
        theta_before: (n, Nh) one sweep ago.
        pull_before: (n, Nh) field - theta one sweep ago.
        best: (n, Nh) the magnetisations of the least gap so far.
        gap: (n,) that gap.
        moves: (n, depth, Nh) what theta and pull together have moved by in each of the last sweeps.
        changes: (n, depth, Nh) what the pull has changed by.
    """

    row: Index
    age: Index
    theta: Array
    theta_before: Array
    pull_before: Array
    best: Array
    gap: Array
    moves: Array
    changes: Array


class _Mixing(NamedTuple):
    """Anderson's mixing of bins, each by itself."""

    theory: Theory
    wiring: Wiring
    cases: Cases
    found: Settled
    tolerance: float

    @property
    def width(self) -> int:
        """Numbers a bin in the largest array."""
        return len(self.wiring.R) + int(self.wiring.products.shape[1])

    def __call__(self, rows: Index, sweeps: int, *, cold: bool) -> Index:
        """Mix these rows for at most so many sweeps each; those left open, at their best."""
        n_next = min(len(rows), int(np.clip(_NUMBERS // self.width, _FEWEST, _MOST)))
        c, bins = self._start(rows[:n_next], cold=cold)
        left, slot = [rows[:0]], 0
        while len(bins.row):
            checkpoint()
            self._sweep(c, bins, slot)
            slot = (slot + 1) % _DEPTH
            leaving = np.flatnonzero((bins.gap <= self.tolerance) | (bins.age >= sweeps))
            if _CROWD * len(leaving) < len(bins.row):
                continue
            left.append(self._finish(bins, leaving))
            coming = rows[n_next : n_next + len(leaving)]
            n_next += len(coming)
            taken, free = np.split(leaving, [len(coming)])
            for old, new in zip(_parts(c, bins), _parts(*self._start(coming, cold=cold)), strict=True):
                old[taken] = new
            if len(free):
                c = Chunk(*c[:3], *(np.delete(part, free, axis=0) for part in c[3:]))
                bins = _AtWork._make(np.delete(part, free, axis=0) for part in bins)
        return np.sort(np.concatenate(left))

    def _start(self, rows: Index, *, cold: bool) -> tuple[Chunk, _AtWork]:
        """These bins before their first sweep."""
        c = chunk(self.theory, self.wiring, some(self.cases, rows), 0, len(rows))
        mu = inside(guess(c)) if cold else self.found.mu[rows]
        theta = np.arctanh(mu)
        moves, changes = np.zeros((2, len(rows), _DEPTH, mu.shape[1]))
        return c, _AtWork(
            row=rows.copy(),
            age=np.zeros(len(rows), np.intp),
            theta=theta,
            theta_before=theta.copy(),
            pull_before=np.zeros_like(theta),
            best=mu,
            gap=np.full(len(rows), np.inf),
            moves=moves,
            changes=changes,
        )

    def _sweep(self, c: Chunk, bins: _AtWork, slot: int) -> None:
        """Work out the field of each bin at work, and move it."""
        mu = np.tanh(bins.theta)
        fields = np.clip(field(c, mu, np.arange(len(mu))), -LIMIT, LIMIT)
        now = gap(mu, fields)
        pull = fields - bins.theta
        np.subtract(pull, bins.pull_before, out=bins.changes[:, slot])
        np.subtract(bins.theta, bins.theta_before, out=bins.moves[:, slot])
        bins.moves[:, slot] += bins.changes[:, slot]
        np.copyto(bins.best, mu, where=(now < bins.gap)[:, None])
        np.minimum(bins.gap, now, out=bins.gap)
        forget = (bins.age == 0) | (now > LOST * bins.gap)
        bins.moves[forget], bins.changes[forget] = 0.0, 0.0
        bins.theta_before[:], bins.pull_before[:] = bins.theta, pull
        pull -= _explained(pull, bins.moves, bins.changes)
        np.clip(bins.theta + pull, -LIMIT, LIMIT, out=bins.theta)
        bins.age[:] += 1

    def _finish(self, bins: _AtWork, places: Index) -> Index:
        """Keep what these bins have come to; the rows among them that are still open."""
        rows, gaps = bins.row[places], bins.gap[places]
        self.found.mu[rows], self.found.gaps[rows] = bins.best[places], gaps
        self.found.sweeps[rows] += bins.age[places]
        return np.asarray(rows[gaps > self.tolerance])


def _climb(mix: _Mixing, rows: Index, sweeps: int) -> None:
    """Take these rows up A, and those that come back again by Newton's method to the last digits."""
    if sweeps:
        c = chunk(mix.theory, mix.wiring, some(mix.cases, rows), 0, len(rows))
        own = Settled(mix.found.mu[rows], mix.found.gaps[rows], mix.found.sweeps[rows])
        ascend(c, own, np.arange(len(rows)), sweeps)
        if sweeps > ASCENT:  # not the first time: it takes Nh + 1 sweeps a step
            newton(c, own)
        mix.found.mu[rows], mix.found.sweeps[rows] = own.mu, own.sweeps


def _parts(c: Chunk, bins: _AtWork) -> tuple[Array | Index, ...]:
    return *c[3:], *bins


def _explained(pull: Array, moves: Array, changes: Array) -> Array:
    """The combination of past moves that goes with the combination of past changes nearest to the pull.

    The normal equations of all bins are solved side by side, by elimination, in half the time of one after another.

    Args:
        pull: (n, Nh) field - theta.
        moves: (n, depth, Nh) as in `_AtWork`, zeros where nothing is remembered.
        changes: (n, depth, Nh).
    """
    depth = changes.shape[1]
    both = np.concatenate([changes, pull[:, None]], axis=1)
    equations = np.ascontiguousarray((changes @ both.transpose(0, 2, 1)).transpose(1, 2, 0))  # (depth, depth + 1, n)
    every = np.arange(depth)
    equations[every, every] += 1e-13 * np.maximum(equations[every, every].sum(axis=0), 1e-280)
    for k in range(depth):
        equations[k, k:] /= equations[k, k].copy()
        for i in every[every != k]:
            equations[i, k + 1 :] -= equations[i, k] * equations[k, k + 1 :]
    return np.asarray((equations[:, depth].T[:, None] @ moves)[:, 0])
