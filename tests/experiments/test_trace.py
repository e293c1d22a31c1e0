"""A trace only ever grows, and branches never see each other."""

import sys
import threading

import numpy as np
import pytest

from hidviz.experiments.trace import MOST_ROWS, Trace


def grown(trace, values):
    for value in values:
        trace = trace.extended({"step": value, "cost": -value})
    return trace


def test_rows_become_columns():
    trace = grown(Trace(), [1.0, 2.0, 4.0])
    assert len(trace) == 3
    assert trace.names == ("step", "cost")
    assert trace["cost"].tolist() == [-1.0, -2.0, -4.0]
    assert "step" in trace
    assert "held_out" not in trace


def test_an_empty_trace_has_no_columns():
    assert len(Trace()) == 0
    assert Trace().names == ()


def test_every_earlier_trace_stays_as_it_was():
    traces = [Trace()]
    for k in range(300):  # past several enlargements
        traces.append(grown(traces[-1], [float(k)]))
    for k, trace in enumerate(traces[1:], start=1):
        assert np.array_equal(trace["step"], np.arange(float(k)))


def test_branches_do_not_see_each_other():
    trunk = grown(Trace(), range(10))
    branches = [grown(trunk, np.arange(20) + 100.0 * k) for k in range(4)]
    again = grown(trunk, np.arange(3) + 900.0)
    for k, branch in enumerate(branches):
        assert branch["step"].tolist() == [*range(10), *(np.arange(20) + 100.0 * k)]
    assert again["step"].tolist() == [*range(10), 900, 901, 902]
    assert trunk["step"].tolist() == list(range(10))


def test_two_threads_may_branch_at_the_same_row_at_once():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # switch as often as possible, for the sake of the race
    try:
        for attempt in range(50):
            trunk, ends = grown(Trace(), range(3)), {}
            barrier = threading.Barrier(3)

            def branch(name, trunk=trunk, ends=ends, barrier=barrier):
                barrier.wait()
                ends[name] = grown(trunk, np.full(5, 10.0 * name))

            threads = [threading.Thread(target=branch, args=(name,)) for name in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for name, end in ends.items():
                assert end["step"].tolist() == [0, 1, 2, *[10.0 * name] * 5], attempt
    finally:
        sys.setswitchinterval(interval)


def test_the_last_row_can_be_left_out_and_another_take_its_place():
    trace = grown(Trace(), [1.0, 2.0, 3.0])
    shorter = trace.shortened()
    other = grown(shorter, [7.0])
    assert [each["step"].tolist() for each in (shorter, other, trace)] == [[1.0, 2.0], [1.0, 2.0, 7.0], [1.0, 2.0, 3.0]]


def test_columns_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        grown(Trace(), [1.0])["cost"][0] = 0.0


def test_every_row_has_the_columns_of_the_first():
    with pytest.raises(KeyError, match="cost"):
        grown(Trace(), [1.0]).extended({"step": 2.0})


def test_growing_copies_each_row_a_bounded_number_of_times():
    trace, rooms = Trace(), set()
    for k in range(2000):
        trace = grown(trace, [float(k)])
        rooms.add(id(trace["step"].base))
    assert len(rooms) <= 8  # 64, 128, 256, … rows


@pytest.mark.parametrize("n", [7, 8, 9, 15, 16, 17, 100])
def test_a_long_trace_keeps_its_first_and_last_row_and_every_so_manieth_between(n, monkeypatch):
    monkeypatch.setattr("hidviz.experiments.trace.MOST_ROWS", 8)
    trace = Trace()
    for k in range(n):
        trace = grown(trace, [float(k)])
        assert len(trace) == len(trace["step"]) <= 8
        assert trace["step"][0] == 0
        assert trace["step"][-1] == k
        assert np.array_equal(trace["cost"], -trace["step"])
    between = np.diff(trace["step"][:-1])
    assert set(between) <= {2.0 ** round(np.log2(between[0]))}


def test_rows_read_from_a_file_are_bounded_like_those_that_grew():
    rows = np.arange(70_001.0)
    read, lived = Trace.of(("step", "cost"), np.column_stack([rows, -rows])), grown(Trace(), rows)
    assert len(read) <= MOST_ROWS
    assert np.array_equal(read["step"], lived["step"])


def test_in_a_long_trace_too_a_row_can_take_the_place_of_the_last_and_branches_are_apart(monkeypatch):
    monkeypatch.setattr("hidviz.experiments.trace.MOST_ROWS", 8)
    trunk = grown(Trace(), range(21))
    before = trunk["step"].tolist()
    other = grown(trunk.shortened(), [20.5])
    assert other["step"][-1] == 20.5
    assert 20.0 not in other["step"]
    for tail in (100.0, 200.0):
        assert grown(trunk, [tail, tail + 1.0])["step"][-1] == tail + 1.0
    assert trunk["step"].tolist() == before


def test_the_rows_of_a_long_trace_take_bounded_room():
    trace = grown(Trace(), range(3 * MOST_ROWS))
    assert trace._rows.size <= MOST_ROWS * len(trace.names)
