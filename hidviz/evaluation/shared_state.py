"""Shared states: what a hidden unit does beside the recorded ones, read off its posterior.

A hidden unit of a recording is seldom a cell that was missed; most often it stands for a state in which many units fire
together. So each is given the sign with which it follows the number of units that fire in the same bin, and told by how
often it is up, for how long, and how many units fire meanwhile. All of the recording is read, also what the couplings
were learned from: this describes a model, and judges nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hidviz.learners import hidden_posterior
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array


@dataclass(frozen=True, eq=False)
class SharedStates:
    """Hidden units beside the population.

    Args:
        posterior: (n, Nh) <σ_a> in every bin that predicts another, each with the sign that follows the count.
        counts: (n,) visible units that fire in the same bin.
        up: (Nh,) fraction of the bins in which it is more likely up than down.
        bins_up: (Nh,) how many bins it stays up, in the mean; not a number if it never is.
        fire_up: (Nh,) mean count while it is up; not a number if it never is.
        fire_down: (Nh,) mean count while it is down; not a number if it never is.
        correlation: (Nh,) of posterior and count.
    """

    posterior: Array
    counts: NDArray[np.int64]
    up: Array
    bins_up: Array
    fire_up: Array
    fire_down: Array
    correlation: Array


def shared_states(couplings: Couplings, recording: Recording) -> SharedStates:
    """The hidden units of a model of a recording, beside the number of visible units that fire.

    Raises:
        Infeasible: there are too many hidden units to sum over; the message gives the number.
    """
    posterior = hidden_posterior(couplings, recording).smoothed
    counts = (recording.transitions().present > 0).sum(axis=1)
    follows = np.array([_correlation(column, counts) for column in posterior.T])
    signs = np.where(follows < 0.0, -1.0, 1.0)
    posterior = posterior * signs
    states = posterior > 0.0
    edges = np.cumsum([0, *(len(trial) - 1 for trial in recording.trials)])
    return SharedStates(
        posterior=posterior,
        counts=counts,
        up=states.mean(axis=0),
        bins_up=np.array([_mean(_lengths_up(column, edges)) for column in states.T]),
        fire_up=np.array([_mean(counts[column]) for column in states.T]),
        fire_down=np.array([_mean(counts[~column]) for column in states.T]),
        correlation=np.abs(follows),
    )


def _lengths_up(states: NDArray[np.bool_], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """How long each stretch of True is; none crosses from one trial to the next."""
    found = []
    for begin, end in pairwise(edges):
        padded = np.concatenate([[False], states[begin:end], [False]])
        turns = np.flatnonzero(padded[1:] != padded[:-1])
        found.append(turns[1::2] - turns[::2])
    return np.concatenate(found)


def _mean(values: NDArray[np.int64]) -> float:
    return float(values.mean()) if values.size else float("nan")


def _correlation(one: Array, other: NDArray[np.int64]) -> float:
    a, b = one - one.mean(), other - other.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0.0 else 0.0
