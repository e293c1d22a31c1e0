"""BLAS threads: one while hidviz computes, and the user's own number whenever it does not.

The matrices of a step are small: one thread is as quick as many on a quiet machine, and many times quicker on a busy
one, where the threads of a product wait for each other. The number of threads belongs to the whole process, so

    one_blas_thread()            holds for a block; blocks may overlap in any threads, and the last one to end undoes it
    on_one_blas_thread           the same for a generator function: while its body computes, not while it is suspended
    keep_one_blas_thread()       for good: in a process that serves, sweeps or fits, and does nothing else

Importing hidviz changes nothing. Setting and undoing cost some 20 µs, and a fraction of that where it holds already.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Generator, Iterator
from typing import ParamSpec, TypeVar

from threadpoolctl import LibController, ThreadpoolController

P = ParamSpec("P")
Item = TypeVar("Item")
Result = TypeVar("Result")


class _Limit:
    """One thread in some BLAS libraries for as long as anybody holds it."""

    def __init__(self, *, per_thread: bool) -> None:
        self._per_thread = per_thread
        self._lock = threading.Lock()
        self._holders = 0
        self._before: list[tuple[LibController, int]] = []

    def hold(self) -> None:
        with self._lock:
            if not self._holders:
                self._before = [(library, library.num_threads) for library in _libraries(self._per_thread)]
                for library, _ in self._before:
                    _set(library, 1)
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if not self._holders:
                for library, n_threads in self._before:
                    _set(library, n_threads)
                    _let_go(library)


@functools.cache
def _libraries(per_thread: bool) -> list[LibController]:
    """The BLAS libraries of this process, all of which the engine has loaded by the time it computes.

    Those built on OpenMP keep a number for each thread, the others one for the whole process.
    """
    found: list[LibController] = ThreadpoolController().select(user_api="blas").lib_controllers
    return [each for each in found if (getattr(each, "threading_layer", "") == "openmp") is per_thread]


def _set(library: LibController, n_threads: int) -> None:
    _let_go(library)
    library.set_num_threads(n_threads)


def _let_go(library: LibController) -> None:
    """Where one number serves the whole process, threadpoolctl lets only the first thread that set it change it."""
    if hasattr(library, "clear_controlling_thread"):
        library.clear_controlling_thread(force=True)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.limit = _Limit(per_thread=True)


_of_process, _of_thread = _Limit(per_thread=False), _OfThread()


def _hold() -> None:
    _of_process.hold()
    _of_thread.limit.hold()


def _release() -> None:
    _of_thread.limit.release()
    _of_process.release()


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS work with one thread, in all of this process, while the context lasts."""
    _hold()
    try:
        yield
    finally:
        _release()


@functools.cache
def keep_one_blas_thread() -> None:
    """Have BLAS work with one thread, in all of this process, from now on; once is enough."""
    _hold()


def on_one_blas_thread(
    make: Callable[P, Generator[Item, None, Result]],
) -> Callable[P, Generator[Item, None, Result]]:
    """Decorate a generator function: BLAS works with one thread while the body computes.

    Whoever consumes the generator has their own number of threads back each time they are given an item.
    """

    @functools.wraps(make)
    def run(*args: P.args, **kwargs: P.kwargs) -> Generator[Item, None, Result]:
        items = make(*args, **kwargs)
        try:
            while True:
                _hold()
                try:
                    item = next(items)
                except StopIteration as end:
                    result: Result = end.value
                    return result
                finally:
                    _release()
                yield item
        finally:
            items.close()

    return run
