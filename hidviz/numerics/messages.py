"""Messages along a driven Markov chain: forward, backward, and the best path; it knows nothing of neurons.

A hidden chain z_0, z_1, … over S states has weight  Π_t C_t(z_t) · Π_t Q(z_{t+1}, z_t),  where Q is one constant matrix
(rows receive, columns send) and C_t, a factor for each time step, holds everything else. Then

    forward   u_t = C_t ∘ (Q u_{t-1}),     u = C/S where a trial starts (flat first state)
    backward  v_t = C_t ∘ (Qᵀ v_{t+1}),    v = C where it ends
    P(z_t) ∝ u_t ∘ (Qᵀ v_{t+1}),           P(z_{t+1}, z_t) ∝ v_{t+1} Q u_t

so that one recursion, run either way, does both. Messages are normalised at each step.

Time is cut into segments run side by side, see `parallel_in_time`; each starts from a guess that a burn-in over the end
of its neighbour has made good. Forgetful chains need one round; others end as a plain sequential pass. Arrays over time
are (step in segment, segment, S).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.numerics.arrays import Array, Flags, Index
from hidviz.numerics.parallel_in_time import join_segments

BURN_IN = 32  # steps: enough for nearly all seams of networks with g² about 1
SEAM = 1e-13  # largest relative difference between two messages that count as one
WIDEST = 300.0  # log range of Q up to which scaled messages keep all that matters, whatever the factors
CHUNK = 2**16  # numbers joined at a time
SIDE_BY_SIDE = 3  # rounds of running wrong segments side by side before going one by one


class Kernel(Protocol):
    """The arithmetic of messages: scaled numbers, or their logarithms."""

    @property
    def flat(self) -> float:
        """What arrives at a state from nowhere: 1/S."""

    def transposed(self) -> Kernel:
        """The kernel of the other direction of time."""

    def factor(self, log_factor: Array) -> Array:
        """A factor, given as logarithms, in this arithmetic; may overwrite its argument."""

    def probability(self, message: Array) -> Array:
        """Normalised messages as plain numbers."""

    def spread(self, message: Array) -> Array:
        """Q applied to each row of messages."""

    def weigh(self, spread: Array, factor: Array) -> tuple[Array, Array]:
        """The next messages, normalised, and the logarithms of their norms."""

    def pairs(self, u: Array, spread: Array, v: Array, joined: Flags) -> tuple[Array, Array]:
        """P(z_t) for each of n steps, and Σ_t P(z_{t+1}, z_t) over those joined to the next, (S, S)."""


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Plain numbers; sound while Q stays within exp(±WIDEST), whatever the factors."""

    Q: Array

    @property
    def flat(self) -> float:
        return 1.0 / len(self.Q)

    def transposed(self) -> _Scaled:
        return _Scaled(self.Q.T)

    def factor(self, log_factor: Array) -> Array:
        return np.exp(log_factor, out=log_factor)

    def probability(self, message: Array) -> Array:
        return message

    def spread(self, message: Array) -> Array:
        return message @ self.Q.T

    def weigh(self, spread: Array, factor: Array) -> tuple[Array, Array]:
        message = spread * factor
        norm = message @ np.ones(message.shape[1])
        message /= norm[:, None]
        return message, np.log(norm)

    def pairs(self, u: Array, spread: Array, v: Array, joined: Flags) -> tuple[Array, Array]:
        P = u * spread
        norm = P @ np.ones(P.shape[1])
        P /= norm[:, None]
        return P, self.Q * (v.T @ (u * (joined / norm)[:, None]))


@dataclass(frozen=True, eq=False)
class _Logs:
    """Logarithms; sound for any Q, and slow."""

    log_Q: Array

    @property
    def flat(self) -> float:
        return -float(np.log(len(self.log_Q)))

    def transposed(self) -> _Logs:
        return _Logs(self.log_Q.T)

    def factor(self, log_factor: Array) -> Array:
        return log_factor

    def probability(self, message: Array) -> Array:
        return np.exp(message)

    def spread(self, message: Array) -> Array:
        return np.stack([_log_sum(row + self.log_Q) for row in message])

    def weigh(self, spread: Array, factor: Array) -> tuple[Array, Array]:
        message = spread + factor
        norm = _log_sum(message)
        return message - norm[:, None], norm

    def pairs(self, u: Array, spread: Array, v: Array, joined: Flags) -> tuple[Array, Array]:
        log_P = u + spread
        norm = _log_sum(log_P)
        total = np.zeros_like(self.log_Q)
        for k in np.flatnonzero(joined):
            total += np.exp(v[k][:, None] + self.log_Q + (u[k] - norm[k]))
        return np.exp(log_P - norm[:, None]), total


def kernel(log_Q: Array) -> Kernel:
    """The fastest sound arithmetic for this Q, given as logarithms with the largest of each column 0."""
    return _Scaled(np.exp(log_Q)) if -log_Q.min() < WIDEST else _Logs(log_Q)


def _log_sum(logs: Array) -> Array:
    top = logs.max(axis=1)
    total: Array = np.log(np.exp(logs - top[:, None]).sum(axis=1)) + top
    return total


class Messages(NamedTuple):
    """What one sweep leaves at each step: the message sent on, the log norm taken out of it, and what had arrived."""

    sent: Array  # (steps, segments, S) u_t, or v_t; normalised
    log_norm: Array  # (steps, segments)
    arrived: Array  # (steps, segments, S) Qᵀ v_{t+1}; empty in a sweep forward, where nothing needs Q u_{t-1}

    def reversed(self) -> Messages:
        """A view with time running the other way."""
        return Messages(*(array[::-1, ::-1] for array in self))


def forward(kernel: Kernel, factors: Array, starts: Flags, first: Array | None) -> Messages:
    """Sweep u through a block of time.

    Args:
        kernel: of Q.
        factors: (steps, segments, S) C_t in the kernel's arithmetic.
        starts: (steps, segments) where a trial starts.
        first: (S,) the message sent by the step before the block; None if there is none.
    """
    path = np.empty((len(factors) + 1, *factors.shape[1:]))
    messages = Messages(path[1:], np.empty(starts.shape), np.empty((0, 0, 0)))
    path[0] = _guess(kernel, factors, starts, first)
    _sweep(kernel, factors, starts, path, messages)
    return messages


def backward(kernel: Kernel, factors: Array, ends: Flags, first: Array | None, seams: Array | None = None) -> Messages:
    """Sweep v through a block of time, from its end; as `forward`, with `ends` where a trial ends.

    Args:
        kernel: of Q.
        factors: (steps, segments, S) C_t in the kernel's arithmetic.
        ends: (steps, segments) where a trial ends.
        first: (S,) the message sent by the step after the block; None if there is none.
        seams: (segments, S) what the first step of each segment sends, if known from an earlier sweep.
    """
    path = np.empty((len(factors) + 1, *factors.shape[1:]))
    messages = Messages(path[:-1], np.empty(ends.shape), np.empty(factors.shape))
    kernel, factors, ends = kernel.transposed(), factors[::-1, ::-1], ends[::-1, ::-1]
    path = path[::-1, ::-1]
    path[0] = _guess(kernel, factors, ends, first, None if seams is None else seams[:0:-1])
    _sweep(kernel, factors, ends, path, messages.reversed())
    return messages


def smooth(kernel: Kernel, u: Messages, v: Messages, later: Array | None, ends: Flags) -> tuple[Array, Array]:
    """Join both sweeps of a block of time.

    Args:
        kernel: of Q.
        u: messages forward.
        v: messages backward; what had arrived is overwritten by the first result.
        later: (S,) the v sent by the step after the block; None if there is none.
        ends: (steps, segments) where a trial ends, so that no pair goes on from there.

    Returns:
        (steps, segments, S) P(z_t), and (S, S) Σ_t P(z_{t+1}, z_t) over pairs that start in the block.
    """
    n_steps, n_segments, n_states = u.sent.shape
    P, total = v.arrived, np.zeros((n_states, n_states))
    last = v.sent[:1, 0] if later is None else later[None, :]  # where nothing is later, the last step is an end
    following = np.concatenate([v.sent[0, 1:], last])[None]
    chunk = max(1, CHUNK // (n_segments * n_states))
    cuts = [*range(0, n_steps - 1, chunk), n_steps - 1, n_steps]
    for begin, end in itertools.pairwise(cuts):
        checkpoint()
        v_next = following if end == n_steps else v.sent[begin + 1 : end + 1]
        smoothed, pairs = kernel.pairs(
            u.sent[begin:end].reshape(-1, n_states),
            v.arrived[begin:end].reshape(-1, n_states),
            v_next.reshape(-1, n_states),
            ~ends[begin:end].ravel(),
        )
        P[begin:end] = smoothed.reshape(end - begin, n_segments, n_states)
        total += pairs
    return P, total


def best_scores(log_factors: Array, starts: Flags, log_Q: Array, first: Array | None) -> Array:
    """Log weight of the best path up to each step and state, (n, S), apart from a constant at each step (Viterbi)."""
    best = np.empty_like(log_factors)
    for t, log_factor in enumerate(log_factors):
        checkpoint()
        before = best[t - 1] if t else first
        best[t] = log_factor if starts[t] or before is None else log_factor + (log_Q + before).max(axis=1)
        best[t] -= best[t].max()
    return best


def trace_back(best: Array, starts: Flags, log_Q: Array, after: int | None) -> NDArray[np.intp]:
    """The best path through scored steps, given the state that it goes on to after them, if it does."""
    path = np.empty(len(best), dtype=np.intp)
    for t in range(len(best) - 1, -1, -1):
        path[t] = (best[t] if after is None else best[t] + log_Q[after]).argmax()
        after = None if starts[t] else path[t]
    return path


def _guess(kernel: Kernel, factors: Array, starts: Flags, first: Array | None, known: Array | None = None) -> Array:
    """The message that each segment starts from: a burn-in over the end of the one before it, unless it is known."""
    n_steps, n_segments, n_states = factors.shape
    start = np.full((n_segments, n_states), kernel.flat)
    if first is not None:
        start[0] = first
    if known is not None:
        start[1:] = known
    elif n_segments > 1:
        message = start[1:]
        for j in range(max(0, n_steps - BURN_IN), n_steps):
            here = starts[j, :-1] if starts[j].any() else None
            _, message, _ = _step(kernel, message, factors[j, :-1], here)
        start[1:] = message
    return start


def _sweep(kernel: Kernel, factors: Array, starts: Flags, path: Array, into: Messages) -> None:
    """Run all segments from path[0], then again those whose start was not what their neighbour sent."""
    any_starts = np.asarray(starts.any(axis=1))

    def advance(steps: slice, segments: Index | slice) -> None:
        message = path[steps.start, segments]
        for j in range(steps.start, steps.stop):
            here = starts[j, segments] if any_starts[j] else None
            arrived, message, into.log_norm[j, segments] = _step(kernel, message, factors[j, segments], here)
            path[j + 1, segments] = message
            if len(into.arrived):
                into.arrived[j, segments] = arrived

    advance(slice(0, len(factors)), slice(None))
    join_segments(path, advance, _differ, stride=1, one_by_one_after=SIDE_BY_SIDE)


def _differ(messages: Array, others: Array) -> Flags:
    return np.asarray((np.abs(messages - others) > SEAM * np.abs(others)).any(axis=1))


def _step(kernel: Kernel, message: Array, factor: Array, starts: Flags | None) -> tuple[Array, Array, Array]:
    checkpoint()
    arrived = kernel.spread(message)
    if starts is not None:
        arrived[starts] = kernel.flat
    return arrived, *kernel.weigh(arrived, factor)
