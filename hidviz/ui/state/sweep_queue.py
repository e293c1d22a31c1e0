"""Turns: one sweep at a time in a server, since each takes every core; others wait until it is done."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from hidviz.background import checkpoint, workers
from hidviz.sweeps import LOOK, Sweep, SweepState, run_sweep

_turn = threading.Lock()


def in_turn(sweep: Sweep) -> Iterator[SweepState | None]:
    """Run a sweep once no other one runs in this process; None while it waits."""
    yield None
    while not _turn.acquire(timeout=LOOK):
        checkpoint()
    try:
        yield from run_sweep(sweep, workers())
    finally:
        _turn.release()
