from collections import Counter

import numpy as np
import pytest

from hidviz.network import Recording, distinct_transitions


def recording(n_visible, lengths, seed=1):
    rng = np.random.default_rng(seed)
    return Recording([rng.choice([-1, 1], (length, n_visible)) for length in lengths])


def triples(data):
    """Every (s(t-1), s(t), s(t+1)), bin by bin; nothing before a trial's first bin."""
    for trial in data.trials:
        for t in range(len(trial) - 1):
            past = tuple(trial[t - 1]) if t else (0,) * data.n_visible
            yield past, tuple(trial[t]), tuple(trial[t + 1])


@pytest.mark.parametrize(("n_visible", "lengths"), [(1, (40,)), (2, (200, 2, 60)), (3, (500,)), (40, (30, 30))])
def test_counts_are_those_of_a_dictionary(n_visible, lengths):
    data = recording(n_visible, lengths)
    each = distinct_transitions(data)
    found = {
        (tuple(each.previous[p, :-1]), tuple(each.present[x, :-1]), tuple(each.following[y])): n
        for p, x, y, n in zip(each.p, each.x, each.y, each.count, strict=True)
    }
    assert len(found) == len(each.count)
    assert found == Counter(triples(data))


def test_every_transition_knows_which_it_is_and_where_it_occurred_first():
    data = recording(2, (120, 5, 80))
    each, all_of_them = distinct_transitions(data), list(triples(data))
    for t, k in enumerate(each.which):
        assert tuple(each.previous[each.p[k], :-1]) == all_of_them[t][0]
        assert tuple(each.present[each.x[k], :-1]) == all_of_them[t][1]
        assert tuple(each.following[each.y[k]]) == all_of_them[t][2]
        assert each.first[k] <= t
        assert all_of_them[each.first[k]] == all_of_them[t]


def test_the_constant_unit_is_there_but_before_a_trial():
    each = distinct_transitions(recording(2, (60, 60)))
    np.testing.assert_array_equal(each.present[:, -1], 1.0)
    np.testing.assert_array_equal(each.previous[:, -1], np.any(each.previous[:, :-1] != 0.0, axis=1))


def test_they_are_sorted_by_present_then_following_then_previous_state():
    each = distinct_transitions(recording(3, (400,)))
    order = list(zip(each.x, each.y, each.p, strict=True))
    assert order == sorted(order)
