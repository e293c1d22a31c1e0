"""The hidden units as a Markov chain driven by the visible data: blocks of time, factors, and sweeps over all blocks.

Given the visible data the joint hidden state z(t) is a Markov chain on 2**Nh states (an input-output hidden Markov
model). In the form of `messages`, with b(t) = g + L s(t-1), b = 0 where a trial starts,

    C_t(z) = exp(z·[b(t) + Kᵀ s(t+1)]) Π_i 1/2cosh H_i(s(t), z) Π_a 1/2cosh B_a(s(t), z)      Q(z', z) = exp(z'ᵀ M z)

so that all that depends on M alone is one constant matrix. The last step of a trial has no factor for B: what it sends
on is not seen. Factors are tabulated over distinct states s(t) and never kept for longer than a block of time.

Not here: gradients and beliefs, see `smoothing`; the recursions, see `messages`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from hidviz.background import checkpoint
from hidviz.network import Couplings, Recording, distinct_present, with_bias
from hidviz.numerics import (
    Array,
    Flags,
    Index,
    Kernel,
    Messages,
    States,
    Tables,
    backward,
    forward,
    joint_states,
    kernel,
)

BLOCK_NUMBERS = 2**21  # numbers in one array over (time, hidden state): 16 MB
TABLE_NUMBERS = 2**17  # numbers in one table, so that it stays in the second-level cache
SHORTEST_SEGMENT = 64  # steps: twice the burn-in


@dataclass(frozen=True, eq=False)
class Block:
    """A chunk of transitions cut in segments; arrays over transitions are flat, step after step over all segments.

    Args:
        rows: (steps, segments) which transition of the recording; the last one again in spare places.
        spare: (steps, segments) places beyond the end of the recording.
        starts: (steps, segments) first transition of a trial.
        ends: (steps, segments) last transition of a trial.
        present: (n, Nv + 1) distinct present states, with the constant unit.
        which: which of them each transition has.
        previous: state before each transition, with the constant unit; zeros where a trial starts.
        following: state after each transition; zeros in spare places.
        following_present: (Nv, Nv + 1) Σ_t s(t+1) s(t)ᵀ.
        field: (n, Nv) the external field at each present state; None where there is none.
        following_field: Σ_t s(t+1)·h(t) of the external field.
        gather: (n, transitions) sums over the transitions from each present state.
        gather_ends: the same, over last transitions of trials only.
    """

    rows: Index
    spare: Flags
    starts: Flags
    ends: Flags
    present: Array
    which: Index
    previous: States
    following: States
    following_present: Array
    field: Array | None
    following_field: float
    gather: sparse.csr_array
    gather_ends: sparse.csr_array


@dataclass(frozen=True, eq=False)
class Chain:
    """Everything about the chain that the couplings alone decide.

    Args:
        Jh: (Nv, Nv + 1) J with h as its last column.
        K: (Nv, Nh).
        Lg: (Nh, Nv + 1) L with g as its last column.
        sigma: (S, Nh) the joint states, S = 2**Nh.
        visible: tables of the visible units.
        hidden: tables of the hidden units.
        bound: (S,) Σ_a |Σ_b M_ab σ_b|, moved from Q to C so that the largest entry of each column of Q is 1.
        log_Q: (S, S).
        kernel: the arithmetic of messages.
    """

    Jh: Array
    K: Array
    Lg: Array
    sigma: Array
    visible: Tables
    hidden: Tables
    bound: Array
    log_Q: Array
    kernel: Kernel


def cut(recording: Recording, n_hidden: int) -> Iterator[Block]:
    """Cut a recording into blocks of time that fit the memory, and each block into segments."""
    previous, present, following, first = recording.transitions()
    n = len(present)
    starts = np.zeros(n, dtype=np.bool_)
    starts[first] = True
    previous = np.column_stack([previous, ~starts])
    room = max(1, BLOCK_NUMBERS >> n_hidden)
    steps = min(n, max(SHORTEST_SEGMENT, int(0.6 * min(n, room) ** 0.5)))
    longest = max(1, room // steps) * steps
    for begin in range(0, n, longest):
        segments = -(-min(longest, n - begin) // steps)
        place = begin + np.arange(segments * steps).reshape(segments, steps).T
        rows, spare = np.minimum(place, n - 1), place >= n
        ends = np.append(starts[1:], True)[rows]
        flat, real = rows.ravel(), np.flatnonzero(~spare)
        states, which, field = distinct_present(recording, present[flat], flat)
        last = real[ends.ravel()[real]]
        yield Block(
            rows=rows,
            spare=spare,
            starts=starts[rows],
            ends=ends,
            present=states,
            which=which,
            previous=previous[flat],
            following=following[flat] * ~spare.reshape(-1, 1),
            following_present=following[flat[real]].T @ states[which[real]],
            field=field,
            following_field=0.0 if field is None else float(np.vdot(following[flat[real]], field[which[real]])),
            gather=_gather(which, real, len(states)),
            gather_ends=_gather(which, last, len(states)),
        )


def _gather(which: Index, chosen: Index, n: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(chosen)), (which[chosen], chosen)), shape=(n, len(which)))


def build_chain(couplings: Couplings) -> Chain:
    """The chain of these couplings, whatever the data."""
    sigma = joint_states(couplings.n_hidden)
    hidden_input = couplings.M @ sigma.T
    bound = np.abs(hidden_input).sum(axis=0)
    log_Q = sigma @ hidden_input - bound
    return Chain(
        Jh=with_bias(couplings.J, couplings.h),
        K=couplings.K,
        Lg=with_bias(couplings.L, couplings.g),
        sigma=sigma,
        visible=Tables(couplings.K @ sigma.T),
        hidden=Tables(hidden_input),
        bound=bound,
        log_Q=log_Q,
        kernel=kernel(log_Q),
    )


def table_slices(block: Block, model: Chain) -> Iterator[slice]:
    """Slices of the present states whose tables stay in the cache."""
    return slices(len(block.present), TABLE_NUMBERS // (len(model.sigma) * max(model.K.shape)))


def visible_input(block: Block, part: slice, model: Chain) -> Array:
    """(n, Nv) field on the visible units from some present states, without the hidden ones."""
    fields = block.present[part] @ model.Jh.T
    if block.field is not None:
        fields += block.field[part]
    return fields


def slices(n: int, size: int) -> Iterator[slice]:
    """Slices of at most this size, at least 1, that cover n places."""
    size = max(1, size)
    return (slice(begin, begin + size) for begin in range(0, n, size))


def log_onward(block: Block, model: Chain) -> Array:
    """The part of log C_t(z) that is the way on to the next step, Π_a 1/2cosh B_a; (n, S) by present state."""
    table = np.empty((len(block.present), len(model.sigma)))
    for part in table_slices(block, model):
        checkpoint()
        table[part] = model.hidden(block.present[part] @ model.Lg.T)[1] + model.bound
    return table


def log_factors(block: Block, model: Chain) -> tuple[Array, float]:
    """All of log C_t(z), largest 0 at each step, and what of the log likelihood this leaves outside.

    Returns:
        (steps, segments, S) logarithms, and the sum of what was taken out, in nats.
    """
    onward = log_onward(block, model)
    table = onward.copy()
    for part in table_slices(block, model):
        checkpoint()
        table[part] += model.visible(visible_input(block, part, model))[1]
    log_C = np.empty((block.rows.size, len(model.sigma)))
    top = np.empty(len(log_C))
    last = block.ends.ravel()
    for rows in slices(len(log_C), TABLE_NUMBERS // len(model.sigma)):
        checkpoint()
        here, ends = log_C[rows], last[rows]
        which = block.which[rows]
        inputs = block.following[rows] @ model.K + block.previous[rows] @ model.Lg.T
        np.matmul(inputs, model.sigma.T, out=here)
        here += table.take(which, axis=0)
        here[ends] -= onward[which[ends]]
        top[rows] = here.max(axis=1)
        here -= top[rows, None]
    outside = top[~block.spare.ravel()].sum() + np.vdot(block.following_present, model.Jh) + block.following_field
    return log_C.reshape(*block.rows.shape, -1), float(outside)


@dataclass(frozen=True, eq=False)
class Swept:
    """A block with its messages.

    Args:
        block: the transitions.
        u: messages forward.
        v: messages backward.
        later: (S,) the v that the step after the block sends; None if there is none.
        log_likelihood: of the block given all before it, in nats.
    """

    block: Block
    u: Messages
    v: Messages
    later: Array | None
    log_likelihood: float


def sweep_forward(blocks: Iterable[Block], model: Chain) -> float:
    """Log likelihood in nats: sweep forward only, one block in memory at a time."""
    total, earlier = 0.0, None
    for block in blocks:
        logs, outside = log_factors(block, model)
        u = forward(model.kernel, model.kernel.factor(logs), block.starts, earlier)
        total += outside + float(u.log_norm[~block.spare].sum())
        earlier = u.sent[-1, -1].copy()
    return total


def sweep_both(blocks: Sequence[Block], model: Chain) -> Iterator[Swept]:
    """Sweep all blocks back, keeping only seams; then block by block both ways."""
    seams: list[Array] = []
    for block in reversed(blocks):
        logs, outside = log_factors(block, model)
        factors = model.kernel.factor(logs)
        v = backward(model.kernel, factors, block.ends, seams[-1][0] if seams else None)
        seams.append(v.sent[0].copy())
    earlier = None
    for block in blocks:
        known = seams.pop()
        later = seams[-1][0] if seams else None
        if earlier is not None:  # the first block is still at hand
            logs, outside = log_factors(block, model)
            factors = model.kernel.factor(logs)
            v = backward(model.kernel, factors, block.ends, later, known)
        u = forward(model.kernel, factors, block.starts, earlier)
        earlier = u.sent[-1, -1].copy()
        yield Swept(block, u, v, later, outside + float(u.log_norm[~block.spare].sum()))
