"""Ctrl-C, taken where it does no harm.

Python raises an interrupt wherever the program happens to be: in the middle of starting a worker, where it leaves one
behind, or in a destructor, where it is printed and forgotten and the work goes on.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

from hidviz.background import paced


@contextlib.contextmanager
def interrupts_at_checkpoints() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt at the next checkpoint while the context lasts; the second time at once.

    A process that was started to ignore it, as by `&` in a script, goes on doing so.
    """
    hears = threading.current_thread() is threading.main_thread()  # which alone is told of signals
    if not hears or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        yield
        return
    asked = threading.Event()

    def ask(*_: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    def leave_if_asked() -> None:
        if asked.is_set():
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask)
    try:
        with paced(leave_if_asked):
            yield
    finally:
        signal.signal(signal.SIGINT, before)
