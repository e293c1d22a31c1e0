"""Messages to a browser: each is sent, also one that comes at the moment when the one before it has been written."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from bokeh.document import Document
from panel.io import document as writing

from hidviz.ui.last_message import send_the_last_message


class Connection:
    """A line to a browser that writes when it is told to."""

    def __init__(self):
        self.protocol, self._socket = self, None
        self.sent, self.written = [], []

    def create(self, _kind, events):
        return events

    def write(self, message):
        self.sent.append(message)
        self.written.append(asyncio.get_running_loop().create_future())
        return [self.written[-1]]


def sent():
    """What is sent of two messages, the second of which comes just as the first has been written."""
    with ThreadPoolExecutor(1) as thread:  # other tests may have left a loop running in this one
        return thread.submit(asyncio.run, _one_while_another_is_written()).result()


async def _one_while_another_is_written():
    document, line = Document(), Connection()
    writing.schedule_write_events(document, [line], "first")
    await asyncio.sleep(0)
    line.written[0].set_result(None)  # wakes the task of the first before that of the second begins
    writing.schedule_write_events(document, [line], "second")
    for _ in range(10):
        await asyncio.sleep(0)
    return line.sent


@pytest.fixture
def lines(monkeypatch):
    monkeypatch.setattr(writing, "dispatch_django", lambda line, msg: line.write(msg))
    send = writing._dispatch_msgs
    monkeypatch.setattr(writing, "_dispatch_msgs", getattr(send, "__wrapped__", send))


@pytest.mark.usefixtures("lines")
def test_the_last_message_is_sent():
    send_the_last_message()
    send_the_last_message()
    assert sent() == ["first", "second"]


@pytest.mark.usefixtures("lines")
def test_panel_alone_keeps_it_back():
    """Once this is red, Panel sends it, and `hidviz.ui.last_message` can go."""
    assert sent() == ["first"]


def test_another_panel_is_left_as_it_is(monkeypatch, caplog):
    monkeypatch.delattr(writing, "_dispatch_msgs")
    with caplog.at_level("INFO"):
        send_the_last_message()
    assert "_dispatch_msgs" in caplog.text
    assert not hasattr(writing, "_dispatch_msgs")
