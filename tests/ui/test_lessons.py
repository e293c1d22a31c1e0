"""Every lesson can be completed by doing what its text says, and only so; back restores bit for bit."""

import re
import time

import pytest

from hidviz.background import Runner
from hidviz.experiments import Experiment
from hidviz.ui.state.lesson_run import LessonRun
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_scan import Plan
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import LANGUAGES, _, speaking
from hidviz.ui.text.lesson import numbers
from hidviz.ui.text.lessons import LESSONS
from tests.catalogue import found

SECONDS = 120


class Hand:
    """Does to a session what a lesson asks for, and lets its runs come to their end."""

    def __init__(self, key):
        self.session = Session(LESSONS[key].knobs)
        self.aligned, self.own = False, MyData()
        self.lesson = LessonRun(self.session, lambda: self.aligned, self.own)
        self.lesson.begin(key)
        self.settle()

    def settle(self):
        deadline = time.monotonic() + SECONDS
        while self.lesson.words and (self.session.poll() or self.session.awaiting or self.session._runner.running):
            assert time.monotonic() < deadline, "the run does not end"
            time.sleep(0.005)
        while self.own.poll() or self.own.reading or self.own.scanning or self.own.checking:
            assert time.monotonic() < deadline, "the work on the recording does not end"
            time.sleep(0.01)
        assert self.lesson.words

    def act(self, name, *arguments, **knobs):
        getattr(self.session, name)(*arguments, **knobs)
        self.settle()

    def on_own(self, name, *arguments):
        getattr(self.own, name)(*arguments)
        self.settle()

    def close(self):
        self.session.close()
        self.own.close()

    def align(self, value):
        self.aligned = value


def flipped(hand):
    return int(re.search(r"\d+", numbers(hand.lesson.seen)["flips"]).group()) - 1


DOING = {
    "hidden-twin": (
        lambda hand: hand.act("run"),
        lambda hand: hand.lesson.choose("No"),
        lambda hand: hand.act("flip", flipped(hand)),
        lambda hand: hand.lesson.choose("Yes"),
        lambda hand: hand.act("break_flip", 0, "K"),
        lambda hand: hand.act("undo"),
    ),
    "why-the-error": (
        lambda hand: hand.align(True),
        lambda hand: hand.lesson.choose("No"),
        lambda hand: (hand.align(False), hand.act("new_start")),
    ),
    "how-much-data": (
        lambda hand: hand.act("run"),
        lambda hand: hand.lesson.choose("About half"),
        lambda hand: (hand.act("change", n_steps=8_000), hand.act("run")),
    ),
    "mean-field": (
        lambda hand: hand.act("run"),
        lambda hand: hand.lesson.choose("Yes"),
        lambda hand: (hand.act("change", learner="mean-field"), hand.act("run")),
    ),
    "impossible": (
        lambda hand: hand.lesson.choose("Yes"),
        lambda hand: hand.act("run"),
        lambda hand: hand.lesson.choose("No"),
        lambda hand: (hand.act("change", learner="exact"), hand.act("run")),
    ),
    "own-spikes": (
        lambda hand: hand.on_own("try_ours"),
        lambda hand: hand.lesson.choose("None"),
        lambda hand: hand.on_own("scan", Plan(most=1, starts=1)),
        lambda hand: hand.lesson.choose("A missed cell"),
        lambda hand: hand.on_own("check", hand.own.scanned.table.chosen, ["u05"]),
    ),
}


def errors_of(key, knob, values, column):
    """For runs of a lesson at values of a knob: the end of a column of the trace, and the lesson's last numbers."""
    hand = Hand(key)
    try:
        errors = []
        for value in values:
            hand.act("change", **{knob: value})
            hand.act("run")
            errors.append(float(hand.session.frame.trace[column][-1]))
        return errors, numbers(hand.lesson.seen)
    finally:
        hand.close()


@pytest.mark.slow
@pytest.mark.parametrize("key", LESSONS)
def test_a_lesson_is_completed_by_doing_what_it_says_and_only_so(key):
    hand = Hand(key)
    lesson = hand.lesson
    try:
        for place, do in enumerate(DOING[key]):
            assert lesson.place == place
            assert not lesson.done
            lesson.go_on()
            assert lesson.place == place, "a step that has not been done was left behind"
            before = lesson.words
            do(hand)
            assert lesson.done is True, before
            lesson.go_on()
        assert lesson.is_last
        assert lesson.done
        assert "{" not in lesson.words
        assert "nan" not in lesson.words
    finally:
        hand.close()


@pytest.mark.slow
def test_back_restores_the_run_bit_for_bit():
    hand = Hand("hidden-twin")
    lesson, session = hand.lesson, hand.session
    try:
        shown = session.frame
        hand.act("run")
        lesson.go_on()
        ended = session.frame
        lesson.choose("No")
        lesson.go_on()
        asked = lesson.words
        hand.act("flip", flipped(hand))
        assert lesson.words == asked, "what is asked for stays when it has been done"
        lesson.go_back()
        assert (lesson.place, lesson.answer) == (1, "No")
        assert session.frame is ended
        lesson.go_back()
        assert session.frame is shown
        assert session.frame.snapshot.couplings == shown.snapshot.couplings
        lesson.go_back()
        assert lesson.place == 0
    finally:
        hand.close()


SMALL = Experiment(n_visible=3, n_hidden=2, n_steps=200, n_held_out=0)


@pytest.fixture
def second():
    """The second step of a lesson, on a session that works in `poll` only, at step 0 of a small run."""
    session, own = Session(SMALL, threads=False), MyData()
    while session.poll(60.0):
        pass
    lesson = LessonRun(session, lambda: False, own)
    lesson.key = "hidden-twin"
    assert lesson.seen
    lesson.place, lesson._entered = 1, lesson._entered * 2
    yield lesson
    own.close()


@pytest.mark.parametrize("looked", [True, False])
@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.rewind(), lambda s: s.change(n_visible=4), lambda s: s.new_start(), lambda s: s.run(),
        lambda s: s.step(), lambda s: s.set_coupling("J", 0, 1, 1.0),
    ],
)  # fmt: skip
def test_back_gives_up_what_is_under_way_from_the_very_frame(second, act, looked):
    session = second._session
    shown = session.frame
    act(session)
    if not looked:
        session._runner.pump(0.0)
    assert session.frame is shown
    second.go_back()
    while session.poll(60.0):
        pass
    assert (session.frame, session.awaiting, session.running) == (shown, False, False)
    assert session.wanted == SMALL


def test_back_changes_nothing_where_all_rests(second):
    session = second._session
    second.go_back()
    assert (session.event, session.n_undo, session.poll(60.0)) == ("", (0, 0), False)


def test_back_gives_up_what_is_being_found_in_a_recording(second):
    own = second._own
    for looked in (True, False):
        second.place = 1
        own._reader = Runner(threads=False)
        own.poll()
        own.try_ours()
        if not looked:
            own._reader.pump(60.0)
        assert own.looked is None
        second.go_back()
        assert not own.reading
        assert not own.poll()
        assert own.looked is None


@pytest.mark.slow
def test_an_answer_is_given_once_and_told_of():
    hand = Hand("hidden-twin")
    try:
        hand.act("run")
        hand.lesson.go_on()
        asked = hand.lesson.words
        hand.lesson.choose("perhaps")
        assert hand.lesson.answer == ""
        hand.lesson.choose("Yes")
        hand.lesson.choose("No")
        assert hand.lesson.answer == "Yes"
        assert asked.endswith("Was this a good inference?")
        assert hand.lesson.words.startswith("Was this a good inference?")
        assert len(hand.lesson.words) > len(asked)
    finally:
        hand.close()


@pytest.mark.slow
def test_other_knobs_than_those_asked_for_do_not_count():
    hand = Hand("how-much-data")
    try:
        hand.act("run")
        hand.lesson.go_on()
        hand.lesson.choose("The same")
        hand.lesson.go_on()
        hand.act("change", n_steps=4_000)
        hand.act("run")
        assert not hand.lesson.done
    finally:
        hand.close()


@pytest.mark.slow
def test_the_square_of_the_error_falls_as_one_over_the_length():
    """What the lesson says will happen does: four times as many bins, half the error, within a quarter."""
    (short, long), _ = errors_of("how-much-data", "n_steps", (2_000, 8_000), "aligned_J")
    assert long / short == pytest.approx(0.5, rel=0.25)


@pytest.mark.slow
def test_mean_field_is_further_from_the_truth_than_exact_in_its_lesson():
    (exact, mean_field), _ = errors_of("mean-field", "learner", ("exact", "mean-field"), "aligned_K")
    assert mean_field > exact


@pytest.mark.slow
def test_sampling_and_the_exact_sum_find_the_couplings_among_hidden_units():
    """What the lesson says of M: both find it within a fifth of its size, and agree to a few standard errors."""
    errors, end = errors_of("impossible", "learner", ("gibbs", "exact"), "aligned_M")
    assert max(errors) < 0.2 * end["true_M"]
    assert abs(errors[0] - errors[1]) < 0.05 * end["true_M"]


@pytest.mark.slow
def test_a_recording_of_before_does_not_count_and_back_brings_back_what_was_known_of_it():
    hand = Hand("hidden-twin")
    lesson, own = hand.lesson, hand.own
    try:
        hand.on_own("try_ours")
        before = own.found
        lesson.begin("own-spikes")
        assert not lesson.done, "ours was read before the step began"
        hand.on_own("try_ours")
        assert lesson.done
        lesson.go_on()
        lesson.choose("One")
        lesson.go_on()
        read = own.found
        hand.on_own("scan", Plan(most=1, starts=1))
        hand.on_own("bin_by", 0.05)
        assert not lesson.done, "the scan is of other bins than those that are shown"
        lesson.go_back()
        assert own.found == read
        assert own.width == 0.02
        assert not own.poll()
        lesson.go_back()
        assert own.found == before
        hand.on_own("bin_by", 0.05)
        assert own.scanned is None, "what was given back does not come again"
    finally:
        hand.close()


CONTROLS = {"Flip K only": lambda: _("Flip {block} only", block="K")}  # those whose name is put together


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("key", LESSONS)
def test_what_a_lesson_tells_to_press_is_called_so_on_the_page(key, name):
    known = {text for _file, text in found()}
    for step in LESSONS[key].steps:
        with speaking(name):
            said = _(step.say)
            for control in re.findall(r"\*\*(.+?)\*\*", step.say):
                assert control in CONTROLS or control in known, control
                there = CONTROLS[control]() if control in CONTROLS else _(control)
                assert f"**{there}**" in said, (control, said)
            assert set(step.look) <= known


def test_a_step_sets_the_knobs_that_it_names():
    hand = Hand("how-much-data")
    lesson = hand.lesson
    try:
        lesson.set_knobs()
        assert hand.session.wanted == LESSONS["how-much-data"].knobs, "the first step names none"
        for do in DOING["how-much-data"][:2]:
            do(hand)
            lesson.go_on()
        lesson.set_knobs()
        hand.settle()
        hand.act("run")
        assert lesson.done
    finally:
        hand.close()


def test_lessons_follow_each_other_to_the_last():
    session = Session(Experiment())
    lesson = LessonRun(session, lambda: False, MyData())
    keys = list(LESSONS)
    try:
        assert lesson.following == ""
        for key, after in zip(keys, [*keys[1:], ""], strict=True):
            lesson.key = key
            assert lesson.following == after
    finally:
        session.close()
