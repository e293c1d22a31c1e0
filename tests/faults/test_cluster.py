"""A Dask cluster that goes away under a figure: what was finished is kept, and the same command goes on."""

import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from hidviz.cli import DONE, FAILED
from hidviz.sweeps.sweep import Store
from hidviz.ui.serve import free_port

pytest.importorskip("distributed", reason="optional: distributed is not installed")
pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def figure(folder, *words):
    """`hidviz figure 4 --quick` as a process."""
    command = [sys.executable, "-m", "hidviz", "figure", "4", "--quick", "--out", str(folder), *words]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def dask_cluster():
    """A scheduler and one worker, each a process of its own: the address, and the scheduler's process."""
    address = f"tcp://127.0.0.1:{free_port('127.0.0.1')}"
    begin = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    join = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nworkers", "1", "--nthreads", "1"]
    processes = [subprocess.Popen(command, cwd=ROOT, **QUIET) for command in (begin, [*join, "--no-dashboard"])]
    try:
        yield address, processes[0]
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_a_scheduler_that_is_killed_leaves_what_was_finished_and_the_command_goes_on(tmp_path):
    store = Store(tmp_path / "figure4.jsonl")
    with dask_cluster() as (address, scheduler):
        program = figure(tmp_path, "--scheduler", address)
        deadline = time.monotonic() + 240
        while not store.load():
            assert program.poll() is None, program.communicate()
            assert time.monotonic() < deadline, "nothing was finished"
            time.sleep(0.1)
        scheduler.send_signal(signal.SIGKILL)
        _, said = program.communicate(timeout=120)
    assert program.returncode == FAILED
    assert "No Dask scheduler answers" in said
    assert "leave the address out" in said
    assert "Traceback" not in said
    kept = set(store.load())
    again = figure(tmp_path)
    written, _ = again.communicate(timeout=240)
    assert again.returncode == DONE
    assert "figure4.csv" in written
    assert kept < set(store.load())
