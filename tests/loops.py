"""Coroutines in tests: run in a thread of their own, since Playwright's loop may run in the one of the tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_aside(coroutine, *, within=None):
    """The result of a coroutine, from a loop of its own; a TimeoutError if it takes longer than so many seconds."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, asyncio.wait_for(coroutine, within)).result()
