"""Runner: one thread consuming one iterator, whose latest item anybody may look at.

The worker publishes each whole item by one reference assignment; whoever watches compares `version` and reads
`latest`. Pause, step and stop act within the calculation, at the checkpoints of `hidviz.pacing`. An exception ends up
in `failure`. The runner knows nothing of what it runs, nor of who looks.

All runners of a process share one fair gate with as many places as there are cores, so thirty runs slow each other
down evenly. Where threads do not exist, `pump` advances the same iterator in the caller's time.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from hidviz.pacing import paced

Item = TypeVar("Item")

TURN = 0.02  # seconds at work before giving way to a run that waits


class _Stopped(BaseException):
    """Raised at a checkpoint to leave a calculation that nobody wants any more."""


class _Gate:
    """First come, first served: at most `places` threads are inside, the others wait in line."""

    def __init__(self, places: int) -> None:
        self._lock = threading.Lock()
        self._free = places
        self._line: deque[threading.Event] = deque()

    def enter(self) -> None:
        with self._lock:
            if self._free and not self._line:
                self._free -= 1
                return
            turn = threading.Event()
            self._line.append(turn)
        turn.wait()

    def leave(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().set()
            else:
                self._free += 1

    @property
    def crowded(self) -> bool:
        return bool(self._line)


_gate = _Gate(max(1, os.cpu_count() or 1))


class Runner(Generic[Item]):
    """Consumes an iterator in the background, as fast as its share of the machine allows.

    Args:
        counts: which items count as steps; all of them unless given. Others, such as reports of progress, are
            published without using up what `step` and `start` allow.
        threads: whether to work in a thread; without, somebody must call `pump`.
    """

    def __init__(
        self,
        *,
        counts: Callable[[Item], bool] = lambda item: True,  # noqa: ARG005
        threads: bool = sys.platform != "emscripten",
    ) -> None:
        self._counts = counts
        self._threads = threads
        self._job: _Job[Item] | None = None
        self._version = 0

    def start(self, items: Iterator[Item], *, steps: int | None = None) -> None:
        """Leave whatever is being done and consume `items` from now on.

        Args:
            items: the new iterator; its items should be immutable.
            steps: pause after this many items that count; None to run on.
        """
        self.stop()
        self._version += self._job.version + 1 if self._job else 1
        self._job = _Job(items, steps, self._counts)
        if self._threads:
            threading.Thread(target=self._job.work, name="hidviz-runner", daemon=True).start()

    @property
    def latest(self) -> Item | None:
        """The newest item of the current iterator; None before the first."""
        return self._job.latest if self._job else None

    @property
    def version(self) -> int:
        """A number that grows whenever `latest` or the state changes; compare it to skip idle work."""
        return self._version + (self._job.version if self._job else 0)

    @property
    def running(self) -> bool:
        """Whether items are being produced: not paused, not at the end, not failed."""
        return self._job is not None and not self._job.ended and self._job.steps != 0

    @property
    def ended(self) -> bool:
        """Whether the iterator is exhausted, stopped or failed (or none was started)."""
        return self._job is None or self._job.ended

    @property
    def failure(self) -> BaseException | None:
        """The exception that ended the iterator, or None."""
        return self._job.failure if self._job else None

    @property
    def items_per_second(self) -> float:
        """Items over the last second or so of running; 0 while nothing runs."""
        return self._job.rate() if self._job and self.running else 0.0

    def pause(self) -> None:
        """Produce nothing more for now; a calculation under way waits at its next checkpoint."""
        if self._job:
            self._job.allow(0)

    def resume(self) -> None:
        """Go on."""
        if self._job:
            self._job.allow(None)

    def step(self) -> None:
        """Produce one more item, then pause."""
        if self._job:
            self._job.allow(1)

    def stop(self) -> None:
        """Give the current iterator up for good; returns at once and may be called at any time."""
        if self._job:
            self._job.stop()

    def pump(self, seconds: float) -> None:
        """Without threads: work here for about this long, at least one item if any is due."""
        if self._job and not self._threads:
            self._job.pump(seconds)


class _Job(Generic[Item]):
    """One iterator being consumed: the only state that the worker and its watchers share."""

    def __init__(self, items: Iterator[Item], steps: int | None, counts: Callable[[Item], bool]) -> None:
        self.latest: Item | None = None
        self.version = 0
        self.failure: BaseException | None = None
        self.ended = False
        self.steps = steps  # items still allowed; None for no limit
        self._items = items
        self._counts = counts
        self._stopped = False
        self._change = threading.Condition()
        self._since = 0.0
        self._stamps: deque[float] = deque(maxlen=64)

    def allow(self, steps: int | None) -> None:
        with self._change:
            self.steps = steps
            self.version += 1
            self._stamps.clear()
            self._change.notify_all()

    def stop(self) -> None:
        with self._change:
            self._stopped = True
            self._change.notify_all()

    def rate(self) -> float:
        stamps = list(self._stamps)
        return (len(stamps) - 1) / max(time.monotonic() - stamps[0], 1e-9) if len(stamps) > 1 else 0.0

    def work(self) -> None:
        _gate.enter()
        self._since = time.monotonic()
        try:
            with paced(self._checkpoint):
                while self._produce():
                    pass
        finally:
            _gate.leave()

    def pump(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while not self.ended and self.steps != 0 and self._produce() and time.monotonic() < end:
            pass

    def _produce(self) -> bool:
        """Wait until allowed, then publish one item; False at the end."""
        try:
            self._checkpoint()
            item = next(self._items)
        except StopIteration:
            return self._end(None)
        except _Stopped:
            return self._end(None)
        except Exception as error:  # whatever it is, it belongs on the page, not in a log that nobody reads
            return self._end(error)
        with self._change:
            if self._stopped:
                self.ended = True
                return False
            self.latest = item
            if self.steps is not None and self._counts(item):
                self.steps = max(0, self.steps - 1)
            self.version += 1
            self._stamps.append(time.monotonic())
        return True

    def _end(self, failure: BaseException | None) -> bool:
        with self._change:
            self.failure = failure
            self.ended = True
            self.version += 1
        return False

    def _checkpoint(self) -> None:
        if self._stopped:
            raise _Stopped
        if self.steps == 0:
            _gate.leave()
            with self._change:
                self._change.wait_for(lambda: self._stopped or self.steps != 0)
            _gate.enter()
            self._since = time.monotonic()
        elif _gate.crowded and time.monotonic() - self._since > TURN:
            _gate.leave()
            _gate.enter()
            self._since = time.monotonic()
        if self._stopped:
            raise _Stopped
