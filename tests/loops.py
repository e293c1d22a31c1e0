"""Coroutines in tests: run in a thread of their own, since Playwright's loop may run in the one of the tests."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


def run_aside(coroutine):
    """The result of a coroutine, from a loop of its own."""
    with ThreadPoolExecutor(1) as aside:
        return aside.submit(asyncio.run, coroutine).result()
