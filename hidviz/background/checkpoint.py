"""Checkpoints: long calculations offer to be interrupted, without knowing by whom.

A calculation that takes longer than about 50 ms calls `checkpoint()` between its blocks. Nothing happens, unless the
thread runs under `paced(hook)`: then the hook is called, which may wait (a pause, a fair turn) or raise (a stop).

A calculation that reports on its way is a generator that yields reports and returns its result.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Other = TypeVar("Other")
Result = TypeVar("Result")


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


class _Kept(Generic[Item, Result]):
    """A generator to be iterated over once, that keeps what it returned."""

    result: Result

    def __init__(self, generator: Generator[Item, None, Result]) -> None:
        self._generator = generator

    def __iter__(self) -> Iterator[Item]:
        self.result = yield from self._generator


def return_value(
    generator: Generator[Item, None, Result],
    told: Callable[[Item], Any] = lambda item: None,  # noqa: ARG005
) -> Result:
    """Run a generator to its end, with a checkpoint after each report, and give what it returns.

    Args:
        generator: the calculation.
        told: called with each report.
    """
    for item in (steps := _Kept(generator)):
        told(item)
        checkpoint()
    return steps.result


def mapped(generator: Generator[Item, None, Result], change: Callable[[Item], Other]) -> Generator[Other, None, Result]:
    """The same calculation with other reports: each one as `change` makes it; the result is the same."""
    for item in (steps := _Kept(generator)):
        yield change(item)
    return steps.result
