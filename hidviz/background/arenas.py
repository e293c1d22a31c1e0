"""Arenas: the pools from which the C library serves the threads of a process.

The C library of most Linux systems makes a new one for each thread that asks at a bad moment, up to eight for each
core, and hands little of them back. A server that begins and ends runs all day then grows by what lies unused in them.
Two serve as well, since only one thread at a time runs Python; and what a closed session leaves is handed back.

Within a calculation it is the other way round. The library hands arrays of more than 128 kB back as soon as they are
freed, and asks for each page of the next ones anew, which takes as long as the sums that are done with them. It learns
better once an array of up to 32 MB has been freed; a process that learns couplings does not wait for that.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os

VARIABLE = "MALLOC_ARENA_MAX"  # the C library's own, which goes before
MOST = 2
KEPT = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_")  # likewise
_ARENA_MAX, _TRIM_THRESHOLD, _MMAP_THRESHOLD = -8, -1, -3  # the numbers of these settings in malloc.h
_LARGEST = 2**25  # bytes of an array that the library's own rule keeps at most


@functools.cache
def keep_few_arenas() -> None:
    """Keep to two arenas, in all of this process, from now on; where the C library has none, nothing changes."""
    if VARIABLE in os.environ:
        return
    _ask("mallopt", _ARENA_MAX, MOST)


@functools.cache
def keep_freed_memory() -> None:
    """Keep what is freed for the next arrays, as the C library does once it has freed a large one, from now on."""
    if any(name in os.environ for name in KEPT):
        return
    _ask("mallopt", _MMAP_THRESHOLD, _LARGEST)
    _ask("mallopt", _TRIM_THRESHOLD, 2 * _LARGEST)


def hand_back_memory() -> None:
    """Give back to the system what lies unused in the arenas, some milliseconds' work; elsewhere nothing happens."""
    _ask("malloc_trim", 0)


def _ask(function: str, *values: int) -> None:
    """Call a function of the C library, where it has it (not Linux, or another library: it has not)."""
    with contextlib.suppress(OSError, TypeError, AttributeError):
        getattr(ctypes.CDLL(None), function)(*values)
