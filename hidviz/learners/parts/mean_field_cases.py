"""Cases: the transitions of a recording as mean field sees them, all in order or each distinct one once.

Without hidden-to-hidden couplings a bin's magnetisations depend on (s(t-1), s(t), s(t+1)) alone, so that a distinct
transition is solved once and counts as often as it occurs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.learners.parts.budget import expected_distinct
from hidviz.network import Recording, distinct_transitions
from hidviz.numerics import Array, Index, States, distinct

WIDEST = 20  # visible units; three states of more hardly ever come back


class Cases(NamedTuple):
    """The transitions, n of them, with the constant unit as a last column of what sends.

    Args:
        previous: (n, Nv+1) s(t-1) and 1; a row of zeros where a trial starts, where the bias has no part either.
        present: (n, Nv+1) s(t) and 1.
        following: (n, Nv) s(t+1).
        counts: (n, 1) how often each occurs in the recording.
        has_past: (n, 1) 1 where the row before is the bin before, else 0.
        has_next: (n, 1) 1 where the row after is the bin after, else 0.
        field: (n, Nv) the external field; None where there is none.
    """

    previous: States
    present: States
    following: States
    counts: Array
    has_past: Array
    has_next: Array
    field: Array | None = None


class DistinctCases(NamedTuple):
    """Each distinct case once; `first` is a transition where each occurs, `inverse` the case of every transition."""

    cases: Cases
    first: Index
    inverse: Index


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
        field=recording.external_fields(),
    )


def some(cases: Cases, rows: Index) -> Cases:
    """These rows alone."""
    return Cases._make(None if part is None else part[rows] for part in cases)


def distinct_cases(recording: Recording, cases: Cases) -> DistinctCases | None:
    """Each distinct case once, order in time lost; None where that would not at least halve the work."""
    if recording.n_visible > WIDEST:
        return None
    n = recording.n_transitions
    if 2 * 2**recording.n_visible > n and 2 * len(distinct(cases.present[:, :-1])[0]) > n:
        return None  # present states alone are too many
    each = distinct_transitions(recording)
    if 2 * len(each.count) > n:
        return None
    order = np.lexsort((each.y, each.x, each.p))  # equal states of the past side by side
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    first = each.first[order]
    picked = some(cases, first)._replace(counts=each.count[order, None])
    return DistinctCases(picked, first, place[each.which])


def expected_cases(n_visible: int, n_transitions: int, hidden_hidden: bool) -> float:
    """A guess at how many cases are solved: the more data, the more of them have occurred before.

    Of 2**(3 Nv) some occur often and most never; as many as 2**(2.5 Nv) count, for couplings of variance 1.
    """
    distinct = expected_distinct(n_transitions, 2.0 ** (2.5 * n_visible))
    return distinct if not hidden_hidden and 2.0 * distinct <= n_transitions else n_transitions
