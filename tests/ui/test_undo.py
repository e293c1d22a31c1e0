"""What was done last is undone first, redone in turn, and forgotten beyond fifty."""

import pytest

from hidviz.ui.state.undo import History


def test_undoing_and_redoing_walk_the_same_way():
    history, present = History(), "a"
    for name in "bc":
        history, present = history.remembering(present), name
    assert history == History(("a", "b"), ())
    seen = []
    for _ in range(2):
        present, history = history.undone(present)
        seen.append((present, history))
    assert seen == [("b", History(("a",), ("c",))), ("a", History((), ("c", "b")))]
    with pytest.raises(IndexError):
        history.undone(present)
    seen = []
    for _ in range(2):
        present, history = history.redone(present)
        seen.append((present, history))
    assert seen == [("b", History(("a",), ("c",))), ("c", History(("a", "b"), ()))]
    with pytest.raises(IndexError):
        history.redone(present)


def test_doing_something_else_forgets_what_was_undone():
    assert History(("a",), ("c",)).remembering("b") == History(("a", "b"), ())


def test_fifty_operations_can_be_undone_and_fewer_if_asked_for():
    history = History()
    for number in range(60):
        history = history.remembering(number)
    assert history.past == tuple(range(10, 60))
    assert history.remembering(60, depth=2).past == (59, 60)
