"""Observed information without hidden units: every unit is a logistic regression of its own, so its row stands alone.

    I_i = Σ_t (1 - tanh² H_i(t)) x(t) x(t)ᵀ          x = s(t), and 1 where there is a bias;  no two rows share a term

The matrix of all parameters is made of these blocks, so 50 units need 50 small matrices, not one of 2,550 rows.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners import Infeasible
from hidviz.network import Couplings, Recording, with_bias
from hidviz.numerics import Array

LONGEST_SECONDS = 300.0
_BLOCK = 2**18  # numbers in a block of inputs


def information_by_row(
    couplings: Couplings, recording: Recording, *, bias: bool = False
) -> Generator[float, None, list[Array]]:
    """Observed information of each row of J, then h, in nats, yielding the fraction done.

    Raises:
        Infeasible: it would take too long; the message gives the number.
    """
    data, n_visible, n = recording.transitions(), recording.n_visible, recording.n_transitions
    predicted = row_seconds(n_visible, n)
    if predicted > LONGEST_SECONDS:
        raise Infeasible(
            f"Error bars of {n_visible} units and {n:,} transitions need about {predicted:.2g} s of "
            f"{LONGEST_SECONDS:g} s at most: use a shorter recording and the 1/T law."
        )
    W, size = with_bias(couplings.J, couplings.h), n_visible + bias
    rows = [np.zeros((size, size)) for _ in range(n_visible)]
    external = recording.external_fields()
    width = max(_BLOCK // (n_visible + 1), 256)
    for begin in range(0, n, width):
        yield begin / n
        present = data.present[begin : begin + width].astype(np.float64)
        x = np.column_stack([present, np.ones(len(present))])
        fields = x @ W.T if external is None else x @ W.T + external[begin : begin + width]
        weight = 1.0 / np.cosh(np.clip(fields, -300.0, 300.0))
        for row, root in zip(rows, weight.T, strict=True):
            checkpoint()
            seen = x[:, :size] * root[:, None]
            row += seen.T @ seen
    return rows


def row_seconds(n_visible: int, n_transitions: int) -> float:
    """About how long `information_by_row` takes, in seconds."""
    return 1e-3 + n_visible * n_transitions * (3e-9 * n_visible + 7e-11 * n_visible**2) + 2e-8 * n_visible**4
