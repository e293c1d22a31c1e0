"""A runner publishes whole items, obeys from any state and in any order, and never gets stuck."""

import itertools
import os
import runpy
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

import hidviz.background.runner
from hidviz.background.checkpoint import checkpoint
from hidviz.background.gate import Gate
from hidviz.background.runner import Runner

PATIENCE = 30.0  # seconds; a generous bound on what happens at once, so that only a deadlock reaches it


def wait_until(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.001)


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "hidviz-runner"]


@pytest.fixture(autouse=True)
def _no_worker_is_left_behind():
    yield
    wait_until(lambda: not workers())


@pytest.fixture
def runner():
    runner = Runner()
    yield runner
    runner.stop()


@pytest.fixture
def one_place(monkeypatch):
    """A gate that lets one thread in at a time."""
    monkeypatch.setattr(hidviz.background.runner, "_gate", Gate(1))


def counting(start=0):
    for number in itertools.count(start):
        checkpoint()
        yield number


def endless():
    """One calculation that never ends, but offers to be interrupted."""
    while True:
        checkpoint()
        time.sleep(1e-4)
    yield


# One run


def test_nothing_has_run_before_the_first_start():
    runner = Runner()
    for command in (runner.pause, runner.resume, runner.step, runner.stop, lambda: runner.pump(0.0)):
        command()
    assert runner.ended
    assert not runner.running
    assert runner.latest is None
    assert runner.failure is None
    assert runner.items_per_second == 0.0
    assert runner.interval == 0.0


def test_a_finite_iterator_is_consumed_to_its_last_item(runner):
    runner.start(iter("abc"))
    wait_until(lambda: runner.ended)
    assert runner.latest == "c"
    assert runner.failure is None
    assert not runner.running


def test_every_item_is_consumed_in_order(runner):
    seen = []
    runner.start(seen.append(number) or number for number in range(1000))
    wait_until(lambda: runner.ended)
    assert seen == list(range(1000))


def test_an_exception_ends_up_in_failure(runner):
    def failing():
        yield "good"
        raise ArithmeticError("the reason")

    runner.start(failing())
    wait_until(lambda: runner.ended)
    assert isinstance(runner.failure, ArithmeticError)
    assert str(runner.failure) == "the reason"
    assert runner.latest == "good"
    runner.start(iter([1]))
    assert runner.failure is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError])
def test_an_exception_of_any_kind_ends_the_run(runner, error):
    def failing():
        yield 1
        raise error

    runner.start(failing())
    wait_until(lambda: runner.ended)
    assert isinstance(runner.failure, error)


def test_what_the_count_raises_ends_up_in_failure():
    runner = Runner(counts=lambda item: 1 / item)
    runner.start(iter([1, 0]))
    wait_until(lambda: runner.ended)
    assert isinstance(runner.failure, ZeroDivisionError)


def test_a_run_may_start_with_a_number_of_steps(runner):
    runner.start(counting(), steps=3)
    wait_until(lambda: not runner.running)
    assert runner.latest == 2
    assert not runner.ended


def test_only_items_that_count_use_up_steps():
    runner = Runner(counts=lambda item: item % 10 == 0)
    runner.start(counting(1), steps=2)
    wait_until(lambda: not runner.running)
    assert runner.latest == 20
    runner.step()
    wait_until(lambda: not runner.running)
    assert runner.latest == 30
    runner.stop()


def test_steps_pressed_quickly_are_all_made(runner):
    runner.start(counting(), steps=1)
    for _ in range(5):
        runner.step()
    wait_until(lambda: not runner.running)
    assert runner.latest == 5


def test_a_step_while_running_is_one_item_more(runner):
    runner.start(counting())
    wait_until(lambda: runner.latest is not None)
    runner.step()
    wait_until(lambda: not runner.running)
    settled = runner.latest
    runner.step()
    wait_until(lambda: not runner.running)
    assert runner.latest == settled + 1


def test_nothing_is_published_once_pause_has_returned(runner):
    runner.start(counting())
    for _ in range(50):
        before = runner.latest
        runner.resume()
        wait_until(lambda before=before: runner.latest != before)
        runner.pause()
        held, version = runner.latest, runner.version
        time.sleep(0.002)
        assert (runner.latest, runner.version) == (held, version)
        assert not runner.running


def test_resuming_skips_nothing(runner):
    seen = []
    runner.start(seen.append(number) or number for number in counting())
    for _ in range(20):
        runner.pause()
        before = len(seen)
        runner.resume()
        wait_until(lambda before=before: len(seen) > before)
    runner.stop()
    wait_until(lambda: not workers())
    assert seen == list(range(len(seen)))


def test_a_pause_acts_within_a_calculation(runner):
    beats = [0]

    def long_calculation():
        while True:
            checkpoint()
            beats[0] += 1
            time.sleep(1e-4)
        yield

    runner.start(long_calculation())
    wait_until(lambda: beats[0] > 3)
    runner.pause()
    wait_until(lambda n=beats[0]: time.sleep(0.05) or beats[0] <= n + 1)  # one beat may have been under way
    held = beats[0]
    time.sleep(0.05)
    assert beats[0] == held
    runner.resume()
    wait_until(lambda: beats[0] > held + 3)
    runner.stop()


@pytest.mark.parametrize("paused", [False, True])
def test_a_stop_ends_the_thread_in_the_middle_of_a_calculation(runner, paused):
    runner.start(endless())
    if paused:
        runner.pause()
    runner.stop()
    assert runner.ended
    assert not runner.running
    wait_until(lambda: not workers())
    assert runner.failure is None


def test_stopping_is_final_and_may_be_repeated(runner):
    runner.start(counting())
    wait_until(lambda: runner.latest is not None)
    runner.stop()
    held, version = runner.latest, runner.version
    for command in (runner.stop, runner.pause, runner.step, runner.resume, runner.stop):
        command()
    wait_until(lambda: not workers())
    assert (runner.latest, runner.version) == (held, version)
    assert runner.ended
    assert not runner.running


def test_a_stopped_calculation_cleans_up_after_itself(runner):
    begun, cleaned = threading.Event(), threading.Event()

    def tidy():
        begun.set()
        try:
            yield from endless()
        finally:
            cleaned.set()

    runner.start(tidy())
    assert begun.wait(PATIENCE)
    runner.stop()
    assert cleaned.wait(PATIENCE)


def clean_up_of(cleaned):
    """Counts, and at its end passes a checkpoint and notes the thread in which it is cleaned up."""
    try:
        yield from counting()
    finally:
        checkpoint()
        cleaned.append(threading.current_thread().name)


@pytest.mark.parametrize("leave", ["stop", "start"])
def test_an_iterator_given_up_between_two_items_is_closed_in_its_thread(runner, leave):
    cleaned = []
    items = clean_up_of(cleaned)  # held here too, so that only closing it can clean it up
    runner.start(items, steps=2)
    wait_until(lambda: not runner.running)
    assert cleaned == []  # a pause is no end
    runner.stop() if leave == "stop" else runner.start(iter(()))
    wait_until(lambda: cleaned)
    assert cleaned == ["hidviz-runner"]
    assert next(items, None) is None


def test_starting_again_leaves_the_run_before(runner):
    for k in range(20):
        runner.start(counting(1000 * k))
        assert runner.latest is None or runner.latest >= 1000 * k
        wait_until(lambda: runner.latest is not None)
        assert 1000 * k <= runner.latest
    runner.stop()


def test_the_version_grows_with_every_change_and_never_falls(runner):
    versions, stop = [], threading.Event()

    def watch():
        while not stop.is_set():
            versions.append(runner.version)

    watcher = threading.Thread(target=watch)
    watcher.start()
    marks = [runner.version]
    for command in (
        lambda: runner.start(counting()), runner.pause, runner.step, runner.resume,
        lambda: runner.start(counting()), lambda: runner.start(iter(())), lambda: runner.start(counting()), runner.stop,
    ) * 5:  # fmt: skip
        command()
        marks.append(runner.version)
        time.sleep(0.001)
    stop.set()
    watcher.join()
    assert np.diff(marks).min() > 0
    assert np.diff(versions).min() >= 0


def test_the_end_is_a_change_of_version(runner):
    gate = threading.Event()

    def waiting():
        yield 1
        gate.wait(PATIENCE)

    runner.start(waiting())
    wait_until(lambda: runner.latest == 1)
    version = runner.version
    gate.set()
    wait_until(lambda: runner.ended)
    assert runner.version > version


def test_the_rate_is_that_of_the_last_second(runner):
    runner.start(time.sleep(0.01) or number for number in itertools.count())
    wait_until(lambda: (runner.latest or 0) > 20)
    assert 0.0 < runner.items_per_second <= 100.0
    runner.pause()
    assert runner.items_per_second == 0.0
    runner.resume()
    assert runner.items_per_second == 0.0  # nothing since


def test_the_rate_of_items_that_take_seconds_is_that_of_the_last(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("hidviz.background.runner.time.monotonic", lambda: clock[0])
    runner = Runner(threads=False)
    runner.start(counting())
    for clock[0] in (10.0, 20.0, 22.0):
        runner.pump(0.0)
    assert runner.items_per_second == 0.5


def test_the_rate_counts_the_last_second_with_both_its_ends(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("hidviz.background.runner.time.monotonic", lambda: clock[0])
    runner, rates = Runner(threads=False), []
    runner.start(counting())
    for clock[0] in (10.0, 10.75, 11.0, 11.5):
        runner.pump(0.0)
        rates.append(runner.items_per_second)
    assert rates == [0.0, 1 / 0.75, 2 / 1.0, 2 / 0.75]


def test_an_item_made_while_the_run_was_being_paused_is_shown_next(runner):
    def pausing():
        yield 0
        wait_until(lambda: runner.latest == 0)
        runner.pause()
        yield 1

    runner.start(pausing())
    wait_until(lambda: not runner.running)
    assert runner.latest == 0
    runner.step()
    wait_until(lambda: not runner.running)
    assert runner.latest == 1
    assert not runner.ended


def test_a_worker_does_not_keep_its_process_from_ending(runner):
    runner.start(endless())
    assert all(thread.daemon for thread in workers())


# Several runs


def test_two_runners_share_nothing_they_show():
    one, other = Runner(), Runner()
    one.start(counting())
    other.start(counting(10**6))
    wait_until(lambda: one.latest is not None and other.latest is not None)
    one.pause()
    held = one.latest
    wait_until(lambda n=other.latest: other.latest > n)
    assert other.running
    assert one.latest == held < 10**6
    one.stop()
    assert not other.ended
    other.stop()


def test_more_runs_than_places_share_the_machine_evenly(one_place):  # noqa: ARG001
    """They take turns, one after the other, whether their items are long or short: none is passed over for long."""
    at_work, turns = [None], [0] * 5

    def busy(own, checkpoints):
        for number in itertools.count():
            for _ in range(checkpoints):
                checkpoint()
                if at_work[0] != own:  # another was at work since
                    at_work[0] = own
                    turns[own] += 1
            yield number

    runners = [Runner() for _ in turns]
    for own, runner in enumerate(runners):
        runner.start(busy(own, checkpoints=10 ** (own % 3 + 1)))
    wait_until(lambda: min(turns) >= 20)
    counts = list(turns)
    for runner in runners:
        runner.stop()
    assert max(counts) < 1.5 * min(counts)


def test_a_run_keeps_its_place_for_a_turn(one_place, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(hidviz.background.runner, "TURN", 3600.0)
    first, waiting = Runner(), Runner()
    first.start(counting())
    wait_until(lambda: first.latest is not None)
    waiting.start(counting())
    wait_until(lambda: hidviz.background.runner._gate.crowded)
    wait_until(lambda n=first.latest: first.latest > n + 1000)
    assert waiting.latest is None
    first.stop()
    wait_until(lambda: waiting.latest is not None)
    waiting.stop()


def test_as_many_runs_as_there_are_cores_work_at_a_time():
    wait_until(lambda: hidviz.background.runner._gate._free == os.cpu_count())


@pytest.mark.parametrize(("n_cores", "places"), [(7, 7), (None, 1)])
def test_there_is_a_place_for_each_core_and_one_where_the_system_does_not_tell(monkeypatch, n_cores, places):
    monkeypatch.setattr(os, "cpu_count", lambda: n_cores)
    assert runpy.run_path(hidviz.background.runner.__file__)["_gate"]._free == places


def test_a_paused_run_gives_its_place_to_others(one_place):  # noqa: ARG001
    paused, other = Runner(), Runner()
    paused.start(endless())
    wait_until(lambda: workers())
    paused.pause()
    other.start(counting())
    wait_until(lambda: (other.latest or 0) > 10)
    paused.resume()
    wait_until(lambda n=other.latest: other.latest > n)
    for runner in (paused, other):
        runner.stop()


def test_a_run_stopped_while_it_waits_in_line_leaves_the_line(one_place):  # noqa: ARG001
    release = threading.Event()

    def holding():
        release.wait(PATIENCE)
        yield from counting()

    first, waiting, last = Runner(), Runner(), Runner()
    first.start(holding())
    wait_until(lambda: len(workers()) == 1)
    waiting.start(counting())
    last.start(counting())
    waiting.stop()
    assert waiting.ended
    release.set()
    wait_until(lambda: last.latest is not None)
    assert waiting.latest is None
    for runner in (first, last):
        runner.stop()


def test_a_run_paused_while_it_waits_in_line_stays_paused(one_place):  # noqa: ARG001
    release = threading.Event()

    def holding():
        release.wait(PATIENCE)
        yield 0

    first, waiting = Runner(), Runner()
    first.start(holding())
    wait_until(lambda: len(workers()) == 1)
    waiting.start(counting())
    waiting.pause()
    release.set()
    wait_until(lambda: first.ended)
    time.sleep(0.02)
    assert waiting.latest is None
    waiting.step()
    wait_until(lambda: waiting.latest == 0)
    waiting.stop()


@pytest.mark.parametrize("seed", range(3))
def test_a_storm_of_commands_leaves_no_runner_stuck_and_no_place_lost(monkeypatch, seed):
    gate = Gate(2)
    monkeypatch.setattr(hidviz.background.runner, "_gate", gate)
    monkeypatch.setattr(hidviz.background.runner, "TURN", 1e-4)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)  # switch threads often, for the sake of races

    def failing():
        yield from itertools.islice(counting(), 5)
        raise ValueError

    def storm(runner, rng):
        commands = (
            runner.pause, runner.resume, runner.step, runner.stop, lambda: runner.start(counting()),
            lambda: runner.start(counting(), steps=2), lambda: runner.start(failing()), lambda: runner.start(iter(())),
            lambda: runner.items_per_second, lambda: time.sleep(1e-3),
        )  # fmt: skip
        for k in rng.integers(len(commands), size=120):
            commands[k]()

    runners = [Runner() for _ in range(4)]
    storms = [
        threading.Thread(target=storm, args=(runner, np.random.default_rng([seed, k])))
        for k, runner in enumerate(runners)
    ]
    try:
        for thread in storms:
            thread.start()
        for thread in storms:
            thread.join(PATIENCE)
            assert not thread.is_alive()
        for runner in runners:
            runner.start(counting())
        wait_until(lambda: min(runner.latest or 0 for runner in runners) > 3)
    finally:
        sys.setswitchinterval(interval)
        for runner in runners:
            runner.stop()
    wait_until(lambda: not workers())
    assert (gate._free, gate.crowded) == (2, False)


# Without threads


def test_without_threads_work_is_done_in_the_time_of_the_caller():
    runner = Runner(threads=False)
    runner.start(counting(), steps=3)
    assert runner.latest is None
    runner.pump(0.0)
    assert runner.latest == 0  # one item, however short the time
    runner.pump(PATIENCE)
    assert runner.latest == 2
    assert not runner.running
    runner.pump(PATIENCE)
    assert runner.latest == 2


def test_without_threads_the_time_is_kept():
    runner = Runner(threads=False)
    runner.start(time.sleep(0.02) or number for number in itertools.count())
    for number in range(3):  # one item takes longer than there is time for
        runner.pump(0.01)
        assert runner.latest == number


def test_without_threads_ends_and_failures_are_told():
    def failing():
        yield 1
        raise ArithmeticError

    runner = Runner(threads=False)
    for items, kind in ((iter("ab"), type(None)), (failing(), ArithmeticError)):
        runner.start(items)
        runner.pump(PATIENCE)
        assert runner.ended
        assert isinstance(runner.failure, kind)


def test_without_threads_an_iterator_given_up_is_closed():
    runner, cleaned = Runner(threads=False), []
    items = clean_up_of(cleaned)
    runner.start(items)
    runner.pump(0.0)
    runner.stop()
    assert cleaned == ["MainThread"]

    unused = clean_up_of(cleaned)
    runner.start(unused)
    runner.stop()
    assert next(unused, None) is None, "what was never begun is closed too"

    def stopping_itself():
        try:
            yield 1
            runner.stop()
            yield 2
        finally:
            cleaned.append("itself")

    items = stopping_itself()
    runner.start(items)
    runner.pump(PATIENCE)
    assert runner.latest == 1
    assert cleaned == ["MainThread", "itself"]


def test_without_threads_a_runner_holds_no_place(one_place):  # noqa: ARG001
    threaded, pumped = Runner(), Runner(threads=False)
    threaded.start(counting())
    pumped.start(counting())
    for _ in range(20):
        pumped.pump(0.001)
    wait_until(lambda n=threaded.latest or 0: (threaded.latest or 0) > n)
    threaded.stop()
    wait_until(lambda: not workers())
    assert hidviz.background.runner._gate._free == 1


def test_with_threads_pumping_does_nothing(runner):
    runner.start(counting(), steps=1)
    wait_until(lambda: not runner.running)
    runner.pump(PATIENCE)
    assert runner.latest == 0


class AnyOrder(RuleBasedStateMachine):
    """Every order of commands, beside a model of a few lines; without threads, so that each outcome is certain."""

    def __init__(self):
        super().__init__()
        self.runner = Runner(threads=False)
        self.left, self.allowed, self.shown, self.over, self.version = 0, 0, None, True, self.runner.version

    @rule()
    def start(self):
        self.runner.start(iter(range(4)))
        self.left, self.allowed, self.shown, self.over = 4, None, None, False

    @rule()
    def start_with_two_steps(self):
        self.runner.start(iter(range(4)), steps=2)
        self.left, self.allowed, self.shown, self.over = 4, 2, None, False

    @rule()
    def pause(self):
        self.runner.pause()
        self.allowed = 0

    @rule()
    def resume(self):
        self.runner.resume()
        self.allowed = None

    @rule()
    def step(self):
        self.runner.step()
        self.allowed = (self.allowed or 0) + 1

    @rule()
    def stop(self):
        self.runner.stop()
        self.over = True

    @rule()
    def work(self):
        self.runner.pump(0.0)
        if self.over or self.allowed == 0:
            return
        if self.left == 0:
            self.over = True
            return
        self.shown, self.left = 4 - self.left, self.left - 1
        self.allowed = None if self.allowed is None else self.allowed - 1

    @invariant()
    def shows_what_the_model_says(self):
        assert self.runner.latest == self.shown
        assert self.runner.ended == self.over
        assert self.runner.running == (not self.over and self.allowed != 0)
        assert self.runner.version >= self.version
        self.version = self.runner.version


AnyOrder.TestCase.settings = settings(derandomize=True, max_examples=30, stateful_step_count=25, deadline=None)
test_any_order_of_commands_does_what_they_say = AnyOrder.TestCase


def test_a_run_with_an_interval_waits_between_items_and_a_step_does_not():
    runner = Runner()
    runner.interval = 3600.0
    runner.start(iter(range(100)))
    wait_until(lambda: runner.latest == 0)
    assert runner.running
    for number in (1, 2):
        runner.pause()
        runner.step()
        wait_until(lambda number=number: runner.latest == number and not runner.running)
    runner.resume()
    runner.interval = 0.0
    wait_until(lambda: runner.ended)
    assert runner.latest == 99


def test_a_run_that_waits_for_its_next_item_can_be_stopped_and_lets_others_in(one_place):  # noqa: ARG001
    slow, quick = Runner(), Runner()
    slow.interval = 3600.0
    slow.start(iter(range(100)))
    wait_until(lambda: slow.latest == 0)
    quick.start(iter(range(5)))
    wait_until(lambda: quick.ended)
    slow.stop()
    assert slow.ended
