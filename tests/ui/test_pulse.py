"""The pulse gives a turn to whoever has something to draw, and leaves alone whoever has not."""

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from hidviz.experiments import Experiment, Frame, iter_run
from hidviz.ui.dashboard import Dashboard
from hidviz.ui.state.link import TABS, Link
from hidviz.ui.state.pulse import Pulse
from tests.loops import run_aside

PATIENCE = 30.0  # seconds; only a loop that waits in vain reaches it
TINY = Experiment(n_visible=3, n_hidden=1, n_steps=60, n_held_out=0, max_steps=2)


@contextmanager
def dashboard_at_rest():
    """A page on which nothing happens, drawn once."""
    shown = Dashboard(Link(TINY))
    try:
        frames = [item for item in iter_run(TINY) if isinstance(item, Frame)]
        shown.session.close()
        shown.session.frame, shown.session._awaited = frames[0], None
        yield shown, frames
    finally:
        shown.close()


def test_only_those_that_have_changed_get_a_turn():
    turns = {"still": 0, "stirred": 0}

    def turn(name):
        turns[name] += 1

    async def some_beats():
        pulse = Pulse(0.001)
        pulse.join("still", lambda: False, lambda: turn("still"))
        pulse.join("stirred", lambda: turns["stirred"] < 3, lambda: turn("stirred"))
        while turns["stirred"] < 3:
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)

    run_aside(some_beats(), within=PATIENCE)
    assert turns == {"still": 0, "stirred": 3}


def test_it_looks_so_often_that_nobody_sees_it_wait(monkeypatch):
    waits = []

    async def one_beat():
        loop = asyncio.get_running_loop()
        monkeypatch.setattr(loop, "call_later", lambda wait, call, *given: waits.append(wait) or call(*given))
        pulse = Pulse()
        pulse.join("one", lambda: True, lambda: pulse.leave("one"))

    run_aside(one_beat(), within=PATIENCE)
    assert len(waits) == 1
    assert 0.0 < waits[0] <= 0.04  # of a picture of a film


def test_one_that_has_left_is_not_looked_at_and_the_next_to_come_is():
    seen = []

    async def come_and_go():
        pulse = Pulse(0.001)
        pulse.join("first", lambda: not seen.append("first"), lambda: None)
        while not seen:
            await asyncio.sleep(0.001)
        pulse.leave("first")
        await asyncio.sleep(0.02)
        seen.clear()
        await asyncio.sleep(0.02)
        assert not seen
        pulse.join("second", lambda: not seen.append("second"), lambda: None)
        while not seen:
            await asyncio.sleep(0.001)

    run_aside(come_and_go(), within=PATIENCE)
    assert set(seen) == {"second"}


def test_one_that_fails_does_not_stop_the_others(caplog):
    seen = []

    async def until_the_other_was_seen():
        pulse = Pulse(0.001)
        pulse.join("broken", lambda: 1 / 0, lambda: None)
        pulse.join("whole", lambda: True, lambda: seen.append(1))
        while len(seen) < 2:
            await asyncio.sleep(0.001)
        pulse.leave("broken")
        pulse.leave("whole")

    with caplog.at_level(logging.ERROR):
        run_aside(until_the_other_was_seen(), within=PATIENCE)
    assert "looking at a session failed" in caplog.text


def test_it_beats_in_the_loop_of_whoever_comes_where_an_earlier_loop_has_gone():
    seen = []
    pulse = Pulse(0.001)

    async def until_seen(name):
        pulse.join(name, lambda: True, lambda: seen.append(name))
        while name not in seen:
            await asyncio.sleep(0.001)

    run_aside(until_seen("one"), within=PATIENCE)
    run_aside(until_seen("other"), within=PATIENCE)
    assert "other" in seen


def test_where_no_loop_runs_nobody_is_looked_at():
    pulse = Pulse(0.001)
    with ThreadPoolExecutor() as aside:  # here a test with a browser may have left its loop
        aside.submit(pulse.join, "nobody", lambda: 1 / 0, lambda: None).result()
    assert not pulse._members


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_on_which_nothing_happens_gets_no_turn_and_gets_one_when_it_should(tab):
    with dashboard_at_rest() as (shown, frames):
        shown.views.bar.active = TABS.index(tab)
        front = shown.views.front
        settle(shown)
        assert not front.look(), "a tab that is not stirred has nothing to draw"
        shown.session.frame = frames[-1]
        follows = tab not in ("length", "compare", "mydata")
        assert stirred(shown) == follows
        shown._turn()
        shown.restyle(dark=True)
        assert stirred(shown)
        settle(shown)
        shown._act(lambda: None)
        assert stirred(shown)


def test_a_page_whose_turn_is_asked_for_does_not_ask_again():
    with dashboard_at_rest() as (shown, _):
        asked = []

        class Document:
            def add_next_tick_callback(self, turn):
                asked.append(turn)

        shown._document = Document()
        assert stirred(shown)
        shown._ask_turn()
        assert not stirred(shown)
        shown._document = None
        (turn,) = asked
        turn()
        shown._act(lambda: None)
        assert stirred(shown)


def stirred(shown):
    """Whether a page has something to draw, as seen by a browser that has drawn all that it was sent."""
    shown.instrument.drawn = shown.instrument.frame
    return shown._stirred()


def settle(shown):
    """Draw until nothing is at work any more, and all that it has found is drawn."""
    n_calm = 0
    while n_calm < 2:  # a runner tells that it has ended a moment after it has
        n_calm = 0 if at_work(shown.views.front) or stirred(shown) else n_calm + 1
        shown._turn()
        time.sleep(0.005)


def at_work(tab):
    """Whether one of the runners that a tab holds, itself or in its parts, is still at work."""
    found = [tab, *vars(tab).values()]
    runners = {id(each): each for one in found for each in getattr(one, "__dict__", {}).values()}
    return any(type(each).__name__ == "Runner" and each.running for each in runners.values())
