"""A session that has ended leaves nothing behind: not its dashboard, not its document, not its views."""

import asyncio
import gc
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.benchmarks.visitor import Visitor

pytestmark = pytest.mark.slow


def leftovers():
    from bokeh.document import Document

    from hidviz.ui.dashboard import Dashboard

    gc.collect()
    kinds = (Dashboard, Document)
    return [type(thing).__name__ for thing in gc.get_objects() if isinstance(thing, kinds)]


async def settled(seconds=20):
    """What is left once the worker has come to its next checkpoint, and its thread to an end."""
    deadline = time.monotonic() + seconds
    while "Dashboard" in (left := leftovers()) and time.monotonic() < deadline:
        await asyncio.sleep(0.25)
    return left


async def visited(n_visits):
    """What is left after each of some visits to a server in this process, once the session is gone."""
    import panel as pn
    from panel.io.server import get_server

    from hidviz.ui import page

    settings = {"unused_session_lifetime_milliseconds": 15_000, "check_unused_sessions_milliseconds": 500}
    server = get_server({"app": page}, port=0, start=False, show=False, **settings)
    server.start()
    left = []
    try:
        for _ in range(n_visits):
            visitor = await Visitor.open(f"http://localhost:{server.port}/app")
            await visitor.press("Run")
            await visitor.until(lambda state: state["running"])
            await visitor.close()
            while server.get_sessions("/app"):
                await asyncio.sleep(0.2)
            left.append((await settled(), list(pn.state._views)))
    finally:
        server.stop()
    return left


def visits(n_visits):
    """What some visits leave behind, in a process that makes nothing else."""
    return asyncio.run(visited(n_visits))


def test_a_session_that_has_ended_leaves_nothing_behind():
    # A process of its own: in this one pytest keeps what was logged, and with it the sessions' events.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        first, second = process.submit(visits, 2).result()
    assert "Dashboard" not in first[0]
    assert first == second, "and what the first visit made once, the second does not make again"
