"""Worker processes end when nobody waits for them: also those that have not even started."""

import multiprocessing
import os
import time

import pytest

from hidviz.background.executors import processes

FOREVER = 120.0  # seconds that a process takes to start where there is one already
LATE = """
import os, sys, time
if "--multiprocessing-fork" in sys.orig_argv:
    try:
        os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        time.sleep({seconds})
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """The file that the first process to start makes; all others take for ever to start."""
    marker = tmp_path / "started"
    (tmp_path / "sitecustomize.py").write_text(LATE.format(marker=str(marker), seconds=FOREVER))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    return marker


@pytest.mark.slow
@pytest.mark.usefixtures("started")
def test_a_process_that_still_starts_when_all_is_done_is_not_waited_for():
    begun = time.monotonic()
    with processes(2) as crew:
        futures = [crew.executor.submit(os.getpid) for _ in range(2)]
        assert len({future.result() for future in futures}) == 1
        assert len(multiprocessing.active_children()) == 2
    assert time.monotonic() - begun < FOREVER / 2
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_no_process_that_still_starts_is_waited_for_by_whoever_gives_up(started):
    def given_up():
        with processes(2) as crew:
            crew.executor.submit(os.getpid)
            assert len(multiprocessing.active_children()) == 1, "as many as there is work for"
            yield

    started.touch()
    begun = time.monotonic()
    work = given_up()
    next(work)
    work.close()
    assert time.monotonic() - begun < FOREVER / 2
    assert multiprocessing.active_children() == []
