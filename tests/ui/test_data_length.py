"""The Data length tab, without a browser: how far a sweep has come, what is kept of it, and what is handed out."""

import threading
import time

import pytest

from hidviz import Experiment
from hidviz.sweeps import Sweep, SweepState, grid, key_of
from hidviz.sweeps.measurement import measure
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.data_length import LengthsTab
from hidviz.ui.text.sweep import progress_in_words

BASE = Experiment(n_visible=3, n_hidden=1, n_steps=100, n_held_out=0, model="stochastic", learner="exact", max_steps=1)
SWEEP = Sweep("sweep", grid(BASE, seed=(1, 2)))


@pytest.fixture(scope="module")
def states():
    """Of a sweep that has begun, has found one point, and has found both."""
    keys = [key_of(experiment) for experiment in SWEEP.experiments]
    found = [{}, *({key: measure(SWEEP.experiments[0]) for key in keys[:n]} for n in (1, 2))]
    return [SweepState(SWEEP, each, {}, seconds_left=0.5 * (2 - len(each))) for each in found]


@pytest.fixture
def tab():
    session = Session(BASE)
    made = LengthsTab(session)
    yield made
    made.close()
    session.close()


def waited_for(holds):
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def published(tab, states, failure=None):
    """Let the tab's own runner publish these, then wait until the event returned is set, and end or fail."""
    goes_on = threading.Event()

    def items():
        yield from states
        goes_on.wait(60)
        if failure is not None:
            raise failure

    tab._runner.start(items())
    waited_for(lambda: tab._runner.latest is states[-1])
    return goes_on


def test_a_sweep_that_fails_says_so_beside_another_figure_and_its_bar_goes(tab, states):
    goes_on = published(tab, states[:1], failure=OSError("no room"))
    assert tab.choice.name != SWEEP.name
    tab.look()
    assert tab.progress.visible
    goes_on.set()
    waited_for(lambda: tab._runner.ended)
    tab.look()
    assert not tab.progress.visible
    assert tab.progress_line.object == "The sweep has failed: no room"


def test_the_bar_of_a_sweep_goes_with_it_beside_another_figure(tab, states):
    goes_on = published(tab, states)
    tab.look()
    assert (tab.progress.visible, tab.progress.value) == (True, 100)
    goes_on.set()
    waited_for(lambda: tab._runner.ended)
    tab.look()
    assert not tab.progress.visible
    assert tab.progress_line.object == ""


def test_the_same_table_is_handed_out_at_each_press(tab, states):
    tab.choice._select.value = "own"
    tab._computed = dict(states[-1].finished)
    tab.choice._lengths.value = "100"
    files = []
    tab.exports.param.watch(lambda event: files.append(event.new), "file")
    for _ in range(2):
        tab.exports._handle_msg({"want": "CSV"})
    first, second = files
    assert first["text"] == second["text"] != ""
    assert first != second


def test_what_was_found_since_the_last_look_is_kept_when_a_sweep_is_cancelled(tab, states):
    tab.look()
    goes_on = published(tab, states[:2])
    tab.cancel()
    goes_on.set()
    assert tab.progress_line.object == "Cancelled. 1 point is kept."
    assert list(tab._computed) == list(states[1].finished)


def test_processes_start_before_the_first_point_and_no_time_is_left_after_the_last(states):
    begun, one, both = (progress_in_words(state) for state in states)
    assert begun == "0 of 2 done; about 1 s left. Starting the worker processes."
    assert one == "1 of 2 done; about 0.5 s left."
    assert both == "2 of 2 done."


def test_a_page_keeps_the_name_of_its_figure_though_another_is_chosen_meanwhile(tab):
    tab.choice._select.value = "3"
    name = tab.choice.name
    tab.export("HTML")
    tab.choice._select.value = "4"
    waited_for(lambda: tab._writer.ended)
    tab.look()
    assert tab.choice.name != name
    assert tab.exports.file["name"] == f"{name}.html"
    assert tab.exports.file["text"].lstrip().startswith("<!DOCTYPE html>")


def test_a_page_that_cannot_be_written_is_told(tab):
    def failing():
        raise OSError("no room")
        yield

    tab._writer.start(failing())
    waited_for(lambda: tab._writer.ended)
    tab.look()
    assert "could not be written: no room" in tab.progress_line.object


def test_a_page_that_could_not_be_written_hides_no_sweep_and_is_told_until_the_next(tab, states, monkeypatch):
    def failing():
        raise OSError("no room")
        yield

    tab._writer.start(failing())
    waited_for(lambda: tab._writer.ended)
    goes_on = published(tab, states[1:2])
    tab.look()
    assert tab.progress_line.object.startswith("1 of 2 done")
    assert tab.progress_line.object.endswith("could not be written: no room")
    goes_on.set()
    monkeypatch.setattr("hidviz.ui.tabs.data_length.in_turn", lambda sweep: iter(states))  # noqa: ARG005
    tab.run()
    waited_for(lambda: tab._runner.ended)
    tab.look()
    assert "written" not in tab.progress_line.object
