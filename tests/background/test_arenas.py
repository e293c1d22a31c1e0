"""In a process of its own, since arenas belong to a whole process."""

import os
import platform
import re
import subprocess
import sys

import pytest

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
