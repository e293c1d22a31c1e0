"""Cases: the transitions of a recording as mean field sees them, the constant input unit beside the visible ones.

Without hidden-to-hidden couplings a bin's magnetisations depend on (s(t-1), s(t), s(t+1)) alone. In small networks the
same triple comes back again and again, so each distinct one is kept once, with its count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.network import Recording
from hidviz.numerics import Array, States


class Cases(NamedTuple):
    """The transitions, n of them, with the constant unit as a last column of what sends.

    Args:
        previous: (n, Nv+1) s(t-1) and 1; a row of zeros where a trial starts, so that the bias is silent there too.
        present: (n, Nv+1) s(t) and 1.
        following: (n, Nv) s(t+1).
        counts: (n, 1) how often each occurs in the recording.
        has_past: (n, 1) 1 where the row before is the bin before, else 0.
        has_next: (n, 1) 1 where the row after is the bin after, else 0.
    """

    previous: States
    present: States
    following: States
    counts: Array
    has_past: Array
    has_next: Array


class DistinctCases(NamedTuple):
    """Each distinct case once; `first` is a transition where each occurs, `inverse` the case of every transition."""

    cases: Cases
    first: NDArray[np.intp]
    inverse: NDArray[np.intp]


def cases_of(recording: Recording) -> Cases:
    """Every transition of the recording, trial after trial."""
    previous, present, following, starts = recording.transitions()
    has_past = np.ones((len(present), 1))
    has_past[starts] = 0.0
    return Cases(
        previous=np.hstack([previous, has_past.astype(np.int8)]),
        present=np.hstack([present, np.ones((len(present), 1), np.int8)]),
        following=following,
        counts=np.ones((len(present), 1)),
        has_past=has_past,
        has_next=np.roll(has_past, -1, axis=0),
    )


def distinct_cases(cases: Cases) -> DistinctCases | None:
    """Each distinct case once, order in time lost; None where that would not at least halve the work."""
    parts = cases.previous, cases.present, cases.following
    if sum(part.shape[1] for part in parts) > 62:
        return None
    keys = np.zeros(len(cases.present), dtype=np.int64)
    for part in parts:
        keys = (keys << part.shape[1]) + _codes(part)
    _, first, inverse, counts = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    if 2 * len(first) > len(keys):
        return None
    picked = Cases(
        previous=cases.previous[first],
        present=cases.present[first],
        following=cases.following[first],
        counts=counts[:, None].astype(np.float64),
        has_past=cases.has_past[first],
        has_next=cases.has_next[first],
    )
    return DistinctCases(picked, first, inverse)


def _codes(states: States) -> NDArray[np.int64]:
    """A number for each row, from which of its entries are +1; a row of zeros differs by its constant unit."""
    return np.asarray((states > 0) @ (1 << np.arange(states.shape[1], dtype=np.int64)))
