"""Back-propagation: exact likelihood and gradient when hidden units are continuous (model A, paper sec. 2).

    mu(t+1) = tanh B(t)                                  eq. 2 (`hiddyn`); mu = 0 where a trial starts
    log L = sum_it [ s_i(t+1) H_i(t) - log 2cosh H_i(t) ]   eq. 5 (`LL`)
    eps(t+1) = s(t+1) - tanh H(t)
    del(t) = (1 - mu(t)²) ∘ { Kᵀ eps(t+1) + Mᵀ del(t+1) }
    dJ = sum eps(t+1) s(t)ᵀ    dK = sum eps(t+1) mu(t)ᵀ    dL = sum del(t+1) s(t)ᵀ    dM = sum del(t+1) mu(t)ᵀ

The gradient is the recursion that the sums over paths, eqs. 12 (`dLresult`) and 13 (`dMresult`), add up to. Printed
there with q up to t-1 and factors in reading order; here as in their derivation, from the future back.

Only the hidden units are sequential, and only when M ≠ 0: then segments of time run side by side, forward for mu and
backward for del. When M = 0 everything is matrix products over time, in blocks.

Not a learner for stochastic hidden units: there mu is not a function of the past (see exact, mean field, gibbs).
"""

from __future__ import annotations

import numpy as np

from hidviz.background import in_order
from hidviz.learners.parts.time_blocks import Segments, segments, side_by_side
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.network import Couplings, Recording, as_gradient, learned_blocks
from hidviz.numerics import Array, Receivers, receivers, response, tanh


def prepare(recording: Recording, *, n_hidden: int, hidden_hidden: bool = False, bias: bool = False) -> Learner:
    """A learner of the exact log likelihood for continuous hidden units, with or without M."""
    history = segments(recording, cut=hidden_hidden)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:  # noqa: ARG001 - nothing to warm up
        at_once = not hidden_hidden and not couplings.M.any()
        log_likelihood, mu, to_visible, to_hidden = (_at_once if at_once else _in_order)(couplings, history)
        n = couplings.n_visible + 1
        slopes = to_visible[:, :n], to_visible[:, n:], to_hidden[:, :n], to_hidden[:, n:]
        return Estimate(log_likelihood, as_gradient(*slopes, learned), Beliefs(mu))

    return Learner(evaluate, recording.n_visible, n_hidden, recording.n_transitions, learned, continuous=True)


def hidden_states(couplings: Couplings, recording: Recording) -> Array:
    """States mu of continuous hidden units at the start of each transition, (n_transitions, Nh)."""
    history = segments(recording, cut=True)
    return history.in_time(_forward(couplings, history))


def _at_once(couplings: Couplings, history: Segments) -> tuple[float, Array, Array, Array]:
    """Log likelihood, mu in time, and the slopes in the couplings to visible (J, h, K) and hidden units (L, g, M).

    For M = 0 and a recording in one piece: one pass, block by block.
    """
    units, Lg, back = _matrices(couplings, history)
    n, n_hidden = len(history.states), couplings.n_hidden
    starts = history.starts[:, 0]
    log_likelihood, mu = history.n_left_out * couplings.n_visible * np.log(2.0), np.empty((n_hidden, history.n_steps))
    to_visible, to_hidden = np.zeros((n - 1, n + n_hidden)), np.zeros((n_hidden, n + n_hidden))

    def block(item: tuple[slice, slice]) -> tuple[slice, Array, float, Array, Array]:
        bins, _ = item
        starting = starts[(starts >= bins.start) & (starts < bins.stop)] - bins.start
        senders = np.empty((n + n_hidden, 1 + bins.stop - bins.start))  # from one bin before
        first = int(bins.start == 0)
        senders[:n, :first] = 0.0
        senders[:n, first:] = history.states[:, bins.start - 1 + first : bins.stop]
        past, present, now = senders[:n, :-1], senders[:, 1:], senders[n:, 1:]
        tanh(Lg @ past, out=now)
        now[:, starting] = 0.0
        part, eps = response(units, present, history.doubled[:, bins].astype(np.float64), history.field_at(bins))
        error_in_mu = back @ eps
        error_in_mu *= 1.0 - now * now
        error_in_mu[:, starting] = 0.0  # no coupling acts on the hidden units there
        return bins, now, part, eps @ present.T, error_in_mu @ past.T

    for bins, now, part, to_v, to_h in in_order(block, history.blocks()):
        log_likelihood += part
        to_visible += to_v
        to_hidden[:, :n] += to_h
        mu[:, bins] = now
    return float(log_likelihood), mu.T[history.transitions], to_visible, to_hidden


def _in_order(couplings: Couplings, history: Segments) -> tuple[float, Array, Array, Array]:
    """The same for any M and any segments: forward for mu, all bins for their errors, backward for del."""
    units, _, back = _matrices(couplings, history)
    mu = _forward(couplings, history)
    error_in_mu = np.empty((history.n_steps, *mu.shape[1:]))
    log_likelihood = history.n_left_out * couplings.n_visible * np.log(2.0)
    to_visible = np.zeros(units.against.shape)
    for steps, columns in history.blocks():
        senders = _senders(history, mu, steps, columns)
        doubled = history.doubled[:, columns].astype(np.float64)
        part, eps = response(units, senders, doubled, history.field_at(columns))
        log_likelihood += part
        to_visible += eps @ senders.T
        error_in_mu[steps] = _by_step(back @ eps, history.n_segments)

    delta = _backward(couplings, history, mu, error_in_mu)
    to_hidden = np.zeros((couplings.n_hidden, len(history.states) + couplings.n_hidden))
    for steps, columns in history.blocks():
        later = slice(steps.start + 1, steps.stop + 1)
        to_hidden += _by_column(delta[later]) @ _senders(history, mu, steps, columns).T
    return float(log_likelihood), history.in_time(mu), to_visible, to_hidden


def _forward(couplings: Couplings, history: Segments) -> Array:
    """The path of mu."""
    Lg, M = np.column_stack([couplings.L, couplings.g]), couplings.M
    inputs = np.empty((history.n_steps, couplings.n_hidden, history.n_segments))
    for steps, columns in history.blocks():
        inputs[steps] = _by_step(Lg @ history.states[:, columns].astype(np.float64), history.n_segments)
    by_step = list(inputs)
    starting = {k: history.starts[history.starts[:, 0] == k, 1] for k in np.unique(history.starts[:, 0]).tolist()}

    def step(k: int, mu: Array, following: Array) -> None:
        np.dot(M, mu, out=following)
        np.add(following, by_step[k], out=following)
        np.tanh(following, out=following)
        if k + 1 in starting:
            following[:, starting[k + 1]] = 0.0

    mu = np.empty((history.n_steps + 1, *inputs.shape[1:]))
    side_by_side(step, mu, starting=slice(1, None), ending=slice(None, -1))
    return mu


def _backward(couplings: Couplings, history: Segments, mu: Array, error_in_mu: Array) -> Array:
    """The path of del, the slope of the log likelihood in B one bin before, from error_in_mu = Kᵀ eps(t+1)."""
    slope = 1.0 - mu * mu
    slope[history.starts[:, 0], :, history.starts[:, 1]] = 0.0  # no coupling acts on the hidden units there
    Mt, errors, slopes_of_mu = np.ascontiguousarray(couplings.M.T), list(error_in_mu[::-1]), list(slope[-2::-1])

    def step(k: int, delta: Array, before: Array) -> None:
        np.dot(Mt, delta, out=before)
        np.add(before, errors[k], out=before)
        np.multiply(before, slopes_of_mu[k], out=before)

    delta = np.empty_like(mu)
    side_by_side(step, delta[::-1], starting=slice(None, -1), ending=slice(1, None))
    return delta


def _matrices(couplings: Couplings, history: Segments) -> tuple[Receivers, Array, Array]:
    """The visible units as receivers of (s, 1, mu), the couplings from (s, 1) to the hidden ones, and Kᵀ."""
    units = receivers(np.column_stack([couplings.J, couplings.h, couplings.K]), history.field)
    return units, np.column_stack([couplings.L, couplings.g]), np.ascontiguousarray(couplings.K.T)


def _senders(history: Segments, mu: Array, steps: slice, columns: slice) -> Array:
    """What all units receive, (s, 1, mu) of each column."""
    return np.vstack([history.states[:, columns], _by_column(mu[steps])])


def _by_step(by_column: Array, n_segments: int) -> Array:
    n_hidden, n_columns = by_column.shape
    return by_column.reshape(n_hidden, n_columns // n_segments, n_segments).swapaxes(0, 1)


def _by_column(by_step: Array) -> Array:
    n_steps, n_hidden, n_segments = by_step.shape
    return by_step.swapaxes(0, 1).reshape(n_hidden, n_steps * n_segments)


def _memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """Visible states, twice more while they are cut; or mu of three steps, and with M del and what leads to it."""
    paths = (52.0 if hidden_hidden else 28.0) * n_hidden
    return n_transitions * (2.0 * (n_visible + 1) + max(3.0 * n_visible, paths))


BACKPROP = Method(
    name="backprop",
    family="likelihood",
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
    memory=_memory,
    seconds=lambda n_visible, n_hidden, n_transitions, hidden_hidden: (
        1e-9 * n_transitions * (n_visible * (8 + 0.2 * (n_visible + n_hidden)) + n_hidden * (10 + 20 * hidden_hidden))
        + 1e-5 * n_transitions**0.5 * hidden_hidden
    ),
)
