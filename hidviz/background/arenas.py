"""Arenas: the pools from which the C library serves the threads of a process.

The C library of most Linux systems makes a new one for each thread that asks at a bad moment, up to eight for each
core, and hands little of them back. A server that begins and ends runs all day then grows by what lies unused in them.
Two serve as well, since only one thread at a time runs Python; and what a closed session leaves is handed back.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os

VARIABLE = "MALLOC_ARENA_MAX"  # the C library's own, which goes before
MOST = 2
_ARENA_MAX = -8  # the number of this setting in malloc.h


@functools.cache
def keep_few_arenas() -> None:
    """Keep to two arenas, in all of this process, from now on; where the C library has none, nothing changes."""
    if VARIABLE in os.environ:
        return
    _ask("mallopt", _ARENA_MAX, MOST)


def hand_back_memory() -> None:
    """Give back to the system what lies unused in the arenas, some milliseconds' work; elsewhere nothing happens."""
    _ask("malloc_trim", 0)


def _ask(function: str, *values: int) -> None:
    """Call a function of the C library, where it has it (not Linux, or another library: it has not)."""
    with contextlib.suppress(OSError, TypeError, AttributeError):
        getattr(ctypes.CDLL(None), function)(*values)
