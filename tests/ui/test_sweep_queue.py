"""Sweeps of one server take turns in the order in which they came, and each knows its place."""

import time
from dataclasses import replace

import pandas as pd

from hidviz import Experiment
from hidviz.background import Runner
from hidviz.background.executors import alone
from hidviz.sweeps.sweep import Sweep, grid, run_sweep, table
from hidviz.ui.state.sweep_queue import in_turn
from hidviz.ui.text.sweep import progress_in_words

BASE = Experiment(n_visible=3, n_hidden=1, n_steps=100, model="stochastic", learner="exact", n_held_out=100)
FIRST, SECOND, THIRD = (
    Sweep(name, grid(replace(BASE, max_steps=3), seed=seeds))
    for name, seeds in (("a", (1, 2, 3)), ("b", (4, 5)), ("c", (6,)))
)


def told(sweep, log, **options):
    """The states of a sweep, with a line in a common log for each."""
    for state in in_turn(sweep, alone, **options):
        log.append((sweep.name, state.n_done, state.ahead))
        yield state


def ended(*runners):
    deadline = time.monotonic() + 60
    while not all(runner.ended for runner in runners):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert [runner.failure for runner in runners] == [None] * len(runners)


def started(log, sweep, **options):
    """A sweep in a thread of its own, once it has said where it stands."""
    runner = Runner()
    n = len(log)
    runner.start(told(sweep, log, **options))
    while not any(name == sweep.name for name, _, _ in log[n:]):
        time.sleep(0.001)
    return runner


def test_sweeps_go_first_come_first_served_and_know_their_place():
    log, gate = [], in_turn(FIRST, alone)
    next(gate)  # stands at the head of the line and goes no further for now
    second, third = started(log, SECOND), started(log, THIRD)
    assert log == [("b", 0, 1), ("c", 0, 2)]
    gate.close()
    ended(second, third)
    names = [name for name, _, ahead in log if ahead == 0]
    assert names == sorted(names)
    assert ("c", 0, 1) in log, "it is told that it has moved up"


def test_a_long_sweep_gives_way_and_loses_nothing():
    log, gate = [], in_turn(THIRD, alone)
    next(gate)
    runners = [started(log, FIRST, turn=0.0), started(log, SECOND, turn=0.0)]
    gate.close()
    ended(*runners)
    work = [name for name, n_done, ahead in log if ahead == 0 and n_done]
    assert work.index("b") < len(work) - 1 - work[::-1].index("a"), "the second has worked before the first was done"
    for runner, sweep in zip(runners, (FIRST, SECOND), strict=True):
        *_, plain = run_sweep(sweep, alone)
        found = (table(state.measurements).drop(columns="seconds") for state in (runner.latest, plain))
        pd.testing.assert_frame_equal(*found)


def test_a_sweep_that_is_given_up_leaves_the_line():
    log, gate = [], in_turn(FIRST, alone)
    next(gate)
    waiting = started(log, SECOND)
    waiting.stop()
    gate.close()
    third = started(log, THIRD)
    ended(third)


def test_the_place_is_said():
    log, gate = [], in_turn(FIRST, alone)
    next(gate)
    second, third = started(log, SECOND), started(log, THIRD)
    assert progress_in_words(second.latest).startswith("Waiting for another sweep on this server")
    assert "number 2 in line" in progress_in_words(third.latest)
    for runner in (second, third):
        runner.stop()
    gate.close()
    ended(second, third)
