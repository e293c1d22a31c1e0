"""Repeats: what a stimulus that is the same in every trial predicts, by a field h_i(t) of its own in every bin.

    H_i(t) = h_i + h_i(t+1)            the same in all trials          + Σ_j J_ij s_j(t)      with lag 1

Units that share a stimulus fire together without a coupling, and a hidden unit is free to stand for the stimulus: its
gain on lag 1 then says nothing of a network. With repeats this can be told: whatever is the same in all trials is
learned from some of them and judged on others. One logistic regression a unit, with an input for every bin of a trial;
the penalty that keeps those near zero is chosen on the stopping part.

Found beside lag 1, h_i + h_i(t) is an external field that every learner takes (`Recording.external_field`): what hidden
units then gain, they gain beyond what is the same in all trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.learners import best_rows
from hidviz.network import Parts, Recording
from hidviz.numerics import Array, log_2cosh

FEWEST = 20  # trials of equal length from which h(t) is told
LONGEST = 1000  # bins of a trial: each is an input
PENALTIES = (1e-5, 1e-4, 1e-3, 1e-2)


class Repeats(NamedTuple):
    """Costs of the judging trials, nats per bin.

    Args:
        alone: h(t) and nothing else.
        with_lag1: h(t) and lag 1.
        n: number of trials in all.
        field: (T - 1, Nv) the external field h_i + h_i(t), found with lag 1 from the part to learn from.
    """

    alone: Array
    with_lag1: Array
    n: int
    field: Array


def repeats(parts: Parts) -> Repeats | None:
    """What repeats predict; None unless whole trials of one length were dealt out, 20 or more.

    Args:
        parts: what `divide` made of a recording.
    """
    trials = [trial for part in parts[:3] for trial in part.trials]
    if not parts.by_trials or not repeating([len(trial) for trial in trials]):
        return None
    alone, both = _best(parts, lag1=False), _best(parts, lag1=True)
    n_bins = len(parts.learn.trials[0]) - 1
    return Repeats(
        _by_trial(alone, parts.judge, lag1=False),
        _by_trial(both, parts.judge, lag1=True),
        len(trials),
        (both[:, :1] + both[:, 1 : 1 + n_bins]).T,
    )


def repeating(n_bins: Sequence[int]) -> bool:
    """Whether trials of these lengths tell h(t): 20 or more of one length, of at most 1,000 bins."""
    return len(n_bins) >= FEWEST and len(set(n_bins)) == 1 and n_bins[0] <= LONGEST


def require_repeats(parts: Parts) -> Repeats:
    """What repeats predict.

    Raises:
        ValueError: the recording has none.
    """
    found = repeats(parts)
    if found is None:
        trials = [len(trial) for part in parts[:3] for trial in part.trials] if parts.by_trials else []
        got = f"{len(trials)} of {min(trials)} to {max(trials)} bins" if trials else "blocks of time"
        raise ValueError(
            f"h(t) is told from {FEWEST} trials or more of one length, at most {LONGEST} bins, got {got}: leave it out."
        )
    return found


def _best(parts: Parts, *, lag1: bool) -> Array:
    """(Nv, inputs) the rows that predict the stopping part best."""
    learn, doubled = _inputs(parts.learn, lag1), _doubled(parts.learn)
    fits = [best_rows(learn, doubled, penalty, bias=0).couplings for penalty in PENALTIES]
    return min(fits, key=lambda W: float(_by_trial(W, parts.stop, lag1).mean()))


def _inputs(recording: Recording, lag1: bool) -> NDArray[np.int8]:
    """(inputs, n) a one, a one in the bin of the trial that is predicted, and with lag 1 the present state."""
    n_bins, n_trials = len(recording.trials[0]) - 1, len(recording.trials)
    clock = np.tile(np.eye(n_bins, dtype=np.int8), n_trials)
    constant = np.ones((1, n_bins * n_trials), np.int8)
    present = (recording.transitions().present.T,) if lag1 else ()
    return np.ascontiguousarray(np.vstack([constant, clock, *present]))


def _doubled(recording: Recording) -> NDArray[np.int8]:
    return np.ascontiguousarray(2 * recording.transitions().following.T)


def _by_trial(W: Array, recording: Recording, lag1: bool) -> Array:
    field = W @ _inputs(recording, lag1)
    cost = (log_2cosh(field) - 0.5 * _doubled(recording) * field).sum(axis=0)
    by_trial: Array = cost.reshape(len(recording.trials), -1).mean(axis=1)
    return by_trial
