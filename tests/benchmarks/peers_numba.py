"""What a user who reaches for numba would write: the two loops that NumPy cannot vectorise."""

from __future__ import annotations

import numba
import numpy as np

from tests.benchmarks.peers_numpy import before
from tests.benchmarks.problems import Answer, Array, Evaluate, Problem


@numba.njit(fastmath=True)
def _simulate(W: Array, x: Array, seed: int) -> None:
    np.random.seed(seed)  # noqa: NPY002 - the only generator that numba compiles for threads
    for t in range(len(x) - 1):
        for i in range(len(W)):
            field = 0.0
            for j in range(len(W)):
                field += W[i, j] * x[t, j]
            x[t + 1, i] = 1.0 if np.random.random() * (1.0 + np.exp(-2.0 * field)) < 1.0 else -1.0  # noqa: NPY002


def simulation(p: Problem) -> Evaluate:
    """Bin after bin, unit after unit."""
    first = np.random.default_rng(2).choice([-1.0, 1.0], p.s.shape[1])

    def evaluate() -> Answer:
        x = np.empty(p.s.shape)
        x[0] = first
        _simulate(p.J, x, 3)
        return Answer(0.0, {}, x)

    return evaluate


@numba.njit(parallel=True, fastmath=True)
def _sweep(s: Array, past: Array, sigma: Array, J: Array, K: Array, L: Array) -> None:
    n_visible, n_hidden = K.shape
    for t in numba.prange(len(sigma)):
        H = J @ s[t] + K @ sigma[t]
        for a in range(n_hidden):
            odds = 0.0
            for j in range(n_visible):
                odds += L[a, j] * past[t, j]
            odds *= 2.0
            for i in range(n_visible):
                rest = H[i] - K[i, a] * sigma[t, a]
                up, down = abs(rest + K[i, a]), abs(rest - K[i, a])
                odds += 2.0 * s[t + 1, i] * K[i, a] - up + down
                odds -= np.log((1.0 + np.exp(-2.0 * up)) / (1.0 + np.exp(-2.0 * down)))
            new = 1.0 if np.random.random() * (1.0 + np.exp(-odds)) < 1.0 else -1.0  # noqa: NPY002
            for i in range(n_visible):
                H[i] += K[i, a] * (new - sigma[t, a])
            sigma[t, a] = new


@numba.njit(parallel=True, fastmath=True)
def _complete(s: Array, past: Array, sigma: Array, J: Array, K: Array, L: Array, error: Array, gap: Array) -> float:
    total = 0.0
    for t in numba.prange(len(sigma)):
        H, b = J @ s[t] + K @ sigma[t], L @ past[t]
        for i in range(len(H)):
            error[t, i] = s[t + 1, i] - np.tanh(H[i])
            total += s[t + 1, i] * H[i] - abs(H[i]) - np.log1p(np.exp(-2.0 * abs(H[i])))
        for a in range(len(b)):
            gap[t, a] = sigma[t, a] - np.tanh(b[a])
            total += sigma[t, a] * b[a] - abs(b[a]) - np.log1p(np.exp(-2.0 * abs(b[a])))
    return total


def gibbs(p: Problem) -> Evaluate:
    """Bins on all cores, each unit in turn; then the slopes at the sample."""
    s = p.s.astype(np.float64)
    past = before(s)
    sigma = np.random.default_rng(2).choice([-1.0, 1.0], (len(past), p.K.shape[1]))
    error, gap = np.empty(past.shape), np.empty(sigma.shape)

    def evaluate() -> Answer:
        _sweep(s, past, sigma, p.J, p.K, p.L)
        value = _complete(s, past, sigma, p.J, p.K, p.L, error, gap)
        return Answer(value, {"J": error.T @ s[:-1], "K": error.T @ sigma, "L": gap.T @ past}, sigma.copy())

    return evaluate


NUMBA = {"simulation": simulation, "gibbs": gibbs}
