"""Links, bundles and repetition in a real Chromium: what was kept comes back, and nothing else does any harm."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from hidviz import Experiment
from hidviz.ui.state.link import write_link
from tests.pages import exported, press, rest_at, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXPERIMENT = Experiment(n_visible=8, n_hidden=2, n_steps=1000, n_held_out=200, seed=5, max_steps=50)
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tab(opened):
    return opened("?" + write_link(EXPERIMENT))


def shown(now):
    return {name: now[name] for name in ("seed", "step", "cost", "held_out", "rms", "rms_aligned", "gauge")}


def run_to_the_end(tab):
    """Rewind and run the 50 steps that this experiment allows."""
    press(tab, "Rewind")
    wait_for(tab, lambda now: now["step"] == 0 and not now["running"], "the start")
    press(tab, "Run")
    return wait_for(tab, lambda now: now["step"] == 50 and now["state"] == "finished", "step 50")


def test_rewinding_and_running_again_gives_the_same_arrays(tab, tmp_path):
    arrays = []
    for _ in range(2):
        run_to_the_end(tab)
        with zipfile.ZipFile(exported(tab, tmp_path)[0]) as archive:
            arrays.append(archive.read("arrays.npz"))
    assert arrays[0] == arrays[1]


def test_a_link_in_a_fresh_browser_shows_the_same_and_goes_on_the_same(tab, opened, tmp_path):
    rest_at(tab, 12)
    press(tab, "Flip hidden unit 1")
    press(tab, "Undo")
    before = rest_at(tab, 12)
    press(tab, "Share link")
    tab.get_by_text("link to this run: http").wait_for()
    link = re.search(r"run: (\S+)", tab.locator("#hidviz-status").inner_text()).group(1)
    assert len(link) < 500
    fresh = opened(link.partition("/app")[2])
    there = wait_for(fresh, lambda now: now["step"] == 12 and not now["running"], "step 12")
    assert shown(there) == shown(before)
    costs = []
    for each in (tab, fresh):
        for _ in range(20):
            press(each, "Step")
        wait_for(each, lambda now: now["step"] == 32, "step 32")
        costs.append(exported(each, tmp_path)[1].trace["cost"])
    assert len(costs[0]) == 33
    np.testing.assert_allclose(costs[1], costs[0], rtol=0.0, atol=1e-9)
    fresh.context.close()


def test_an_exported_run_reproduces_headless_and_opens_again(tab, tmp_path):
    before = run_to_the_end(tab)
    path, bundle = exported(tab, tmp_path)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "run")
        assert {f"{name}.{kind}" for name in ("costs", "errors", "couplings") for kind in ("svg", "png")} <= set(
            archive.namelist()
        )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(tmp_path / "run" / "script.py")],
        env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd="/", capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert "Reproduced 51 costs" in done.stdout, done.stderr
    press(tab, "New data")
    other = wait_for(tab, lambda now: now["cost"] not in (None, before["cost"]), "a run on other data")
    assert other["seed"] == 6
    tab.locator("input[type=file]").first.set_input_files(path)
    again = wait_for(tab, lambda now: abs(now["cost"] - before["cost"]) < 1e-9, "the run from the file")
    assert (again["seed"], again["step"]) == (5, 50)
    assert again["gauge"] == before["gauge"]
    for name in ("cost", "held_out", "rms", "rms_aligned"):
        assert again[name] == pytest.approx(before[name], abs=1e-9), name
    kept = exported(tab, tmp_path)[1]
    assert (kept.experiment, kept.couplings) == (bundle.experiment, bundle.couplings)
    assert all(np.array_equal(kept.trace[name], bundle.trace[name]) for name in bundle.trace.names)


def test_a_damaged_bundle_is_answered_in_one_sentence_and_changes_nothing(tab, tmp_path):
    run_to_the_end(tab)
    path, before = exported(tab, tmp_path)
    there = shown(state(tab))
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(path.read_bytes()[:-100])
    tab.locator("input[type=file]").first.set_input_files(damaged)
    alert = tab.get_by_role("alert").filter(has_text="This file is not a bundle that can be opened")
    alert.wait_for()
    assert alert.inner_text().strip() == "This file is not a bundle that can be opened: it is no whole zip archive."
    assert shown(state(tab)) == there
    tab.locator("input[type=file]").first.set_input_files(path)
    until(tab, lambda: alert.count() == 0, "the refusal to go with a good file")
    kept = exported(tab, tmp_path)[1]
    assert (kept.experiment, kept.couplings) == (before.experiment, before.couplings)
    press(tab, "Step")
    tab.get_by_text("This run has ended").wait_for()
