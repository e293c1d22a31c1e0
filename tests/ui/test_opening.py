"""A file that is handed in: read aside, answered once, and never more of it taken than its limit."""

import io
import time

import pytest

from hidviz import Experiment
from hidviz.background import Runner
from hidviz.experiments.bundle import save_bundle
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_run
from hidviz.ui import Dashboard
from hidviz.ui.components.run_file import RunFile
from hidviz.ui.state.link import Link
from hidviz.ui.state.opening import Opening


def taken(opening):
    deadline = time.monotonic() + 60
    while (found := opening.take()) is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return found


@pytest.fixture
def packed():
    experiment = Experiment(n_visible=5, n_hidden=2, n_steps=200, n_held_out=0, max_steps=2)
    file = io.BytesIO()
    save_bundle(file, [item for item in iter_run(experiment) if isinstance(item, Frame)][-1])
    return file.getvalue()


def test_a_file_is_answered_once(packed):
    opening = Opening()
    assert opening.take() is None
    opening.open(packed)
    assert taken(opening).experiment.n_visible == 5
    assert opening.take() is None
    opening.open(b"nonsense")
    assert taken(opening) == "This file is not a bundle that can be opened: it is no whole zip archive."
    opening.open(packed)
    opening.close()
    assert opening.take() is None


@pytest.mark.parametrize("read", [True, False])
def test_a_reset_leaves_a_file_that_is_being_read(packed, read):
    dashboard = Dashboard(Link(Experiment(n_visible=3, n_hidden=1, n_steps=20, n_held_out=0)))
    try:
        dashboard._opening._runner = runner = Runner(threads=False)
        dashboard._opening.open(packed)
        if read:
            runner.pump(60.0)
        dashboard.reset()
        runner.pump(60.0)
        dashboard._draw()
        assert dashboard.session.wanted == Experiment()
        assert not dashboard.session.awaiting
    finally:
        dashboard.close()


def sent(file, *chunks):
    """What a browser sends for a file in some chunks."""
    file._handle_msg({"status": "initializing", "type": "status"})
    for k, chunk in enumerate(chunks):
        file._handle_msg(
            {"status": "upload_event", "name": "run.zip", "chunk": k + 1, "total_chunks": len(chunks), "data": chunk,
             "mime_type": "application/zip"}
        )  # fmt: skip
    file._handle_msg({"status": "finished", "type": "status"})


def test_one_limit_is_said_at_both_ends():
    files, refusals = [], []
    file = RunFile(files.append, refusals.append, 3 * 2**20)
    assert file.max_file_size == 3 * 2**20
    sent(file, b"one", b"two")
    sent(file, b"one", b"two")  # the same again is a file again
    assert (files, refusals) == ([b"onetwo"] * 2, [])
    file._handle_msg({"status": "error", "error": "File too large", "type": "status"})
    assert refusals == ["This file was not opened: it may have at most 3 MB."]
    sent(file, *[bytes(2**20)] * 4)  # a browser that does not ask
    assert len(files) == 2
    assert set(refusals) == {"This file was not opened: it may have at most 3 MB."}
