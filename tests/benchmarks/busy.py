"""A busy machine: processes that spin, as browsers, other users and other programs do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def busy(n: int | None = None) -> Iterator[None]:
    """Keep cores at work while the context lasts.

    Args:
        n: how many processes spin; one fewer than there are cores, but at least one, if None.
    """
    n = max(1, (os.cpu_count() or 1) - 1) if n is None else n
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()
