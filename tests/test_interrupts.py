"""Ctrl-C while a figure is made: heard at the next checkpoint, never in between, and as ever afterwards."""

import signal
import threading

import pytest

from hidviz.background import checkpoint
from hidviz.cli.interrupts import interrupts_at_checkpoints


@pytest.fixture(autouse=True)
def heard():
    """Whoever runs the tests may have been started to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def under_interrupts(*acts):
    """Do this where interrupts wait, until one is heard."""
    with pytest.raises(KeyboardInterrupt), interrupts_at_checkpoints():
        [act() for act in acts]


def press():
    signal.raise_signal(signal.SIGINT)


def test_an_interrupt_waits_for_the_next_checkpoint():
    reached = []
    under_interrupts(checkpoint, press, lambda: reached.append("before"), checkpoint, lambda: reached.append("after"))
    assert reached == ["before"]


def test_the_second_one_does_not_wait():
    reached = []
    under_interrupts(press, lambda: reached.append("first"), press, lambda: reached.append("second"))
    assert reached == ["first"]


def test_before_and_after_it_is_as_ever():
    before = signal.getsignal(signal.SIGINT)
    with interrupts_at_checkpoints():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    checkpoint()


def test_a_thread_of_its_own_leaves_signals_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def work():
        with interrupts_at_checkpoints():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_what_was_started_to_ignore_it_does_so():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_at_checkpoints():
        press()
        checkpoint()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
