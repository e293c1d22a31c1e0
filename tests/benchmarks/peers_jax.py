"""What a competent user would write with JAX: the objective, jitted, its gradient by automatic differentiation.

In float64, since the engine is. Time is scanned where it must be, and cut into rematerialised chunks where a whole
array of time × hidden states would not fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.benchmarks.peers_numpy import NODES, before, joint_states
from tests.benchmarks.problems import Answer, Evaluate, Problem

jax.config.update("jax_enable_x64", True)


def log_2cosh(x: Any) -> Any:
    """log(2 cosh x)."""
    return jnp.logaddexp(x, -x)


def _answering(objective: Callable[..., Any], p: Problem, blocks: str, *data: Any) -> Evaluate:
    """The jitted value and gradient of objective(couplings, *data)."""
    compiled = jax.jit(jax.value_and_grad(objective))
    couplings = [jnp.asarray(getattr(p, name)) for name in blocks]
    data = tuple(jax.tree.map(jnp.asarray, data))

    def evaluate() -> Answer:
        value, slopes = jax.block_until_ready(compiled(couplings, *data))
        return Answer(float(value), {name: np.asarray(block) for name, block in zip(blocks, slopes, strict=True)})

    return evaluate


def _chunks(n: int, *arrays: Any) -> tuple[Any, ...]:
    """Arrays over time cut into chunks of n bins, and the weight of each bin: zero where the last one is filled up."""
    length = len(arrays[0])
    n_chunks = -(-length // n)

    def cut(array: Any) -> Any:
        filled = np.concatenate([array, np.ones((n_chunks * n - length, *array.shape[1:]))])
        return filled.reshape(n_chunks, n, *array.shape[1:])

    weight = (np.arange(n_chunks * n) < length).astype(np.float64).reshape(n_chunks, n)
    return (*[cut(array) for array in arrays], weight)


def _summed(by_bin: Callable[..., Any]) -> Callable[..., Any]:
    """Σ over chunks of weight · by_bin(couplings, *arrays); each chunk is computed again for its gradient."""

    @jax.checkpoint
    def chunk(couplings: Any, arrays: Any) -> Any:
        *data, weight = arrays
        return jnp.sum(weight * by_bin(couplings, *data))

    def total(couplings: Any, arrays: Any) -> Any:
        return jax.lax.scan(lambda sum_, one: (sum_ + chunk(couplings, one), None), jnp.zeros(()), arrays)[0]

    return total


def simulation(p: Problem) -> Evaluate:
    """All thresholds at once, then a scan."""
    shape = (len(p.s) - 1, p.s.shape[1])

    @jax.jit
    def draw(W: Any, x: Any, key: Any) -> Any:
        def step(x: Any, threshold: Any) -> Any:
            x = jnp.where(threshold < W @ x, 1.0, -1.0)
            return x, x

        return jax.lax.scan(step, x, 0.5 * jax.random.logistic(key, shape, jnp.float64))[1]

    W, first = jnp.asarray(p.J), jnp.asarray(np.random.default_rng(2).choice([-1.0, 1.0], shape[1]))
    return lambda: Answer(0.0, {}, np.asarray(jax.block_until_ready(draw(W, first, jax.random.key(3)))))


def backprop(p: Problem) -> Evaluate:
    """A scan for mu where M ≠ 0, nothing but matrix products else."""
    coupled = bool(p.M.any())

    def objective(couplings: Any, s: Any) -> Any:
        J, K, L, *M = couplings
        x, y, B = s[:-1], s[1:], (s[:-1] @ L.T)[:-1]
        first = jnp.zeros((1, K.shape[1]))
        if coupled:

            def step(mu: Any, b: Any) -> Any:
                mu = jnp.tanh(b + M[0] @ mu)
                return mu, mu

            mu = jax.lax.scan(step, first[0], B)[1]
        else:
            mu = jnp.tanh(B)
        H = x @ J.T + jnp.vstack([first, mu]) @ K.T
        return jnp.sum(y * H - log_2cosh(H))

    return _answering(objective, p, "JKLM" if coupled else "JKL", p.s.astype(np.float64))


def exact(p: Problem) -> Evaluate:
    """Σ_t logsumexp over the hidden states, in chunks of time."""
    z, s = joint_states(p.K.shape[1]), p.s.astype(np.float64)

    def by_bin(couplings: Any, past: Any, x: Any, y: Any) -> Any:
        J, K, L = couplings
        H, b = (x @ J.T)[:, None, :] + z @ K.T, past @ L.T
        log_p = (y[:, None, :] * H - log_2cosh(H)).sum(2) + b @ z.T - log_2cosh(b).sum(1)[:, None]
        return jax.scipy.special.logsumexp(log_p, axis=1)

    n = min(max(1, 4_000_000 // (len(z) * len(p.J))), len(s) - 1)
    return _answering(_summed(by_bin), p, "JKL", _chunks(n, before(s), s[:-1], s[1:]))


def chain(p: Problem) -> Evaluate:
    """A normalised filter over the hidden states, its transition matrix built at every step."""
    z = joint_states(p.K.shape[1])

    def objective(couplings: Any, s: Any) -> Any:
        J, K, L, M = couplings
        x, y, H_z, B_z = s[:-1], s[1:], z @ K.T, z @ M.T
        J_x, L_x = x @ J.T, x @ L.T

        def seen(H: Any, y: Any) -> Any:
            return jnp.exp((y * H - log_2cosh(H)).sum(1))

        def step(carry: Any, here: Any) -> Any:
            belief, total = carry
            h, y, b = here
            B = b + B_z
            ahead = belief @ jnp.exp(B @ z.T - log_2cosh(B).sum(1)[:, None]) * seen(h + H_z, y)
            norm = ahead.sum()
            return (ahead / norm, total + jnp.log(norm)), None

        ahead = seen(J_x[0] + H_z, y[0]) / len(z)
        norm = ahead.sum()
        return jax.lax.scan(step, (ahead / norm, jnp.log(norm)), (J_x[1:], y[1:], L_x[:-1]))[0][1]

    return _answering(objective, p, "JKLM", p.s.astype(np.float64))


def _mean_field(n_nodes: int) -> Callable[..., Any]:
    """A of each bin at given mu."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(max(n_nodes, 1))
    weights /= weights.sum()

    def by_bin(couplings: Any, past: Any, x: Any, y: Any, mu: Any) -> Any:
        J, K, L = couplings
        H, variance, b = x @ J.T + mu @ K.T, (1.0 - mu**2) @ (K**2).T, past @ L.T
        if n_nodes:
            fields = H[..., None] + jnp.sqrt(variance)[..., None] * nodes
            silence = jnp.einsum("tiq,q->t", log_2cosh(fields), weights)
        else:
            silence = (log_2cosh(H) + 0.5 * (1.0 - jnp.tanh(H) ** 2) * variance).sum(1)
        up, down = 0.5 * (1.0 + mu), 0.5 * (1.0 - mu)
        entropy = -(up * jnp.log(up) + down * jnp.log(down)).sum(1)
        return (y * H).sum(1) - silence + entropy + (mu * b - log_2cosh(b)).sum(1)

    return by_bin


def _at_given_mu(p: Problem, n_nodes: int) -> Evaluate:
    s = p.s.astype(np.float64)
    n = min(1000, len(s) - 1)
    *cut, weight = _chunks(n, before(s), s[:-1], s[1:], 0.5 + p.mu)
    cut[-1] = cut[-1] - 0.5  # so that what fills up the last chunk has a finite entropy
    return _answering(_summed(_mean_field(n_nodes)), p, "JKL", (*cut, weight))


def mean_field(p: Problem) -> Evaluate:
    """A at given mu, lowest order."""
    return _at_given_mu(p, 0)


def gaussian(p: Problem) -> Evaluate:
    """The same by Gauss–Hermite quadrature."""
    return _at_given_mu(p, NODES)


def e_step(p: Problem) -> Evaluate:
    """All bins together by damped iteration until none moves by 1e-8, jitted; then A and its slopes."""
    s = p.s.astype(np.float64)
    past, x, y = before(s), s[:-1], s[1:]

    def objective(couplings: Any, past: Any, x: Any, y: Any) -> Any:
        J, K, L = (jax.lax.stop_gradient(block) for block in couplings)
        seen, prior = x @ J.T, past @ L.T

        def found(mu: Any) -> Any:
            H, variance = seen + mu @ K.T, (1.0 - mu**2) @ (K**2).T
            t = jnp.tanh(H)
            chi = 1.0 - t**2
            return jnp.tanh(prior + (y - t + t * chi * variance) @ K + mu * (chi @ K**2))

        def moving(carry: Any) -> Any:
            return (carry[1] >= 1e-8) & (carry[2] < 1000)

        def step(carry: Any) -> Any:
            mu, _, n = carry
            move = found(mu) - mu
            return mu + 0.5 * move, jnp.abs(move).max(), n + 1

        mu = jax.lax.while_loop(moving, step, (jnp.tanh(prior), jnp.inf, 0))[0]
        return _mean_field(0)(couplings, past, x, y, mu).sum()

    return _answering(objective, p, "JKL", past, x, y)


JAX = {
    "simulation": simulation,
    "backprop": backprop,
    "exact": exact,
    "chain": chain,
    "mean-field": mean_field,
    "gaussian": gaussian,
    "e-step": e_step,
}
