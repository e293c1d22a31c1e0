"""What is read while a run goes on is drawn a few times a second, and the last of it too, without a browser."""

import time

import pytest

from hidviz import Experiment
from hidviz.experiments import Frame, iter_run
from hidviz.ui import Dashboard
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.link import Link
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.learn import LearnTab
from hidviz.ui.text.status import READABLE, units_of

SMALL = Experiment(n_visible=4, n_hidden=2, n_steps=200, n_held_out=0, seed=3, max_steps=5)


class Going(Session):
    """A session whose run goes on, in slow motion: nothing comes from it while a test lasts."""

    running, steps_per_second, stirred = True, 1.0, False

    def poll(self):
        return False


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture(scope="module")
def frames():
    return [item for item in iter_run(SMALL) if isinstance(item, Frame)]


@pytest.fixture
def session(frames):
    made = Going(SMALL, frames[-1])
    yield made
    made.close()


@pytest.fixture
def tab(session):
    return LearnTab(session, lambda: None)


def looks(tab, clock, seconds):
    """Look as often as the page does."""
    for _ in range(round(seconds / 0.02)):
        clock.now += 0.02
        if tab.stirred:
            tab.look()


def test_two_flips_in_a_row_are_both_on_the_cards_soon(session, tab):
    tab._readable = Changes(clock := Clock())
    tab.look()
    for unit in range(2):
        session.flip(unit)
        looks(tab, clock, 0.02)
    assert tab.units.units != units_of(session.frame)
    looks(tab, clock, READABLE)
    assert tab.units.units == units_of(session.frame)
    assert not tab.stirred


def test_what_a_press_on_the_tab_changes_is_on_the_cards_at_once(session, tab):
    tab._readable = Changes(clock := Clock())
    looks(tab, clock, 0.02)
    tab.units._handle_msg({"flip": 0})
    tab.look()
    assert tab.units.units == units_of(session.frame)
    tab.align_switch.value = True
    tab.look()
    assert tab.units.units == units_of(session.frame, align=True)
    tab.network._handle_msg({"choose": 1})
    assert tab.stirred
    tab.look()
    assert not tab.stirred


def test_the_numbers_of_the_last_frame_are_shown_though_nothing_follows(frames):
    dashboard = Dashboard(Link(SMALL))
    try:
        dashboard.session.close()
        dashboard.session = dashboard.transport._session = dashboard.learn._session = Going(SMALL, frames[-1])
        dashboard._ready = True
        for frame in frames[1], frames[2]:
            dashboard.session.frame, dashboard._dirty = frame, True
            dashboard._draw()
        end = time.monotonic() + 5.0
        while "step 2" not in dashboard.transport.bar.text and time.monotonic() < end:
            dashboard.instrument.drawn = dashboard.instrument.frame
            if dashboard._stirred():
                dashboard._draw()
            time.sleep(0.02)
        assert "step 2" in dashboard.transport.bar.text
    finally:
        dashboard.close()
