"""Blocks of one calculation on several cores: in order, to the same last digit, shared, and given up whole."""

import threading
import time

import numpy as np
import pytest

from hidviz import random_couplings, simulate
from hidviz.background import CORES, in_order, paced, shared_cores
from hidviz.background.executors import processes
from hidviz.learners import LEARNERS


@pytest.fixture
def cores(monkeypatch):
    """A function that says how many cores there are to share."""
    return lambda n: monkeypatch.setenv(CORES, str(n))


def threads_of(n):
    """The threads that n slow blocks were worked on in."""
    return set(in_order(lambda _: time.sleep(0.01) or threading.get_ident(), range(n)))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_results_come_in_the_order_of_the_blocks(cores, n):
    cores(n)
    assert list(in_order(lambda k: time.sleep(0.002 * (k % 3)) or k, range(20))) == list(range(20))


def test_with_one_core_nothing_leaves_the_thread(cores):
    cores(1)
    assert threads_of(4) == {threading.get_ident()}


def test_several_cores_work_and_this_thread_waits(cores):
    cores(3)
    used = threads_of(12)
    assert 1 < len(used) <= 3
    assert threading.get_ident() not in used


def test_one_core_is_left_to_whoever_waits(monkeypatch):
    monkeypatch.delenv(CORES, raising=False)
    for there, shared in ((1, 1), (2, 1), (8, 7), (None, 1)):
        monkeypatch.setattr("os.cpu_count", lambda there=there: there)
        assert shared_cores() == shared


@pytest.mark.parametrize("told", ["0", "two", "-1", ""])
def test_a_number_of_cores_that_is_none_is_refused(cores, told):
    cores(told)
    with pytest.raises(ValueError, match="HIDVIZ_CORES must be a whole number"):
        shared_cores()


def test_a_calculation_that_finds_no_second_core_goes_by_itself(cores):
    cores(2)
    first = in_order(lambda k: k, range(3))
    next(first)  # under way
    assert threads_of(4) == {threading.get_ident()}
    assert list(first) == [1, 2]
    assert threading.get_ident() not in threads_of(4), "the cores are free again"


@pytest.mark.parametrize("n", [1, 3])
def test_what_fails_in_a_block_is_raised_here_and_nothing_goes_on(cores, n):
    cores(n)
    begun = []

    def work(k):
        begun.append(k)
        time.sleep(0.002)
        if k == 2:
            raise ZeroDivisionError("block 2")

    with pytest.raises(ZeroDivisionError, match="block 2"):
        list(in_order(work, range(200)))
    there = len(begun)
    time.sleep(0.05)
    assert len(begun) == there < 30


@pytest.mark.parametrize("n", [1, 3])
def test_a_stop_is_heard_between_blocks(cores, n):
    cores(n)
    done = []

    def leave():
        if len(done) > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), paced(leave):
        for _ in in_order(lambda k: done.append(k) or time.sleep(0.002), range(1000)):
            pass
    assert len(done) < 40


@pytest.mark.parametrize(
    ("name", "hidden_hidden"),
    [
        ("backprop", False),
        ("mean-field", False),
        ("mean-field", True),
        ("mean-field-gaussian", False),
        ("mean-field-same-time", False),
        ("mean-field-second-order", True),
        ("exact", False),
    ],
)
def test_the_same_numbers_to_the_last_digit_however_many_cores(cores, name, hidden_hidden):
    truth = random_couplings(30, 4, np.random.default_rng(0), variance=0.5)
    recording = simulate(truth, 8_000, np.random.default_rng(1)).recording  # some blocks of each
    answers = []
    for n in (1, 2, 3):
        cores(n)
        learner = LEARNERS[name].prepare(recording, n_hidden=4, hidden_hidden=hidden_hidden)
        estimate = learner.evaluate(truth, None)
        answers.append([np.float64(estimate.objective), estimate.beliefs.hidden, *vars(estimate.gradient).values()])
    for other in answers[1:]:
        for one, same in zip(answers[0], other, strict=True):
            assert np.array_equal(one, same)


def cores_of_a_worker():
    return shared_cores()


def test_a_worker_process_has_its_own_core_alone(cores):
    cores(8)
    with processes(1) as crew:
        assert crew.executor.submit(cores_of_a_worker).result() == 1
