"""Turns: one sweep at a time in a server, since each takes every core, and each for a while, since others wait.

Sweeps stand in line in the order in which they came. The first works; after a minute and an experiment at least, if
another waits, it finishes what is under way, keeps what it has found, and goes to the end of the line. Every state says
how many stand ahead.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

from hidviz.background import Workers, checkpoint, workers
from hidviz.sweeps import LOOK, Measurement, Sweep, SweepState, key_of, run_sweep

TURN = 60.0  # seconds at work before giving way to a sweep that waits


class _Line:
    """Who works, and who waits behind."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sweeps: list[object] = []

    def join(self, sweep: object) -> None:
        """Stand at the end, and nowhere else."""
        with self._lock:
            self._sweeps = [*(each for each in self._sweeps if each is not sweep), sweep]

    def leave(self, sweep: object) -> None:
        with self._lock:
            self._sweeps = [each for each in self._sweeps if each is not sweep]

    def ahead(self, sweep: object) -> int:
        """How many stand before this one."""
        return next(k for k, each in enumerate(self._sweeps) if each is sweep)

    @property
    def crowded(self) -> bool:
        return len(self._sweeps) > 1


_line = _Line()


class _Kept:
    """A store in memory: what a sweep has found in its turns so far."""

    def __init__(self) -> None:
        self.found: dict[str, Measurement] = {}

    def load(self) -> dict[str, Measurement]:
        return dict(self.found)

    def append(self, measurement: Measurement) -> None:
        self.found[key_of(measurement.experiment)] = measurement


def in_turn(sweep: Sweep, crew: Workers | None = None, *, turn: float = TURN) -> Iterator[SweepState]:
    """Run a sweep in turns with the others of this process; a state whenever something, or its place, has changed.

    Args:
        sweep: what to run.
        crew: what to run it on; the workers of this machine, or of the scheduler in the environment, if None.
        turn: seconds at work before giving way.
    """
    me, kept, state = object(), _Kept(), SweepState(sweep, {}, {})
    _line.join(me)
    try:
        while not state.finished_all:
            for ahead in _places(me):
                yield replace(state, running=(), seconds_left=None, ahead=ahead)
            end, n_before = time.monotonic() + turn, len(kept.found)

            def give_way(end: float = end, n_before: int = n_before) -> bool:
                return _line.crowded and len(kept.found) > n_before and time.monotonic() > end

            for state in run_sweep(sweep, crew or workers(), store=kept, give_way=give_way):
                yield state
            _line.join(me)
    finally:
        _line.leave(me)


def _places(me: object) -> Iterator[int]:
    """How many stand ahead, as often as that changes, until nobody does."""
    before = 0
    while ahead := _line.ahead(me):
        if ahead != before:
            yield ahead
        before = ahead
        time.sleep(LOOK)
        checkpoint()
