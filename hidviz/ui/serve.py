"""Serving: the page on a port, as a service is run: who may connect, what is logged, how it ends.

A session outlives a lost connection by two minutes, so that a browser finds its run again. One whose tab was closed
ends soon after. Asked to terminate, the server ends runs, sweeps and sessions in order. The log has a line for each
event worth knowing, and nothing of what a user has typed or opened.
"""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import panel as pn
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from panel.io.resources import LOCAL_DIST, patch_model_css
from panel.io.server import get_server
from tornado.iostream import StreamClosedError
from tornado.netutil import bind_sockets
from tornado.websocket import WebSocketClosedError

from hidviz.ui.page import page

HEALTH = "healthz"
LIFETIME = 120_000  # milliseconds that a session waits for its browser to come back
TOKEN = 7 * 24 * 3600  # seconds for which a page that is open may connect again
IN_ORDER = 10.0  # seconds for runs and sweeps to come to their next checkpoint
EVERYWHERE = ("0.0.0.0", "::", "")
HERE = ("localhost", "127.0.0.1", "::1")

LOG = logging.getLogger(__name__)


def serve(
    *,
    port: int = 5006,
    address: str = "localhost",
    show: bool = False,
    origins: Sequence[str] = (),
    prefix: str = "",
    inherited: socket.socket | None = None,
) -> None:
    """Serve the page until interrupted or asked to terminate.

    Args:
        port: to listen on; 0 for any free one.
        address: to listen on; "localhost" is reached from this machine alone, "0.0.0.0" from everywhere.
        show: whether to open a browser.
        origins: names under which browsers may reach the page beside its own, with a port unless it is the web's.
        prefix: what the path begins with, such as "/class" behind a proxy that hands this path on; empty for nothing.
        inherited: a socket to listen on in the place of a port of its own, as one of several processes.

    Raises:
        OSError: the port is taken, or the address is not one of this machine.
    """
    log_events()
    if port == 0 and inherited is None:
        port = free_port(address)
    server = get_server(
        {"hidviz": page},
        port=0 if inherited else port,
        address="localhost" if inherited else address,
        start=False,
        show=show,
        prefix=prefix,
        title={"hidviz": "hidviz"},
        location=False,  # the page keeps its address itself: see Instrument
        verbose=False,
        websocket_origin=allowed_origins(address, port, origins),
        unused_session_lifetime_milliseconds=LIFETIME,
        check_unused_sessions_milliseconds=5_000,
        session_token_expiration=TOKEN,
        liveness=HEALTH,
    )
    if inherited is not None:
        server._http.add_sockets([inherited])
    for context in server._tornado.applications.values():
        context.application.add(FunctionHandler(style_from_here))
    pn.state.on_session_created(lambda _: LOG.info("session opened, %d before it", len(server.get_sessions())))
    loop = server.io_loop
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.asyncio_loop.add_signal_handler(number, lambda: loop.add_callback(_end, server))
    server.start()
    print(f"hidviz is at http://{'localhost' if address in EVERYWHERE else address}:{port}{prefix}/hidviz", flush=True)
    LOG.info("serving on %s:%d; may connect: %s", address, port, ", ".join(allowed_origins(address, port, origins)))
    loop.start()


def allowed_origins(address: str, port: int, more: Sequence[str] = ()) -> list[str]:
    """The names under which a browser may reach the page: those of the address itself, and whatever was allowed."""
    if address in HERE:
        own: tuple[str, ...] = ("localhost", "127.0.0.1")
    elif address in EVERYWHERE:
        own = ("localhost", "127.0.0.1", socket.gethostname(), socket.getfqdn(), *_addresses())
    else:
        own = (address,)
    return [*dict.fromkeys(f"{name.lower()}:{port}" for name in own), *more]


def _addresses() -> list[str]:
    """The addresses of this machine, as far as its name leads to them."""
    try:
        return list(dict.fromkeys(str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)))
    except OSError:
        return []


def free_port(address: str) -> int:
    """A port of this address that nobody listens on."""
    sockets = bind_sockets(0, address)
    port: int = sockets[0].getsockname()[1]
    for each in sockets:
        each.close()
    return port


def style_from_here(document: Document) -> None:
    """Let a document find its style sheets on this server, however its session came to be.

    Panel sees to it where a page is asked for. A session that is made anew for a page that is open already, because the
    old one has ended or the server was started again, would send the browser to a network of others.
    """
    for root in document.roots:
        patch_model_css(root, dist_url=LOCAL_DIST)


async def _end(server: Any) -> None:
    """End all runs and sweeps, wait for them, then stop."""
    sessions = server.get_sessions()
    LOG.info("stopping; sessions to end: %d", len(sessions))
    for session in sessions:
        context = session.document.session_context
        for callback in list(session.document.session_destroyed_callbacks):
            callback(context)
    deadline = time.monotonic() + IN_ORDER
    while any(thread.name == "hidviz-runner" for thread in threading.enumerate()) and time.monotonic() < deadline:
        time.sleep(0.05)
    server.stop(wait=False)
    server.io_loop.stop()
    LOG.info("stopped")


# The log


def log_events() -> None:
    """One line for each event worth knowing, on standard error."""
    if sys.stderr is None:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    handler.addFilter(_is_news)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger("hidviz").setLevel(logging.INFO)
    for name in ("bokeh", "tornado", "panel"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.setLevel(logging.WARNING)
        logger.propagate = True
    logging.getLogger("tornado.access").setLevel(logging.ERROR)  # whoever asks for what is not there is no event
    logging.getLogger("bokeh.core.validation").setLevel(logging.ERROR)


class _OneLine(logging.Formatter):
    """A message without the breaks and margins that it has in its program."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        return " ".join(super().formatMessage(record).split())


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line is more than that a browser has gone while something was on its way to it, or from it."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, AssertionError) and record.name.startswith("bokeh.server"):
        return False  # Bokeh handles what came last from a browser that it has let go already
    return not (isinstance(error, WebSocketClosedError | StreamClosedError) or "connection was closed" in record.msg)
