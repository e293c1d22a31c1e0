"""±1 units: how well fields predict their next state, and where they err, from one exponential.

    log P[s'|H] = s'H - log 2cosh H = -log(1 + q)        q = exp(-2 s'H)
    eps = s' - tanh H = 2 s' q / (1 + q)

One logarithm of a product serves many units. How large |H| can be follows from the couplings alone, since no input
exceeds 1 in size: so products are cut where they could overflow, and only extreme couplings pay for a guard.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.numerics.arrays import Array

_LIMIT = 700.0  # exp overflows at 709.8


class Receivers(NamedTuple):
    """Units that receive: see `receivers`."""

    against: Array
    groups: tuple[slice, ...]
    extreme: bool


def receivers(W: Array, field: Array | None = None) -> Receivers:
    """Prepare the units for `response`.

    Args:
        W: (receivers, senders) their couplings.
        field: (receivers, n) what else will be added to their fields; None for nothing.
    """
    # log(1 + q) of a unit is at most this, or its guarded exponent and log 2.
    bound = 2.0 * np.abs(W).sum(axis=1) + np.log(2.0)
    if field is not None:
        bound += 2.0 * np.abs(field).max(axis=1, initial=0.0)
    extreme = bool((bound > _LIMIT).any())
    groups, begin, total = [], 0, 0.0
    for i, own in enumerate(np.minimum(bound, _LIMIT)):
        if total + own > _LIMIT:
            groups.append(slice(begin, i))
            begin, total = i, 0.0
        total += own
    return Receivers(-W, (*groups, slice(begin, len(W))), extreme)


def response(units: Receivers, inputs: Array, doubled: Array, field: Array | None = None) -> tuple[float, Array]:
    """Log likelihood of the following states and the errors eps of the units.

    Args:
        units: the receivers.
        inputs: (senders, n) what they receive, within [-1, 1]; one row of ones for a bias.
        doubled: (receivers, n) twice the following state, 2s'; or 0 to leave a bin out, which then counts as -log 2
            and has no error.
        field: (receivers, n) what is added to the fields besides; None for nothing.

    Returns:
        The log likelihood in nats, summed over units and bins; and eps, (receivers, n).
    """
    q = units.against @ inputs
    if field is not None:
        q -= field
    q *= doubled
    total = 0.0
    if units.extreme:  # beyond the limit log(1 + q) is the exponent itself, and q / (1 + q) is 1
        excess = np.maximum(q - (_LIMIT - 1.0), 0.0)
        q -= excess
        total -= float(excess.sum())
    np.exp(q, out=q)
    normaliser = 1.0 + q
    for group in units.groups:
        total -= float(np.log(np.multiply.reduce(normaliser[group], axis=0)).sum())
    q /= normaliser
    q *= doubled
    return total, q
