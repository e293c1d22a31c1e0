"""Distinct transitions: every triple s(t-1), s(t), s(t+1) of a recording once, with how often it occurs.

Small networks repeat themselves, so whatever depends on a transition alone is wanted once for each distinct one: with
M = 0 that is the likelihood, the posterior of the hidden units, slopes and curvature. The order in time is lost. Under
an external field the bin of the trial is part of the present state.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidviz.network.recording import Recording
from hidviz.numerics import Array, Index, States, distinct, rank


@dataclass(frozen=True, eq=False)
class DistinctTransitions:
    """The n distinct transitions, sorted by present, then following, then previous state.

    States are tables of distinct ones, with the constant unit as a last column; the previous state where a trial starts
    is a row of zeros, the constant too.

    Args:
        previous: (n_previous, Nv + 1) distinct s(t-1).
        present: (n_present, Nv + 1) distinct s(t).
        following: (n_following, Nv) distinct s(t+1), without the constant.
        p: (n,) the previous state of each transition.
        x: (n,) its present state.
        y: (n,) its following state.
        count: (n,) how often it occurs.
        which: (n_transitions,) the distinct transition that each of the recording is.
        field: (n_present, Nv) the external field at each present state; None where there is none.
    """

    previous: Array
    present: Array
    following: Array
    p: Index
    x: Index
    y: Index
    count: Array
    which: Index
    field: Array | None = None

    @property
    def first(self) -> Index:
        """(n,) where each occurs first in the recording."""
        first = np.empty(len(self.count), dtype=np.intp)
        first[self.which[::-1]] = np.arange(len(self.which))[::-1]
        return first


def distinct_transitions(recording: Recording) -> DistinctTransitions:
    """Count the distinct transitions of a recording, over all trials."""
    transitions = recording.transitions()
    present, x, field = distinct_present(recording, transitions.present)
    following, y = distinct(transitions.following)
    previous, p = distinct(transitions.previous)
    pairs, pair = rank(x * len(following) + y)
    codes, which = rank(pair * len(previous) + p)
    count = np.bincount(which).astype(np.float64)
    pair, p = np.divmod(codes, len(previous))
    x, y = np.divmod(pairs[pair], len(following))
    return DistinctTransitions(previous, present, following[:, :-1], p, x, y, count, which, field)


def distinct_present(
    recording: Recording, present: States, rows: Index | slice = slice(None)
) -> tuple[Array, Index, Array | None]:
    """Distinct present states, told apart by the bin of the trial too where there is an external field.

    Args:
        recording: the data.
        present: (n, Nv) s(t) of some transitions.
        rows: which of the recording's transitions these are.

    Returns:
        (n_present, Nv + 1) with the constant unit; (n,) the index of each; (n_present, Nv) the external field at each,
        or None.
    """
    states, x = distinct(present)
    if recording.external_field is None:
        return states, x, None
    n_bins = len(recording.external_field)
    codes, x = rank(x * n_bins + recording.clock[rows])
    return states[codes // n_bins], x, recording.external_field[codes % n_bins]
