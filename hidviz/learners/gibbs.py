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
The sweep is in `parts/gibbs_sweep`.
"""

from __future__ import annotations

import numpy as np

from hidviz.learners.parts.gibbs_sweep import (
    History,
    System,
    blocks_of_bins,
    history_of,
    padded,
    shifted,
    stacked,
    sum_of_logs,
    sweep,
    system_of,
)
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.network import Couplings, Recording, as_gradient, learned_blocks, with_bias
from hidviz.numerics import Array


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
    history = history_of(recording)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:
        system = system_of(couplings, history.largest_field)
        sweeps = beliefs.sweeps if beliefs else 0
        rng = np.random.default_rng([seed, sweeps])
        start = beliefs.hidden.T if beliefs else rng.choice([-1.0, 1.0], (n_hidden, history.n))
        sigma = padded(start)
        for _ in range(sweeps_per_step):
            sweep(system, history, sigma, rng)
        return estimate(system, couplings, sigma, sweeps + sweeps_per_step)

    def held(couplings: Couplings, beliefs: Beliefs) -> Estimate:
        return estimate(
            system_of(couplings, history.largest_field), couplings, padded(beliefs.hidden.T), beliefs.sweeps
        )

    def estimate(system: System, couplings: Couplings, sigma: Array, sweeps: int) -> Estimate:
        objective, slope = _complete_data(system, history, sigma)
        return Estimate(objective, _gradient(slope, couplings.n_visible, learned), Beliefs(sigma[:, 1:-1].T, sweeps))

    n_visible, n = recording.n_visible, recording.n_transitions
    return Learner(evaluate, n_visible, n_hidden, n, learned, stochastic=True, held=held)


def _complete_data(system: System, history: History, sigma: Array) -> tuple[float, Array]:
    """Objective log P[s, sigma] in nats, eq. 17 (`fulllikelihood`), and its slope in the place of W.

    With q = exp(-2 x(t+1) H(t)) a transition adds -log(1 + q), and its error x - tanh H is 2 x q / (1 + q).
    """
    W, Nv = system.W, system.n_visible
    Nh = len(W) - Nv
    objective, slope = -Nh * np.log(2.0) * history.begins.sum(), np.zeros(W.shape)
    for bins in blocks_of_bins(history.n, len(W)):
        present = stacked(history.present[:, bins], shifted(sigma, bins, 0))
        x = np.concatenate([history.following[:, bins], shifted(sigma, bins, 1)])
        q = W @ present
        if history.field is not None:
            q[:Nv] += history.field[:, bins]
        q *= x
        q *= -2.0
        np.exp(q, out=q)
        q[Nv:, history.ends[bins]] = 0.0
        grown = 1.0 + q
        objective -= float(sum_of_logs(grown, system.run).sum())
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
