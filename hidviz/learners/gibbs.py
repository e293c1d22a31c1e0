"""Monte Carlo EM for stochastic hidden units: sample them given the data, then ascend as if they had been recorded.

Given the visible units, the hidden ones follow a Gibbs distribution, eqs. 19 (`cond`) and 20 (`energy`). Each call
draws a new sample of it from the old one, by a sweep that visits every hidden unit in every bin, and returns the slope
of the complete-data log likelihood there: eqs. 23 (`dJ`) to 26 (`dM`) with the sample in place of the averages.
Averaged over samples this is the exact slope of log P[s], for any number of hidden units and any M.

Unit a in bin t flips with probability r / (1 + r), where with x = (s, sigma) the units that the bin predicts

    r = exp(-2 sigma_a(t) [B_a(t-1) + sum_c (x_c(t+1) - 1) W_ca]) prod_c (1 + w_c) / (1 + w_c')
    w_c = exp(-2 H_c(t)),  w_c' = w_c exp(4 W_ca sigma_a(t)),  W = [[J, K], [L, M]] and H = W (s, sigma) + biases

so that a flip costs multiplications only. Given its neighbours a bin is independent of all others: even and odd bins
are updated in turn, each all at once; with M = 0 all bins are. No bound on log P[s] and no estimate of it comes out.
Printed with sigma_b(t+1) in eq. 26 (`dM`); the slope has sigma_a(t+1). The paper calls Monte Carlo impractical with M.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.network import BLOCKS, Couplings, Recording, as_gradient, learned_blocks, with_bias
from hidviz.numerics import Array, States

BLOCK = 2**17  # numbers in a block: large enough to hide what a call costs, small enough for the cache
LARGEST_FIELD = 170.0  # exp(4 * 170) still fits a float64


def prepare(
    recording: Recording,
    *,
    n_hidden: int,
    hidden_hidden: bool = False,
    bias: bool = False,
    seed: int = 0,
    sweeps_per_step: int = 1,
) -> Learner:
    """Prepare Monte Carlo EM for a recording.

    Args:
        recording: the visible history.
        n_hidden: number of hidden units assumed, Nh.
        hidden_hidden: learn M.
        bias: learn h and g.
        seed: with `Beliefs.sweeps` decides every random number, so the same call gives the same sample.
        sweeps_per_step: Gibbs sweeps in one call, at least 1.

    Raises:
        ValueError: an option is out of range.
    """
    if seed < 0 or sweeps_per_step < 1:
        raise ValueError(f"Seed must be >= 0 and sweeps_per_step >= 1, got {seed} and {sweeps_per_step}.")
    history = _history(recording)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:
        system = _system(couplings)
        sweeps = beliefs.sweeps if beliefs else 0
        rng = np.random.default_rng([seed, sweeps])
        start = beliefs.hidden.T if beliefs else rng.choice([-1.0, 1.0], (n_hidden, history.n))
        sigma = _padded(start)
        for _ in range(sweeps_per_step):
            _sweep(system, history, sigma, rng)
        return estimate(system, couplings, sigma, sweeps + sweeps_per_step)

    def held(couplings: Couplings, beliefs: Beliefs) -> Estimate:
        return estimate(_system(couplings), couplings, _padded(beliefs.hidden.T), beliefs.sweeps)

    def estimate(system: _System, couplings: Couplings, sigma: Array, sweeps: int) -> Estimate:
        objective, slope = _complete_data(system, history, sigma)
        return Estimate(objective, _gradient(slope, couplings.n_visible, learned), Beliefs(sigma[:, 1:-1].T, sweeps))

    n_visible, n = recording.n_visible, recording.n_transitions
    return Learner(evaluate, n_visible, n_hidden, n, learned, stochastic=True, held=held)


@dataclass(frozen=True, eq=False)
class _History:
    """The transitions with units down the rows, (Nv, n), and the trials' edges, (n,) of bool."""

    previous: States
    present: States
    following: States
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]

    @property
    def n(self) -> int:
        return len(self.begins)


def _history(recording: Recording) -> _History:
    previous, present, following, starts = recording.transitions()
    begins = np.zeros(len(present), dtype=bool)
    begins[starts] = True
    rows = [np.ascontiguousarray(states.T) for states in (previous, present, following)]
    return _History(rows[0], rows[1], rows[2], begins, ends=np.roll(begins, -1))


@dataclass(frozen=True, eq=False)
class _System:
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


def _system(couplings: Couplings) -> _System:
    J, K, L, M, h, g = (getattr(couplings, name) for name in BLOCKS)
    W = np.block([[J, K, h[:, None]], [L, M, g[:, None]]])
    largest = float(np.abs(W).sum(axis=1).max())
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
    return _System(W, len(J), n_affected, int(700.0 / (1.0 + 2.0 * largest)), factors)


def _blocks(n: int, n_rows: int, step: int = 1) -> Iterator[slice]:
    """All bins in blocks; step 2 takes the even bins, then the odd ones."""
    size = step * min(max(BLOCK // n_rows, 64), 4096)
    for first in range(step):
        for begin in range(first, n, size):
            checkpoint()
            yield slice(begin, min(begin + size, n), step)


def _padded(sigma: Array) -> Array:
    """A sample (Nh, n) with zeros before the first bin and after the last: see `_shifted`."""
    return np.pad(sigma, ((0, 0), (1, 1)))


def _shifted(sigma: Array, bins: slice, by: int) -> Array:
    """The sample (Nh, n + 2) `by` bins later than a block of bins, (Nh, B): a view; zeros outside the data."""
    return sigma[:, bins.start + 1 + by : bins.stop + 1 + by : bins.step]


def _sweep(system: _System, history: _History, sigma: Array, rng: np.random.Generator) -> None:
    """Visit every hidden unit in every bin once; the sample (Nh, n + 2) changes in place."""
    W, Nv, Nc = system.W, system.n_visible, system.n_affected
    to_visible, to_hidden = system.from_hidden[:Nv].T, system.from_hidden[Nv:].T
    if not len(to_hidden):
        return
    coupled = Nc > Nv
    for bins in _blocks(history.n, Nc, step=1 + coupled):
        now = _shifted(sigma, bins, 0)
        present = _stacked(history.present[:, bins], now)
        w = np.exp(-2.0 * (W[:Nc] @ present))
        past = _stacked(history.previous[:, bins], _shifted(sigma, bins, -1))
        past[:, history.begins[bins]] = 0.0
        push = W[Nv:] @ past + to_visible @ (history.following[:, bins] - 1.0)
        if coupled:
            ends = history.ends[bins]
            w[Nv:, ends] = 0.0
            push += to_hidden @ np.where(ends, 0.0, _shifted(sigma, bins, 1) - 1.0)
        _flip_units(system, w, push, now, np.maximum(rng.random(now.shape), 2.0**-54))


def _stacked(s: States, sigma: Array) -> Array:
    """The senders of some bins, (Nv + Nh + 1, B): visible, hidden, the constant."""
    return np.concatenate([s, sigma, np.ones((1, s.shape[1]))])


def _flip_units(system: _System, w: Array, push: Array, sigma: Array, u: Array) -> None:
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
    log_product = _log_product(np.add(w, 1.0, out=grown), system.run)
    for a, sign in enumerate(signs):
        checkpoint()
        np.multiply(last, sign, out=case)
        np.matmul(system.factors[a], case.reshape(6, -1), out=factor)
        w *= factor
        gain = log_product - _log_product(np.add(w, 1.0, out=grown), system.run)
        flip = gain > needed[a]
        log_product -= flip * gain
        last[0] = flip
        np.multiply(sign, ~flip, out=last[1:, 0])
        sigma[a] *= 1.0 - 2.0 * flip


def _log_product(grown: Array, run: int) -> Array:
    """Sum over receivers of log(1 + w), (B,), from 1 + w: one log for each run of receivers."""
    total = np.zeros(grown.shape[1])
    for begin in range(0, len(grown), run):
        total += np.log(np.multiply.reduce(grown[begin : begin + run], axis=0))
    return total


def _complete_data(system: _System, history: _History, sigma: Array) -> tuple[float, Array]:
    """Objective log P[s, sigma] in nats, eq. 17 (`fulllikelihood`), and its slope in the place of W.

    With q = exp(-2 x(t+1) H(t)) a transition adds -log(1 + q), and its error x - tanh H is 2 x q / (1 + q).
    """
    W, Nv = system.W, system.n_visible
    Nh = len(W) - Nv
    objective, slope = -Nh * np.log(2.0) * history.begins.sum(), np.zeros(W.shape)
    for bins in _blocks(history.n, len(W)):
        present = _stacked(history.present[:, bins], _shifted(sigma, bins, 0))
        x = np.concatenate([history.following[:, bins], _shifted(sigma, bins, 1)])
        q = W @ present
        q *= x
        q *= -2.0
        np.exp(q, out=q)
        q[Nv:, history.ends[bins]] = 0.0
        grown = 1.0 + q
        objective -= float(_log_product(grown, system.run).sum())
        q /= grown
        q *= x
        slope += q @ present.T
    slope *= 2.0
    return objective, slope


def _gradient(slope: Array, n_visible: int, learned: tuple[str, ...]) -> Couplings:
    """The slope in the place of W as Couplings."""
    Jh, Lg = (with_bias(rows[:, :n_visible], rows[:, -1]) for rows in (slope[:n_visible], slope[n_visible:]))
    return as_gradient(Jh, slope[:n_visible, n_visible:-1], Lg, slope[n_visible:, n_visible:-1], learned)


def _seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    n_affected = n_visible + hidden_hidden * n_hidden
    return n_transitions * (n_hidden * (2.4e-9 * n_affected + 2.4e-8) + 2.4e-8 * (n_visible + n_hidden))


def _memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:  # noqa: ARG001
    """The states, turned to columns; the samples of three steps, one padded, and its random start."""
    return n_transitions * (6.0 * n_visible + 40.0 * n_hidden + 40.0)


GIBBS = Method(
    name="gibbs",
    family="sampling",
    title="Monte Carlo EM",
    prepare=prepare,
    hidden="stochastic",
    objective="complete-data log likelihood of the present sample",
    likelihood=False,
    stochastic=True,
    summary=(
        "Samples the hidden units given the data and follows the gradient averaged over samples: right for any number "
        "of hidden units, with or without hidden-to-hidden couplings. Its steps are noisy, so it needs many of them "
        "and a decaying rate."
    ),
    equations=(
        r"\sigma \sim P[\sigma|s] = \frac{P[s,\sigma]}{P[s]}",
        r"\Delta J_{ij} \propto \sum_t \langle s_i(t+1) - \tanh H_i(t)\rangle_{\sigma|s}\, s_j(t)",
        r"\Delta K_{ib} \propto \sum_t \langle [s_i(t+1) - \tanh H_i(t)]\,\sigma_b(t)\rangle_{\sigma|s}",
        r"\Delta L_{aj} \propto \sum_t \langle \sigma_a(t+1) - \tanh B_a(t)\rangle_{\sigma|s}\, s_j(t)",
        r"\Delta M_{ab} \propto \sum_t \langle [\sigma_a(t+1) - \tanh B_a(t)]\,\sigma_b(t)\rangle_{\sigma|s}",
    ),
    phases=("E", "M", "M", "M", "M"),
    seconds=_seconds,
    memory=_memory,
)
