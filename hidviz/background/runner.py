"""Runner: one thread consuming one iterator, whose latest item anybody may look at.

The worker publishes each whole item by one reference assignment; whoever watches compares `version` and reads
`latest`. Pause, step and stop act within the calculation, at its checkpoints (`checkpoint`). An exception ends up
in `failure`. An iterator that is given up is closed where it was consumed, so that what it holds, a lock or worker
processes, is let go at once. The runner knows nothing of what it runs, nor of who looks.

All runners of a process share one fair gate with as many places as there are cores, so thirty runs slow each other
down evenly. Where threads do not exist, `pump` advances the same iterator in the caller's time.
"""

from __future__ import annotations

import math
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from typing import Generic, TypeVar

from hidviz.background.checkpoint import paced
from hidviz.background.gate import Gate

Item = TypeVar("Item")

TURN = 0.02  # seconds at work before giving way to a run that waits


class _Stopped(BaseException):
    """Raised at a checkpoint to leave a calculation that nobody wants any more."""


_gate = Gate(os.cpu_count() or 1)


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
        self._interval = 0.0
        self._job: _Job[Item] = _Job(iter(()), None, counts, version=0, interval=self._interval)
        self._job.stop()
        self._starting = threading.Lock()

    def start(self, items: Iterator[Item], *, steps: int | None = None) -> None:
        """Leave whatever is being done and consume `items` from now on.

        Args:
            items: the new iterator; its items should be immutable.
            steps: pause after this many items that count; None to run on.
        """
        with self._starting:
            self.stop()
            job = _Job(items, steps, self._counts, version=self._job.version + 1, interval=self._interval)
            if self._threads:
                threading.Thread(target=job.work, name="hidviz-runner", daemon=True).start()
            self._job = job

    @property
    def latest(self) -> Item | None:
        """The newest item of the current iterator; None before the first."""
        return self._job.latest

    @property
    def version(self) -> int:
        """A number that grows whenever `latest` or the state changes; compare it to skip idle work."""
        return self._job.version

    @property
    def running(self) -> bool:
        """Whether items are being produced: not paused, not at the end, not failed."""
        job = self._job
        return not job.ended and job.steps != 0

    @property
    def threaded(self) -> bool:
        """Whether it works by itself; otherwise somebody must call `pump`."""
        return self._threads

    @property
    def ended(self) -> bool:
        """Whether the iterator is exhausted, stopped or failed (or none was started)."""
        return self._job.ended

    @property
    def failure(self) -> BaseException | None:
        """The exception that ended the iterator, or None."""
        return self._job.failure

    @property
    def items_per_second(self) -> float:
        """Items that count, over the last second or so of running; 0 while nothing runs."""
        return self._job.rate() if self.running else 0.0

    @property
    def interval(self) -> float:
        """Least seconds between two items that count, while running on; an item asked for by `step` comes at once."""
        return self._interval

    @interval.setter
    def interval(self, seconds: float) -> None:
        self._interval = seconds
        self._job.keep(seconds)

    def pause(self) -> None:
        """Publish nothing more for now; a calculation under way waits at its next checkpoint."""
        self._job.allow(lambda _: 0)

    def resume(self) -> None:
        """Go on."""
        self._job.allow(lambda _: None)

    def step(self) -> None:
        """Produce one more item, then pause; pressed twice, two more."""
        self._job.allow(lambda steps: (steps or 0) + 1)

    def stop(self) -> None:
        """Give the current iterator up for good; returns at once and may be called at any time."""
        self._job.stop()
        if not self._threads:
            self._job.close()

    def pump(self, seconds: float) -> None:
        """Without threads: work here for about this long, at least one item if any is due."""
        if not self._threads:
            self._job.pump(seconds)


class _Job(Generic[Item]):
    """One iterator being consumed: the only state that the worker and its watchers share.

    Everything here is written under the lock of `_change`, and nothing any more once the job has ended.
    """

    def __init__(
        self,
        items: Iterator[Item],
        steps: int | None,
        counts: Callable[[Item], bool],
        *,
        version: int,
        interval: float,
    ) -> None:
        self.latest: Item | None = None
        self.version = version
        self.failure: BaseException | None = None
        self.ended = False
        self.steps = steps  # items still allowed; None for no limit
        self._items = items
        self._counts = counts
        self._gate = _gate
        self._change = threading.Condition()
        self._since = time.monotonic()
        self._interval, self._counted_at = interval, -math.inf
        self._stamps: deque[float] = deque()
        self._consuming = False  # within `pump`

    def allow(self, change: Callable[[int | None], int | None]) -> None:
        with self._change:
            if not self.ended:
                self.steps = change(self.steps)
                self.version += 1
                self._stamps.clear()
                self._change.notify_all()

    def keep(self, interval: float) -> None:
        with self._change:
            self._interval = interval
            self._change.notify_all()

    def stop(self, failure: BaseException | None = None) -> None:
        with self._change:
            if not self.ended:
                self.failure = failure
                self.ended = True
                self.version += 1
                self._change.notify_all()

    def rate(self) -> float:
        with self._change:
            n = len(self._stamps)
            return (n - 1) / max(time.monotonic() - self._stamps[0], 1e-9) if n else 0.0

    def work(self) -> None:
        self._gate.enter()
        self._since = time.monotonic()
        try:
            with paced(self._checkpoint):
                while True:
                    self._checkpoint()
                    item = next(self._items)
                    while not self._publish(item):
                        self._checkpoint()
                    if self._due > 0.0:
                        self._wait(lambda: self._due <= 0.0, lambda: self._due)
        except (StopIteration, _Stopped):
            self.stop()
        except BaseException as error:  # whatever it is, it belongs on the page, not in a log that nobody reads
            self.stop(error)
        finally:
            self._gate.leave()  # first: a clean-up waits more than it works
            self.close()

    def close(self) -> None:
        """Let an iterator that has been given up run its clean-up; only for the thread that consumes it.

        Nothing paces the clean-up, so no checkpoint in it can break it off.
        """
        if self.ended and not self._consuming and isinstance(self._items, Generator):
            self._items.close()

    def pump(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        self._consuming = True
        try:
            while not self.ended and self.steps != 0 and self._due <= 0.0:
                self._publish(next(self._items))
                if time.monotonic() >= end:
                    return
        except StopIteration:
            self.stop()
        except Exception as error:  # as above; but an interrupt is meant for the caller, whose time this is
            self.stop(error)
        finally:
            self._consuming = False
            self.close()

    def _publish(self, item: Item) -> bool:
        """Show an item, unless paused or stopped in the meantime."""
        counted = self._counts(item)
        with self._change:
            if self.ended or self.steps == 0:
                return False
            self.latest = item
            self.version += 1
            if counted:
                self.steps = None if self.steps is None else self.steps - 1
                now = self._counted_at = time.monotonic()
                self._stamps.append(now)
                while len(self._stamps) > 2 and now - self._stamps[0] > 1.0:
                    self._stamps.popleft()
        return True

    def _checkpoint(self) -> None:
        """Give way to others if it is their turn, wait while paused, leave if stopped."""
        if self._gate.crowded and time.monotonic() - self._since > TURN:
            self._gate.leave()
            self._gate.enter()
            self._since = time.monotonic()
        while self.steps == 0 and not self.ended:
            self._wait(lambda: self.steps != 0)
        if self.ended:
            raise _Stopped

    @property
    def _due(self) -> float:
        """Seconds until the next item may be made; none where it was asked for."""
        return self._counted_at + self._interval - time.monotonic() if self.steps is None else 0.0

    def _wait(self, over: Callable[[], bool], at_most: Callable[[], float] = lambda: math.inf) -> None:
        """Let others have the place until this wait is over, or the job is."""
        self._gate.leave()
        with self._change:
            while not (self.ended or over()):
                self._change.wait(min(at_most(), threading.TIMEOUT_MAX))
        self._gate.enter()
        self._since = time.monotonic()
