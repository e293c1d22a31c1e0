"""Checkpoints reach the hook of their own thread, while it lasts, and no other."""

import threading

import pytest

from hidviz.background.checkpoint import checkpoint, paced


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
