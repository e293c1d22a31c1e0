"""Tables in Markdown, and the line that says on which machine and when they were made."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from threadpoolctl import threadpool_info

PACKAGES = ("numpy", "scipy", "numba", "jax", "panel", "bokeh")


def heading() -> str:
    """Machine, versions, how busy the machine is, and the date."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES if find_spec(name))
    blas = max((pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1)
    load = f"load {os.getloadavg()[0]:.1f}, " if hasattr(os, "getloadavg") else ""
    return (
        f"{processor()}, {os.cpu_count()} cores, BLAS threads {blas}, {load}"
        f"Python {platform.python_version()}, {packages}; {time.strftime('%Y-%m-%d %H:%M')}"
    )


def processor() -> str:
    """The processor as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def line(cells: Sequence[str]) -> str:
    """One row of a table."""
    return f"| {' | '.join(cells)} |"


def head(titles: Sequence[str]) -> str:
    """The first two rows of a table: titles, and a rule that aligns all columns but the first to the right."""
    return f"{line(titles)}\n{line(['---', *['---:'] * (len(titles) - 1)])}"


def duration(seconds: float) -> str:
    """Seconds in a unit that suits them, three digits."""
    for unit, name in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds / 1e-6:.3g} µs"
