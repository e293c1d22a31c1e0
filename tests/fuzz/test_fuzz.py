"""The fuzz itself: it replays, it touches everything, it sees what is wrong; and a short one is clean."""

import subprocess
import sys

import pytest

from tests.fuzz.__main__ import FOREIGN, Broken, about, check, finite, wrong
from tests.fuzz.events import ACTS, KINDS, drawn


def test_a_seed_draws_the_same_events_and_another_seed_others():
    assert drawn(1, 200) == drawn(1, 200)
    assert drawn(1, 200) != drawn(2, 200)
    assert drawn(1, 300)[:200] == drawn(1, 200), "a longer run begins like a shorter one"


def test_every_kind_of_event_is_drawn_and_can_be_played():
    assert set(KINDS) == set(ACTS) == {kind for kind, *_ in drawn(1, 2000)}


def test_what_was_received_of_a_model_that_an_error_names_is_told():
    received = ['{"id":"p12"}', b"{}", '{"id":"p1"}', '{"events":[{"model":{"id":"p12"}}]}']
    told = list(about("page error: reference p12 isn't known", received))
    assert [text.partition(":")[0] for text in told] == ["0 of 4", "3 of 4"]
    assert "events" in told[1]
    assert list(about("a step after Run", received)) == []


def test_numbers_that_are_not_finite_are_seen_however_deep():
    assert finite({"a": [1, {"b": 2.5}], "c": None, "d": "nan"})
    assert not finite({"a": [1, {"b": float("nan")}]})


def test_only_what_closing_sockets_say_is_let_pass():
    closed = (
        "1 Uncaught exception GET /app/ws (::1)\nHTTPServerRequest()\nTraceback (most recent call last):\n  File a\n"
        "    assert self._session is not None\nAssertionError\n2 Task exception was never retrieved\nfuture: <Task "
        "exception=WebSocketClosedError()>\nTraceback (most recent call last):\nStreamClosedError\n\nDuring handling\n"
        "Traceback (most recent call last):\ntornado.websocket.WebSocketClosedError\n"
    )
    assert "Traceback" not in FOREIGN.sub("", closed)
    ours = "3 Uncaught exception GET /app/ws\nTraceback (most recent call last):\nValueError\n"
    assert FOREIGN.sub("", ours + closed).startswith(ours)


def test_only_what_a_cut_line_says_is_let_pass_in_the_console():
    assert wrong("error", "TypeError: undefined is not a function")
    assert not wrong("error", "[bokeh 3.9.2] Failed to load Bokeh session x: Error: Lost websocket connection, 1005 ()")
    assert not wrong("info", "anything")


@pytest.mark.browser
@pytest.mark.slow
def test_an_error_on_the_page_and_a_traceback_in_the_log_break_it(open_page, server, tmp_path):
    tab = open_page("?nv=4&nh=1&T=200&out=100")
    with pytest.raises(Broken, match="page error: planted"):
        check(tab, ["page error: planted"], server, tmp_path)

    class Said:
        log = server.log + "Traceback (most recent call last): planted"

    with pytest.raises(Broken, match="a traceback in the server's log"):
        check(tab, [], Said, tmp_path)


@pytest.mark.browser
@pytest.mark.slow
def test_a_short_one_is_clean(browser):  # noqa: ARG001 - which says so where there is none
    command = [sys.executable, "-m", "tests.fuzz", "1", "150"]  # a process of its own: Playwright runs once in each
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
