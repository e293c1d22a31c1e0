"""An honest likelihood without sums over 2^Nh states: importance sampling with a factorised proposal, at M = 0.

With M = 0 the transitions are independent given the data, log P[s] = sum_t log p_t, and each p_t is an average over
hidden states. States drawn from q_t(sigma) = prod_a (1 + mu_a(t) sigma_a) / 2, say of mean field, estimate it:

    p_t = <w>_q,   w = prod_a P[sigma_a(t) | s(t-1)] prod_i P[s_i(t+1) | s(t), sigma] / q_t(sigma)

The logarithm of a mean of n weights lies below log p_t by about var(w) / (2 n p_t²), which over many bins would drown
the sampling error; that much is added back. Better magnetisations make the error smaller, and any give the same value:
unlike A of mean field, eq. 27 (`PMF`), the value can be compared between models. It is not a bound.
"""

from __future__ import annotations

import numpy as np

from hidviz.background import checkpoint
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array, States, log_2cosh

BLOCK = 2**17  # numbers in a block, which stays in cache
CERTAIN = 0.99  # proposals no more certain than this: no state is so rarely drawn that its weight explodes


def sampled_log_likelihood(
    couplings: Couplings,
    recording: Recording,
    magnetisations: Array,
    rng: np.random.Generator,
    *,
    n_samples: int = 200,
) -> tuple[float, float]:
    """Estimate log P[s] of stochastic hidden units without hidden-to-hidden couplings.

    Args:
        couplings: with M = 0.
        recording: the visible history.
        magnetisations: (n_transitions, Nh) in [-1, 1], the mean hidden state that each proposal is built from; those
            beyond ±0.99 are moved there.
        rng: source of randomness.
        n_samples: hidden states drawn for each transition, at least 2.

    Returns:
        log P[s] and its standard error, both in nats, summed over transitions.

    Raises:
        ValueError: M is not zero, the magnetisations have the wrong shape, or there are too few samples.
    """
    n, Nh = recording.n_transitions, couplings.n_hidden
    if couplings.M.any():
        raise ValueError(
            f"Importance sampling bin by bin needs M = 0, got M with {np.count_nonzero(couplings.M)} couplings: they "
            "tie all bins together. Use the exact log likelihood at small Nh, or compare held-out predictions."
        )
    if magnetisations.shape != (n, Nh):
        raise ValueError(f"Magnetisations must have shape {(n, Nh)}, one row a transition, got {magnetisations.shape}.")
    if n_samples < 2:
        raise ValueError(f"n_samples must be at least 2, to tell the error, got {n_samples}.")
    mu = np.clip(magnetisations, -CERTAIN, CERTAIN)
    previous, present, following, starts = recording.transitions()
    started = np.ones((n, 1))
    started[starts] = 0.0

    value = variance = 0.0
    size = max(BLOCK // (n_samples * max(couplings.n_visible, Nh)), 1)
    for begin in range(0, n, size):
        checkpoint()
        bins = slice(begin, begin + size)
        prior = previous[bins] @ couplings.L.T + couplings.g * started[bins]
        logs = _log_weights(couplings, present[bins], following[bins], prior, mu[bins], rng, n_samples)
        largest = logs.max(axis=0)
        weights = np.exp(logs - largest)
        mean = weights.mean(axis=0)
        spread = weights.var(axis=0, ddof=1) / (n_samples * mean**2)
        value += float(np.sum(largest + np.log(mean) + 0.5 * spread))
        variance += float(spread.sum())
    return value, variance**0.5


def predicted_seconds(n_visible: int, n_hidden: int, n_transitions: int, *, n_samples: int) -> float:
    """A rough guess at the seconds that `sampled_log_likelihood` takes."""
    return 1e-9 * n_transitions * n_samples * (n_visible * (4.0 + 0.15 * n_hidden) + 10.0 * n_hidden)


def _log_weights(
    couplings: Couplings,
    present: States,
    following: States,
    prior: Array,
    mu: Array,
    rng: np.random.Generator,
    n_samples: int,
) -> Array:
    """Log of prior times likelihood over proposal, (n_samples, B), of hidden states drawn from the proposal.

    The logarithm is linear in the hidden states but for log 2cosh H; log q = sigma · tilt - log 2cosh tilt.
    """
    n_bins, Nh = mu.shape
    sigma = np.copysign(1.0, (0.5 + 0.5 * mu.T)[:, None] - rng.random((Nh, n_samples, n_bins)))
    field = couplings.J @ present.T + couplings.h[:, None]
    H = (couplings.K @ sigma.reshape(Nh, n_samples * n_bins)).reshape(-1, n_samples, n_bins) + field[:, None]
    tilt = np.arctanh(mu)
    linear = following @ couplings.K + prior - tilt
    constant = (following.T * field).sum(axis=0) - (log_2cosh(prior) - log_2cosh(tilt)).sum(axis=1)
    logs = np.einsum("anb,ba->nb", sigma, linear) + constant - _sum_log_2cosh(H)
    return np.asarray(logs)


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
