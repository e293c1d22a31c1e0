"""Moves in theta = atanh mu by which the E-step is solved, and what its solvers share.

    mixing   Anderson's acceleration: the next theta is the combination of the last few whose gap is least.
    ascent   theta += rate (field - theta), an ascent direction of A; a bin whose objective falls takes the step back
             and halves its rate, which starts at ½. With hidden-to-hidden couplings even and odd bins take turns, so
             that each moves with its neighbours at rest, and A never falls.
    Newton   theta += (1 - dfield/dtheta)⁻¹ (field - theta), for bins by themselves: it takes a field for each hidden
             unit, but solves bins whose fields swing too widely for both.

Mixing is fast near a solution and ascent gets there, so they take turns over the bins that are still open.
"""

from __future__ import annotations

import contextlib
from typing import NamedTuple

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners.parts.mean_field_objective import Chunk, Rows, field, field_and_value
from hidviz.numerics import Array, Index

LIMIT = 17.0  # largest |theta|: 1 - tanh(17) = 3e-15 keeps mu strictly inside (-1, 1)
MIXING, ASCENT = 40, 20  # sweeps of each before the other has its turn; those of ascent double
_NEWTON, _STEP, _LONGEST = 8, 1e-6, 2.0  # steps of Newton's method, of its differences, and the longest
LOST = 10.0  # a gap so many times the best one begins the mixing anew


class Settled(NamedTuple):
    """What the E-step found; the solvers fill it in place.

    Args:
        mu: (n, Nh) magnetisations, strictly inside (-1, 1).
        gaps: (n,) the largest violation |tanh(field) - mu| over units.
        sweeps: (n,) how often the field of each row was worked out.
    """

    mu: Array
    gaps: Array
    sweeps: Index


def inside(mu: Array) -> Array:
    """The magnetisations, strictly inside (-1, 1)."""
    edge = float(np.tanh(LIMIT))
    return np.clip(mu, -edge, edge)


def gap(mu: Array, fields: Array) -> Array:
    """The largest violation over the last axis."""
    return np.asarray(np.abs(np.tanh(fields) - mu).max(axis=-1))


def ascend(c: Chunk, found: Settled, rows: Rows, sweeps: int) -> None:
    """Damped steps up A in place, each undone where it went down; neighbours in time take turns."""
    mu = found.mu
    turns = [rows[(c.first + rows) % 2 == k] for k in (0, 1)] if c.wiring.coupled else [rows]
    turns = [turn for turn in turns if len(turn)]
    rate = np.full(len(c.prior), 0.5)
    for _ in range(sweeps):
        for turn in turns:
            checkpoint()
            before = mu[c.first + turn]
            fields, height = field_and_value(c, mu, turn)
            theta = np.arctanh(before)
            theta += rate[turn, None] * (np.clip(fields, -LIMIT, LIMIT) - theta)
            mu[c.first + turn] = np.tanh(theta)
            fell = field_and_value(c, mu, turn)[1] < height - 1e-10 * (1.0 + np.abs(height))
            mu[c.first + turn[fell]] = before[fell]
            rate[turn] = np.where(fell, 0.5 * rate[turn], np.minimum(1.0, 1.2 * rate[turn]))
            found.sweeps[c.first + turn] += 2


def newton(c: Chunk, found: Settled) -> None:
    """Some steps of Newton's method, in place, for all rows of a chunk without M; none where A would be lower for it.

    Each row keeps the best that it has come to, and a step may be as long as 2.
    """
    every = np.arange(len(found.mu))
    start, height = found.mu.copy(), field_and_value(c, found.mu, every)[1]
    with contextlib.suppress(np.linalg.LinAlgError):  # what was best before a singular step stays
        _newton(c, found)
    fell = field_and_value(c, found.mu, every)[1] < height - 1e-10 * (1.0 + np.abs(height))
    found.mu[fell] = start[fell]
    found.sweeps[:] += 2


def _newton(c: Chunk, found: Settled) -> None:
    n, n_hidden = found.mu.shape
    every, unit = np.arange(n), np.eye(n_hidden)
    theta, best = np.arctanh(found.mu), np.full(n, np.inf)
    for _ in range(_NEWTON):
        checkpoint()
        mu = np.tanh(theta)
        fields = field(c, mu, every)
        now = gap(mu, np.clip(fields, -LIMIT, LIMIT))
        found.mu[now < best] = mu[now < best]
        best = np.minimum(best, now)
        slopes = [(field(c, np.tanh(theta + _STEP * one), every) - fields) / _STEP for one in unit]
        found.sweeps[:] += 1 + n_hidden
        move = np.linalg.solve(unit - np.stack(slopes, axis=2), (fields - theta)[:, :, None])[:, :, 0]
        move *= _LONGEST / np.maximum(np.abs(move).max(axis=1, keepdims=True), _LONGEST)
        theta = np.clip(theta + move, -LIMIT, LIMIT)
