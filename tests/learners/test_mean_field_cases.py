from collections import Counter

import numpy as np
import pytest

from hidviz.learners.parts.mean_field_cases import cases_of, distinct_cases, expected_cases
from hidviz.network import Recording, random_couplings, simulate


def recording(n_visible, lengths, seed=1):
    rng = np.random.default_rng(seed)
    return Recording([rng.choice([-1, 1], (length, n_visible)) for length in lengths])


def rows(cases):
    return list(zip(*(map(tuple, part) for part in cases[:3]), strict=True))


def test_neighbours_are_the_bins_before_and_after_within_a_trial():
    cases = cases_of(recording(3, (4, 2, 5)))
    np.testing.assert_array_equal(cases.has_past[:, 0], [0, 1, 1, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(cases.has_next[:, 0], [1, 1, 0, 0, 1, 1, 1, 0])
    for t in np.flatnonzero(cases.has_next):
        np.testing.assert_array_equal(cases.previous[t + 1], cases.present[t])
        np.testing.assert_array_equal(cases.present[t + 1, :-1], cases.following[t])
    np.testing.assert_array_equal(cases.previous[cases.has_past[:, 0] == 0], 0)


def test_distinct_cases_count_all_of_them():
    data = recording(2, (300, 2, 100))
    cases = cases_of(data)
    distinct = distinct_cases(data, cases)
    assert dict(zip(rows(distinct.cases), distinct.cases.counts[:, 0], strict=True)) == Counter(rows(cases))
    known = rows(distinct.cases)
    assert [known[k] for k in distinct.inverse] == rows(cases)
    assert [rows(cases)[t] for t in distinct.first] == known


@pytest.mark.parametrize(("n_visible", "length"), [(6, 200), (21, 10_000)])
def test_nothing_is_gained_where_states_hardly_come_back(n_visible, length):
    data = recording(n_visible, (length,))
    assert distinct_cases(data, cases_of(data)) is None


@pytest.mark.parametrize("n_bins", [1_000, 10_000])
@pytest.mark.parametrize(("n_visible", "n_hidden"), [(2, 2), (4, 2), (5, 5), (8, 2)])
def test_the_number_of_cases_is_foreseen_to_a_factor(n_visible, n_hidden, n_bins):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(1))
    data, _ = simulate(truth, n_bins, np.random.default_rng(2))
    cases = cases_of(data)
    distinct = distinct_cases(data, cases)
    solved = len((cases if distinct is None else distinct.cases).present)
    assert solved / 3 < expected_cases(n_visible, data.n_transitions, False) < 3 * solved
    assert expected_cases(n_visible, data.n_transitions, True) == data.n_transitions
