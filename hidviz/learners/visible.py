"""Visible: networks without hidden units, the baselines that a hidden unit has to beat.

    lag 1:  H(t) = h + J s(t)                    lag 2:  H(t) = h + J s(t) + K s(t-1)
    log L = sum_it [ s_i(t+1) H_i(t) - log 2cosh H_i(t) ]
    dJ = sum eps(t+1) s(t)ᵀ      dK = sum eps(t+1) s(t-1)ᵀ      eps(t+1) = s(t+1) - tanh H(t)

Both are logistic regressions, one per unit, hence concave. Lag 2 is the fair opponent where M = 0: hidden units then
carry memory of exactly two steps. It is written as a network whose hidden units are copies of the visible state one
bin ago: as many of them, K from them, and L the identity, which stands for copying and is not learned. Where a trial
starts there is no bin before, and K has nothing to act on.

Not a model of hidden units: those copies are data, so the lag-2 couplings mean nothing to the other learners.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.learners.parts.logistic import best_rows
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.network import Couplings, Recording, as_gradient
from hidviz.numerics import Array, receivers, response

_CACHED = 2**15  # numbers in a block of time, so that its handful of arrays stays in the cache


class LogisticFit(NamedTuple):
    """The best network without hidden units.

    Args:
        couplings: J and, with a bias, h; with two lags K too, from the copies of the module's description.
        held: units whose couplings only the penalty keeps finite, counted from 0: some of their states can be predicted
            perfectly.
    """

    couplings: Couplings
    held: tuple[int, ...]


def logistic_fit(
    recording: Recording, *, lags: Literal[1, 2] = 1, bias: bool = False, penalty: float = 0.0
) -> LogisticFit:
    """The best couplings of a lag-1 or lag-2 network, by Newton's method.

    Args:
        recording: the visible history.
        lags: 1 for J alone; 2 for J and K, with the copies of the module's description as hidden units.
        bias: fit h too; zero otherwise.
        penalty: added to the cost per bin is penalty/2 times the sum of squares of the couplings; biases are left free
            but for a weight that keeps them finite.

    Raises:
        ValueError: an argument is out of range; or, without a penalty, the data can be predicted so well that couplings
            grow for ever.
    """
    if lags not in (1, 2):
        raise ValueError(f"lags must be 1 or 2, got {lags!r}.")
    if not 0.0 <= penalty < np.inf:
        raise ValueError(f"penalty must be a finite number, 0 or more, got {penalty!r}.")
    history = _history(recording, lags=lags, bias=bias)
    rows = best_rows(
        history.senders, history.doubled, penalty, bias=recording.n_visible if bias else None, offset=history.field
    )
    if not penalty and not rows.settled.all():
        worst = int(np.argmin(rows.settled))
        raise ValueError(
            f"The couplings to unit {worst + 1} must have a finite optimum, but grow for ever: some of its states can "
            "be predicted perfectly. Use more data or a penalty, such as 1e-4."
        )
    couplings = _couplings(rows.couplings, recording.n_visible, lags=lags, bias=bias)
    return LogisticFit(couplings, tuple(np.flatnonzero(rows.held).tolist()) if penalty else ())


def _prepare_lag1(
    recording: Recording,
    *,
    n_hidden: int,
    hidden_hidden: bool = False,  # noqa: ARG001 - there is no M to learn
    bias: bool = False,
) -> Learner:
    """A learner of J and, with a bias, h."""
    if n_hidden:
        raise ValueError(f"n_hidden must be 0, got {n_hidden}: this learner ignores hidden units.")
    return _prepare(recording, lags=1, bias=bias)


def _prepare_lag2(
    recording: Recording,
    *,
    n_hidden: int,
    hidden_hidden: bool = False,  # noqa: ARG001 - there is no M to learn
    bias: bool = False,
) -> Learner:
    """A learner of J, K and, with a bias, h."""
    if n_hidden != recording.n_visible:
        raise ValueError(
            f"n_hidden must be {recording.n_visible}, the number of visible units, got {n_hidden}: "
            "the hidden units of this learner are copies of the visible ones, one bin late."
        )
    return _prepare(recording, lags=2, bias=bias)


def _prepare(recording: Recording, *, lags: int, bias: bool) -> Learner:
    n_visible = recording.n_visible
    n_copies = n_visible * (lags - 1)
    history = _history(recording, lags=lags, bias=True)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:  # noqa: ARG001 - nothing to warm up
        past = (couplings.K,) if lags == 2 else ()
        objective, slope = _likelihood(np.column_stack([couplings.J, couplings.h, *past]), history)
        Jh, K = slope[:, : n_visible + 1], slope[:, n_visible + 1 :]
        nothing = np.zeros((n_copies, n_visible + 1)), np.zeros((n_copies, n_copies))
        return Estimate(objective, as_gradient(Jh, K, *nothing, learned))

    learned = ("J", *("K",) * (lags == 2), *("h",) * bias)
    return Learner(evaluate, n_visible, n_copies, recording.n_transitions, learned)


class _History(NamedTuple):
    """Every transition as a column: (n_senders, n) present, constant and past; (Nv, n) twice the following state.

    The external field is (Nv, n); None where there is none.
    """

    senders: NDArray[np.int8]
    doubled: NDArray[np.int8]
    field: Array | None


def _history(recording: Recording, *, lags: int, bias: bool) -> _History:
    data = recording.transitions()
    constant = np.ones((recording.n_transitions, int(bias)), np.int8)
    past = (data.previous,) if lags == 2 else ()
    senders = np.column_stack([data.present, constant, *past])
    field = recording.external_fields()
    by_unit = None if field is None else np.ascontiguousarray(field.T)
    return _History(np.ascontiguousarray(senders.T), np.ascontiguousarray(2 * data.following.T), by_unit)


def _couplings(W: Array, n_visible: int, *, lags: int, bias: bool) -> Couplings:
    """Couplings from the rows of a stack of J, h (with a bias) and K (with two lags)."""
    n_copies = n_visible * (lags - 1)
    return Couplings(
        J=W[:, :n_visible],
        K=W[:, W.shape[1] - n_copies :],
        L=np.eye(n_copies, n_visible),
        h=W[:, n_visible] if bias else None,  # type: ignore[arg-type]  # zeros
    )


def _likelihood(W: Array, history: _History) -> tuple[float, Array]:
    """Log likelihood in nats, and its slope in W."""
    units, slope, log_likelihood = receivers(W, history.field), np.zeros(W.shape), 0.0
    n_senders, n = history.senders.shape
    width = max(_CACHED // n_senders, 256)
    for begin in range(0, n, width):
        checkpoint()
        bins = slice(begin, begin + width)
        senders, field = history.senders[:, bins].astype(np.float64), history.field
        part, eps = response(
            units, senders, history.doubled[:, bins].astype(np.float64), None if field is None else field[:, bins]
        )
        log_likelihood += part
        slope += eps @ senders.T
    return log_likelihood, slope


def _seconds(lags: int) -> Callable[[int, int, int, bool], float]:
    def seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:  # noqa: ARG001
        return 3e-4 + 1e-9 * n_transitions * n_visible * (7.5 + 0.045 * lags * n_visible)

    return seconds


def _memory(lags: int) -> Callable[[int, int, int, bool], float]:
    """Senders and receivers, twice while they are turned to columns."""

    def memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:  # noqa: ARG001
        return n_transitions * (5.0 + 2.0 * lags) * (n_visible + 1)

    return memory


VISIBLE = Method(
    name="visible",
    family="likelihood",
    title="Visible only",
    prepare=_prepare_lag1,
    hidden="none",
    objective="log likelihood",
    likelihood=True,
    summary=(
        "Assumes that there are no hidden units: each unit answers the visible state one bin ago. "
        "The baseline that any hidden unit must beat; its optimum is unique."
    ),
    equations=(
        r"H_i(t) = h_i + \sum_j J_{ij} s_j(t)",
        r"\mathcal L = \sum_{it} \left[ s_i(t+1) H_i(t) - \log 2\cosh H_i(t) \right]",
        r"\Delta J = \sum_t \left[ s(t+1) - \tanh H(t) \right] s(t)^\top",
    ),
    seconds=_seconds(1),
    memory=_memory(1),
)

VISIBLE_LAG2 = Method(
    name="visible-lag2",
    family="likelihood",
    copies=True,
    title="Visible only, two lags",
    prepare=_prepare_lag2,
    hidden="none",
    objective="log likelihood",
    likelihood=True,
    summary=(
        "Assumes no hidden units, but that each unit answers the visible states one and two bins ago. "
        "The fair baseline for hidden units without couplings among themselves, which remember two bins."
    ),
    equations=(
        r"H_i(t) = h_i + \sum_j J_{ij} s_j(t) + \sum_j K_{ij} s_j(t-1)",
        r"\mathcal L = \sum_{it} \left[ s_i(t+1) H_i(t) - \log 2\cosh H_i(t) \right]",
        r"\Delta J = \sum_t \left[ s(t+1) - \tanh H(t) \right] s(t)^\top",
        r"\Delta K = \sum_t \left[ s(t+1) - \tanh H(t) \right] s(t-1)^\top",
    ),
    seconds=_seconds(2),
    memory=_memory(2),
)
