"""Sweeps: the same table wherever and however often interrupted they run."""

import hashlib
import itertools
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hidviz import Experiment, __version__, log_likelihood
from hidviz.background import return_value
from hidviz.background.checkpoint import paced
from hidviz.background.executors import NICENESS, Crew, alone, cluster, processes, workers
from hidviz.evaluation import hidden_state_error
from hidviz.learning import learn
from hidviz.learning.snapshot import result
from hidviz.sweeps.measurement import Measurement, key_of, measure, predicted_seconds
from hidviz.sweeps.sweep import MEASURES, Store, Sweep, _Clock, grid, run_sweep, table, traces

BASE = Experiment(n_visible=3, n_hidden=1, n_steps=200, model="stochastic", learner="exact", n_held_out=100)
SMALL = Sweep("small", grid(replace(BASE, patience=5), learner=("exact", "mean-field"), n_steps=(100, 200)))


def finished(sweep, crew=alone, store=None):
    *_, last = run_sweep(sweep, crew, store=store)
    return last


def without_seconds(state):
    return table(state.measurements).drop(columns="seconds")


def wait_until(holds):
    deadline = time.monotonic() + 120.0  # a generous bound, so that only what never comes reaches it
    while not holds():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def plain():
    """The table of the small sweep, made here and now."""
    return without_seconds(finished(SMALL))


def test_grid_turns_the_first_knob_slowest():
    found = grid(BASE, learner=("exact", "visible"), n_steps=(100, 200))
    assert [(e.learner, e.n_steps) for e in found] == [
        ("exact", 100), ("exact", 200), ("visible", 100), ("visible", 200)
    ]  # fmt: skip


def test_grid_and_sweep_say_what_is_wrong():
    with pytest.raises(ValueError, match="must be a knob of Experiment, got length"):
        grid(BASE, length=(1, 2))
    with pytest.raises(ValueError, match="n_steps must lie between"):
        grid(BASE, n_steps=(1,))
    with pytest.raises(ValueError, match="at least one experiment"):
        Sweep("none", ())
    with pytest.raises(ValueError, match=r"got length, width\.$"):
        grid(BASE, width=(1,), length=(1, 2))
    other = replace(BASE, seed=7)
    with pytest.raises(ValueError, match=r"must differ, got twice .*seed=7\)\.$"):
        Sweep("twice", (BASE, other, other))


def test_key_depends_on_the_knobs_alone():
    assert key_of(BASE) == key_of(replace(BASE, variance=1))
    others = [replace(BASE, seed=2), replace(BASE, box=2.0), replace(BASE, hidden_hidden=True)]
    assert len({key_of(e) for e in (BASE, *others)}) == 4


def test_stores_of_earlier_days_have_keys_of_today():
    """64 bits of a digest of the knobs in alphabetical order, numbers written as Python writes floats."""
    knobs = {name: float(value) if type(value) in (int, float) else value for name, value in asdict(BASE).items()}
    text = json.dumps({name: knobs[name] for name in sorted(knobs)})
    assert key_of(BASE) == hashlib.sha256(text.encode()).digest()[:8].hex()


def test_table_has_a_row_for_each_experiment_and_block(plain):
    assert list(plain["block"]) == ["J", "K", "L"] * 4
    measured = [name for name in MEASURES if name != "seconds"]
    assert list(plain.columns[-len(measured) :]) == measured
    assert plain["mse_aligned"].le(plain["mse_raw"] + 1e-15).all()
    hidden = plain["block"] != "J"
    assert plain["mse_aligned"].lt(plain["mse_raw"]).eq(hidden).all()  # what was learned has another sign
    assert plain.groupby("key").ngroups == 4


def test_empty_table_and_traces_have_their_columns():
    assert "mse_aligned" in table([]).columns
    assert traces([]).empty


def test_measurement_is_what_learning_gives():
    experiment = replace(BASE, patience=5)
    found = measure(experiment)
    data = return_value(experiment.simulate())
    setup = experiment.prepare(data)
    start = experiment.starting_point(data.truth)
    *_, last = learn(setup.learner, start, held_out=setup.held_out, patience=5)
    assert (found.steps, found.state) == (last.step, last.state)
    assert found.held_out == last.best.cost
    n, N = data.recording.n_transitions, found.n_parameters
    assert N == 9 + 3 + 3
    assert found.cost == pytest.approx(-log_likelihood(result(last), data.recording) / n, abs=1e-12)
    assert found.aic == pytest.approx(found.cost + N / n, abs=1e-12)
    assert found.bic == pytest.approx(found.cost + 0.5 * N * np.log(n) / n, abs=1e-12)
    assert (found.evaluations, found.message) == (last.evaluations, last.message)
    assert found.largest == max(np.abs(block).max() for block in (result(last).J, result(last).K, result(last).L))
    assert (found.residual, found.trace) == (0.0, {})


def test_the_seconds_are_those_of_this_thread():
    before = time.thread_time()
    assert 0.0 < measure(replace(BASE, max_steps=1)).seconds <= time.thread_time() - before


@pytest.mark.parametrize("bias", [0.0, 0.5])
def test_biases_are_learned_and_judged_where_there_are_any(bias):
    found = measure(replace(BASE, bias=bias, learner="mean-field", max_steps=2))
    assert set(found.errors) == {"J", "K", "L"} | ({"h", "g"} if bias else set())
    assert found.residual > 0.0
    at_truth = measure(replace(BASE, bias=bias, start="truth", max_steps=0))
    assert found.cost_at_truth == at_truth.cost == at_truth.cost_at_truth


def test_costs_of_mean_field_are_true_likelihoods():
    found = measure(replace(BASE, learner="mean-field", patience=5))
    assert found.cost != found.objective
    exact = measure(replace(BASE, patience=5))
    assert found.cost_at_truth == exact.cost_at_truth
    assert found.held_out_at_truth == exact.held_out_at_truth
    assert found.held_out_at_truth > 0.0
    assert found.cost > measure(BASE).cost  # converged exact learning has the lowest training cost there is


def test_costs_that_are_too_slow_to_be_shown_at_every_step_are_found_at_the_end(monkeypatch):
    approximate = replace(BASE, learner="mean-field", max_steps=3)
    quick = measure(approximate)
    monkeypatch.setattr("hidviz.experiments.setup.AFFORDABLE", 0.0)
    slow = measure(approximate)
    assert quick.cost is not None
    assert (slow.cost, slow.held_out) == (quick.cost, quick.held_out)
    assert (slow.cost_at_truth, slow.held_out_at_truth) == (quick.cost_at_truth, quick.held_out_at_truth)
    assert None not in (slow.cost_at_truth, slow.held_out_at_truth)


def test_without_patience_held_out_data_only_judge():
    converged = measure(BASE)
    assert converged.state == "converged"
    assert measure(replace(BASE, n_held_out=0)).errors == converged.errors
    assert table([converged])["converged"].all()
    assert not table([measure(replace(BASE, max_steps=1))])["converged"].any()
    assert converged.held_out is not None


def test_run_at_the_truth_gives_the_cost_at_the_truth():
    found = measure(replace(BASE, start="truth", max_steps=0))
    assert found.cost == found.cost_at_truth
    assert found.errors["J"] == (0.0, 0.0)


def test_unknown_costs_are_missing_and_not_invented():
    found = measure(replace(BASE, n_visible=4, n_hidden=20, n_steps=50, learner="mean-field", max_steps=2))
    assert (found.cost, found.held_out, found.aic, found.bic) == (None, None, None, None)
    assert table([found])["aic"].isna().all()


def test_learner_without_hidden_units_is_compared_in_J_alone():
    assert set(measure(replace(BASE, learner="visible-lag2")).errors) == {"J"}


def test_hidden_states_are_told_where_they_are_asked_for():
    found, plain = measure(BASE, with_states=True), measure(BASE)
    assert (plain.wrong_signs, plain.wrong_signs_at_truth) == (None, None)
    assert replace(found, wrong_signs=None, wrong_signs_at_truth=None, seconds=plain.seconds) == plain
    data = return_value(BASE.simulate())
    assert found.wrong_signs_at_truth == hidden_state_error(data.truth, data.truth, data.recording, data.hidden)
    assert 0.0 < found.wrong_signs < 0.5
    assert Measurement.from_json(found.to_json()) == found
    row = table([found]).iloc[0]
    assert (row["wrong_signs"], row["wrong_signs_at_truth"]) == (found.wrong_signs, found.wrong_signs_at_truth)


def test_a_sweep_of_hidden_states_runs_again_what_was_kept_without_them():
    kept = {key_of(BASE): measure(BASE)}

    class Kept:
        def load(self):
            return kept

        def append(self, measurement):
            kept[key_of(measurement.experiment)] = measurement

    *_, plain = run_sweep(Sweep("plain", (BASE,)), alone, store=Kept())
    assert plain.measurements[0].wrong_signs is None
    *_, told = run_sweep(Sweep("told", (BASE,), with_states=True), alone, store=Kept())
    assert told.measurements[0].wrong_signs is not None
    assert kept[key_of(BASE)] == told.measurements[0]


def test_measurement_survives_json():
    found = measure(BASE, with_trace=True)
    assert Measurement.from_json(found.to_json()) == found
    assert found.trace["cost"][-1] == pytest.approx(found.cost, abs=1e-12)
    with pytest.raises(ValueError, match=r"made by hidviz 0\.0\.0"):
        Measurement.from_json(found.to_json().replace(__version__, "0.0.0", 1))
    for nonsense in ("", "[]", "{}", "7", found.to_json().replace('"steps"', '"strides"'), '{"version": 1'):
        with pytest.raises(ValueError):  # noqa: PT011 - any sentence will do
            Measurement.from_json(nonsense)


def test_prediction_grows_with_the_work():
    long = replace(BASE, n_steps=100_000)
    assert 0.0 < predicted_seconds(BASE) < predicted_seconds(long) < predicted_seconds(replace(long, learner="gibbs"))


def test_state_counts_up_and_predicts():
    states = list(run_sweep(SMALL, alone))
    assert [states[0].n_done, states[-1].n_done, states[-1].n_total] == [0, 4, 4]
    assert all(one.n_done <= other.n_done for one, other in itertools.pairwise(states))
    assert states[0].seconds_left > states[-1].seconds_left == 0.0
    assert any(state.running for state in states)


def test_the_time_left_is_learned_from_what_was_finished():
    for state in run_sweep(SMALL, alone):
        done = state.measurements
        left = [predicted_seconds(each) for each in SMALL.experiments if key_of(each) not in state.finished]
        slowness = 1.0
        if done:
            slowness = sum(each.seconds for each in done) / sum(predicted_seconds(each.experiment) for each in done)
        assert state.seconds_left == pytest.approx(slowness * sum(left))


def test_infeasible_experiment_fails_alone():
    hopeless = replace(BASE, n_hidden=30, seed=9)
    last = finished(Sweep("mixed", (hopeless, BASE)))
    assert list(last.finished) == [key_of(BASE)]
    assert "2**30 hidden states" in last.failed[key_of(hopeless)]
    assert last.n_done == last.n_total


def test_an_experiment_that_has_failed_is_not_tried_again():
    hopeless = replace(BASE, n_hidden=30, seed=9)
    states = list(run_sweep(Sweep("hopeless", (hopeless,)), alone))
    failures = [len(state.failed) for state in states]
    assert failures == sorted(failures)
    assert sum(state.running == (hopeless,) for state in states) == 1


class Given(Executor):
    """An executor whose futures are made by a function; it knows how many were asked for."""

    def __init__(self, future):
        self.future, self.n = future, 0

    def submit(self, *_, **__):
        self.n += 1
        return self.future()


def given(executor, size=1):
    return lambda: nullcontext(Crew(executor, size))


def in_a_while(outcome, seconds=0.12):
    """A future that fails with this after some looks at it."""
    future = Future()
    threading.Timer(seconds, future.set_exception, [outcome]).start()
    return future


def test_an_experiment_whose_worker_dies_is_handed_out_three_times():
    def dead():
        future = Future()
        future.set_exception(BrokenExecutor("died"))
        return future

    executors = [Given(dead) for _ in range(4)]
    opened = iter(executors)
    last = finished(Sweep("one", (BASE,)), lambda: nullcontext(Crew(next(opened), 1)))
    assert [executor.n for executor in executors] == [1, 1, 1, 0], "new workers each time"
    assert last.failed[key_of(BASE)] == "Its worker died 3 times: it may need more memory than there is."


def test_workers_that_take_nothing_any_more_are_left_for_new_ones():
    def broken():
        assert executor.n == 1, "asked again"
        raise BrokenExecutor

    executor = Given(broken)
    crews = iter([given(executor), alone])
    last = finished(Sweep("one", (BASE,)), lambda: next(crews)())
    assert list(last.finished) == [key_of(BASE)]


def test_why_an_experiment_failed_is_told_also_where_the_error_says_nothing():
    for error, said in ((ValueError("the reason"), "the reason"), (ValueError(), "ValueError()")):
        last = finished(Sweep("one", (BASE,)), given(Given(lambda error=error: in_a_while(error, 0.0))))
        assert last.failed == {key_of(BASE): said}


def test_as_many_are_under_way_as_there_are_workers_and_a_state_comes_when_something_has_changed():
    sweep = Sweep("three", grid(BASE, seed=(1, 2, 3)))
    states = list(run_sweep(sweep, given(Given(lambda: in_a_while(ValueError("too bad"))), size=2)))
    n_running = [len(state.running) for state in states]
    assert max(n_running) == 2
    assert n_running[:2] == [0, 2]
    assert all((one.running, one.failed) != (other.running, other.failed) for one, other in itertools.pairwise(states))
    assert all(state.ahead == 0 for state in states)
    assert [state.finished_all for state in states] == [state.n_done == 3 for state in states]
    assert states[-1].finished_all


def test_a_sweep_that_gives_way_ends_with_what_is_under_way():
    executor = Given(lambda: in_a_while(ValueError("too bad")))
    *_, last = run_sweep(SMALL, given(executor, size=3), give_way=lambda: executor.n == 2)
    assert (executor.n, last.n_done, last.running) == (2, 2, ())
    (only,) = run_sweep(SMALL, pytest.fail, give_way=lambda: True)
    assert only.n_done == 0


@pytest.mark.parametrize(("size", "n_cores", "at_once"), [(1, 4, 1), (3, 4, 3), (8, 4, 4), (0, 4, 1), (2, None, 1)])
def test_the_time_left_is_shared_by_as_many_workers_as_have_a_core(monkeypatch, size, n_cores, at_once):
    monkeypatch.setattr("hidviz.sweeps.sweep.os.cpu_count", lambda: n_cores)
    clock, done = _Clock(), measure(BASE)
    assert clock.left([BASE, BASE], size) == pytest.approx(2 * predicted_seconds(BASE) / at_once)
    clock.add(replace(done, seconds=5.0))
    clock.add(replace(done, seconds=7.0))
    assert clock.left([BASE, BASE], size) == pytest.approx(12.0 / at_once)


def test_a_store_set_aside_takes_the_next_name_that_is_free(tmp_path):
    store = Store(tmp_path / "figure4.jsonl")
    assert store.set_aside() is None
    for name in ("figure4.1.jsonl", "figure4.2.jsonl"):
        store.path.write_text(name)
        assert store.set_aside() == tmp_path / name
        assert (tmp_path / name).read_text() == name
    assert not store.path.exists()


def test_a_sweep_can_be_left_while_it_waits_for_its_workers():
    class LeftError(Exception):
        pass

    def leave():
        raise LeftError

    def slow():
        future = Future()
        threading.Timer(5.0, future.set_exception, [ValueError("nobody has waited for it")]).start()
        return future

    with pytest.raises(LeftError), paced(leave):
        finished(Sweep("one", (BASE,)), given(Given(slow)))


def test_finished_experiments_are_not_run_again(tmp_path, plain):
    store = Store(tmp_path / "deep" / "store.jsonl")
    half = Sweep("half", SMALL.experiments[:2])
    finished(half, store=store)
    states = list(run_sweep(SMALL, alone, store=store))
    assert states[0].n_done == 2
    pd.testing.assert_frame_equal(without_seconds(states[-1]), plain)
    assert [state.n_done for state in run_sweep(SMALL, pytest.fail, store=store)] == [4]


def test_torn_line_is_run_again(tmp_path, plain):
    store = Store(tmp_path / "store.jsonl")
    finished(SMALL, store=store)
    whole = store.path.read_bytes()
    store.path.write_bytes(whole[:-100])
    assert len(store.load()) == 3
    pd.testing.assert_frame_equal(without_seconds(finished(SMALL, store=store)), plain)
    assert len(store.load()) == 4
    assert store.path.read_bytes().endswith(b"\n")


def test_traces_are_run_for_if_they_are_missing(tmp_path):
    store = Store(tmp_path / "store.jsonl")
    one = Sweep("one", (BASE,))
    finished(one, store=store)
    assert not store.load()[key_of(BASE)].trace
    last = finished(replace(one, with_traces=True), store=store)
    (kept,) = run_sweep(replace(one, with_traces=True), pytest.fail, store=store)
    assert kept.finished_all
    found = traces(last.measurements)
    assert len(found) == last.measurements[0].steps + 1
    assert {"key", "step", "cost", "rms_J", "aligned_L"} <= set(found.columns)


KILLED = """
from hidviz.background.executors import alone
from hidviz.sweeps import Store, run_sweep
from tests.sweeps.test_sweep import SMALL
for state in run_sweep(SMALL, alone, store=Store({path!r})):
    print(state.n_done, flush=True)
"""


@pytest.mark.slow
def test_killed_run_goes_on_where_it_was(tmp_path, plain):
    store = Store(tmp_path / "store.jsonl")
    program = subprocess.Popen(
        [sys.executable, "-c", KILLED.format(path=str(store.path))],
        cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "2\n" in iter(program.stdout.readline, "")  # reads as far as that line, or to the end
    program.kill()
    program.wait()
    program.stdout.close()
    states = list(run_sweep(SMALL, alone, store=store))
    assert states[0].n_done >= 2
    pd.testing.assert_frame_equal(without_seconds(states[-1]), plain)


@pytest.mark.slow
def test_processes_make_the_same_table_and_end(plain):
    pd.testing.assert_frame_equal(without_seconds(finished(SMALL, partial(processes, 2))), plain)
    assert multiprocessing.active_children() == []


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="the system knows no priorities")
def test_workers_stand_back_behind_the_page():
    here = os.getpriority(os.PRIO_PROCESS, 0)
    with processes(1) as crew:
        there = crew.executor.submit(os.getpriority, os.PRIO_PROCESS, 0).result()
    assert there == min(19, here + NICENESS)


def test_number_of_workers_is_checked():
    with pytest.raises(ValueError, match="at least 1, got 0"), processes(0):
        pass


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of distributed are not ours
def test_absent_scheduler_is_named(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv("HIDVIZ_SCHEDULER", "127.0.0.1:1")
    with pytest.raises(ConnectionError, match=r"127\.0\.0\.1:1.*dask scheduler"), workers()():
        pass


LONG = Sweep("long", grid(replace(BASE, n_steps=20_000), learner=("gibbs",), seed=(1, 2)))


def kill_workers():
    """Kill all worker processes, as far as they have not ended since they were listed."""
    for child in multiprocessing.active_children():
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)


@pytest.mark.slow
def test_killed_worker_loses_only_what_was_under_way(plain):
    killed, states = 0, run_sweep(SMALL, partial(processes, 1))
    for state in states:
        if state.running and killed < 2:
            kill_workers()
            killed += 1
    assert killed == 2
    assert state.failed == {}
    pd.testing.assert_frame_equal(without_seconds(state), plain)


@pytest.mark.slow
def test_experiment_that_kills_its_workers_is_given_up():
    states = []
    for state in run_sweep(Sweep("one", LONG.experiments[:1]), partial(processes, 1)):
        states.append(state)
        kill_workers()
    assert states[-1].finished == {}
    assert "died 3 times" in next(iter(states[-1].failed.values()))


@pytest.mark.slow
def test_closed_sweep_leaves_no_process_behind():
    states = run_sweep(LONG, partial(processes, 2))
    while not next(states).running:
        pass
    children = multiprocessing.active_children()
    assert len(children) >= 1
    states.close()
    assert multiprocessing.active_children() == []


ORPHANS = """
from contextlib import suppress
from functools import partial
import multiprocessing
from hidviz.background.executors import processes
from hidviz.sweeps import run_sweep
from tests.sweeps.test_sweep import LONG
if __name__ == "__main__":
    for state in run_sweep(LONG, partial(processes, 2)):
        if state.running:
            print(*[child.pid for child in multiprocessing.active_children()], flush=True)
"""


@pytest.mark.slow
def test_workers_end_with_the_process_that_started_them():
    program = subprocess.Popen(
        [sys.executable, "-c", ORPHANS], cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True
    )
    pids = [int(word) for word in program.stdout.readline().split()]
    settled = min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)
    wait_until(lambda: all(os.getpriority(os.PRIO_PROCESS, pid) == settled for pid in pids))
    program.kill()
    program.wait()
    program.stdout.close()
    wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.fixture(scope="module")
def dask():
    """A real scheduler and two worker processes on this machine's loopback."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as local:
        yield local


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of distributed are not ours
def test_cluster_makes_the_same_table(dask, plain):
    last = finished(SMALL, lambda: cluster(dask.scheduler_address))
    pd.testing.assert_frame_equal(without_seconds(last), plain)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_killed_dask_worker_loses_nothing(dask, plain):
    killed = 0
    for state in run_sweep(SMALL, lambda: cluster(dask.scheduler_address)):
        if state.running and not killed:
            worker = next(iter(dask.workers.values()))
            os.kill(worker.pid, signal.SIGKILL)
            killed += 1
    assert killed == 1
    assert state.failed == {}
    pd.testing.assert_frame_equal(without_seconds(state), plain)
    wait_until(lambda: len(dask.scheduler.workers) == 2)  # the one that was killed is replaced before the cluster ends
