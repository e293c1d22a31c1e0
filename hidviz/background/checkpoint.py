"""Pacing: long calculations offer to be interrupted, without knowing by whom.

A calculation that takes longer than about 50 ms calls `checkpoint()` between its blocks. Nothing happens, unless the
thread runs under `paced(hook)`: then the hook is called, which may wait (a pause, a fair turn) or raise (a stop).
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


class _Hook(threading.local):
    call: Callable[[], None] | None = None


_hook = _Hook()


def checkpoint() -> None:
    """Offer to be paused or stopped here; costs about 0.1 µs when nobody listens."""
    if _hook.call is not None:
        _hook.call()


@contextlib.contextmanager
def paced(hook: Callable[[], None]) -> Iterator[None]:
    """Have every checkpoint in this thread call `hook` while the context lasts."""
    before, _hook.call = _hook.call, hook
    try:
        yield
    finally:
        _hook.call = before
