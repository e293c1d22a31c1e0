"""Gibbs sweeps: draw the hidden units anew given the data, all bins side by side as far as they are independent.

The equations stand at the head of `gibbs`. Here are what they are made of, the data with units down the rows and all
couplings as one matrix, and one sweep; the slopes that follow from a sample are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.network import BLOCKS, Couplings, Recording
from hidviz.numerics import Array, States

BLOCK = 2**17  # numbers in a block: large enough to hide what a call costs, small enough for the cache
LARGEST_FIELD = 170.0  # exp(4 * 170) still fits a float64


@dataclass(frozen=True, eq=False)
class History:
    """The transitions with units down the rows, (Nv, n), and the trials' edges, (n,) of bool.

    The external field, (Nv, n), is None where there is none.
    """

    previous: States
    present: States
    following: States
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    field: Array | None

    @property
    def largest_field(self) -> float:
        """The largest size of the external field."""
        return 0.0 if self.field is None else float(np.abs(self.field).max())

    @property
    def n(self) -> int:
        """Number of transitions."""
        return len(self.begins)


def history_of(recording: Recording) -> History:
    """The transitions of a recording, turned."""
    previous, present, following, starts = recording.transitions()
    begins = np.zeros(len(present), dtype=bool)
    begins[starts] = True
    rows = [np.ascontiguousarray(states.T) for states in (previous, present, following)]
    field = recording.external_fields()
    by_unit = None if field is None else np.ascontiguousarray(field.T)
    return History(rows[0], rows[1], rows[2], begins, np.roll(begins, -1), by_unit)


@dataclass(frozen=True, eq=False)
class System:
    """All couplings as one matrix from senders (visible, hidden, the constant) to receivers (visible, hidden).

    Args:
        W: (Nv + Nh, Nv + Nh + 1) couplings; the last column holds the biases.
        n_visible: Nv.
        n_affected: how many receivers depend on the hidden units: Nv if M = 0, else Nv + Nh.
        run: how many receivers the product of (1 + w) may cover without overflow.
        factors: (Nh, n_affected, 6) what w is multiplied by from proposal to proposal, see `_flip_units`.
    """

    W: Array
    n_visible: int
    n_affected: int
    run: int
    factors: Array

    @property
    def from_hidden(self) -> Array:
        """(Nv + Nh, Nh) what every receiver gets from the hidden units."""
        return self.W[:, self.n_visible : -1]


def system_of(couplings: Couplings, largest_field: float) -> System:
    """The couplings as one matrix, under an external field of at most this size.

    Raises:
        ValueError: fields would be too large for the products.
    """
    J, K, L, M, h, g = (getattr(couplings, name) for name in BLOCKS)
    W = np.block([[J, K, h[:, None]], [L, M, g[:, None]]])
    largest = float(np.abs(W).sum(axis=1).max()) + largest_field
    if largest > LARGEST_FIELD:
        raise ValueError(
            f"Gibbs sampling needs fields below {LARGEST_FIELD:g}, these couplings allow {largest:.0f}: "
            "they have run away; keep them with a penalty or a box."
        )
    n_affected = len(W) if M.any() else len(J)
    affected = W[:n_affected, len(J) : -1].T  # (Nh, n_affected)
    propose = np.exp(4.0 * np.stack([affected, -affected], axis=-1))
    undo = np.stack([np.ones_like(affected), *np.exp(4.0 * np.stack([-affected, affected]))], axis=-1)
    before = np.roll(undo, 1, axis=0)
    factors = np.einsum("acx,acy->acxy", before, propose, order="C").reshape(*affected.shape, 6)
    return System(W, len(J), n_affected, int(700.0 / (1.0 + 2.0 * largest)), factors)


def blocks_of_bins(n: int, n_rows: int, step: int = 1) -> Iterator[slice]:
    """All bins in blocks; step 2 takes the even bins, then the odd ones."""
    size = step * min(max(BLOCK // n_rows, 64), 4096)
    for first in range(step):
        for begin in range(first, n, size):
            checkpoint()
            yield slice(begin, min(begin + size, n), step)


def padded(sigma: Array) -> Array:
    """A sample (Nh, n) with zeros before the first bin and after the last: see `_shifted`."""
    return np.pad(sigma, ((0, 0), (1, 1)))


def shifted(sigma: Array, bins: slice, by: int) -> Array:
    """The sample (Nh, n + 2) `by` bins later than a block of bins, (Nh, B): a view; zeros outside the data."""
    return sigma[:, bins.start + 1 + by : bins.stop + 1 + by : bins.step]


def sweep(system: System, history: History, sigma: Array, rng: np.random.Generator) -> None:
    """Visit every hidden unit in every bin once; the sample (Nh, n + 2) changes in place."""
    W, Nv, Nc = system.W, system.n_visible, system.n_affected
    to_visible, to_hidden = system.from_hidden[:Nv].T, system.from_hidden[Nv:].T
    if not len(to_hidden):
        return
    coupled = Nc > Nv
    for bins in blocks_of_bins(history.n, Nc, step=1 + coupled):
        now = shifted(sigma, bins, 0)
        present = stacked(history.present[:, bins], now)
        H = W[:Nc] @ present
        if history.field is not None:
            H[:Nv] += history.field[:, bins]
        w = np.exp(-2.0 * H)
        past = stacked(history.previous[:, bins], shifted(sigma, bins, -1))
        past[:, history.begins[bins]] = 0.0
        push = W[Nv:] @ past + to_visible @ (history.following[:, bins] - 1.0)
        if coupled:
            ends = history.ends[bins]
            w[Nv:, ends] = 0.0
            push += to_hidden @ np.where(ends, 0.0, shifted(sigma, bins, 1) - 1.0)
        _flip_units(system, w, push, now, np.maximum(rng.random(now.shape), 2.0**-54))


def stacked(s: States, sigma: Array) -> Array:
    """The senders of some bins, (Nv + Nh + 1, B): visible, hidden, the constant."""
    return np.concatenate([s, sigma, np.ones((1, s.shape[1]))])


def _flip_units(system: System, w: Array, push: Array, sigma: Array, u: Array) -> None:
    """Offer each unit in turn to flip, in all bins of a block; sigma (Nh, B) changes in place.

    `w` always holds the last proposal. From there to the next one it takes two factors: undo the last flip where it was
    rejected, and flip the next unit. Which, is one of six cases a bin: a product with six indicators selects the factor
    exactly, and much faster than indexing. A flip is drawn relative to the present sign, so that a flipped network with
    a flipped sample draws the flipped sample.

    Args:
        system: the couplings.
        w: (n_affected, B) exp(-2 H); zero where nothing is predicted. Overwritten.
        push: (Nh, B) what the past and the linear part of the future add to the field on each unit.
        sigma: (Nh, B) the sample.
        u: (Nh, B) uniform random numbers in (0, 1).
    """
    grown, factor, case = np.empty_like(w), np.empty_like(w), np.empty((3, 2, w.shape[1]))
    signs = 0.5 + 0.5 * np.stack([sigma, -sigma], axis=1)
    last = np.zeros((3, 1, w.shape[1]))  # accepted, rejected from +1, rejected from -1
    last[0] = 1.0
    needed = 2.0 * sigma * push - np.log(1.0 / u - 1.0)  # u < r / (1 + r), as a bound on the log of the product
    log_product = sum_of_logs(np.add(w, 1.0, out=grown), system.run)
    for a, sign in enumerate(signs):
        checkpoint()
        np.multiply(last, sign, out=case)
        np.matmul(system.factors[a], case.reshape(6, -1), out=factor)
        w *= factor
        gain = log_product - sum_of_logs(np.add(w, 1.0, out=grown), system.run)
        flip = gain > needed[a]
        log_product -= flip * gain
        last[0] = flip
        np.multiply(sign, ~flip, out=last[1:, 0])
        sigma[a] *= 1.0 - 2.0 * flip


def sum_of_logs(grown: Array, run: int) -> Array:
    """Sum over receivers of log(1 + w), (B,), from 1 + w: one log for each run of receivers."""
    total = np.zeros(grown.shape[1])
    for begin in range(0, len(grown), run):
        total += np.log(np.multiply.reduce(grown[begin : begin + run], axis=0))
    return total
