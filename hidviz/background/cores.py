"""Cores: the blocks of one calculation side by side where cores would idle, and their results in order.

Whoever adds up the results in that order gets the same number to its last digit, however many cores work. One core is
left to whoever waits, as a rule a page; the others are shared by all calculations of this process that are under way,
and a calculation that finds no second one goes through its blocks by itself. So on two cores nothing changes, nor in a
worker process, of which there is one for each core.

`HIDVIZ_CORES` says how many cores there are to share; 1 turns it off.
"""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

from hidviz.background.checkpoint import checkpoint

CORES = "HIDVIZ_CORES"
"""Environment variable with the number of cores that calculations of one process share."""

AHEAD = 2  # blocks for each core that may be done before their turn has come

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = threading.Lock()
_under_way = 0


def shared_cores() -> int:
    """How many cores calculations of this process share: what the environment says, or all but one.

    Raises:
        ValueError: the environment does not say a whole number of at least 1.
    """
    if (told := os.environ.get(CORES)) is None:
        return max(1, (os.cpu_count() or 1) - 1)
    if not told.strip().isdecimal() or int(told) < 1:
        raise ValueError(f"{CORES} must be a whole number of cores, at least 1, got {told!r}.")
    return int(told)


def in_order(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results of `work` for each item, in the order of the items, with a checkpoint before each.

    Args:
        work: needs nothing of other items, and changes nothing that they see.
        items: blocks of a calculation, some tenths of a millisecond each or more.
    """
    with _counted() as n:
        cores = shared_cores()
        if cores // n > 1:
            yield from _side_by_side(work, items, cores)
            return
        for item in items:
            checkpoint()
            yield work(item)


def _side_by_side(work: Callable[[Item], Result], items: Iterable[Item], cores: int) -> Iterator[Result]:
    pool, ahead = _pool(cores), deque[Future[Result]]()
    try:
        for item in items:
            checkpoint()
            ahead.append(pool.submit(copy_context().run, work, item))
            if len(ahead) > AHEAD * cores:
                yield ahead.popleft().result()
        while ahead:
            checkpoint()
            yield ahead.popleft().result()
    finally:  # of a calculation that is given up nothing goes on
        for future in ahead:
            future.cancel()
        wait(ahead)


@contextlib.contextmanager
def _counted() -> Iterator[int]:
    """How many calculations are under way, this one among them."""
    global _under_way
    with _lock:
        _under_way += 1
        n = _under_way
    try:
        yield n
    finally:
        with _lock:
            _under_way -= 1


@functools.cache
def _pool(cores: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(cores, thread_name_prefix="hidviz-block")
