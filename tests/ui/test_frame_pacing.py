"""Pace: never further ahead of the browser than two frames, and all running sessions within a share of the time."""

from itertools import pairwise

import pytest

from hidviz.ui.components.basic import Instrument
from hidviz.ui.state import frame_pacing as pace
from hidviz.ui.state.frame_pacing import IN_FLIGHT, LONGEST, SHARE, UNANSWERED, Pace


@pytest.fixture
def clock(monkeypatch):
    class Clock:
        now = 100.0

    for name in ("monotonic", "thread_time"):
        monkeypatch.setattr(pace.time, name, lambda: Clock.now)
    return Clock


@pytest.fixture
def paces():
    made = [Pace(), Pace(), Pace()]
    yield made
    for each in made:
        each.end()


def draw(clock, each, seconds):
    with each.drawing():
        clock.now += seconds


def test_a_browser_that_does_not_draw_gets_two_frames_and_then_one_a_second(clock, paces):
    first, *_ = paces
    first.sent()
    assert first.allows(IN_FLIGHT - 1, asked=False)
    assert not first.allows(IN_FLIGHT, asked=True)
    clock.now += UNANSWERED
    assert first.allows(IN_FLIGHT, asked=False)


def test_nobody_looks_and_next_to_nothing_is_drawn_until_somebody_does(clock, paces):
    first, *_ = paces
    first.sent()
    sent = []
    for _ in range(10_000):  # of a tenth of a second
        clock.now += 0.1
        if first.allows(IN_FLIGHT, asked=False):
            first.sent()
            sent.append(clock.now)
    gaps = [after - before for before, after in pairwise(sent)]
    assert len(sent) <= 1_000 / LONGEST + 5
    assert max(gaps) == pytest.approx(LONGEST, abs=0.2)
    clock.now += 1.01 * UNANSWERED
    assert first.allows(IN_FLIGHT, asked=True)  # a press does not wait for so long
    assert first.allows(0, asked=False)  # it has been drawn: all is as before
    first.sent()
    clock.now += 1.01 * UNANSWERED
    assert first.allows(IN_FLIGHT, asked=False)


def test_all_running_sessions_together_draw_for_a_share_of_the_time(clock, paces):
    for each in paces:
        each.running = True
    first, *_ = paces
    began = clock.now
    draw(clock, first, 0.01)
    clock.now = began + 0.999 * 3 * 0.01 / SHARE
    assert not first.allows(0, asked=False)
    clock.now = began + 1.001 * 3 * 0.01 / SHARE
    assert first.allows(0, asked=False)


def test_a_session_that_has_ended_takes_no_share(clock, paces):
    first, second, third = paces
    first.running = second.running = third.running = True
    second.end()
    third.end()
    began = clock.now
    draw(clock, first, 0.01)
    clock.now = began + 1.001 * 0.01 / SHARE
    assert first.allows(0, asked=False)


def test_a_press_and_a_session_at_rest_wait_for_no_share(clock, paces):
    first, second, _ = paces
    first.running = True
    draw(clock, first, 1.0)
    assert not first.allows(0, asked=False)
    assert first.allows(0, asked=True)
    draw(clock, second, 1.0)
    assert second.allows(0, asked=False)


def test_a_session_rests_when_it_has_been_quiet_and_none_of_the_few_runs(clock, paces):
    first, second, _ = paces
    first.sent()
    clock.now += 0.9
    assert not first.rests(1.0, 3)
    clock.now += 0.1
    assert first.rests(1.0, 3)
    assert not first.rests(1.0, 2), "a class has other work for the process"
    second.running = True
    assert not first.rests(1.0, 3)


def test_an_answer_that_comes_late_takes_no_frame_back():
    instrument = Instrument(*[lambda *_: None] * 3)
    for drawn in (3, 2):
        instrument._handle_msg({"drawn": drawn})
    assert instrument.drawn == 3
