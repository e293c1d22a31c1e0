"""Paired differences: whether one model of the same data predicts them better than another, block by block.

    d_b = cost of the one - cost of the other in block b        gain = mean of d ± standard deviation of d / √blocks

Costs of a recording vary from block to block far more than two models differ, and for both alike: so the difference is
taken within each block. Blocks count alike, whatever their length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.learners import prepare
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array


class Difference(NamedTuple):
    """A mean over blocks and its standard error, nats per bin; the error of a single block is not a number."""

    mean: float
    error: float

    def in_words(self) -> str:
        """In thousandths of a nat per bin."""
        return f"{1000 * self.mean:.0f} ± {1000 * self.error:.0f}"


def paired(costs: Array, others: Array) -> Difference:
    """How much the first costs more than the others, from their costs in the same blocks."""
    differences = np.asarray(costs) - np.asarray(others)
    n = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return Difference(float(differences.mean()), error)


def block_costs(
    couplings: Couplings,
    recording: Recording,
    learner: str = "exact",
    *,
    n_hidden: int | None = None,
    hidden_hidden: bool | None = None,
    bias: bool = True,
) -> Array:
    """Cost of each trial of a recording, nats per bin.

    Args:
        couplings: of a network.
        recording: each trial is a block.
        learner: a name in LEARNERS, of one whose objective is the likelihood that is meant.
        n_hidden: number of hidden units in the couplings.
        hidden_hidden: whether there is M; as the couplings have it if left out.
        bias: whether there are biases.

    Raises:
        Infeasible: there are too many hidden units to sum over; the message gives the number.
    """
    size = couplings.n_hidden if n_hidden is None else n_hidden
    coupled = bool(couplings.M.any()) if hidden_hidden is None else hidden_hidden
    costs = []
    for trial in recording.trials:
        judge = prepare(learner, recording.with_trials([trial]), n_hidden=size, hidden_hidden=coupled, bias=bias)
        costs.append(-judge(couplings).objective / judge.n_transitions)
    return np.array(costs)
