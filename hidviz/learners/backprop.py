"""Back-propagation: exact likelihood and gradient when hidden units are continuous (model A, paper sec. 2).

    mu(t+1) = tanh B(t)                                  eq. `hiddyn`; mu = 0 where a trial starts
    log L = sum_it [ s_i(t+1) H_i(t) - log 2cosh H_i(t) ]   eq. `LL`
    eps(t+1) = s(t+1) - tanh H(t)
    del(t) = (1 - mu(t)²) ∘ { Kᵀ eps(t+1) + Mᵀ del(t+1) }
    dJ = sum eps(t+1) s(t)ᵀ    dK = sum eps(t+1) mu(t)ᵀ    dL = sum del(t+1) s(t)ᵀ    dM = sum del(t+1) mu(t)ᵀ

The gradient is the recursion that the sums over paths, eqs. `dLresult` and `dMresult`, add up to. Printed there with
q up to t-1 and factors in reading order; here as in their derivation, from the future back.

Only the hidden units are sequential, and only when M ≠ 0. Time is then cut into segments that run side by side, as
columns of one matrix, and run again from the end of their neighbour until the seams agree to rounding. Since the map
contracts, once usually is enough; and if it does not, after p rounds p segments are right, so the end is the same.

Not a learner for stochastic hidden units: there mu is not a function of the past (see exact, mean field, gibbs).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from hidviz.couplings import Array, Couplings, learned_blocks
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.learners.response import receivers, response
from hidviz.pacing import checkpoint
from hidviz.recording import Recording

_CACHED = 2**15  # numbers in a block of time, so that its handful of arrays stays in the cache
_SAME = 2.0**-50  # relative size of a difference that is rounding


def prepare(recording: Recording, *, n_hidden: int, hidden_hidden: bool = False, bias: bool = False) -> Learner:
    """A learner of the exact log likelihood for continuous hidden units, with or without M."""
    grid = _grid(recording, cut=hidden_hidden)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:  # noqa: ARG001 - nothing to warm up
        mu = _forward(couplings, grid)
        objective, to_visible, pull = _errors(couplings, grid, mu)
        to_hidden = _credit(grid, mu, _backward(couplings, grid, mu, pull))
        gradient = _gradient(couplings, learned, to_visible, to_hidden)
        return Estimate(objective, gradient, Beliefs(_in_time(mu, grid)))

    return Learner(evaluate, recording.n_visible, n_hidden, recording.n_transitions, learned)


def hidden_states(couplings: Couplings, recording: Recording) -> Array:
    """States mu of continuous hidden units at the start of each transition, (n_transitions, Nh)."""
    grid = _grid(recording, cut=bool(couplings.M.any()))
    return _in_time(_forward(couplings, grid), grid)


@dataclass(frozen=True, eq=False)
class _Grid:
    """A recording cut into segments side by side: bin k of segment z is column k * n_segments + z.

    So one bin later is n_segments columns on, and any stretch of columns is a block of work. What is left over at the
    end of the last segment is silent: no state, nothing to foretell. Arrays over hidden units have one step more than
    the segments have bins, which holds the seam: the first bin of the next segment.

    Args:
        states: (Nv + 1, n_columns), the visible state and the constant unit.
        doubled: (Nv, n_columns), twice the state one bin later; 0 where nothing follows.
        n_steps: bins in a segment.
        n_segments: segments.
        starts: (step, segment) of each start of a trial, the seams included.
        transitions: the bins that something follows, among all.
    """

    states: NDArray[np.int8]
    doubled: NDArray[np.int8]
    n_steps: int
    n_segments: int
    starts: NDArray[np.intp]
    transitions: slice | NDArray[np.intp]

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Stretches of columns that fit the cache, and the same one bin later."""
        n_columns, width = self.states.shape[1], max(_CACHED // len(self.states), 256)
        for begin in range(0, n_columns, width):
            checkpoint()
            end = min(begin + width, n_columns)
            yield slice(begin, end), slice(begin + self.n_segments, end + self.n_segments)

    def path(self, over_time: Array) -> Array:
        """(n_hidden, columns) as (steps, n_hidden, n_segments), without a copy."""
        n_hidden, n_columns = over_time.shape
        return over_time.reshape(n_hidden, n_columns // self.n_segments, self.n_segments).swapaxes(0, 1)


def _grid(recording: Recording, *, cut: bool) -> _Grid:
    n_bins, n_visible = recording.n_bins, recording.n_visible
    n_segments = isqrt(8 * n_bins) if cut else 1
    n_steps = -(-n_bins // n_segments)
    ends = np.cumsum([len(trial) for trial in recording.trials])
    begins = np.concatenate([[0], ends[:-1]])

    states = np.zeros((n_steps * n_segments, n_visible + 1), np.int8)
    states[:n_bins, :n_visible] = np.concatenate(recording.trials)
    states[:n_bins, n_visible] = 1
    doubled = np.zeros((n_steps * n_segments, n_visible), np.int8)
    doubled[:-1] = 2 * states[1:, :n_visible]
    doubled[ends - 1] = 0

    def columns(by_bin: NDArray[np.int8]) -> NDArray[np.int8]:
        return by_bin.reshape(n_segments, n_steps, -1).transpose(2, 1, 0).reshape(by_bin.shape[1], -1)

    starts = np.stack([begins % n_steps, begins // n_steps], axis=1)
    seams = starts[(starts[:, 0] == 0) & (starts[:, 1] > 0)] + [n_steps, -1]
    one_trial = len(ends) == 1
    return _Grid(
        states=columns(states),
        doubled=columns(doubled),
        n_steps=n_steps,
        n_segments=n_segments,
        starts=np.concatenate([starts, seams]),
        transitions=slice(n_bins - 1) if one_trial else np.delete(np.arange(n_bins), ends - 1),
    )


def _in_time(mu: Array, grid: _Grid) -> Array:
    path = grid.path(mu)[:-1]
    return path.transpose(2, 0, 1).reshape(grid.states.shape[1], len(mu))[grid.transitions]


def _forward(couplings: Couplings, grid: _Grid) -> Array:
    """States mu of every column and of the seams, (Nh, n_columns + n_segments)."""
    M, recurrent = couplings.M, bool(couplings.M.any())
    driven = np.column_stack([couplings.L, couplings.g])
    mu = np.zeros((couplings.n_hidden, grid.states.shape[1] + grid.n_segments))
    drive = np.empty((couplings.n_hidden, grid.states.shape[1])) if recurrent else mu[:, grid.n_segments :]
    for block, _ in grid.blocks():
        np.matmul(driven, grid.states[:, block].astype(np.float64), out=drive[:, block])
        if not recurrent:
            np.tanh(drive[:, block], out=drive[:, block])

    path = grid.path(mu)
    if not recurrent:
        path[grid.starts[:, 0], :, grid.starts[:, 1]] = 0.0
        path[0, :, 1:] = path[-1, :, :-1]
        return mu
    drives, starting = list(grid.path(drive)), [grid.starts[:0, 1]] * (grid.n_steps + 1)
    for k in np.unique(grid.starts[:, 0]):
        starting[k] = grid.starts[grid.starts[:, 0] == k, 1]

    def step(k: int, before: Array, after: Array) -> None:
        np.matmul(M, before, out=after)
        np.add(after, drives[k], out=after)
        np.tanh(after, out=after)
        if starting[k + 1].size:
            after[:, starting[k + 1]] = 0.0

    _run_segments(step, path, slice(1, None), slice(None, -1))
    return mu


def _errors(couplings: Couplings, grid: _Grid, mu: Array) -> tuple[float, Array, Array]:
    """Log likelihood, its slope in the couplings to visible units (J, h, K), and Kᵀ eps(t+1) of each column."""
    units = receivers(np.column_stack([couplings.J, couplings.h, couplings.K]))
    back = np.ascontiguousarray(couplings.K.T)
    n_transitions = np.count_nonzero(grid.doubled[0])
    log_likelihood = (grid.states.shape[1] - n_transitions) * couplings.n_visible * np.log(2.0)
    slope = np.zeros(units.against.shape)
    pull = np.empty((couplings.n_hidden, grid.states.shape[1]))
    for block, _ in grid.blocks():
        senders = _senders(grid, mu, block)
        part, eps = response(units, senders, grid.doubled[:, block].astype(np.float64))
        log_likelihood += part
        slope += eps @ senders.T
        np.matmul(back, eps, out=pull[:, block])
    return float(log_likelihood), slope, pull


def _backward(couplings: Couplings, grid: _Grid, mu: Array, pull: Array) -> Array:
    """Errors del of every column and of the seams: the slope of the log likelihood in B one bin before."""
    slack = 1.0 - mu * mu
    path = grid.path(slack)
    path[grid.starts[:, 0], :, grid.starts[:, 1]] = 0.0  # no coupling acts on the hidden units there
    if not couplings.M.any():
        slack[:, : pull.shape[1]] *= pull
        path[-1, :, :-1] = path[0, :, 1:]
        path[-1, :, -1] = 0.0
        return slack
    Mt, pulls, back = np.ascontiguousarray(couplings.M.T), list(grid.path(pull))[::-1], np.empty_like(mu)
    slacks = list(path[-2::-1])

    def step(k: int, later: Array, now: Array) -> None:
        np.matmul(Mt, later, out=now)
        np.add(now, pulls[k], out=now)
        np.multiply(now, slacks[k], out=now)

    _run_segments(step, grid.path(back)[::-1], slice(None, -1), slice(1, None))
    return back


def _credit(grid: _Grid, mu: Array, back: Array) -> Array:
    """Slope of the log likelihood in the couplings to hidden units (L, g, M)."""
    slope = np.zeros((len(mu), len(grid.states) + len(mu)))
    for block, later in grid.blocks():
        slope += back[:, later] @ _senders(grid, mu, block).T
    return slope


def _senders(grid: _Grid, mu: Array, block: slice) -> Array:
    n = len(grid.states)
    senders = np.empty((n + len(mu), block.stop - block.start))
    senders[:n] = grid.states[:, block]
    senders[n:] = mu[:, block]
    return senders


def _gradient(couplings: Couplings, learned: tuple[str, ...], to_visible: Array, to_hidden: Array) -> Couplings:
    n = couplings.n_visible
    slopes = {"J": to_visible[:, :n], "h": to_visible[:, n], "K": to_visible[:, n + 1 :]}
    slopes |= {"L": to_hidden[:, :n], "g": to_hidden[:, n], "M": to_hidden[:, n + 1 :]}
    return Couplings(**{name: slope if name in learned else 0.0 * slope for name, slope in slopes.items()})


def _run_segments(step: Callable[[int, Array, Array], None], path: Array, into: slice, out_of: slice) -> None:
    """Fill path, (steps + 1, n_hidden, n_segments), by step(k, path[k], path[k + 1]); the first segment starts at 0.

    Each segment `into` starts at the end of its neighbour in `out_of`. Rerun segments have the old states to compare
    with, and stop where these return: from there on nothing would change.
    """
    states = list(path)
    states[0][:] = 0.0
    for k in range(len(path) - 1):
        if k % 64 == 0:
            checkpoint()
        step(k, states[k], states[k + 1])
    tolerance = _SAME * float(np.abs(states[-1]).max())
    for _ in range(path.shape[2]):
        start = np.zeros_like(states[0])
        start[:, into] = states[-1][:, out_of]
        if np.abs(start - states[0]).max() <= tolerance:
            return
        states[0][:] = start
        for k in range(len(path) - 1):
            if k % 8:
                step(k, states[k], states[k + 1])
                continue
            checkpoint()
            before = states[k + 1].copy()
            step(k, states[k], states[k + 1])
            if np.abs(before - states[k + 1]).max() <= tolerance:
                break


BACKPROP = Method(
    title="Back-propagation",
    prepare=prepare,
    hidden="continuous",
    objective="log likelihood",
    likelihood=True,
    summary=(
        "Assumes continuous hidden units, a known function of the past, so likelihood and gradient are exact. "
        "Applies to networks of any size, with or without hidden-to-hidden couplings."
    ),
    equations=(
        r"\mu_a(t+1) = \tanh B_a(t)",
        r"\mathcal L = \sum_{it} \left[ s_i(t+1) H_i(t) - \log 2\cosh H_i(t) \right]",
        r"\epsilon(t+1) = s(t+1) - \tanh H(t)",
        r"\delta(t) = \left(1-\mu(t)^2\right) \circ \left[ K^\top \epsilon(t+1) + M^\top \delta(t+1) \right]",
        r"\Delta J = \sum_t \epsilon(t+1)\, s(t)^\top \qquad \Delta K = \sum_t \epsilon(t+1)\, \mu(t)^\top",
        r"\Delta L = \sum_t \delta(t+1)\, s(t)^\top \qquad \Delta M = \sum_t \delta(t+1)\, \mu(t)^\top",
    ),
    seconds=lambda n_visible, n_hidden, n_transitions, hidden_hidden: (
        1e-9 * n_transitions * (n_visible * (8 + 0.2 * (n_visible + n_hidden)) + n_hidden * (10 + 20 * hidden_hidden))
        + 1e-5 * n_transitions**0.5 * hidden_hidden
    ),
)
