"""Exact maximum likelihood for stochastic hidden units with couplings among themselves (any M), by smoothing.

The chain of `hidden_chain`, swept forward and backward, gives the posterior of each hidden state and of each pair in a
row in O(T 4**Nh); the text of sec. 3.1 says that M ≠ 0 is never possible exactly. The gradient is that of
eqs. 23 (`dJ`) to 26 (`dM`), averages over the posterior:

    dJ = Σ <s(t+1) - tanh H> s(t)ᵀ          dK = Σ <(s(t+1) - tanh H) σ(t)ᵀ>
    dL = Σ <σ(t+1) - tanh B> s(t)ᵀ          dM = Σ <(σ(t+1) - tanh B) σ(t)ᵀ>

Printed with σ_b(t+1) in eq. 26 (`dM`); σ_a(t+1) is the slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners.parts.budget import refuse_if_long
from hidviz.learners.parts.hidden_chain import (
    TABLE_NUMBERS,
    Block,
    Chain,
    Swept,
    build_chain,
    cut,
    log_factors,
    log_onward,
    slices,
    sweep_both,
    sweep_forward,
    table_slices,
    visible_input,
)
from hidviz.learners.protocol import Beliefs, Estimate, Learner
from hidviz.network import Couplings, Recording, as_gradient, learned_blocks
from hidviz.numerics import Array, States, best_scores, expected_tanh, smooth, trace_back


def prepare_chain(recording: Recording, *, n_hidden: int, hidden_hidden: bool = True, bias: bool = False) -> Learner:
    """Prepare the exact learner for any M; beliefs hold the posterior magnetisations <σ_a(t)>.

    Raises:
        Infeasible: 4**n_hidden transitions a step would take too long.
    """
    refuse_if_long(recording.n_visible, n_hidden, recording.n_transitions, True)
    blocks = tuple(cut(recording, n_hidden))
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)
    return Learner(
        evaluate=lambda couplings, _beliefs: _evaluate(blocks, couplings, recording.n_transitions, learned),
        n_visible=recording.n_visible,
        n_hidden=n_hidden,
        n_transitions=recording.n_transitions,
        learned=learned,
    )


def log_likelihood(couplings: Couplings, recording: Recording) -> float:
    """Exact log P[s] for any M, in nats, summed over transitions: eq. 18 (`vislikelihood`).

    Raises:
        Infeasible: 4**Nh transitions a step would take too long.
    """
    refuse_if_long(recording.n_visible, couplings.n_hidden, recording.n_transitions, True)
    return sweep_forward(cut(recording, couplings.n_hidden), build_chain(couplings))


@dataclass(frozen=True, eq=False)
class HiddenPosterior:
    """What the visible data say about the hidden units, at the start of each transition, trial after trial.

    Args:
        filtered: (n_transitions, Nh) <σ_a(t)> given s up to t+1, the first bin that σ(t) acts on.
        smoothed: (n_transitions, Nh) <σ_a(t)> given all of the trial.
        path: (n_transitions, Nh) of ±1, the most likely hidden history given all of the trial (Viterbi).
        log_likelihood: log P[s] in nats, summed over transitions.
    """

    filtered: Array
    smoothed: Array
    path: States
    log_likelihood: float


def hidden_posterior(couplings: Couplings, recording: Recording) -> HiddenPosterior:
    """Exact posterior of the hidden units given a recording, for any M.

    Raises:
        Infeasible: 4**Nh transitions a step would take too long.
    """
    n_hidden, n = couplings.n_hidden, recording.n_transitions
    refuse_if_long(recording.n_visible, n_hidden, n, True)
    model, blocks = build_chain(couplings), tuple(cut(recording, n_hidden))
    filtered, smoothed, total = np.empty((n, n_hidden)), np.empty((n, n_hidden)), 0.0
    for swept in sweep_both(blocks, model):
        total += swept.log_likelihood
        _put(filtered, swept.block, _filtered(swept, model) @ model.sigma)
        P, _ = smooth(model.kernel, swept.u, swept.v, swept.later, swept.block.ends)
        _put(smoothed, swept.block, _flat(P) @ model.sigma)
    return HiddenPosterior(filtered, smoothed, _best_path(blocks, model, n), total)


def _filtered(swept: Swept, model: Chain) -> Array:
    """P(z_t | s up to t+1), flat over transitions: u without the way on to the next step."""
    block = swept.block
    back = -log_onward(block, model).take(block.which, axis=0)
    back[block.ends.ravel()] = 0.0
    back -= back.max(axis=1)[:, None]
    alpha, _ = model.kernel.weigh(_flat(swept.u.sent), model.kernel.factor(back))
    return model.kernel.probability(alpha)


def _best_path(blocks: tuple[Block, ...], model: Chain, n: int) -> States:
    """Score all blocks, keeping only what enters each; then score again and trace back, from the last block."""

    def scored(block: Block, first: Array | None) -> Array:
        in_time = log_factors(block, model)[0].swapaxes(0, 1)[~block.spare.T]
        return best_scores(in_time, block.starts.T[~block.spare.T], model.log_Q, first)

    entering: list[Array | None] = [None]
    for block in blocks:
        entering.append(scored(block, entering[-1])[-1])
    path, after = np.empty(n, dtype=np.intp), None
    for block, first in zip(reversed(blocks), entering[-2::-1], strict=True):
        rows, starts = block.rows.T[~block.spare.T], block.starts.T[~block.spare.T]
        path[rows] = trace_back(scored(block, first), starts, model.log_Q, after)
        after = None if starts[0] else int(path[rows[0]])
    return model.sigma[path].astype(np.int8)


def _evaluate(
    blocks: tuple[Block, ...], couplings: Couplings, n_transitions: int, learned: tuple[str, ...]
) -> Estimate:
    model = build_chain(couplings)
    objective = 0.0
    dJ, dK, dL = np.zeros_like(model.Jh), np.zeros_like(model.K), np.zeros_like(model.Lg)
    pairs = np.zeros_like(model.log_Q)
    tanh_H, tanh_B = np.zeros_like(model.visible.hidden_input), np.zeros_like(model.hidden.hidden_input)
    means = np.empty((n_transitions, couplings.n_hidden))
    for swept in sweep_both(blocks, model):
        block = swept.block
        objective += swept.log_likelihood
        P, pairs_here = smooth(model.kernel, swept.u, swept.v, swept.later, block.ends)
        P, pairs = _flat(P), pairs + pairs_here
        mean = P @ model.sigma
        _put(means, block, mean)
        mean[block.spare.ravel()] = 0.0
        dJ += block.following_present
        for rows in slices(len(mean), TABLE_NUMBERS // couplings.n_visible):
            dK += block.following[rows].T @ mean[rows]
            dL += mean[rows].T @ block.previous[rows]
        weight = block.gather @ P
        onward = weight - block.gather_ends @ P
        for part in table_slices(block, model):
            checkpoint()
            present = block.present[part]
            tanh, by_state = expected_tanh(model.visible(visible_input(block, part, model))[0], weight[part])
            dJ -= tanh.T @ present
            tanh_H += by_state
            tanh, by_state = expected_tanh(model.hidden(present @ model.Lg.T)[0], onward[part])
            dL -= tanh.T @ present
            tanh_B += by_state
    dK -= tanh_H @ model.sigma
    dM = (model.sigma.T @ pairs - tanh_B) @ model.sigma
    return Estimate(objective, as_gradient(dJ, dK, dL, dM, learned), Beliefs(means))


def _flat(array: Array) -> Array:
    return array.reshape(-1, array.shape[-1])


def _put(into: Array, block: Block, values: Array) -> None:
    """Write values, flat over the block's transitions, to their places in the recording."""
    real = ~block.spare.ravel()
    into[block.rows.ravel()[real]] = values[real]
