"""Effective number of parameters: how much better a fit explains its own data than other data of the same kind.

    N* = trace of J⁻¹ I        J = -∂² log P[s] / ∂θ ∂θᵀ,  I = Σ_t score_t score_tᵀ,  score_t = ∂ log p_t / ∂θ

(Takeuchi 1976; Stone 1977). Where the model is right and its N parameters can be told apart, J and I agree and N* is N,
as Akaike's criterion supposes. With hidden units too many, or with a model that is wrong, they do not. A penalty
½ Σ w θ² per bin adds n w to the diagonal of J and makes N* smaller. Only for M = 0, where each transition has a
probability of its own.

N* is an estimate from one recording, and holds where the likelihood is a parabola for as far as the fit may vary. It is
not stated where J is not positive, or hardly: in a direction that counts for `MOST` parameters. With more hidden units
than there are and no penalty, the likelihood is no parabola, and the true optimism exceeds both N and N* by a third:
then the held-out cost is to be trusted. Under a learned penalty N* holds there too.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import numpy as np

from hidviz.evaluation.field_sums import Contributions, assembled, normalised
from hidviz.evaluation.information import MOST_PARAMETERS, error_bar_seconds, information
from hidviz.network import Couplings, Recording, learned_blocks, with_bias
from hidviz.numerics import Array, Tables, joint_states

LONGEST_SECONDS = 20.0  # that both matrices may take, as predicted
MOST = 10.0  # parameters that one direction may count for
BLOCK = 2**18  # numbers in a block of inputs


def iter_effective_parameters(
    couplings: Couplings,
    recording: Recording,
    *,
    hidden: Literal["stochastic", "continuous"] = "stochastic",
    bias: bool = False,
    penalty: Array | float = 0.0,
) -> Generator[float, None, float | None]:
    """Effective number of parameters of a fit, yielding the fraction done.

    Args:
        couplings: the fit, at the maximum of the penalised likelihood, with M = 0 and at least one hidden unit.
        recording: the data it was learned from.
        hidden: which hidden units are assumed.
        bias: whether the biases were learned.
        penalty: w of each learned entry, in the order of `couplings.vector`, or of all of them.

    Returns:
        N*; None where it cannot be trusted, as away from a maximum, or would take too long.
    """
    blocks = learned_blocks(couplings.n_hidden, hidden_hidden=False, bias=bias)
    n_parameters, n = len(couplings.vector(blocks)), recording.n_transitions
    predicted = 2.0 * error_bar_seconds(couplings, recording, hidden=hidden, bias=bias)
    if couplings.M.any() or n_parameters > MOST_PARAMETERS or predicted > LONGEST_SECONDS:
        return None
    curvature = yield from information(couplings, recording, hidden=hidden, bias=bias)
    products = yield from score_products(couplings, recording, hidden=hidden, bias=bias)
    return _trace(curvature + np.diag(np.broadcast_to(n * np.asarray(penalty), n_parameters)), products)


def score_products(
    couplings: Couplings, recording: Recording, *, hidden: Literal["stochastic", "continuous"], bias: bool
) -> Generator[float, None, Array]:
    """I, the sum of products of scores, (N, N), yielding the fraction done; for M = 0."""
    blocks = learned_blocks(couplings.n_hidden, hidden_hidden=False, bias=bias)
    contributions = _continuous(couplings) if hidden == "continuous" else _stochastic(couplings)
    n_states = 1 if hidden == "continuous" else 2**couplings.n_hidden
    return (yield from assembled(contributions, recording, blocks, couplings.n_hidden, n_states))


def effective_parameters_of_rows(
    couplings: Couplings, recording: Recording, *, lags: Literal[1, 2], bias: bool = False, penalty: Array | float = 0.0
) -> float | None:
    """The same of a network without hidden units, each row a logistic regression of its own.

    Args:
        couplings: J, h and, with two lags, K from copies of the visible units one bin before.
        recording: the data it was learned from.
        lags: bins that the fit looks back.
        bias: whether h was learned.
        penalty: weight of the L2 penalty per bin, on each learned entry of J, K and h in this order or on all of them.
    """
    previous, present, following, _ = recording.transitions()
    constant = np.ones((len(present), 1), np.int8)
    parts = [(present, couplings.J), (previous, couplings.K), (constant, couplings.h[:, None])]
    parts = [parts[k] for k, wanted in enumerate((True, lags == 2, bias)) if wanted]
    W: Array = np.column_stack([weights for _, weights in parts])
    n_units, size = W.shape
    if 2e-10 * n_units * len(present) * size**2 > LONGEST_SECONDS:
        return None
    matrices = np.zeros((2, n_units, size, size))
    width, external = max(BLOCK // size, 256), recording.external_fields()
    for begin in range(0, len(present), width):
        part = slice(begin, begin + width)
        x = np.column_stack([states[part] for states, _ in parts]).astype(np.float64)
        tanh: Array = np.tanh(x @ W.T if external is None else x @ W.T + external[part])
        errors: Array = following[part].astype(np.float64) - tanh
        of_bins = (1.0 - tanh**2, errors**2)
        for matrix, of_bin in zip(matrices, of_bins, strict=True):
            for row, own in zip(matrix, of_bin.T, strict=True):
                row += (x * own[:, None]).T @ x
    sizes = [weights.size for _, weights in parts]
    weight = np.broadcast_to(len(present) * np.asarray(penalty), sum(sizes))
    by_row = np.column_stack([each.reshape(n_units, -1) for each in np.split(weight, np.cumsum(sizes)[:-1])])
    traces = [
        _trace(curvature + np.diag(row), products) for row, curvature, products in zip(by_row, *matrices, strict=True)
    ]
    found = [trace for trace in traces if trace is not None]
    return sum(found) if len(found) == n_units else None


def _trace(curvature: Array, products: Array) -> float | None:
    """Trace of J⁻¹ I; None unless J is positive and no direction counts for `MOST` parameters."""
    try:
        root = np.linalg.cholesky(curvature)
    except np.linalg.LinAlgError:
        return None
    shares = np.linalg.eigvalsh(np.linalg.solve(root, np.linalg.solve(root, products).T))
    return float(shares.sum()) if shares.max(initial=0.0) < MOST else None


def _stochastic(couplings: Couplings) -> Contributions:
    """Scores of stochastic hidden units: eqs. 23 (`dJ`) to 25 (`dL`), averaged over each posterior."""
    states = joint_states(couplings.n_hidden)
    sigma = np.ascontiguousarray(states.T)
    Jh, Lg = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g)
    tables = Tables(couplings.K @ sigma)

    def contributions(
        x: Array, w: Array, following: Array, count: Array, external: Array | float
    ) -> tuple[Array, Array, Array]:
        B = w @ Lg.T
        minus, log_weight = tables(x @ Jh.T + external)
        p = normalised((B + following @ couplings.K) @ sigma + log_weight)
        errors = (2.0 * minus + (following.T - 1.0)[:, :, None]) * p  # s - tanh H, weighted, (Nv, n, states)
        fields = np.column_stack([errors.sum(axis=2).T, p @ states - np.tanh(B)])
        return _products(fields, (errors @ states).swapaxes(0, 1), count)

    return contributions


def _continuous(couplings: Couplings) -> Contributions:
    """Scores of continuous hidden units: errors sent back through each unit's own response."""
    Jh, Lg, K = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g), couplings.K

    def contributions(
        x: Array, w: Array, following: Array, count: Array, external: Array | float
    ) -> tuple[Array, Array, Array]:
        mu = np.tanh(w @ Lg.T)
        errors = following - np.tanh(x @ Jh.T + mu @ K.T + external)
        fields = np.column_stack([errors, (errors @ K) * (1.0 - mu**2)])
        return _products(fields, errors[:, :, None] * mu[:, None], count)

    return contributions


def _products(fields: Array, of_K: Array, count: Array) -> tuple[Array, Array, Array]:
    """Products of slopes in the fields, (n, Nv + Nh), and in K, (n, Nv, Nh)."""
    flat = of_K.reshape(len(count), -1)
    weighted = fields * count[:, None]
    return weighted[:, :, None] * fields[:, None], weighted[:, :, None] * flat[:, None], (flat.T * count) @ flat
