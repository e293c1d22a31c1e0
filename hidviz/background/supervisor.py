"""Supervisor: some processes that do the same, started together, ended together, and started again where one dies.

Whoever ends the supervisor ends its processes: it hands on an interrupt or a request to terminate, waits, and kills
what has not ended by then. One that dies by itself is replaced, unless it cannot do its work at all.
"""

from __future__ import annotations

import logging
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from types import FrameType

IN_ORDER = 20.0  # seconds for a process to end in order
SOON = 5.0  # a process that has not lived so many seconds cannot do its work at all
LOOK = 0.1

LOG = logging.getLogger(__name__)


def supervise(command: Sequence[str], n: int, *, inherited: Sequence[int] = ()) -> int:
    """Keep this many processes of a command running until an interrupt or a request to terminate.

    Args:
        command: the program and its arguments.
        n: how many.
        inherited: file descriptors that the processes share with this one.

    Returns:
        0 if all was ended on request; 1 if a process cannot do its work.
    """
    ended = threading.Event()  # not an exception: a second request may come while the first one is being met

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    running: list[tuple[subprocess.Popen[bytes], float]] = []

    def start() -> None:
        running.append((subprocess.Popen(command, pass_fds=tuple(inherited)), time.monotonic()))

    try:
        for _ in range(n):
            start()
        while not ended.wait(LOOK):
            for process, since in [each for each in running if each[0].poll() is not None]:
                running.remove((process, since))
                if process.returncode >= 0 and time.monotonic() - since < SOON:  # it ended by itself: not killed
                    return 1
                LOG.warning("a process has died with %s; another one takes its place", process.returncode)
                start()
        return 0
    finally:
        _end([process for process, _ in running])
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        process.terminate()
    deadline = time.monotonic() + IN_ORDER
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
