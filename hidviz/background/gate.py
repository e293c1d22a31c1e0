"""Gate: a number of places for threads, given out in the order in which they were asked for."""

from __future__ import annotations

import threading
from collections import deque


class Gate:
    """First come, first served: at most `places` threads are inside, the others wait in line."""

    def __init__(self, places: int) -> None:
        self._lock = threading.Lock()
        self._free = places
        self._line: deque[threading.Event] = deque()

    def enter(self) -> None:
        """Wait for a place, and take it."""
        with self._lock:
            if self._free and not self._line:
                self._free -= 1
                return
            turn = threading.Event()
            self._line.append(turn)
        turn.wait()

    def leave(self) -> None:
        """Give the place to whoever has waited longest."""
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free += 1

    @property
    def crowded(self) -> bool:
        """Whether anybody waits."""
        return bool(self._line)
