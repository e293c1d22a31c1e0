"""The command line when things go wrong around it: nothing finished is lost, and a sentence says what to do."""

import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hidviz import Experiment, simulate
from hidviz.cli import DONE, FAILED, REFUSED, main
from hidviz.sweeps.measurement import measure
from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.sweep import Store
from tests.faults.disks import names, small_disk

ROOT = Path(__file__).parents[2]
HIDVIZ = [sys.executable, "-m", "hidviz"]
QUICKLY = ["--hidden", "1", "--learner", "backprop", "--starts", "1", "--steps", "3"]


@pytest.fixture
def recorded(tmp_path):
    truth = Experiment(n_visible=4, n_hidden=1, model="stochastic").truth()
    path = tmp_path / "states.npz"
    np.savez(path, trial=simulate(truth, 400, np.random.default_rng(3), hidden="stochastic").recording.trials[0])
    return path


def called(*words, shell="", env=None, **options):
    command = " ".join([*HIDVIZ, *map(str, words), shell])
    return subprocess.run(
        ["/bin/bash", "-c", command], cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
        timeout=300, check=False, **{"capture_output": True} | options,
    )  # fmt: skip


def test_a_recording_is_never_its_own_result(recorded, tmp_path, monkeypatch, capsys):
    before = recorded.read_bytes()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link.npz").symlink_to(recorded)
    for out in (recorded, "states.npz", "./states.npz", "link.npz"):
        assert main(["fit", str(recorded), *QUICKLY, "--force", "--out", str(out)]) == REFUSED
        assert "is the recording itself" in capsys.readouterr().err
    assert recorded.read_bytes() == before


@pytest.mark.parametrize("words", [["--hidden", "300"], ["--hidden", "40", "--learner", "exact"], ["--blocks", "-5"]])
def test_a_refused_request_leaves_the_earlier_result(words, recorded, tmp_path):
    out = tmp_path / "fit.npz"
    out.write_bytes(b"precious")
    out.with_suffix(".json").write_bytes(b"precious too")
    assert main(["fit", str(recorded), *QUICKLY, *words, "--force", "--out", str(out)]) in (FAILED, REFUSED)
    assert out.read_bytes() == b"precious"
    assert out.with_suffix(".json").read_bytes() == b"precious too"


def test_an_unwritable_result_is_refused_before_the_work(recorded, tmp_path, capsys):
    (tmp_path / "folder.npz").mkdir()
    for out in ("folder.npz", "states.npz/fit.npz"):
        assert main(["fit", str(recorded), *QUICKLY, "--force", "--out", str(tmp_path / out)]) == REFUSED
        said = capsys.readouterr().err
        assert "--out cannot be written" in said
        assert "start 1" not in said


def test_a_full_disk_is_noticed_before_the_work(recorded, tmp_path, capsys):
    with small_disk(tmp_path / "disk", 64) as disk:
        disk.fill()
        assert main(["fit", str(recorded), *QUICKLY, "--out", str(disk.folder / "fit.npz")]) == REFUSED
        assert "No space left" in capsys.readouterr().err
        assert names(disk.folder) == ["filler"]


@pytest.mark.slow
def test_a_disk_that_fills_up_meanwhile_costs_no_result(recorded, tmp_path):
    with small_disk(tmp_path / "disk", 400) as disk:
        words = ["fit", recorded, "--hidden", 2, "--starts", 40, "--steps", 60, "--out", disk.folder / "fit.npz"]
        program = subprocess.Popen(
            [*HIDVIZ, *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )  # fmt: skip
        assert "start 1" in program.stderr.readline()
        disk.fill()
        kept, said = program.communicate(timeout=300)
        assert program.returncode == FAILED
        assert "could not be written" in said
        assert names(disk.folder) == ["filler"]
    couplings, costs = map(Path, kept.split())
    assert np.load(couplings)["K"].shape == (4, 2)
    assert json.loads(costs.read_text())["held_out"] > 0.0


def test_a_fit_says_what_it_is_worth(recorded, tmp_path):
    done = called("fit", recorded, "--hidden", 1, "--starts", 2, "--out", tmp_path / "fit.npz", text=True)
    assert done.returncode == DONE
    costs = json.loads((tmp_path / "fit.json").read_text())
    for value in (costs["held_out"], *costs["baselines_held_out"].values()):
        assert f"{value:.5f}" in done.stderr
    assert f"{costs['n_transitions']} transitions, {costs['n_transitions_held_out']} held out" in done.stderr
    assert "Next: " in done.stderr


def test_few_data_are_warned_of(tmp_path):
    path = tmp_path / "few.npy"
    np.save(path, np.where(np.random.default_rng(1).random((100, 6)) < 0.5, -1, 1))
    done = called("fit", path, *QUICKLY, "--hidden", 3, "--out", tmp_path / "fit.npz", text=True)
    assert "Warning: Few data: 324 observed states for" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["2>&-", ">&-", "2>&- >&-", "2>/dev/full", ">/dev/full", "| true", "2>&1 | true"])
def test_the_work_needs_no_terminal(shell, recorded, tmp_path):
    """Without standard error, as under cron; into a pipe that nobody reads; onto a full disk."""
    out = tmp_path / "fit.npz"
    done = called("fit", recorded, *QUICKLY, "--out", out, shell=f"{shell}; exit ${{PIPESTATUS[0]}}", text=True)
    assert (done.returncode, done.stderr.count("Traceback")) == (DONE, 0)
    assert np.load(out)["J"].shape == (4, 4)
    assert json.loads(out.with_suffix(".json").read_text())["n_visible"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--help"], ["fit", "--help"], ["figure", "--help"], ["serve", "--help"]])
def test_help_is_shown_where_only_ascii_is_known(words):
    done = called(*words, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, text=True)
    assert (done.returncode, done.stderr) == (DONE, "")
    assert done.stdout.isascii()
    if words[0] == "fit":
        assert "A FILE holds +-1 or spike counts" in done.stdout


def test_a_port_that_cannot_be_is_answered_with_a_sentence(capsys):
    for port in ("99999", "-1"):
        assert main(["serve", "--port", port]) == REFUSED
        assert "--port must lie between 0 and 65535" in capsys.readouterr().err


@pytest.mark.slow
def test_a_port_that_is_taken_is_answered_with_a_sentence():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = called("serve", "--port", taken.getsockname()[1], text=True)
    assert done.returncode in (FAILED, REFUSED)
    assert "--port" in done.stderr
    assert "Traceback" not in done.stderr


# Figures


@pytest.fixture(scope="module")
def measurements():
    """Measurements under the names of those of Fig. 3: what is kept and drawn does not ask what was learned."""
    small = Experiment(n_visible=3, n_hidden=1, n_steps=100, n_held_out=100, max_steps=3)
    found = measure(small, with_trace=True)
    return [replace(found, experiment=each) for each in FIGURES["3"].sweep(quick=False).experiments]


@pytest.fixture
def finished(measurements, tmp_path):
    """A folder in which all experiments of Fig. 3 are finished."""
    store = Store(tmp_path / "figure3.jsonl")
    for measurement in measurements:
        store.append(measurement)
    return store


def drawn(folder, *words):
    return main(["figure", "3", "--workers", "1", "--out", str(folder), *words])


@pytest.mark.slow
def test_the_same_command_goes_on_whatever_was_written(finished, capsys):
    folder = finished.path.parent
    before = finished.path.read_bytes()
    assert drawn(folder) == DONE
    (folder / "figure3.html").unlink()  # as if drawing had failed
    for words in ((), ("--force",)):
        assert drawn(folder, *words) == DONE
        assert (folder / "figure3.html").exists()
        assert finished.path.read_bytes() == before
    assert "0 of" not in capsys.readouterr().err


def test_only_restart_begins_again_and_it_deletes_nothing(finished, measurements):
    kept = finished.path.read_bytes()
    assert finished.set_aside() == finished.path.with_name("figure3.1.jsonl")
    assert finished.load() == {}
    finished.append(measurements[0])
    assert finished.set_aside() == finished.path.with_name("figure3.2.jsonl")
    assert finished.path.with_name("figure3.1.jsonl").read_bytes() == kept
    assert finished.set_aside() is None


@pytest.mark.slow
def test_part_of_a_figure_does_not_take_the_place_of_all_of_it(finished, capsys):
    folder = finished.path.parent
    assert drawn(folder) == DONE
    table = (folder / "figure3.csv").read_bytes()
    assert drawn(folder, "--quick") == REFUSED
    assert "more than these" in capsys.readouterr().err
    assert (folder / "figure3.csv").read_bytes() == table


def test_a_figure_that_cannot_be_written_is_refused_before_the_work(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert drawn(tmp_path / "file") == REFUSED
    (tmp_path / "out" / "figure3.csv").mkdir(parents=True)
    assert drawn(tmp_path / "out", "--force") == REFUSED
    assert capsys.readouterr().err.count("--out cannot be written") == 2


def in_background(folder, figure="3"):
    return subprocess.Popen(
        [*HIDVIZ, "figure", figure, "--quick", "--workers", "1", "--out", str(folder)], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def under_way(program):
    """Wait for its first word of progress, whatever a library may say before."""
    while " of " not in (line := program.stderr.readline()):
        assert line, "it ended before it began"


@pytest.mark.slow
def test_a_figure_goes_on_after_a_full_disk(tmp_path):
    with small_disk(tmp_path / "disk", 8192) as disk:
        program = in_background(disk.folder)
        under_way(program)
        disk.fill()
        _, said = program.communicate(timeout=300)
        assert program.returncode == FAILED
        assert "no room left on the disk" in said
        disk.clear()
        program = in_background(disk.folder)
        _, said = program.communicate(timeout=300)
        assert program.returncode == DONE, said
        assert len(Store(disk.folder / "figure3.jsonl").load()) == 2


@pytest.fixture
def hears_interrupts():
    """What is started hears of Ctrl-C, although the tests may have been started to ignore it, as by `&` in a script."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("hears_interrupts")
def test_a_figure_goes_on_after_an_interrupt(tmp_path):
    program = in_background(tmp_path, "4")  # long enough to be interrupted on any machine
    under_way(program)
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=300)
    assert program.returncode == FAILED
    assert "the same command goes on from here" in said
    assert "Traceback" not in said
    assert in_background(tmp_path, "4").communicate(timeout=300)[0].count("figure4") >= 4


LIMITED = """
import resource, sys
import numpy, scipy.optimize, pandas
from hidviz.cli import main
with open("/proc/self/status") as lines:
    used = next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmSize"))
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="optional: the limit is one of Linux")
@pytest.mark.parametrize("megabytes", [60, 200], ids=["reading", "learning"])
@pytest.mark.parametrize("limit", ["", "100G"], ids=["foreseen", "not foreseen"])
def test_a_limit_on_memory_is_met_with_a_sentence(megabytes, limit, tmp_path):
    states = np.where(np.random.default_rng(1).random((3_000_000, 5)) < 0.5, 1, -1).astype(np.int8)
    np.save(tmp_path / "long.npy", states)
    words = ["fit", tmp_path / "long.npy", *QUICKLY, "--learner", "exact", "--out", tmp_path / "fit.npz"]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(megabytes * 10**6), *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HIDVIZ_MEMORY": limit, "HIDVIZ_RUN_MEMORY": limit},
    )  # fmt: skip
    assert done.returncode in (FAILED, REFUSED), done.stderr
    assert "memory" in done.stderr
    assert "Traceback" not in done.stderr
    assert "damaged" not in done.stderr
    assert not (tmp_path / "fit.npz").exists()
