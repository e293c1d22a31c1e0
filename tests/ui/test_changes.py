"""A tab draws what has changed, once, and no more often than it may; what it has made old itself, at once."""

import pytest

from hidviz.ui.state.changes import Changes


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def changes(clock):
    return Changes(clock)


def test_all_is_drawn_at_first_and_then_only_what_changed(changes):
    assert changes.due("frame", 1) == (True, True)
    assert changes.due("frame", 1) is None
    assert changes.due("frame", 2) == (False, True)
    assert changes.due("other", 2) == (True, False)
    assert changes.due("other", 2) is None


def test_a_period_holds_a_drawing_back_and_does_not_lose_it(changes, clock):
    changes.due(1, "a", period=0.5)
    clock.now += 0.4
    assert changes.due(2, "a", period=0.5) is None
    assert changes.due(3, "a", period=0.5) is None
    clock.now += 0.2
    assert changes.due(3, "a", period=0.5) == (True, False)
    assert changes.due(4, "a") == (True, False)


def test_without_a_period_what_has_changed_is_drawn_at_once(changes):
    changes.due(1)
    assert changes.stirred(2)
    assert changes.due(2) == (True,)


def test_what_is_spoiled_is_drawn_at_once_and_once(changes):
    changes.due(1, period=60.0)
    changes.spoil("an event")
    assert changes.due(1, period=60.0) == (False,)
    assert changes.due(1) is None


def test_a_tab_that_depends_on_its_own_widgets_alone_draws_when_spoiled(changes):
    assert changes.due() == ()
    assert changes.due() is None
    changes.spoil()
    assert changes.due() == ()


def test_what_is_drawn_depends_on_the_same_things_every_time(changes):
    changes.due(1, 2)
    with pytest.raises(ValueError, match="zip"):
        changes.due(1)


def test_asking_whether_there_is_something_to_draw_changes_nothing(changes, clock):
    assert changes.stirred(1, period=0.5)
    assert changes.due(1, period=0.5) == (True,)
    assert not changes.stirred(1, period=0.5)
    assert not changes.stirred(2, period=0.5)
    clock.now += 0.6
    assert changes.stirred(2, period=0.5)
    assert changes.stirred(2, period=0.5)
    assert changes.due(2, period=0.5) == (True,)
    assert not changes.stirred(2)
    changes.spoil()
    assert changes.stirred(2, period=60.0)
