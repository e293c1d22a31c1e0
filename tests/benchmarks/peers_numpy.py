"""What a competent user would write with NumPy alone: the formulas as they stand, vectorised over time.

Every function takes a Problem and returns a function without arguments that returns an Answer. Nothing is shared with
the engine; the two must agree.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from tests.benchmarks.problems import Answer, Array, Evaluate, Problem


def joint_states(n_hidden: int) -> Array:
    """All 2**Nh states of the hidden units, (2**Nh, Nh)."""
    return 2.0 * ((np.arange(2**n_hidden)[:, None] >> np.arange(n_hidden)) & 1) - 1.0


def log_2cosh(x: Array) -> Array:
    """log(2 cosh x)."""
    return np.logaddexp(x, -x)


def before(s: Array) -> Array:
    """The bin before each transition; zeros before the first."""
    return np.vstack([np.zeros((1, s.shape[1])), s[:-2]])


def simulation(p: Problem) -> Evaluate:
    """Bin after bin: the probability of +1, and a number to compare it with."""
    rng, shape = np.random.default_rng(2), p.s.shape

    def evaluate() -> Answer:
        x = np.empty(shape)
        x[0] = rng.choice([-1.0, 1.0], shape[1])
        for t in range(len(x) - 1):
            x[t + 1] = np.where(rng.random(shape[1]) < 1.0 / (1.0 + np.exp(-2.0 * (p.J @ x[t]))), 1.0, -1.0)
        return Answer(0.0, {}, x)

    return evaluate


def backprop(p: Problem) -> Evaluate:
    """Forward for mu, backward for its slope; a loop over time where M ≠ 0."""
    J, K, L, M, s, coupled = p.J, p.K, p.L, p.M, p.s.astype(np.float64), bool(p.M.any())

    def evaluate() -> Answer:
        x, y = s[:-1], s[1:]
        mu, B = np.zeros((len(x), K.shape[1])), x @ L.T
        if coupled:
            for t in range(len(x) - 1):
                mu[t + 1] = np.tanh(B[t] + M @ mu[t])
        else:
            mu[1:] = np.tanh(B[:-1])
        H = x @ J.T + mu @ K.T
        eps, slack = y - np.tanh(H), 1.0 - mu**2
        delta = slack * (eps @ K)
        if coupled:
            for t in range(len(x) - 2, -1, -1):
                delta[t] += slack[t] * (delta[t + 1] @ M)
        gradient = {"J": eps.T @ x, "K": eps.T @ mu, "L": delta[1:].T @ x[:-1]}
        gradient |= {"M": delta[1:].T @ mu[:-1]} if coupled else {}
        return Answer(float((y * H - log_2cosh(H)).sum()), gradient)

    return evaluate


def exact(p: Problem) -> Evaluate:
    """Every bin, every state of the hidden units, every visible unit, in blocks of time."""
    J, K, L, s = p.J, p.K, p.L, p.s.astype(np.float64)
    z, past = joint_states(K.shape[1]), before(s)
    n = max(1, 2_000_000 // (len(z) * len(J)))

    def evaluate() -> Answer:
        value, dJ, dK, dL = 0.0, np.zeros_like(J), np.zeros_like(K), np.zeros_like(L)
        for begin in range(0, len(s) - 1, n):
            x, y = s[begin : begin + n][: len(s) - 1 - begin], s[begin + 1 : begin + 1 + n]
            q = past[begin : begin + n]
            H, b = (x @ J.T)[:, None, :] + z @ K.T, q @ L.T
            log_p = (y[:, None, :] * H - log_2cosh(H)).sum(2) + b @ z.T - log_2cosh(b).sum(1)[:, None]
            total = logsumexp(log_p, axis=1)
            posterior = np.exp(log_p - total[:, None])
            error = (y[:, None, :] - np.tanh(H)) * posterior[:, :, None]
            value += float(total.sum())
            dJ += error.sum(1).T @ x
            dK += error.sum(0).T @ z
            dL += (posterior @ z - np.tanh(b)).T @ q
        return Answer(value, {"J": dJ, "K": dK, "L": dL})

    return evaluate


def chain(p: Problem) -> Evaluate:
    """Scaled forward-backward: tables by block of time, then a loop of matrix-vector products."""
    J, K, L, M, s = p.J, p.K, p.L, p.M, p.s.astype(np.float64)
    z = joint_states(K.shape[1])
    x, y = s[:-1], s[1:]
    n, block = len(x), 1000

    def evaluate() -> Answer:
        seen, norm = np.empty((n, len(z))), np.empty((n, len(z)))
        for t in range(0, n, block):
            rows = slice(t, t + block)
            H, B = (x[rows] @ J.T)[:, None] + z @ K.T, (x[rows] @ L.T)[:, None] + z @ M.T
            seen[rows] = np.exp((y[rows, None] * H - log_2cosh(H)).sum(2))
            norm[rows] = np.exp(-log_2cosh(B).sum(2))
        Q, push = np.exp(z @ M @ z.T), np.exp((x @ L.T) @ z.T)
        forward, scale = np.empty((n, len(z))), np.empty(n)
        v = seen[0] / len(z)
        scale[0] = v.sum()
        forward[0] = v / scale[0]
        for t in range(1, n):
            v = seen[t] * push[t - 1] * (Q @ (forward[t - 1] * norm[t - 1]))
            scale[t] = v.sum()
            forward[t] = v / scale[t]
        backward, into = np.ones((n, len(z))), np.zeros((n, len(z)))
        for t in range(n - 2, -1, -1):
            into[t + 1] = seen[t + 1] * push[t] * backward[t + 1] / scale[t + 1]
            backward[t] = norm[t] * (into[t + 1] @ Q)
        posterior = forward * backward
        pairs = Q * (into[1:].T @ (forward[:-1] * norm[:-1]))
        mean = posterior @ z
        dJ, dK, dL, dM = y.T @ x, y.T @ mean, mean[1:].T @ x[:-1], z.T @ pairs @ z
        for t in range(0, n, block):
            rows, onward = slice(t, t + block), slice(t, min(t + block, n - 1))
            tanh_H = np.tanh((x[rows] @ J.T)[:, None] + z @ K.T) * posterior[rows, :, None]
            tanh_B = np.tanh((x[onward] @ L.T)[:, None] + z @ M.T) * posterior[onward, :, None]
            dJ -= tanh_H.sum(1).T @ x[rows]
            dK -= tanh_H.sum(0).T @ z
            dL -= tanh_B.sum(1).T @ x[onward]
            dM -= tanh_B.sum(0).T @ z
        return Answer(float(np.log(scale).sum()), {"J": dJ, "K": dK, "L": dL, "M": dM})

    return evaluate


NODES = 36  # Gauss–Hermite nodes for an error of 1e-6 at fields that spread by 1


def _averages(H: Array, variance: Array, n_nodes: int) -> tuple[float, Array, Array]:
    """Σ <log 2cosh H>, <tanh H>, <1 - tanh² H> over a normal field; the lowest order in its variance for 0 nodes."""
    if not n_nodes:
        t = np.tanh(H)
        chi = 1.0 - t**2
        return float((log_2cosh(H) + 0.5 * chi * variance).sum()), t - t * chi * variance, chi
    total, tanh, chi, spread = 0.0, np.zeros_like(H), np.zeros_like(H), np.sqrt(variance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(n_nodes)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        field = H + node * spread
        t = np.tanh(field)
        total += weight * float(log_2cosh(field).sum())
        tanh += weight * t
        chi += weight * (1.0 - t**2)
    return total, tanh, chi


def _at(p: Problem, s: Array, mu: Array, n_nodes: int) -> Answer:
    """A and its slopes at these magnetisations."""
    J, K, L = p.J, p.K, p.L
    x, y, V, b = s[:-1], s[1:], 1.0 - mu**2, s[:-2] @ L.T
    H = x @ J.T + mu @ K.T
    total, tanh, chi = _averages(H, V @ (K**2).T, n_nodes)
    up, down = 0.5 * (1.0 + mu), 0.5 * (1.0 - mu)
    entropy = -float((up * np.log(up) + down * np.log(down)).sum())
    prior = float((mu[1:] * b - log_2cosh(b)).sum()) - K.shape[1] * np.log(2.0)
    error = y - tanh
    slopes = {"J": error.T @ x, "K": error.T @ mu - (chi.T @ V) * K, "L": (mu[1:] - np.tanh(b)).T @ x[:-1]}
    return Answer(float((y * H).sum()) - total + entropy + prior, slopes)


def mean_field(p: Problem, n_nodes: int = 0) -> Evaluate:
    """A and its slopes in one pass over all of time."""
    s = p.s.astype(np.float64)
    return lambda: _at(p, s, p.mu, n_nodes)


def gaussian(p: Problem) -> Evaluate:
    """The same by Gauss–Hermite quadrature."""
    return mean_field(p, NODES)


def e_step(p: Problem) -> Evaluate:
    """All bins together by damped iteration, until none moves by 1e-8; then A and its slopes."""
    s = p.s.astype(np.float64)
    x, y, K = s[:-1], s[1:], p.K
    seen, prior = x @ p.J.T, before(s) @ p.L.T

    def evaluate() -> Answer:
        mu = np.tanh(prior)
        for _ in range(1000):
            V = 1.0 - mu**2
            _, tanh, chi = _averages(seen + mu @ K.T, V @ (K**2).T, 0)
            found = np.tanh(prior + (y - tanh) @ K + mu * (chi @ K**2))
            if np.abs(found - mu).max() < 1e-8:
                return _at(p, s, mu, 0)
            mu += 0.5 * (found - mu)
        raise ArithmeticError("the damped E-step has not converged in 1000 sweeps")

    return evaluate


def complete(p: Problem, sigma: Array) -> tuple[Array, Answer]:
    """log P[s, sigma] of each bin, and in all with its slopes; M = 0."""
    s = p.s.astype(np.float64)
    x, y, past = s[:-1], s[1:], before(s)
    H, b = x @ p.J.T + sigma @ p.K.T, past @ p.L.T
    by_bin = (y * H - log_2cosh(H)).sum(1) + (sigma * b - log_2cosh(b)).sum(1)
    error = y - np.tanh(H)
    slopes = {"J": error.T @ x, "K": error.T @ sigma, "L": (sigma - np.tanh(b)).T @ past}
    return by_bin, Answer(float(by_bin.sum()), slopes, sigma)


def gibbs(p: Problem) -> Evaluate:
    """Unit after unit in all bins together, then the slopes at the sample; chains go on from call to call."""
    rng, s = np.random.default_rng(2), p.s.astype(np.float64)
    prior, y = before(s) @ p.L.T, s[1:]
    sigma = rng.choice([-1.0, 1.0], prior.shape)

    def evaluate() -> Answer:
        H = s[:-1] @ p.J.T + sigma @ p.K.T
        for a, k in enumerate(p.K.T):
            rest = H - sigma[:, a, None] * k
            odds = 2.0 * prior[:, a] + 2.0 * (y @ k) - (log_2cosh(rest + k) - log_2cosh(rest - k)).sum(1)
            sigma[:, a] = np.where(rng.random(len(odds)) < 1.0 / (1.0 + np.exp(-odds)), 1.0, -1.0)
            H = rest + sigma[:, a, None] * k
        return complete(p, sigma.copy())[1]

    return evaluate


NUMPY = {
    "simulation": simulation,
    "backprop": backprop,
    "exact": exact,
    "chain": chain,
    "mean-field": mean_field,
    "gaussian": gaussian,
    "e-step": e_step,
    "gibbs": gibbs,
}
