"""In a process of its own, since arenas belong to a whole process."""

import os
import platform
import re
import subprocess
import sys

import pytest

from hidviz.background import arenas as arenas_module

COUNT = """
import ctypes, sys, threading
from hidviz.background import keep_few_arenas

if sys.argv[1] == "few":
    keep_few_arenas()
libc, together, held = ctypes.CDLL(None), threading.Barrier(9), []
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
libc.fopen.argtypes = [ctypes.c_char_p] * 2
libc.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]
libc.fclose.argtypes = [ctypes.c_void_p]

def take():
    together.wait()  # all at the same time
    held.extend(libc.malloc(1000) for _ in range(2000))
    together.wait()

threads = [threading.Thread(target=take) for _ in range(8)]
for thread in threads:
    thread.start()
together.wait()
together.wait()
file = libc.fopen(sys.argv[2].encode(), b"w")
libc.malloc_info(0, file)
libc.fclose(file)
"""


def arenas(path, how, **environment):
    """How many arenas a process has in which eight threads have asked for memory at the same time."""
    subprocess.run([sys.executable, "-c", COUNT, how, str(path)], check=True, env={**os.environ, **environment})
    return len(re.findall("<heap ", path.read_text(encoding="ascii")))


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has no arenas")
def test_a_process_that_serves_has_two_however_many_threads_ask(tmp_path):
    assert arenas(tmp_path / "few", "few") <= 2
    assert arenas(tmp_path / "as ever", "as ever") > 2
    assert arenas(tmp_path / "as wished", "few", MALLOC_ARENA_MAX="1") == 1, "whoever has asked for another number"


class Library:
    """A C library that notes what it is asked for."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        return lambda *values: self.asked.append((name, *values))


@pytest.mark.parametrize(
    ("ask", "asked", "variables"),
    [
        (arenas_module.keep_few_arenas.__wrapped__, [("mallopt", -8, 2)], ["MALLOC_ARENA_MAX"]),
        (
            arenas_module.keep_freed_memory.__wrapped__,
            [("mallopt", -3, 33_554_432), ("mallopt", -1, 67_108_864)],
            ["MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"],
        ),
        (arenas_module.hand_back_memory, [("malloc_trim", 0)], []),
    ],
    ids=["arenas", "thresholds", "trim"],
)
def test_the_library_is_asked_by_the_numbers_of_malloc_h(monkeypatch, ask, asked, variables):
    for name in variables:
        monkeypatch.delenv(name, raising=False)
    library = Library()
    monkeypatch.setattr(arenas_module.ctypes, "CDLL", lambda _: library)
    ask()
    assert library.asked == asked
    for name in variables:
        with monkeypatch.context() as asking:
            asking.setenv(name, "1")
            ask()
        assert library.asked == asked, "whoever has asked for other numbers has them"
    for error in (OSError, TypeError, AttributeError):
        monkeypatch.setattr(arenas_module.ctypes, "CDLL", lambda _, error=error: (_ for _ in ()).throw(error))
        ask()  # a system without such a library


HELD = """
import ctypes
from hidviz.background import hand_back_memory
from hidviz.background.memory import resident

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
taken = [libc.malloc(1000) for _ in range(50_000)]
for block in taken:
    ctypes.memset(block, 1, 1000)
for block in taken[:-1]:  # the last one keeps the others from going back
    libc.free(block)
held = resident()
hand_back_memory()
print(held - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has no arenas")
def test_what_lies_unused_is_handed_back():
    done = subprocess.run([sys.executable, "-c", HELD], check=True, capture_output=True, text=True)
    assert float(done.stdout) > 4e7


FAULTS = """
import resource, sys
import numpy as np
from hidviz.background import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

np.ones(40_000) + np.ones(40_000)
before = faults()
for _ in range(100):
    np.ones(40_000) + np.ones(40_000)
print(faults() - before)
"""


def faults(how, **environment):
    """How many pages a process asks the system for while it adds arrays of 320 kB a hundred times."""
    command = [sys.executable, "-c", FAULTS, how]
    done = subprocess.run(command, check=True, env={**os.environ, **environment}, capture_output=True, text=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the C library has settings of its own")
def test_a_process_that_learns_keeps_what_it_has_freed():
    assert faults("kept") < 100
    assert faults("kept", MALLOC_MMAP_THRESHOLD_="100000") > 1000, "whoever has asked for other thresholds"
