"""Checkpoints reach the hook of their own thread, while it lasts, and no other."""

import threading

import pytest

from hidviz.background.checkpoint import checkpoint, mapped, paced, return_value


def test_a_checkpoint_calls_the_hook_while_the_context_lasts_and_nothing_else():
    calls = []
    checkpoint()
    assert calls == []
    with paced(lambda: calls.append("hook")):
        checkpoint()
        checkpoint()
    checkpoint()
    assert calls == ["hook", "hook"]


def test_an_inner_hook_gives_way_to_the_outer_one():
    calls = []
    with paced(lambda: calls.append("outer")):
        with paced(lambda: calls.append("inner")):
            checkpoint()
        checkpoint()
    assert calls == ["inner", "outer"]


def test_what_a_hook_raises_leaves_the_calculation_and_the_hook():
    def leave():
        raise InterruptedError

    with pytest.raises(InterruptedError), paced(leave):
        checkpoint()
    checkpoint()


def test_another_thread_does_not_hear_the_hook():
    calls = []
    with paced(lambda: calls.append("hook")):
        thread = threading.Thread(target=checkpoint)
        thread.start()
        thread.join()
    assert calls == []


def counting(n):
    yield from range(n)
    return f"counted to {n}"


def test_a_calculation_that_reports_gives_what_it_returns():
    told = []
    assert return_value(counting(3), told.append) == "counted to 3"
    assert told == [0, 1, 2]
    assert return_value(counting(0)) == "counted to 0"


def test_other_reports_leave_the_result():
    told = []
    assert return_value(mapped(counting(3), lambda k: 10 * k), told.append) == "counted to 3"
    assert told == [0, 10, 20]


def test_a_calculation_can_be_left_between_two_reports():
    reached = []

    def long():
        try:
            yield from counting(100)
        finally:
            reached.append("cleaned up")

    def leave():
        raise InterruptedError

    with pytest.raises(InterruptedError), paced(leave):
        return_value(long())
    assert reached == ["cleaned up"]
    steps = mapped(long(), str)
    assert next(steps) == "0"
    steps.close()
    assert reached == ["cleaned up"] * 2
