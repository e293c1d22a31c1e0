"""Tables over the 2**Nh joint states of the hidden units, and over the distinct states of the visible ones.

Exact sums run over z, the joint states of all hidden units. Given z, a receiving unit i in the field H_i, the sum of
its visible and its hidden input, takes the state -1 with probability

    P[-1 | H_i] = 1/(1 + exp 2H_i),   tanh H_i = 1 - 2 P[-1 | H_i],   log weight(z) = -sum_i log 2cosh H_i.

Visible states repeat, so all of this is wanted only once for each distinct state. Not here: anything that depends on
whether hidden units have a memory of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hidviz.numerics.arrays import Array, Index, States

LARGEST_EXPONENT = 600.0  # products of exponentials stay within double precision up to about exp(±700)
DIRECT_RANKS = 2**22  # codes below this are ranked by counting, in linear time, instead of sorting


def joint_states(n_hidden: int) -> Array:
    """All joint states of the hidden units, (2**Nh, Nh) of ±1; the last unit changes fastest."""
    digits = np.arange(2**n_hidden)[:, None] >> np.arange(n_hidden - 1, -1, -1)
    return np.where(digits & 1, 1.0, -1.0)


def rank(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], Index]:
    """The distinct codes in rising order, and the rank of each code among them; codes are not negative."""
    if len(codes) and codes.max() < min(DIRECT_RANKS, 64 * len(codes)):
        found = np.bincount(codes) > 0
        return np.flatnonzero(found), (np.cumsum(found) - 1)[codes]
    return np.unique(codes, return_inverse=True)


def distinct(states: States) -> tuple[Array, Index]:
    """Distinct rows of visible states with the constant unit appended, and which of them each row is.

    A row of zeros, the absent past of a trial's first bin, is a state of its own whose constant unit is 0 too: no
    input, no bias.

    Args:
        states: (n, Nv) of ±1, or rows of zeros.

    Returns:
        (n_distinct, Nv + 1) distinct rows, and (n,) the index of each row among them.
    """
    digits = np.column_stack([states[:, :1] != 0, states > 0])
    index = np.zeros(len(states), dtype=np.int64)
    for begin in range(0, digits.shape[1], 30):
        part = digits[:, begin : begin + 30]
        _, index = rank(index << part.shape[1] | part @ (1 << np.arange(part.shape[1])))
    example = np.empty(index.max() + 1, dtype=np.intp)
    example[index] = np.arange(len(index))
    return np.column_stack([states[example], digits[example, 0]]).astype(np.float64), index


@dataclass(frozen=True, eq=False)
class Tables:
    """Probabilities of the state -1, and weights, of units with a hidden input, for any visible state: call it.

    Args:
        hidden_input: (n_units, 2**Nh) field from the hidden units in each joint state.
    """

    hidden_input: Array
    _bound: Array = field(init=False)
    _total: Array = field(init=False)
    _factors: Array = field(init=False)  # rows exp(2 hidden_input) and 1: see __call__

    def __post_init__(self) -> None:
        bound = np.abs(self.hidden_input).max(axis=1, initial=0.0)
        factors = np.exp(2.0 * np.clip(self.hidden_input, -LARGEST_EXPONENT / 2, LARGEST_EXPONENT / 2))
        object.__setattr__(self, "_bound", bound)
        object.__setattr__(self, "_total", self.hidden_input.sum(axis=0))
        object.__setattr__(self, "_factors", np.stack([factors, np.ones_like(factors)], axis=1))

    def __call__(self, visible_input: Array) -> tuple[Array, Array]:
        """Tables for n visible states.

        Args:
            visible_input: (n, n_units) field from the visible units.

        Returns:
            (n_units, n, 2**Nh) probabilities of -1, and (n, 2**Nh) log weights -Σ_i log 2cosh H_i, in nats.
        """
        bound = (self._bound + np.abs(visible_input).max(axis=0, initial=0.0)).sum()
        if 2.0 * bound + len(self.hidden_input) > LARGEST_EXPONENT:
            return self._far(visible_input)
        factors = np.exp(2.0 * visible_input.T)
        minus = np.stack([factors, np.ones_like(factors)], axis=2) @ self._factors  # 1 + exp 2H, of rank 2
        np.divide(1.0, minus, out=minus)
        log_weight = np.multiply.reduce(minus, axis=0)
        np.log(log_weight, out=log_weight)
        log_weight += self._total
        log_weight += visible_input.sum(axis=1)[:, None]
        return minus, log_weight

    def _far(self, visible_input: Array) -> tuple[Array, Array]:
        """The same tables for fields of any size, where products of exponentials would overflow."""
        H = visible_input.T[:, :, None] + self.hidden_input[:, None, :]
        size = np.abs(H)
        decay = np.exp(-2.0 * size)
        minus = np.where(H > 0.0, decay, 1.0) / (1.0 + decay)
        return minus, -(size + np.log1p(decay)).sum(axis=0)


def expected_tanh(minus: Array, weight: Array) -> tuple[Array, Array]:
    """Sums of weight × tanh H over hidden states, and over visible states.

    Args:
        minus: (n_units, n, 2**Nh) probabilities of -1.
        weight: (n, 2**Nh) weight of each pair of a visible and a hidden state.

    Returns:
        (n, n_units) the sum over hidden states, and (n_units, 2**Nh) the sum over visible states.
    """
    over_hidden = weight.sum(axis=1)[:, None] - 2.0 * (minus.transpose(1, 0, 2) @ weight[:, :, None])[:, :, 0]
    over_visible = weight.sum(axis=0) - 2.0 * np.einsum("inz,nz->iz", minus, weight)
    return over_hidden, over_visible
