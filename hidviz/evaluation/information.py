"""Observed information: the curvature of the exact log likelihood, whose inverse tells how well couplings are known.

    I = -∂² log P[s] / ∂θ ∂θᵀ

Stochastic hidden units without couplings among themselves: the Louis identity. Complete data (s, σ) would have the
score of eqs. 23 (`dJ`) to 25 (`dL`) and a curvature C; what is not seen of σ takes information away,

    I = Σ_t { <C_t> - Cov[score_t] }       averages over the posterior p_t(σ) of each transition
    score_t:  (s_i(t+1) - tanh H_i) (s(t), 1, σ)      and  (σ_a - tanh B_a) (s(t-1), 1)
    C_t:      Σ_i (1 - tanh² H_i) (s(t), 1, σ)(…)ᵀ    and  Σ_a (1 - tanh² B_a) (s(t-1), 1)(…)ᵀ

Continuous hidden units without such couplings: μ(t) is a function of s(t-1), so H depends on L through it,

    I = Σ_it { (1 - tanh² H_i) ∂H_i ∂H_iᵀ - e_i ∂²H_i }        e_i = s_i(t+1) - tanh H_i
    ∂H_i:  (s(t), 1, μ)  and  K_ia (1 - μ_a²) (s(t-1), 1)

With couplings among hidden units: central differences of the learner's exact gradient, two evaluations a parameter.
Not here: the Fisher information, an average of all this over data that the network might produce.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal

import numpy as np

from hidviz.background import checkpoint
from hidviz.evaluation.field_sums import Contributions, assembled, normalised
from hidviz.evaluation.information_by_row import row_seconds
from hidviz.learners import LEARNERS, LIKELIHOODS, Infeasible, prepare
from hidviz.network import Couplings, Recording, learned_blocks, with_bias
from hidviz.numerics import Array, Tables, joint_states

MOST_PARAMETERS = 2500  # their matrix is diagonalised in ten seconds or so
LONGEST_ERROR_BARS = 300.0
STEP = 1e-4  # of a central difference: rounding and truncation both stay near 1e-9 of the largest entry


def information(
    couplings: Couplings,
    recording: Recording,
    *,
    hidden: Literal["stochastic", "continuous"] = "stochastic",
    hidden_hidden: bool = False,
    bias: bool = False,
) -> Generator[float, None, Array]:
    """Observed information in nats, yielding the fraction done and returning the (N, N) matrix.

    Rows are the N entries of `couplings.vector(learned_blocks(…))`.

    Raises:
        Infeasible: it would take too long; the message gives the number.
    """
    n_hidden, n = couplings.n_hidden, recording.n_transitions
    blocks = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)
    n_parameters = len(couplings.vector(blocks))
    if n_parameters > MOST_PARAMETERS:
        raise Infeasible(
            f"Error bars invert a matrix of all pairs of parameters, at most {MOST_PARAMETERS:,} of them, "
            f"got {n_parameters:,}: use fewer units, or repeat the fit on other data and compare."
        )
    continuous = hidden == "continuous"
    by_bins = _by_bins(couplings, hidden_hidden)
    predicted = error_bar_seconds(couplings, recording, hidden=hidden, hidden_hidden=hidden_hidden, bias=bias)
    if predicted > LONGEST_ERROR_BARS:
        what = f"{2 * n_parameters:,} evaluations"
        if by_bins:
            what = "second derivatives" if continuous else f"sums over 2**{n_hidden} hidden states"
        raise Infeasible(
            f"Error bars need {what} of {n:,} transitions, about {predicted:.2g} s of {LONGEST_ERROR_BARS:g} s "
            "at most: use fewer hidden units, or a shorter recording and the 1/T law."
        )
    if by_bins:
        contributions = _continuous(couplings) if continuous else _stochastic(couplings)
        return (yield from assembled(contributions, recording, blocks, n_hidden, 1 if continuous else 2**n_hidden))
    learner = LIKELIHOODS["continuous" if continuous else "stochastic"]
    return (yield from _differences(couplings, recording, learner, hidden_hidden, bias))


def error_bar_seconds(
    couplings: Couplings,
    recording: Recording,
    *,
    hidden: Literal["stochastic", "continuous"] = "stochastic",
    hidden_hidden: bool = False,
    bias: bool = False,
) -> float:
    """About how long `information` takes, in seconds; the matrix of N parameters is yet to be diagonalised."""
    n_visible, n_hidden, n = couplings.n_visible, couplings.n_hidden, recording.n_transitions
    if not n_hidden:
        return row_seconds(n_visible, n)
    if _by_bins(couplings, hidden_hidden):
        return _seconds(n_visible, n_hidden, n, 1 if hidden == "continuous" else 2.0**n_hidden)
    learner = LIKELIHOODS[hidden]
    n_parameters = len(couplings.vector(learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)))
    return 2 * n_parameters * LEARNERS[learner].seconds(n_visible, n_hidden, n, hidden_hidden)


def _by_bins(couplings: Couplings, hidden_hidden: bool) -> bool:
    """Whether every transition tells for itself: hidden units are not coupled to each other."""
    return not hidden_hidden and not couplings.M.any()


def _differences(
    couplings: Couplings, recording: Recording, learner_name: str, hidden_hidden: bool, bias: bool
) -> Generator[float, None, Array]:
    learner = prepare(
        learner_name, recording, n_hidden=couplings.n_hidden, hidden_hidden=hidden_hidden, bias=bias
    )  # fmt: skip
    theta = couplings.vector(learner.learned)
    curvature = np.empty((len(theta), len(theta)))
    for k in range(len(theta)):
        yield k / len(theta)
        ends = []
        for step in (STEP, -STEP):
            checkpoint()
            moved = theta.copy()
            moved[k] += step
            ends.append(learner(couplings.with_vector(moved, learner.learned)).gradient.vector(learner.learned))
        curvature[k] = (ends[1] - ends[0]) / (2.0 * STEP)
    return 0.5 * (curvature + curvature.T)


def _stochastic(couplings: Couplings) -> Contributions:
    """The Louis identity: sums over hidden states."""
    n_visible, n_hidden = couplings.K.shape
    states = joint_states(n_hidden)
    sigma = np.ascontiguousarray(states.T)
    Jh, Lg = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g)
    tables = Tables(couplings.K @ sigma)
    n_pairs = n_visible * n_hidden
    i, a = np.arange(n_visible), np.arange(n_visible, n_visible + n_hidden)

    def contributions(
        x: Array, w: Array, following: Array, count: Array, external: Array | float
    ) -> tuple[Array, Array, Array]:
        n, B = len(count), w @ Lg.T
        minus, log_weight = tables(x @ Jh.T + external)
        p = normalised((B + following @ couplings.K) @ sigma + log_weight) * count[:, None]
        slack = 4.0 * minus * (1.0 - minus) * p  # 1 - tanh² H_i, weighted
        errors = 2.0 * minus + (following.T - 1.0)[:, :, None]

        root = np.sqrt(p)
        few = np.concatenate([errors * root, sigma[:, None] * root])  # (Nv + Nh, n, states)
        many = (few[:n_visible, None] * sigma[:, None]).reshape(n_pairs, n, len(states))
        states_last = few.transpose(1, 0, 2)
        fields, mixed = states_last @ few.transpose(1, 2, 0), states_last @ many.transpose(1, 2, 0)
        every = many.reshape(n_pairs, p.size)
        mean = (states_last @ root[:, :, None])[:, :, 0] / np.sqrt(count)[:, None]
        mean_of_many = fields[:, i, n_visible:].reshape(n, n_pairs) / np.sqrt(count)[:, None]
        fields = mean[:, :, None] * mean[:, None, :] - fields  # minus the covariance
        mixed = mean[:, :, None] * mean_of_many[:, None, :] - mixed
        pairs = mean_of_many.T @ mean_of_many - every @ every.T

        fields[:, i, i] += slack.sum(axis=2).T
        fields[:, a, a] += (1.0 - np.tanh(B) ** 2) * count[:, None]
        mixed.reshape(n, n_visible + n_hidden, n_visible, n_hidden)[:, i, i] += (slack @ states).swapaxes(0, 1)
        pairs.reshape((n_visible, n_hidden) * 2)[i, :, i] += (slack.sum(axis=1)[:, None] * sigma) @ states
        return fields, mixed, pairs

    return contributions


def _continuous(couplings: Couplings) -> Contributions:
    """Second derivatives where hidden units are a function of the bin before."""
    K, (n_visible, n_hidden) = couplings.K, couplings.K.shape
    Jh, Lg = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g)
    i, a, b = np.arange(n_visible), np.arange(n_visible, n_visible + n_hidden), np.arange(n_hidden)

    def contributions(
        x: Array, w: Array, following: Array, count: Array, external: Array | float
    ) -> tuple[Array, Array, Array]:
        n = len(count)
        mu = np.tanh(w @ Lg.T)
        tanh = np.tanh(x @ Jh.T + mu @ K.T + external)
        slack, errors = (1.0 - tanh**2) * count[:, None], (following - tanh) * count[:, None]
        response = 1.0 - mu**2
        H_in_B = K * response[:, None]  # (n, Nv, Nh) slope of H in B

        fields = np.zeros((n, n_visible + n_hidden, n_visible + n_hidden))
        fields[:, i, i] = slack
        fields[:, :n_visible, n_visible:] = slack[:, :, None] * H_in_B
        fields[:, n_visible:, :n_visible] = fields[:, :n_visible, n_visible:].swapaxes(1, 2)
        fields[:, n_visible:, n_visible:] = H_in_B.swapaxes(1, 2) @ fields[:, :n_visible, n_visible:]
        fields[:, a, a] += 2.0 * mu * response * (errors @ K)

        mixed = np.zeros((n, n_visible + n_hidden, n_visible, n_hidden))
        mixed[:, i, i] = slack[:, :, None] * mu[:, None]
        mixed[:, n_visible:] = (slack[:, :, None] * H_in_B).swapaxes(1, 2)[..., None] * mu[:, None, None]
        mixed[:, a, :, b] -= (errors[:, :, None] * response[:, None]).transpose(2, 0, 1)

        pairs = np.zeros((n_visible, n_hidden) * 2)
        pairs[i, :, i] = (slack.T[:, None] * mu.T) @ mu
        return fields, mixed.reshape(n, n_visible + n_hidden, K.size), pairs.reshape(K.size, K.size)

    return contributions


def _seconds(n_visible: int, n_hidden: int, n_transitions: int, n_states: float) -> float:
    """Predicted seconds without couplings among hidden units, a rough guide."""
    n_units, n_pairs = n_visible + n_hidden, n_visible * n_hidden
    states = n_states * ((n_units + n_pairs) * (1e-8 + 1e-10 * n_units) + 5e-11 * n_pairs**2)
    inputs = 3e-10 * (n_units * (n_visible + 1)) ** 2
    return min(n_transitions, 2.0 ** (3 * n_visible)) * (states + inputs)
