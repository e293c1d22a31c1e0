"""Pace: when a session may draw its next frame.

Not faster than its browser: at most two frames are in flight, and the browser acknowledges each after drawing it, so a
slow one gets fewer frames, not older ones; one that draws nothing, such as that of a hidden tab, gets next to none. And
not more than its share of the process: all running sessions together
draw for a quarter of the time, so thirty of them still leave the processor to learning and the server to presses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

IN_FLIGHT = 2  # frames sent and not yet drawn
UNANSWERED = 1.0  # seconds after which an unacknowledged frame no longer holds back the next, twice as long each time
LONGEST = 5.0  # seconds that it does at most: a lost answer must not stop the picture for long
SHARE = 0.25  # of the server's processor time, for the frames of all running sessions together


class Pace:
    """The pace of one session."""

    def __init__(self) -> None:
        self.running = False  # whether frames follow one another without end
        self._sent_at = self._next_at = 0.0
        self._patience, self._unanswered = UNANSWERED, False
        _paces.add(self)

    def allows(self, waiting: int, *, asked: bool) -> bool:
        """Whether to draw now.

        Args:
            waiting: frames sent and not yet drawn.
            asked: whether somebody waits for the answer to a press, which goes before the fair share.
        """
        now = time.monotonic()
        self._unanswered = waiting >= IN_FLIGHT
        if not self._unanswered:
            self._patience = UNANSWERED
        elif now - self._sent_at < (UNANSWERED if asked else self._patience):
            return False
        return asked or not self.running or now >= self._next_at

    def sent(self) -> None:
        """A frame has been sent."""
        self._sent_at = time.monotonic()
        if self._unanswered:
            self._patience = min(LONGEST, 2.0 * self._patience)

    def rests(self, seconds: float, among: int) -> bool:
        """Whether this session is one of so many at most, none of which runs, and has sent nothing for so long."""
        quiet = time.monotonic() - self._sent_at >= seconds
        return quiet and len(_paces) <= among and not any(pace.running for pace in _paces)

    @contextmanager
    def drawing(self) -> Iterator[None]:
        """Time what is done inside, without the turns of learning in between; the next frame is put off accordingly."""
        begin, used = time.monotonic(), time.thread_time()
        yield
        n_running = sum(pace.running for pace in _paces)
        self._next_at = begin + n_running * (time.thread_time() - used) / SHARE

    def end(self) -> None:
        """No frame follows."""
        _paces.discard(self)


_paces: WeakSet[Pace] = WeakSet()
