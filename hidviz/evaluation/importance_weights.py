"""Importance weights of hidden states, bin by bin, at M = 0: from a mixture at once, or annealed.

With M = 0 each transition's probability is a sum p_t = Σ_σ f_t(σ) over hidden states, with

    f_t(σ) = Π_a P[σ_a(t) | s(t-1)] Π_i P[s_i(t+1) | s(t), σ]

Whatever states are drawn from, their weights w have the mean p_t:

    mixture    q = ⅓ Σ_k Π_a (1 + σ_a tanh(c_k θ_a)) / 2,  c = 1, ½, .1;  w = f / q. θ are the log odds of mean field;
               c = ½ and .1 find the states that it is too certain against
    annealed   from the mixture's middle part q along f^β q^(1-β), a Gibbs sweep at each of a few β between 0 and 1;
               w = Π_k (f / q)^(β_k - β_(k-1)), taken on the way (Neal, Statistics and Computing 11, 125, 2001)

Not here: how many are drawn, and what is made of them, see `importance_sampling`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.background import checkpoint
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array, Index, log_2cosh

CERTAIN = 0.99  # proposals no more certain than this: no state is so rarely drawn that its weight explodes
PORTIONS = (1.0, 0.5, 0.1)  # c_k
START = 0.5  # the portion that annealing starts from


class Bins(NamedTuple):
    """Some transitions, as they are seen by hidden units at their start.

    Args:
        tilt: (B, Nh) log odds θ of the proposal.
        prior: (B, Nh) field on each hidden unit.
        field: (B, Nv) field on each visible unit, without the hidden ones.
        following: (B, Nv) the visible states at their end.
        K: (Nv, Nh) hidden to visible.
    """

    tilt: Array
    prior: Array
    field: Array
    following: Array
    K: Array

    def of(self, part: Index) -> Bins:
        """Those of the bins."""
        return Bins(self.tilt[part], self.prior[part], self.field[part], self.following[part], self.K)


def bins_of(couplings: Couplings, recording: Recording, magnetisations: Array) -> Bins:
    """All transitions of a recording, with proposals of these mean hidden states, (n_transitions, Nh)."""
    previous, present, following, starts = recording.transitions()
    started = np.ones((recording.n_transitions, 1))
    started[starts] = 0.0
    field, external = present @ couplings.J.T + couplings.h, recording.external_fields()
    return Bins(
        tilt=np.arctanh(np.clip(magnetisations, -CERTAIN, CERTAIN)),
        prior=previous @ couplings.L.T + couplings.g * started,
        field=field if external is None else field + external,
        following=following.astype(np.float64),
        K=couplings.K,
    )


def mixture_weights(bins: Bins, rng: np.random.Generator, n_samples: int) -> Array:
    """Log weights (n_samples, B) of states drawn from the mixture; sample k comes from its part k modulo three.

    Args:
        bins: B transitions.
        rng: source of randomness.
        n_samples: a multiple of three, so that all parts give equally many.
    """
    tilt = bins.tilt.T[:, None]
    sigma = _drawn(np.array(PORTIONS)[:, None] * tilt, rng, n_samples)
    agreed = (tilt * sigma).sum(axis=0)
    parts = [c * agreed - log_2cosh(c * tilt).sum(axis=0) for c in PORTIONS]
    return _log_f(bins, sigma, _sum_log_2cosh(_fields(bins, sigma))) - _log_mean_exp(parts)


def annealed_weights(bins: Bins, rng: np.random.Generator, n_samples: int, n_temperatures: int) -> Array:
    """Log weights (n_samples, B) of states annealed through `n_temperatures` equal steps of β."""
    tilt = START * bins.tilt.T[:, None]
    sigma = _drawn(tilt, rng, n_samples)
    H = _fields(bins, sigma)
    total = _sum_log_2cosh(H.copy())
    linear = _linear(bins)
    logs = np.zeros(total.shape)
    for beta in np.arange(1, n_temperatures + 1) / n_temperatures:
        logs += (((linear - tilt) * sigma).sum(axis=0) - total) / n_temperatures
        if beta < 1.0:
            checkpoint()
            total = _gibbs_sweep(bins.K, sigma, H, total, beta * linear + (1.0 - beta) * tilt, beta, rng)
    return np.asarray(logs + _constant(bins) + log_2cosh(tilt).sum(axis=0))


def _drawn(tilt: Array, rng: np.random.Generator, n_samples: int) -> Array:
    """Hidden states (Nh, n, B) of log odds (Nh, n_parts, B), which the samples take in turns."""
    Nh, n_parts, n_bins = tilt.shape
    uniform = rng.random((Nh, n_samples // n_parts, n_parts, n_bins))
    return np.copysign(1.0, (0.5 + 0.5 * np.tanh(tilt))[:, None] - uniform).reshape(Nh, n_samples, n_bins)


def _fields(bins: Bins, sigma: Array) -> Array:
    """Fields on the visible units, (Nv, n, B)."""
    Nh, n, n_bins = sigma.shape
    return (bins.K @ sigma.reshape(Nh, n * n_bins)).reshape(-1, n, n_bins) + bins.field.T[:, None]


def _linear(bins: Bins) -> Array:
    """What each hidden unit adds to log f, (Nh, 1, B), but for the sum of log 2cosh H."""
    return (bins.following @ bins.K + bins.prior).T[:, None]


def _constant(bins: Bins) -> Array:
    return np.asarray((bins.following * bins.field).sum(axis=1) - log_2cosh(bins.prior).sum(axis=1))


def _log_f(bins: Bins, sigma: Array, total: Array) -> Array:
    return np.asarray((_linear(bins) * sigma).sum(axis=0) - total + _constant(bins))


def _log_mean_exp(parts: list[Array]) -> Array:
    largest = np.maximum.reduce(parts)
    return np.asarray(largest + np.log(sum(np.exp(part - largest) for part in parts) / len(parts)))


def _gibbs_sweep(
    K: Array, sigma: Array, H: Array, total: Array, push: Array, beta: float, rng: np.random.Generator
) -> Array:
    """Draw every hidden unit anew at this β; sigma (Nh, n, B) and H (Nv, n, B) change; returned is Σ log 2cosh H."""
    for a, own in enumerate(sigma):
        moved = H - 2.0 * K[:, a, None, None] * own
        moved_total = _sum_log_2cosh(moved.copy())
        gain = -2.0 * own * push[a] - beta * (moved_total - total)
        flip = rng.random(own.shape) < 0.5 + 0.5 * np.tanh(0.5 * gain)
        np.copyto(H, moved, where=flip)
        total = np.where(flip, moved_total, total)
        own *= 1.0 - 2.0 * flip
    return total


def _sum_log_2cosh(field: Array) -> Array:
    """Sum of log 2cosh over the first axis, with one logarithm for up to 1000 fields; overwrites the fields."""
    size = np.abs(field, out=field)
    total = size.sum(axis=0)
    size *= -2.0
    grown = np.exp(size, out=size)
    grown += 1.0
    for begin in range(0, len(grown), 1000):  # each factor is at most 2
        total += np.log(np.multiply.reduce(grown[begin : begin + 1000], axis=0))
    return np.asarray(total)
