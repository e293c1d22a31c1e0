"""Each test in a process of its own, since what is tested belongs to a whole process."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

START = """
import json, threading
import hidviz
from threadpoolctl import threadpool_info, threadpool_limits

threadpool_limits(limits=2, user_api="blas")

def n_threads():
    return sorted({pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})

tiny = hidviz.Experiment(n_visible=3, n_hidden=1, n_steps=60, n_held_out=60, max_steps=2)
"""


def printed(script):
    """What a process prints as JSON that has been told to use two threads before hidviz computes."""
    command = [sys.executable, "-c", START + script]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def test_importing_changes_nothing():
    assert printed("print(json.dumps(n_threads()))") == [2]


@pytest.mark.parametrize(
    ("work", "n_steps"),
    [
        ("tiny.run()", 3),
        ("hidviz.restarts(tiny, 1)", None),
        ("hidviz.learn(learner, start, max_steps=2)", 3),
        ("iter(hidviz.fit(learner, start, max_steps=2).cost)", 3),
        ("fit_recording(recording, Settings('exact', 1, max_steps=2, starts=1))", None),
        ("iter_reopened(load_bundle(file))", None),
    ],
)
def test_a_run_computes_with_one_thread_and_gives_the_others_back(work, n_steps):
    seen = printed(f"""
import dataclasses, io
import numpy as np
from hidviz import load_bundle, prepare, random_start, simulate
from hidviz.experiments import Settings, fit_recording, iter_run, iter_reopened
from hidviz.learners import LEARNERS
from hidviz.learners.protocol import Learner

recording = simulate(tiny.truth(), 60, np.random.default_rng(1)).recording
learner = prepare("exact", recording, n_hidden=1)
start = random_start(3, 1, np.random.default_rng(2), learned=learner.learned)
file = io.BytesIO()
*_, last = iter_run(tiny)
hidviz.save_bundle(file, last)
file.seek(0)

inside, between = set(), set()
plain = Learner.__call__

def watched(self, *arguments):
    inside.update(n_threads())
    return plain(self, *arguments)

Learner.__call__ = watched
for item in {work}:
    between.update(n_threads())
n = sum(1 for _ in {work}) if {n_steps is not None} else None
print(json.dumps([sorted(inside), sorted(between), n_threads(), n]))
""")
    assert seen == [[1], [2], [2], n_steps]


def test_a_run_that_is_left_or_fails_gives_the_others_back():
    assert printed("""
from hidviz.background import on_one_blas_thread

run = tiny.run()
next(run)
run.close()
left = n_threads()

@on_one_blas_thread
def failing():
    yield
    raise ValueError

try:
    list(failing())
except ValueError:
    pass
print(json.dumps([left, n_threads()]))
""") == [[2], [2]]


def test_overlapping_runs_undo_it_when_the_last_one_ends():
    assert printed("""
from hidviz.background import one_blas_thread

first, second = one_blas_thread(), one_blas_thread()
seen = []
for act in (first.__enter__, second.__enter__, lambda: first.__exit__(None, None, None)):
    worker = threading.Thread(target=act)
    worker.start()
    worker.join()
    seen.append(n_threads())
second.__exit__(None, None, None)
print(json.dumps([*seen, n_threads()]))
""") == [[1], [1], [1], [2]]


def test_a_number_set_by_another_thread_does_not_keep_a_run_from_one():
    assert printed("""
from threadpoolctl import ThreadpoolController
from hidviz.background import one_blas_thread

done, alive = threading.Event(), threading.Event()

def elsewhere():
    with one_blas_thread():
        pass
    with threadpool_limits(limits=2, user_api="blas"):
        done.set()
        alive.wait()

other = threading.Thread(target=elsewhere)
other.start()
done.wait()
with one_blas_thread():
    inside = n_threads()
after = n_threads()
alive.set()
other.join()
print(json.dumps([inside, after]))
""") == [[1], [2]]


@pytest.mark.slow
def test_a_worker_process_keeps_one_thread_for_good():
    assert printed("""
from hidviz.background import workers

def main():
    with workers(n=1)() as crew:
        return sorted(crew.executor.submit(threadpool_info).result(), key=str)

pools = main()
print(json.dumps(sorted({pool["num_threads"] for pool in pools if pool["user_api"] == "blas"})))
""") == [1]


@pytest.mark.slow
def test_a_served_page_keeps_one_thread_for_good(tmp_path):
    """What `panel serve app.py` does for a session, and then says how many threads are left."""
    said = tmp_path / "threads.json"
    app = tmp_path / "app.py"
    app.write_text(
        (ROOT / "app.py").read_text(encoding="utf-8")
        + "\nimport json\nfrom pathlib import Path\nfrom threadpoolctl import threadpool_info\n"
        + f"Path({str(said)!r}).write_text(json.dumps([p['num_threads'] for p in threadpool_info()]))\n",
        encoding="utf-8",
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "panel", "serve", str(app), "--port", str(port)]
    threads = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command, env={**os.environ, **threads}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"http://localhost:{port}/app", timeout=60).close()
                break
            except urllib.error.URLError:
                assert server.poll() is None, server.stderr.read()
                time.sleep(0.2)
        assert set(json.loads(said.read_text(encoding="utf-8"))) == {1}
    finally:
        server.terminate()
        server.wait(20)
        server.stderr.close()
