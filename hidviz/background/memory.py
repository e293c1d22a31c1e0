"""Memory: how much a process may use, how much of that is left, and who has asked for it but not used it yet.

Two limits: of the process, and of each run in it (a page has many sessions, each with a run of its own). Whoever is
about to make something large predicts its size, and asks here before anything is allocated.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

PROCESS = "HIDVIZ_MEMORY"
"""Environment variable with the memory that this process may use, such as 8G."""

RUN = "HIDVIZ_RUN_MEMORY"
"""Environment variable with the memory that one run may use, such as 2G."""

SHARE = 0.75  # of the machine, for one process where nothing else is said
SHARE_OF_RUN = 0.5  # of the process, for one run where nothing else is said
UNKNOWN = 4e9  # bytes that a machine counts as having that does not tell

_UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container

_asked: list[float] = []
_lock = threading.Lock()


def parse_size(text: str) -> float:
    """A size in bytes from a number with a unit, such as 8G, 500 MB or 1.5e9.

    Raises:
        ValueError: it is no size, or not above zero.
    """
    found = re.fullmatch(r"([0-9.]+(?:e[+]?[0-9]+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    try:
        size = float(found[1]) * _UNITS[found[2]] if found else 0.0
    except ValueError:
        size = 0.0
    if not 0.0 < size < float("inf"):
        raise ValueError(f"A size of memory must be a number with a unit, such as 8G or 500M, got {text!r}.")
    return size


def format_size(size: float) -> str:
    """A size in bytes as people read it, 14.9 GB."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def machine_memory() -> float:
    """Bytes of memory of this machine, or of this process or the container around it if they may have less."""
    sizes = []
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sizes.append(float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES"))
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on every system

        sizes.append(float(resource.getrlimit(resource.RLIMIT_AS)[0]))  # -1 for no limit
    for name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):
            sizes.append(float(Path(name).read_text(encoding="ascii")))
    return min((size for size in sizes if size > 0.0), default=UNKNOWN)


def process_limit() -> float:
    """Bytes that this process may use.

    Raises:
        ValueError: the environment variable is no size.
    """
    return _given(PROCESS) or SHARE * machine_memory()


def run_limit() -> float:
    """Bytes that one run in this process may use.

    Raises:
        ValueError: the environment variable is no size.
    """
    return min(process_limit(), _given(RUN) or SHARE_OF_RUN * process_limit())


def _given(variable: str) -> float | None:
    text = os.environ.get(variable)
    try:
        return parse_size(text) if text else None
    except ValueError as error:
        raise ValueError(f"{variable} cannot be used. {error}") from error


def memory_left() -> float:
    """Bytes that this process may still take: what it uses, and what was asked for, is gone."""
    with _lock:
        return process_limit() - resident() - sum(_asked)


def resident() -> float:
    """Bytes of memory that this process uses; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return float(pages) * os.sysconf("SC_PAGE_SIZE")


def largest_number(fits: Callable[[int], bool], most: int) -> int:
    """The largest whole number from 0 to `most` that fits, where all fit up to some and none beyond."""
    if fits(most):
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@contextlib.contextmanager
def asked_for(size: float) -> Iterator[None]:
    """Count so many bytes as gone while they are being filled, so that two who ask at once do not get the same."""
    with _lock:
        _asked.append(size)
    try:
        yield
    finally:
        with _lock:
            _asked.remove(size)
