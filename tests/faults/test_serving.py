"""The server as a service: who may connect, what it logs, and that nothing of it is left when it has ended."""

import base64
import json
import os
import re
import signal
import socket
import time
import urllib.request

import pytest
from tornado.httpclient import AsyncHTTPClient
from tornado.websocket import websocket_connect

from hidviz.ui.serve import allowed_origins
from tests.benchmarks.visitor import Visitor
from tests.faults.servers import Serving
from tests.loops import run_aside

pytestmark = [
    pytest.mark.slow,
    # `vanished` tears its socket on purpose, and Tornado's side of it complains when it is collected.
    pytest.mark.filterwarnings(
        "ignore:Exception ignored in.*WebSocketClientConnection:pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture(scope="module")
def serving():
    running = Serving("--allow-origin", "class.example.org")
    yield running
    running.stop()


def wait_until(holds, what, seconds=240):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.1)


def upgraded(port, origin):
    """What the server answers to a websocket that comes from this origin."""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as line:
        line.sendall(
            f"GET /hidviz/ws HTTP/1.1\r\nHost: localhost:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nOrigin: {origin}\r\n"
            "Sec-WebSocket-Protocol: bokeh, x\r\n\r\n".encode()
        )
        return int(line.recv(100).split()[1])


def test_only_allowed_origins_may_open_a_socket(serving):
    for origin in ("http://evil.example", f"http://evil.example:{serving.port}", "http://localhost:1", "null"):
        assert upgraded(serving.port, origin) == 403, origin
    for origin in (f"http://localhost:{serving.port}", f"http://127.0.0.1:{serving.port}", "http://class.example.org"):
        assert upgraded(serving.port, origin) != 403, origin


def test_an_address_for_everybody_allows_itself_alone():
    running = Serving("--address", "0.0.0.0")
    try:
        assert upgraded(running.port, "http://evil.example") == 403
        assert upgraded(running.port, f"http://{socket.gethostname()}:{running.port}") != 403
    finally:
        running.stop()
    assert not any("*" in origin for origin in allowed_origins("0.0.0.0", 5006))
    assert allowed_origins("10.1.2.3", 80, ["a.example"]) == ["10.1.2.3:80", "a.example"]


def test_health_is_answered(serving):
    with urllib.request.urlopen(f"http://localhost:{serving.port}/healthz", timeout=60) as answer:
        assert answer.status == 200


async def vanished(url):
    """A session whose browser goes without a word while frames are on their way to it."""
    visitor = await Visitor.open(url)
    await visitor.press("Run")
    await visitor.until(lambda now: now["running"])
    await visitor.vanish()


def test_the_log_has_one_line_an_event_and_nothing_of_the_user(serving):
    before = len(serving.log)
    for _ in range(2):
        run_aside(vanished(serving.url))
        run_aside(closed(serving.url))
    with urllib.request.urlopen(f"{serving.url}?nv=secret&nonsense=1", timeout=120):
        pass
    wait_until(lambda: any("link could not be used" in line for line in serving.log[before:]), "the link")
    time.sleep(3.0)  # time for what would be said too much
    said = serving.log[before:]
    assert sum("session opened" in line for line in said) == 5
    assert all(" INFO " in line for line in said), said
    assert not any("secret" in line or "nonsense" in line or "Traceback" in line for line in said)


def test_a_request_to_terminate_ends_everything_in_order():
    running = Serving()
    run_aside(vanished(running.url))
    assert running.stop() == 0
    assert "stopped" in running.log[-1]
    assert any("sessions to end: 1" in line for line in running.log)
    assert not any("Traceback" in line for line in running.log)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_two_processes_end_with_the_one_that_started_them(number):
    running = Serving("--num-procs", 2)
    wait_until(lambda: len(running.children) == 2, "two processes")
    children = running.children
    wait_until(lambda: sum("serving on" in line for line in running.log) == 2, "both to serve")
    os.kill(children[0], signal.SIGKILL)
    wait_until(lambda: len(set(running.children) - {children[0]}) == 2, "another one in its place")
    children = running.children
    run_aside(opened(running.url))
    running.process.send_signal(number)
    assert running.close() == 0
    wait_until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), "all to be gone")  # noqa: PTH110


HUGE = "?nv=200&nh=200&T=10000000&out=10000000"


def test_a_link_to_more_than_there_is_memory_for_is_answered_by_what_would_fit_and_the_page_lives():
    running = Serving("--memory", "2G", "--run-memory", "500M")
    try:
        used = resident(running.process.pid)
        said = run_aside(refused(running.url + HUGE))
        assert re.search(r"need about [\d.]+ GB of memory.*a run may use 500 MB: at most [\d,]+ bins would fit", said)
        assert resident(running.process.pid) < used + 3e8
        run_aside(opened(running.url + "?nv=5&nh=1&T=300&out=100"))
    finally:
        assert running.stop() == 0
    assert not any("Traceback" in line for line in running.log)


def test_the_memory_of_a_server_is_divided_between_its_processes():
    running = Serving("--num-procs", 2, "--memory", "1G")
    try:
        said = run_aside(refused(running.url + HUGE))
        assert "a run may use 250 MB" in said
    finally:
        running.stop()


def resident(pid):
    """Bytes of memory that a process uses."""
    with open(f"/proc/{pid}/statm") as told:  # noqa: PTH123
        return int(told.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def refused(url):
    """What the page says to a link whose run is refused, once it goes on answering."""
    visitor = await Visitor.open(url)
    await visitor.until(lambda now: now["error"])
    said, frames = visitor.state["error"], visitor.frames
    await visitor.press("Run")
    await visitor.until(lambda _: visitor.frames > frames)
    assert visitor.state["error"] in (said, "")
    await visitor.close()
    return said


async def closed(url):
    """A session whose tab is closed in order, while frames are on their way to it."""
    visitor = await Visitor.open(url)
    await visitor.press("Run")
    await visitor.until(lambda now: now["running"])
    await visitor.close()


async def opened(url):
    visitor = await Visitor.open(url)
    await visitor.press("Step")
    await visitor.close()


def test_a_session_that_is_made_anew_asks_nobody_else_for_its_style(serving):
    """A browser that joins late finds a session made for its socket, not for its page."""
    styles = run_aside(joined_late(serving.url))
    assert "https://" not in styles
    assert "static/extensions/panel" in styles


async def joined_late(url):
    """The style sheets in the document that a socket gets whose token names a session that the server does not know."""
    page = (await AsyncHTTPClient().fetch(url, request_timeout=120)).body.decode()
    token = re.search(r'"token":\s*"([^"]+)"', page)[1]
    payload = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    payload["session_id"] = "A" * 44
    other = base64.urlsafe_b64encode(json.dumps(payload).encode()).decode().rstrip("=")
    socket = await websocket_connect(
        url.replace("http", "ws", 1) + "/ws", subprotocols=["bokeh", other], max_message_size=2**28
    )
    here = Visitor(socket)
    await here._receive()
    await here._send("PULL-DOC-REQ", {})
    while (message := await here._receive())[0] != "PULL-DOC-REPLY":
        pass
    socket.close()
    return " ".join(re.findall(r'"[^"]*\.css[^"]*"', json.dumps(message[1])))
