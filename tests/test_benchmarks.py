import re
import subprocess
import sys

import numpy as np
import pytest

from hidviz.sweeps import load as shipped
from tests.benchmarks import engine, estep, growth, load, reading, recompute, roofline, training
from tests.benchmarks.busy import busy
from tests.benchmarks.contestants import OURS, Disagreement, compare, functions
from tests.benchmarks.load import ROOT
from tests.benchmarks.peers_numpy import complete
from tests.benchmarks.problems import WORKLOADS, Answer, Workload, problem


def rows(capsys):
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")][2:]


def print_of(benchmark, *options):
    """What a benchmark prints when it is called as a command, whatever loops run in this process."""
    command = [sys.executable, "-m", f"tests.benchmarks.{benchmark}", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def tiny(kind):
    """A workload of this kind with next to no data."""
    like = next(workload for workload in WORKLOADS if workload.kind == kind)
    return Workload("W", "tiny", kind, 4, 0 if kind == "simulation" else 2, 60, like.hidden_hidden)


def test_the_engine_prints_a_row_for_every_workload(capsys):
    assert engine.main(["--quick", "--no-memory", "--only", "W2"]) == 0
    assert [row.split()[1] for row in rows(capsys)] == ["W2a", "W2b", "W2c", "W2d"]


def test_the_e_step_prints_its_sweeps_cold_and_warm(capsys):
    assert estep.main(["--quick"]) == 0
    assert [row.split("|")[2].split()[-1] for row in rows(capsys)] == ["cold", "warm"]


@pytest.mark.parametrize("kind", sorted(roofline.WORK))
def test_every_kind_of_workload_has_a_bound(kind):
    work = roofline.WORK[kind](tiny(kind))
    assert min(work[:6]) >= 0.0
    assert work.flops > 0.0
    assert work.bytes > 0.0


def test_the_roofline_prints_a_row_for_every_workload(capsys):
    assert roofline.main(["--quick", "--only", "W2"]) == 0
    printed = [row.split()[1] for row in rows(capsys)]
    assert [name for name in printed if name.startswith("W2")] == ["W2a", "W2b", "W2c", "W2d"]


def test_a_shipped_row_that_does_not_come_back_is_told_with_what_has_changed():
    table = shipped(recompute.ASSETS, "phase").table
    row = table[table["key"] == table["key"][0]]
    assert recompute.difference(row, row) == (0.0, "nothing")
    moved = row.assign(mse_aligned=row["mse_aligned"].where(row["block"] != "K", 1.01 * row["mse_aligned"]))
    apart, where = recompute.difference(moved, row)
    assert (round(apart, 9), where) == (0.01, "mse_aligned K")
    assert recompute.difference(row.assign(cost=np.nan), row)[0] == np.inf


def test_an_unknown_workload_is_refused():
    with pytest.raises(SystemExit):
        engine.main(["--only", "W9"])


@pytest.mark.parametrize("kind", sorted({workload.kind for workload in WORKLOADS}))
def test_engine_and_peer_agree(kind):
    timings, answer = engine.measure(tiny(kind), [OURS, "NumPy"], repeats=2)
    assert set(timings) == {OURS, "NumPy"}
    assert all(len(timing.wall) == len(timing.cpu) == 2 for timing in timings.values())
    assert np.isfinite(answer.value)


def test_peers_on_the_first_bins_are_compared_and_scaled():
    workload = Workload("W", "tiny", "exact", 4, 2, 101, peer_bins=51)
    timings, _ = engine.measure(workload, [OURS, "NumPy"], repeats=1)
    assert timings["NumPy"].scaled
    assert not timings[OURS].scaled


@pytest.mark.slow
@pytest.mark.parametrize("name", ["numba", "JAX"])
def test_other_peers_agree_where_they_are_installed(name):
    pytest.importorskip(name.lower(), reason=f"optional: {name} is not installed")
    for kind in functions(name):
        engine.measure(tiny(kind), [OURS, "NumPy", name], repeats=1)


def test_a_wrong_value_fails_loudly():
    right = Answer(-1.0, {"J": np.ones((2, 2))})
    with pytest.raises(Disagreement, match="apart"):
        compare("exact", problem(tiny("exact")), {OURS: right, "wrong": Answer(-1.0 - 1e-8, right.gradient)})


def test_a_wrong_gradient_fails_loudly():
    right = Answer(-1.0, {"J": np.ones((2, 2))})
    wrong = Answer(-1.0, {"J": np.array([[1.0, 1.0], [1.0, 1.0 + 1e-8]])})
    with pytest.raises(Disagreement, match="gradient"):
        compare("exact", problem(tiny("exact")), {OURS: right, "wrong": wrong})


def test_an_unfair_simulation_fails_loudly():
    workload = tiny("simulation")
    unfair = Answer(0.0, {}, np.ones((workload.n_steps, workload.n_visible)))
    with pytest.raises(Disagreement, match="standard errors"):
        compare("simulation", problem(workload), {OURS: unfair})


def test_a_sampler_of_another_law_fails_loudly():
    data = problem(Workload("W", "tiny", "gibbs", 8, 8, 2000))
    rng = np.random.default_rng(1)
    uniform = rng.choice([-1.0, 1.0], (1999, 8))
    likely = functions("NumPy")["gibbs"](data)()
    with pytest.raises(Disagreement, match="after as many sweeps"):
        compare("gibbs", data, {"NumPy": likely, "uniform": complete(data, uniform)[1]})


@pytest.mark.slow
def test_peak_memory_is_that_of_another_process():
    workload = next(w for w in WORKLOADS if w.name == "W2a").quick()
    assert 20.0 < engine.peak_megabytes(workload, OURS) < 2000.0


def test_others_are_busy_while_ours_is_timed_and_no_longer(monkeypatch):
    started = []
    plain = subprocess.Popen

    def watched(*arguments, **options):
        started.append(plain(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", watched)
    with busy(2):
        assert [process.poll() for process in started] == [None, None]
    assert all(process.poll() is not None for process in started)
    assert len(engine.beside_others(tiny("exact"), repeats=3)) == 3


def test_growth_finds_the_power():
    fitted, local = growth.growth([10, 20, 40], [3.0, 12.0, 48.0])
    assert fitted == pytest.approx(2.0)
    assert local == pytest.approx([2.0, 2.0])


def test_growth_finds_the_factor():
    assert growth.growth([2, 4, 6], [1.0, 4.0, 16.0], by_factor=True)[0] == pytest.approx(2.0)


def test_growth_prints_a_row(capsys):
    assert growth.main(["--quick", "--only", "visible"]) == 0
    assert len(rows(capsys)) == 1


def test_training_prints_every_optimiser(capsys):
    assert training.main(["--quick", "--starts", "1"]) == 0
    assert [row.split(" | ")[1] for row in rows(capsys)] == 2 * ["l-bfgs", "gradient", "momentum", "adam"]


@pytest.mark.slow
def test_reading_prints_a_row_for_every_format(capsys):
    assert reading.main(["--quick"]) == 0
    printed = rows(capsys)
    assert len(printed) == len(reading.FORMATS)
    assert all(float(row.split(" | ")[-1].rstrip(" |")) > 50.0 for row in printed)


def test_load_refuses_what_is_out_of_bounds():
    with pytest.raises(SystemExit):
        load.main(["--sessions", "1000"])


@pytest.mark.slow
def test_visitors_run_and_pause_and_leave():
    printed = print_of("load", "--sessions", "2", "--seconds", "4", "--lifetime", "15")
    assert "Pause, s" in printed
    with_page, without = re.search(r"all runs: (\d+) steps a second; as many without a page: (\d+)", printed).groups()
    assert int(with_page) > 0
    assert int(without) > 0


@pytest.mark.slow
def test_the_page_is_measured_in_a_browser(browser):  # noqa: ARG001 - which says so where there is none
    printed = print_of("page", "--quick", "--seconds", "3")
    assert re.search(r"opening: first [\d.]+ s, then [\d.]+ s", printed)
    frames, steps, beside, *_ = re.search(r"18 \+ 2 units.*", printed)[0].split(" | ")[1:]
    assert float(frames) > 0.0
    assert float(steps) > 0.0
    assert float(beside) > 0.0


@pytest.mark.slow
def test_the_curve_over_cores_has_a_row_for_every_workload_that_shares():
    table = [line for line in print_of("cores", "--repeats", "1").splitlines() if line.startswith("| W")]
    assert [row.split()[1] for row in table] == ["W2c", "W5a", "W5b", "W5c"]
