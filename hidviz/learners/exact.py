"""Exact maximum likelihood for stochastic hidden units without couplings among themselves (M = 0).

Without M the hidden units of one bin are independent of those of the next once the visible data are given: the
posterior factorises over time. With b(t) = g + L s(t-1), b = 0 where a trial starts (flat first state), and z a joint
hidden state,

    p_t(z) ∝ exp(z·c_t) Π_i 1/2cosh H_i(s(t), z),    c_t = b(t) + Kᵀ s(t+1)
    log P[s] = Σ_t { s(t+1)·(h + J s(t)) + log Σ_z exp(z·c_t) Π_i 1/2cosh H_i - Σ_a log 2cosh b_a(t) }
    dJ = Σ <s(t+1) - tanh H>_p s(t)ᵀ    dK = Σ <(s(t+1) - tanh H) σᵀ>_p    dL = Σ (<σ>_p - tanh b) s(t-1)ᵀ

which are eqs. 18 (`vislikelihood`) and 23 (`dJ`) to 25 (`dL`). Equal triples s(t-1), s(t), s(t+1) share all of it: they
are counted once, the hyperbolic functions are tabulated over distinct s(t), and exp(z·c) is a product of factors that
belong to one visible state and one half of the hidden units each, so that sums over z are matrix products. Where the
visible units are few, the cost of an evaluation stops growing with T.

Under an external field the bin of the trial counts as part of s(t).

Not here: couplings among hidden units; see `smoothing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners.parts.budget import exact_memory, exact_seconds, refuse_if_long
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method, Prepare
from hidviz.network import (
    Couplings,
    DistinctTransitions,
    Recording,
    as_gradient,
    distinct_transitions,
    learned_blocks,
    with_bias,
)
from hidviz.numerics import Array, Index, Tables, expected_tanh, joint_states, log_2cosh

BLOCK_NUMBERS = 2**17  # numbers in a block's largest array: 1 MB, so that a block stays in the second-level cache
SEGMENT_TRIPLES = 512  # most triples that share one row of a block
BELIEF_NUMBERS = 2**20  # magnetisations are handed out up to this many: 8 MB, a few milliseconds
LARGEST_INPUT = 250.0  # Σ_a |c_a| up to which exp(z·c) is split into factors: sums lose nothing above exp(-200)


@dataclass(frozen=True, eq=False)
class _Block:
    """Some distinct present states x, each with up to c triples; spare places have count 0."""

    x: Index  # (n,) present states
    triple: Index  # (n, c) which triple
    p: Index  # (n, c) its previous state
    y: Index  # (n, c) its following state
    count: Array  # (n, c) how often it occurs


@dataclass(frozen=True, eq=False)
class _Triples:
    """The data as counts of distinct triples."""

    distinct: DistinctTransitions
    n_previous: Array  # how often each previous state occurs
    following_present: Array  # (Nv, Nv + 1) Σ_t s(t+1) s(t)ᵀ
    following_field: float  # Σ_t s(t+1)·h(t) of the external field
    blocks: tuple[_Block, ...]


Moments = Callable[[], tuple[Array, Array]]


def prepare_independent(recording: Recording, *, n_hidden: int, bias: bool = False) -> Learner:
    """Prepare the exact learner for M = 0.

    Beliefs hold the posterior magnetisations <σ_a(t)>; they are left out of long recordings (more than
    `BELIEF_NUMBERS` of them), where copying them would cost more than the learning.

    Raises:
        Infeasible: the sum over 2**n_hidden states would take too long.
    """
    refuse_if_long(recording.n_visible, n_hidden, recording.n_transitions, False)
    triples = _triples(recording, n_hidden)
    learned = learned_blocks(n_hidden, bias=bias)
    return Learner(
        evaluate=lambda couplings, _beliefs: _evaluate(triples, couplings, learned),
        n_visible=recording.n_visible,
        n_hidden=n_hidden,
        n_transitions=recording.n_transitions,
        learned=learned,
    )


def method(chain: Prepare) -> Method:
    """The exact method: this learner where M = 0, and `chain` where M is learned too."""

    def prepare(recording: Recording, *, n_hidden: int, hidden_hidden: bool = False, bias: bool = False) -> Learner:
        if hidden_hidden:
            return chain(recording, n_hidden=n_hidden, hidden_hidden=True, bias=bias)
        return prepare_independent(recording, n_hidden=n_hidden, bias=bias)

    return Method(
        name="exact",
        family="likelihood",
        title="Exact",
        prepare=prepare,
        hidden="stochastic",
        objective="log likelihood",
        likelihood=True,
        summary=(
            "Sums over every joint state of the hidden units, so that the cost is the exact likelihood of the data. "
            "For about ten hidden units at most; fast where the visible units are few, however long the recording."
        ),
        equations=(
            r"P[s] = \sum_{\sigma} P[s, \sigma]",
            r"\partial J_{ij} = \sum_t \langle s_i(t+1) - \tanh H_i(t) \rangle_{\sigma|s}\, s_j(t)",
            r"\partial K_{ib} = \sum_t \langle [s_i(t+1) - \tanh H_i(t)]\, \sigma_b(t) \rangle_{\sigma|s}",
            r"\partial L_{aj} = \sum_t \langle \sigma_a(t+1) - \tanh B_a(t) \rangle_{\sigma|s}\, s_j(t)",
            r"\partial M_{ab} = \sum_t \langle [\sigma_a(t+1) - \tanh B_a(t)]\, \sigma_b(t) \rangle_{\sigma|s}",
        ),
        seconds=exact_seconds,
        memory=exact_memory,
        refuse_if_long=refuse_if_long,
    )


def log_likelihood(couplings: Couplings, recording: Recording) -> float:
    """Exact log P[s] at M = 0, in nats, summed over transitions: eq. 18 (`vislikelihood`).

    Raises:
        ValueError: M is not zero.
        Infeasible: the sum over hidden states would take too long.
    """
    refuse_if_long(recording.n_visible, couplings.n_hidden, recording.n_transitions, False)
    sums = _HiddenSums.of(_triples(recording, couplings.n_hidden), couplings)
    return sums.outside + sum(float((block.count * log_z).sum()) for block, _, log_z, _ in sums)


def _triples(recording: Recording, n_hidden: int) -> _Triples:
    each = distinct_transitions(recording)
    return _Triples(
        distinct=each,
        n_previous=np.bincount(each.p, each.count).astype(np.float64),
        following_present=(each.following[each.y] * each.count[:, None]).T @ each.present[each.x],
        following_field=0.0
        if each.field is None
        else float(((each.following[each.y] * each.field[each.x]).sum(axis=1) * each.count).sum()),
        blocks=tuple(_blocks(each, recording.n_visible, n_hidden)),
    )


def _blocks(each: DistinctTransitions, n_visible: int, n_hidden: int) -> Iterator[_Block]:
    """Cut triples, sorted by x, into segments of one x each, and pack segments of like length into blocks."""
    n_states = 2**n_hidden
    longest = int(np.clip(2**20 // n_states, 16, SEGMENT_TRIPLES))
    in_x = np.bincount(each.x)
    n_segments = -(-in_x // longest)
    nth = np.arange(n_segments.sum()) - np.repeat(np.cumsum(n_segments) - n_segments, n_segments)
    first = np.repeat(np.cumsum(in_x) - in_x, n_segments) + nth * longest
    length = np.minimum(np.repeat(in_x, n_segments) - nth * longest, longest)
    order = np.argsort(-length, kind="stable")
    while len(order):
        c = length[order[0]]
        by_triples = BLOCK_NUMBERS // (2 * c * 2 ** (n_hidden - n_hidden // 2))
        n = max(1, min(by_triples, BLOCK_NUMBERS // (n_states * n_visible)))
        here, order = order[:n], order[n:]
        places = np.arange(c) < length[here, None]
        triple = first[here, None] + places * np.arange(c)
        yield _Block(each.x[first[here]], triple, each.p[triple], each.y[triple], places * each.count[triple])


@dataclass(frozen=True, eq=False)
class _HiddenSums:
    """The sums over hidden states at given couplings: iterate to get them block by block.

    Each item is the block, the table of probabilities of -1 (Nv, n, 2**Nh), log Σ_z of each triple (n, c) in nats,
    and a function for the moments that a gradient needs: <σ> of each triple (n, c, Nh), and the posterior weight of
    each present and hidden state, summed over triples (n, 2**Nh).
    """

    triples: _Triples
    sigma: Array  # (2**Nh, Nh)
    visible_input: Array  # (n_present, Nv) h + J s(t), and the external field
    tables: Tables  # of the visible units
    b: Array  # (n_previous, Nh)
    c: Array  # (n_following, Nh) Kᵀ s(t+1)
    outside: float  # the part of the log likelihood that needs no sum, nats

    @staticmethod
    def of(triples: _Triples, couplings: Couplings) -> _HiddenSums:
        if couplings.M.any():
            raise ValueError(
                "M must be zero where hidden-to-hidden couplings are not learned, got entries up to "
                f"{np.abs(couplings.M).max():.3g}: prepare with hidden_hidden=True."
            )
        sigma = joint_states(couplings.n_hidden)
        Jh = with_bias(couplings.J, couplings.h)
        b = triples.distinct.previous @ with_bias(couplings.L, couplings.g).T
        outside = np.vdot(triples.following_present, Jh) - triples.n_previous @ log_2cosh(b).sum(axis=1)
        visible_input = triples.distinct.present @ Jh.T
        if triples.distinct.field is not None:
            visible_input += triples.distinct.field
            outside += triples.following_field
        return _HiddenSums(
            triples,
            sigma,
            visible_input,
            Tables(couplings.K @ sigma.T),
            b,
            triples.distinct.following @ couplings.K,
            outside,
        )

    def __iter__(self) -> Iterator[tuple[_Block, Array, Array, Moments]]:
        bound = sum(np.abs(part).sum(axis=1).max() for part in (self.b, self.c))
        weigh = self._products() if bound < LARGEST_INPUT else self._logs
        for block in self.triples.blocks:
            checkpoint()
            minus, log_weight = self.tables(self.visible_input[block.x])
            top = log_weight.max(axis=1, keepdims=True)
            log_z, moments = weigh(block, log_weight - top)
            yield block, minus, log_z + top, moments

    def _products(self) -> Callable[[_Block, Array], tuple[Array, Moments]]:
        """Weights as products of factors over halves of the hidden units; needs inputs of moderate size."""
        n_hidden = self.sigma.shape[1]
        n_left = n_hidden // 2
        left, right = joint_states(n_left), joint_states(n_hidden - n_left)
        b_left, c_left = np.exp(self.b[:, :n_left] @ left.T), np.exp(self.c[:, :n_left] @ left.T)
        b_right, c_right = np.exp(self.b[:, n_left:] @ right.T), np.exp(self.c[:, n_left:] @ right.T)

        def weigh(block: _Block, log_weight: Array) -> tuple[Array, Moments]:
            E = np.exp(log_weight).reshape(-1, len(left), len(right))
            F = b_left.take(block.p, axis=0) * c_left.take(block.y, axis=0)
            G = b_right.take(block.p, axis=0) * c_right.take(block.y, axis=0)
            by_right = (F @ E) * G
            Z = by_right.sum(axis=2)

            def moments() -> tuple[Array, Array]:
                by_left = (G @ E.transpose(0, 2, 1)) * F
                mean = np.concatenate([by_left @ left, by_right @ right], axis=2) / Z[:, :, None]
                F_weighted = F * (block.count / Z)[:, :, None]
                return mean, (E * (F_weighted.transpose(0, 2, 1) @ G)).reshape(log_weight.shape)

            return np.log(Z), moments

        return weigh

    def _logs(self, block: _Block, log_weight: Array) -> tuple[Array, Moments]:
        """Weights one by one from their logarithms: for couplings of any size."""
        log_z = np.empty(block.count.shape)
        mean = np.empty((*block.count.shape, self.sigma.shape[1]))
        total = np.empty(log_weight.shape)
        for k, (p, y, count) in enumerate(zip(block.p, block.y, block.count, strict=True)):
            checkpoint()
            log_p = (self.b[p] + self.c[y]) @ self.sigma.T + log_weight[k]
            top = log_p.max(axis=1, keepdims=True)
            weight = np.exp(log_p - top)
            Z = weight.sum(axis=1, keepdims=True)
            weight /= Z
            log_z[k], mean[k], total[k] = (np.log(Z) + top)[:, 0], weight @ self.sigma, count @ weight
        return log_z, lambda: (mean, total)


def _evaluate(triples: _Triples, couplings: Couplings, learned: tuple[str, ...]) -> Estimate:
    n_visible, n_hidden = couplings.K.shape
    sums = _HiddenSums.of(triples, couplings)
    objective = sums.outside
    dJ = triples.following_present.copy()
    dK = np.zeros((n_visible, n_hidden))
    dL = -(np.tanh(sums.b) * triples.n_previous[:, None]).T @ triples.distinct.previous
    tanh_given_z = np.zeros((n_visible, len(sums.sigma)))
    wanted = len(triples.distinct.which) * n_hidden <= BELIEF_NUMBERS
    means = np.empty((len(triples.distinct.count) if wanted else 0, n_hidden))
    for block, minus, log_z, moments in sums:
        objective += float((block.count * log_z).sum())
        mean, weight = moments()
        if wanted:
            means[block.triple] = mean
        counted = (mean * block.count[:, :, None]).reshape(block.count.size, n_hidden)
        dK += triples.distinct.following.take(block.y.ravel(), axis=0).T @ counted
        dL += counted.T @ triples.distinct.previous.take(block.p.ravel(), axis=0)
        tanh, by_z = expected_tanh(minus, weight)
        dJ -= tanh.T @ triples.distinct.present[block.x]
        tanh_given_z += by_z
    dK -= tanh_given_z @ sums.sigma
    return Estimate(
        objective=objective,
        gradient=as_gradient(dJ, dK, dL, couplings.M, learned),
        beliefs=Beliefs(means[triples.distinct.which]) if wanted else None,
    )
