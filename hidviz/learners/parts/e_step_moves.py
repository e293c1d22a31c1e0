"""Moves in theta = atanh mu by which the E-step is solved, and what its solvers share.

    mixing   Anderson's acceleration: the next theta is the combination of the last few whose gap is least.
    ascent   theta += rate (field - theta), an ascent direction of A; a bin whose objective falls takes the step back
             and halves its rate, which starts at ½. With hidden-to-hidden couplings even and odd bins take turns, so
             that each moves with its neighbours at rest, and A never falls.

Mixing is fast near a solution and ascent gets there, so they take turns over the bins that are still open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners.parts.mean_field_objective import Chunk, Rows, field_and_value
from hidviz.numerics import Array, Index

LIMIT = 17.0  # largest |theta|: 1 - tanh(17) = 3e-15 keeps mu strictly inside (-1, 1)
MIXING, ASCENT = 40, 20  # sweeps of each before the other has its turn; those of ascent double
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
