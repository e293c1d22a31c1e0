"""Executors: where experiments run — processes of this machine, a Dask cluster, or this very thread.

Each function gives a context manager of a Crew, a `concurrent.futures` executor with the number of experiments it takes
at a time. Leaving the context gives up what is still running.

Processes here are spawned, work with BLAS at one thread and at low priority, so that a page in front of them stays
quick, leave at the next checkpoint when they are no longer wanted, and end with the process that started them.
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, ParamSpec, TypeVar

from hidviz.background.blas import keep_one_blas_thread
from hidviz.background.checkpoint import paced
from hidviz.background.cores import CORES
from hidviz.background.memory import PROCESS, RUN, process_limit

SCHEDULER = "HIDVIZ_SCHEDULER"
"""Environment variable with the address of a Dask scheduler."""

NICENESS = 10
"""How far worker processes stand back behind a page that wants the same core."""

P = ParamSpec("P")
T = TypeVar("T")


class Crew(NamedTuple):
    """An executor, and how many experiments to hand it at a time: as many as it loses when it breaks."""

    executor: Executor
    size: int


Workers = Callable[[], AbstractContextManager[Crew]]


def workers(scheduler: str | None = None, n: int | None = None) -> Workers:
    """The workers asked for: a cluster if there is the address of a scheduler, else processes of this machine.

    Args:
        scheduler: address of a Dask scheduler; the environment variable HIDVIZ_SCHEDULER if None.
        n: number of processes here; as many as there are cores if None.
    """
    address = scheduler or os.environ.get(SCHEDULER)
    return (lambda: cluster(address)) if address else (lambda: processes(n))


@contextlib.contextmanager
def processes(n: int | None = None) -> Iterator[Crew]:
    """Worker processes of this machine, started as there is work for them.

    Those that cannot be at work are ended as the context is left, since one that still starts may take a minute to:
    all of them where it is left in order, and where it is left otherwise all of them if none has started yet.

    Args:
        n: how many; as many as there are cores if None.

    Raises:
        ValueError: fewer than one.
    """
    n = (os.cpu_count() or 1) if n is None else n
    if n < 1:
        raise ValueError(f"The number of workers must be at least 1, got {n}.")
    share = process_limit() / n
    spawn = multiprocessing.get_context("spawn")
    # no locks, which a worker that is killed would take with it
    unwanted, started = spawn.Value("b", 0, lock=False), spawn.Value("b", 0, lock=False)
    pool = ProcessPoolExecutor(n, mp_context=spawn, initializer=_settle_in, initargs=(unwanted, started, share))
    at_work = True
    try:
        yield Crew(pool, n)
        at_work = False
    finally:
        unwanted.value = 1
        if not (at_work and started.value):
            for process in list(pool._processes.values()):
                process.terminate()
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def cluster(address: str) -> Iterator[Crew]:
    """The workers of a Dask scheduler; what they have begun when the context is left, they finish.

    Raises:
        ValueError: `distributed` is not installed.
        ConnectionError: no scheduler answers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise ValueError(
            "A scheduler needs the package distributed: install hidviz[cluster], or leave the address out."
        ) from error
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what it says of a scheduler lost is said here
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"No Dask scheduler answers at {address}: {error}. Start one with `dask scheduler`, or leave the address "
            "out to work on this machine."
        ) from error
    with client, client.get_executor(pure=False) as executor:
        yield Crew(executor, max(2, 2 * sum(client.nthreads().values())))
        executor.shutdown(wait=False)


@contextlib.contextmanager
def alone() -> Iterator[Crew]:
    """This very thread, one experiment after the other."""
    yield Crew(_Alone(), 1)


class _Alone(Executor):
    """Runs each call when it is submitted."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # it belongs to the future, as with every executor
            future.set_exception(error)
        return future


class _Unwanted(Exception):
    """Raised at a checkpoint in a worker whose result nobody waits for any more."""


_settings = contextlib.ExitStack()  # what a worker process keeps for life


def _settle_in(unwanted: Any, started: Any, memory: float) -> None:
    """Prepare a worker process, which may use so many bytes, all of them for one run."""
    started.value = 1
    os.environ[PROCESS] = os.environ[RUN] = str(memory)
    os.environ[CORES] = "1"  # there is a worker for each
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the process that started this one
    if hasattr(os, "nice"):
        os.nice(NICENESS)

    def leave_if_unwanted() -> None:
        if unwanted.value:
            raise _Unwanted

    keep_one_blas_thread()
    _settings.enter_context(paced(leave_if_unwanted))
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)
