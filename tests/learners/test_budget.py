import re

import pytest

from hidviz.learners import Infeasible
from hidviz.learners.parts.budget import LONGEST_EVALUATION, MOST_HIDDEN, exact_seconds, refuse_if_long

SIZES = [(10, 40, 10_000), (12, 12, 10_000_000), (100, 16, 10_000_000), (5, 11, 100), (200, 17, 50)]

with_and_without_m = pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])


@with_and_without_m
def test_more_units_and_more_data_never_take_less(hidden_hidden):
    for size in SIZES:
        for k, more in enumerate((1, 1, 1000)):
            larger = tuple(n + more * (i == k) for i, n in enumerate(size))
            assert exact_seconds(*larger, hidden_hidden) >= exact_seconds(*size, hidden_hidden) > 0.0


@with_and_without_m
@pytest.mark.parametrize("size", SIZES)
def test_a_refusal_names_the_number_and_a_size_that_is_not_refused(size, hidden_hidden):
    n_visible, n_hidden, n_transitions = size
    feasible = (
        n_hidden <= MOST_HIDDEN[hidden_hidden]
        and exact_seconds(n_visible, n_hidden, n_transitions, hidden_hidden) <= LONGEST_EVALUATION
    )
    if feasible:
        refuse_if_long(n_visible, n_hidden, n_transitions, hidden_hidden)
        return
    with pytest.raises(Infeasible) as refused:
        refuse_if_long(n_visible, n_hidden, n_transitions, hidden_hidden)
    base, power = re.search(r"(\d)\*\*(\d+)", str(refused.value)).groups()
    assert (int(base), int(power)) == (4 if hidden_hidden else 2, n_hidden)
    most = int(re.search(r"at most (\d+) hidden units", str(refused.value))[1])
    refuse_if_long(n_visible, most, n_transitions, hidden_hidden)
    with pytest.raises(Infeasible):
        refuse_if_long(n_visible, most + 1, n_transitions, hidden_hidden)
