"""What each act of a user says and leaves, without threads, so that every outcome is certain."""

import io
from dataclasses import replace

import numpy as np
import pytest

from hidviz import Couplings, Experiment, Gauge, load_bundle, save_bundle
from hidviz.evaluation import flip_half
from hidviz.experiments import Frame, Progress, iter_run
from hidviz.network import flip, regauge, swap
from hidviz.network.couplings import BLOCKS
from hidviz.ui.state.session import Session
from hidviz.ui.state.speeds import FASTEST

TINY = Experiment(n_visible=3, n_hidden=2, n_steps=200, n_held_out=0, max_steps=6)
BY_HALVES = replace(TINY, model="stochastic", learner="mean-field")


def rested(session):
    """The session after all that was asked for has been made."""
    while session.poll(60.0) or session._runner.running:
        pass
    return session


@pytest.fixture
def session():
    return rested(Session(TINY, threads=False))


@pytest.fixture
def halved():
    return rested(Session(BY_HALVES, threads=False))


def at(session):
    return session.frame.snapshot.step


def test_a_new_session_is_at_step_0_and_nothing_was_done(session):
    assert (at(session), session.event, session.problem, session.marks, session.n_undo) == (0, "", "", (), (0, 0))
    assert (session.running, session.step_by_step, session.finished, session.halves) == (False,) * 4
    assert (session.speed, session.awaiting, session.failure) == (FASTEST, False, None)
    assert session.stirred, "without threads there is always work to do"
    assert not session.poll(60.0), "nothing has changed"
    assert session.data is session.frame.data


def test_a_finished_run_may_be_shown_at_once():
    frame = [item for item in iter_run(TINY) if isinstance(item, Frame)][-1]
    session = Session(TINY, frame, threads=False)
    assert (session.frame, session.finished, session.running) == (frame, True, False)
    assert not session.poll(60.0)


def test_a_run_goes_on_until_it_is_paused_or_has_ended(session):
    session.run()
    assert (session.event, session.running) == ("Running.", True)
    session.poll(0.0)
    assert (at(session), session.running, session.finished) == (1, True, False)
    session.pause()
    assert (session.event, session.running) == ("Paused.", False)
    assert at(rested(session)) == 1
    session.run()
    rested(session)
    assert (at(session), session.finished, session.running) == (6, True, False)
    assert session.event == "Finished: 6 steps made."
    session.step()
    assert session.event == "This run has ended: rewind it, or take a new start."
    assert at(rested(session)) == 6


def test_a_step_is_one_step_and_says_from_where(session):
    for number in (0, 1):
        session.step()
        assert session.event == f"One step from step {number}."
        assert at(rested(session)) == number + 1
        assert not session.running


def test_steps_are_looked_at_one_by_one_from_a_step_to_the_next_run(session):
    for act in (session.run, session.new_start, session.new_data):
        session.step()
        assert session.step_by_step
        rested(session)
        assert session.step_by_step
        act()
        assert not session.step_by_step
        session.pause()
        assert not session.step_by_step
        session.rewind()
        rested(session)
    session.step()
    session.rewind()
    assert session.step_by_step, "a rewind is no run"
    session.speed = "slow"
    session.run()
    assert session.step_by_step


def test_each_way_to_begin_anew_says_so(session):
    data = session.data
    session.step()
    rested(session).rewind()
    assert session.event == "Rewound to the same start on the same data."
    assert (at(rested(session)), session.data is data) == (0, True)
    session.new_start()
    assert session.event == "New start, number 2, on the same data."
    assert session.running
    assert rested(session).frame.experiment == replace(TINY, start_index=2)
    assert session.data is data
    session.new_data()
    assert session.event == "New true network and new data from seed 2."
    assert session.data is None, "those that are wanted are not there yet"
    assert rested(session).frame.experiment == replace(TINY, start_index=2, seed=2)
    session.run_to(3)
    assert at(rested(session)) == 3
    assert not session.finished


def test_a_knob_that_is_turned_keeps_a_run_running_or_paused(session):
    before = session.frame
    session.change(seed=TINY.seed)
    assert (session.frame, session.awaiting, session.marks) == (before, False, ())
    for going in (True, False):
        session.run() if going else session.pause()
        session.poll(0.0)
        session.change(penalty=0.01 + going)
        assert session.running is going
        assert not session.awaiting
        assert session.marks[-1] == (at(session), "settings changed")
        session.change(seed=5 + going)
        assert (session.running, session.awaiting) == (going, True)
        while session.awaiting:
            session.poll(0.0)
        assert session.running is going
        assert session.marks == ()


def test_another_gauge_says_what_it_did(session):
    session.step()
    rested(session)
    session.flip(1)
    assert session.event == "Hidden unit 2 flipped: the cost stays, the couplings change sign."
    session.swap(0, 1)
    assert session.event == "Hidden units 1 and 2 swapped: the cost stays."
    session.apply(Gauge([1, 0], [1, -1]), "another")
    assert session.event == "another"
    assert session.marks == (
        (1, "hidden 2 flipped"), (1, "hidden 1 and 2 swapped"), (1, "another equivalent model")
    )  # fmt: skip
    assert session.n_undo == (3, 0)
    session.undo()
    assert (session.event, session.marks[-1], session.n_undo) == ("Undone.", (1, "undo or redo"), (2, 1))
    session.redo()
    assert (session.event, session.n_undo) == ("Redone.", (3, 0))
    session.redo()
    assert session.event == "There is nothing to redo."


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.flip(2),
        lambda s: s.flip(-1),
        lambda s: s.swap(0, 0),
        lambda s: s.swap(0, 2),
        lambda s: s.swap(2, 0),
        lambda s: s.apply(Gauge([0], [1]), "another"),
        lambda s: s.break_flip(2, "K"),
    ],
)
def test_units_that_there_are_not_change_nothing(session, act):
    before = session.frame
    act(session)
    assert (session.frame, session.event, session.marks, session.n_undo) == (before, "", (), (0, 0))


def test_before_anything_is_shown_no_act_on_it_does_anything():
    session = Session(TINY, threads=False)
    for act in (
        lambda: session.flip(0),
        lambda: session.set_coupling("J", 0, 0, 1.0),
        lambda: session.break_flip(0, "K"),
    ):
        act()
    assert (session.frame, session.event, session.n_undo) == (None, "", (0, 0))
    session.undo()
    assert session.event == "There is nothing to undo."
    assert (session.finished, session.data) == (False, None)
    rested(session)
    assert at(session) == 0


@pytest.mark.parametrize("running", [True, False])
def test_an_edit_tells_by_how_much_the_cost_changed_and_leaves_a_run_as_it_was(session, running):
    if running:
        session.run()
    before = session.frame
    session.set_coupling("K", 1, 0, -100.0)
    assert session.event == "K 2, 1 set to -100"
    assert session.marks == ((0, "K 2, 1 set to -100"),)
    assert session.running is running
    session.poll(0.0)
    change = session.frame.snapshot.cost - before.snapshot.cost
    assert change > 1.0
    assert session.event == f"K 2, 1 set to -100: the cost changed by {change:+.4f} nats per bin."
    assert session.frame.snapshot.couplings.K[1, 0] == -100.0
    assert session.n_undo == (1, 0)
    session.pause()
    session.break_flip(1, "L")
    assert session.event == "Only L of hidden unit 2 flipped, which is not a symmetry"
    for value in (100.5, np.nan):
        with pytest.raises(ValueError, match=f"must lie between ±100, got {value}"):
            session.set_coupling("J", 0, 0, value)


# Before the frame of an edit has come, which takes a `poll`


def couplings_after(frame, *edits):
    """Those of a frame with some of them set: block, row, column, value."""
    blocks = {block: getattr(frame.snapshot.couplings, block).copy() for block in BLOCKS}
    for block, row, column, value in edits:
        blocks[block][row, column] = value
    return Couplings(**blocks)


ONE, OTHER = ("K", 1, 0, -2.0), ("J", 0, 2, 1.5)


def test_two_edits_are_both_made_and_undone_one_by_one(session):
    first = session.frame
    session.set_coupling(*ONE)
    session.set_coupling(*OTHER)
    both = rested(session).frame
    assert both.snapshot.couplings == couplings_after(first, ONE, OTHER)
    assert session.event.startswith("J 1, 3 set to 1.5: the cost changed by ")
    assert [what for _, what in session.marks] == ["K 2, 1 set to -2", "J 1, 3 set to 1.5"]
    assert session.n_undo == (2, 0)
    session.undo()
    assert session.frame.snapshot.couplings == couplings_after(first, ONE)
    session.undo()
    assert session.frame is first


@pytest.mark.parametrize(
    ("act", "gauge"),
    [
        (lambda s: s.flip(0), Gauge([0, 1], [-1, 1])),
        (lambda s: s.swap(0, 1), Gauge([1, 0], [1, 1])),
        (lambda s: s.apply(Gauge([1, 0], [-1, 1]), "another"), Gauge([1, 0], [-1, 1])),
    ],
)
def test_another_gauge_is_one_of_the_edited_model(session, act, gauge):
    first = session.frame
    session.set_coupling(*ONE)
    act(session)
    rested(session)
    assert session.frame.snapshot.couplings == regauge(couplings_after(first, ONE), gauge)
    assert session.n_undo == (2, 0)


def test_what_is_held_is_done_in_order_also_after_edits_that_were_held(session):
    first = session.frame
    session.set_coupling(*ONE)
    session.flip(0)
    session.set_coupling(*OTHER)
    session.swap(0, 1)
    session.break_flip(1, "L")
    rested(session)
    flipped = regauge(couplings_after(first, ONE), flip(2, 0))
    swapped = regauge(couplings_after(replace(first, snapshot=replace(first.snapshot, couplings=flipped)), OTHER),
                      swap(2, 0, 1))  # fmt: skip
    assert session.frame.snapshot.couplings == flip_half(swapped, 1, "L")
    assert session.n_undo == (5, 0)


def test_an_edit_is_undone_and_done_again_before_it_has_been_seen(session):
    first = session.frame
    session.set_coupling(*ONE)
    session.undo()
    assert rested(session).frame is first
    assert session.n_undo == (0, 1)
    session.redo()
    assert session.frame.snapshot.couplings == couplings_after(first, ONE)
    session.set_coupling(*OTHER)
    session.undo()
    session.redo()
    rested(session)
    assert (session.event, session.n_undo) == ("Redone.", (2, 0))
    assert session.frame.snapshot.couplings == couplings_after(first, ONE, OTHER)


@pytest.mark.parametrize("running", [True, False])
def test_a_pause_lets_the_edited_frame_through_and_no_other(session, running):
    first = session.frame
    if running:
        session.run()
    session.set_coupling(*ONE)
    session.pause()
    session.pause()
    assert not session.running
    rested(session)
    assert (at(session), session.frame.snapshot.couplings) == (0, couplings_after(first, ONE))
    assert session.event.startswith("K 2, 1 set to -2: the cost changed by ")


def test_a_pause_stops_a_run_that_was_held(session):
    session.set_coupling(*ONE)
    session.flip(0)
    session.run()
    session.pause()
    assert at(rested(session)) == 0
    assert not session.running
    session.set_coupling(*OTHER)
    session.flip(0)
    session.run()
    assert at(rested(session)) == 6


def test_a_converged_run_that_was_edited_goes_on_from_there(session):
    converged = replace(session.frame, snapshot=replace(session.frame.snapshot, state="converged"))
    for act, going in ((session.step, False), (session.run, True)):
        session.load(converged)
        rested(session)
        session.set_coupling(*ONE)
        act()
        assert session.running is going
        session.poll(0.0)
        assert (at(session), session.frame.snapshot.couplings) == (0, couplings_after(converged, ONE))
        session.poll(0.0)
        assert at(session) == 1


@pytest.mark.parametrize("running", [True, False])
def test_steps_after_an_edit_start_from_it(halved, running):
    first = halved.frame
    if running:
        halved.run()
    halved.set_coupling(*ONE)
    halved.half_step()
    halved.poll(0.0)
    assert halved.frame.snapshot.couplings == couplings_after(first, ONE)
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase) == (1, "M")
    halved.set_coupling(*OTHER)
    halved.step()
    halved.step()
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase, halved.halves) == (3, "E", False)


def test_slow_motion_begins_at_the_edited_frame(halved):
    first = halved.frame
    halved.run()
    halved.set_coupling(*ONE)
    halved.speed = "slow"
    halved.poll(0.0)
    assert halved.frame.snapshot.couplings == couplings_after(first, ONE)
    assert (halved.halves, halved.running) == (True, True)
    halved.pause()
    halved.set_coupling(*OTHER)
    halved.run()
    halved.poll(0.0)
    assert halved.frame.snapshot.couplings == couplings_after(first, ONE, OTHER)
    assert halved.halves


@pytest.mark.parametrize(
    "act",
    [
        lambda s: s.rewind(), lambda s: s.new_start(), lambda s: s.run_to(1), lambda s: s.change(seed=5),
        lambda s: s.load(s.frame), lambda s: s.reset(TINY, s.frame),
    ],
)  # fmt: skip
def test_another_run_drops_what_is_held(session, act):
    step_0 = session.frame.snapshot.couplings
    session.set_coupling(*ONE)
    session.flip(0)
    session.change(rate=0.5)
    session.set_coupling(*OTHER)
    act(session)
    wanted = session.wanted
    rested(session)
    assert "changed by" not in session.event
    assert "flipped" not in session.event
    assert session.wanted == session.frame.experiment == wanted
    if (wanted.seed, wanted.start_index) == (TINY.seed, TINY.start_index) and at(session) == 0:
        assert session.frame.snapshot.couplings == step_0


def test_knobs_that_act_at_once_are_turned_at_the_edited_frame_and_shown_before(session):
    first = session.frame
    session.set_coupling(*ONE)
    session.change(penalty=0.5)
    session.change(rate=0.25)
    with pytest.raises(ValueError, match="penalty must"):
        session.change(penalty=-1.0)
    assert session.wanted == replace(TINY, penalty=0.5, rate=0.25)
    session.set_coupling(*OTHER)
    session.change(rate=0.125)
    assert session.wanted == replace(TINY, penalty=0.5, rate=0.125)
    session.poll(0.0)
    assert session.wanted == replace(TINY, penalty=0.5, rate=0.125)
    rested(session)
    assert session.wanted == session.frame.experiment == replace(TINY, penalty=0.5, rate=0.125)
    assert session.frame.snapshot.couplings == couplings_after(first, ONE, OTHER)
    session.undo()
    assert session.wanted == replace(TINY, penalty=0.5, rate=0.25)


def test_an_edit_that_fails_holds_nothing_any_more(session):
    first = session.frame
    session.edit(Couplings(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1)), np.zeros((1, 1))), "a wrong one")
    session.flip(0)
    rested(session)
    assert session.problem
    assert session.frame is first
    session.flip(1)
    assert session.event.startswith("Hidden unit 2 flipped")
    assert session.frame.snapshot.couplings == regauge(first.snapshot.couplings, flip(2, 1))


def test_a_run_made_elsewhere_is_loaded_or_opened(session):
    frame = [item for item in iter_run(replace(TINY, start_index=4)) if isinstance(item, Frame)][2]
    session.run()
    session.load(frame)
    assert (session.frame, session.running, session.n_undo) == (frame, False, (1, 0))
    assert session.event == "Loaded the run from start 4, at step 2."
    file = io.BytesIO()
    save_bundle(file, frame)
    file.seek(0)
    session.open(load_bundle(file))
    assert (session.event, session.running, session.awaiting) == ("Opened a run from a file.", False, True)
    assert (at(rested(session)), session.wanted, session.n_undo) == (2, frame.experiment, (0, 0))


def test_half_steps_say_which_half_they_are(halved):
    halved.half_step()
    assert halved.event == "M-step: the couplings are updated, ⟨σ⟩ stays."
    assert halved.step_by_step
    assert halved.halves
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase) == (1, "M")
    halved.half_step()
    assert halved.event == "E-step: ⟨σ⟩ is updated given the data."
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase) == (1, "E")
    halved.step()
    assert not halved.halves
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase) == (2, "E")
    halved.half_step()
    rested(halved).run()
    assert not halved.halves
    rested(halved)
    assert (at(halved), halved.frame.snapshot.phase) == (6, "E")
    halved.half_step()
    assert halved.event == "This run has ended: rewind it, or take a new start."


def test_slow_motion_goes_by_halves_where_there_are_any(halved, session):
    for each, by_halves in ((halved, True), (session, False)):
        each.run()
        each.poll(0.0)
        each.speed = "slow"
        assert each._runner.interval > 0.0
        assert each.halves is by_halves
        each.speed = FASTEST
        assert each._runner.interval == 0.0
        assert not each.halves
        assert each.running
    halved.pause()
    halved.speed = "slow"
    assert not halved.halves, "a run that rests keeps its steps"
    halved.run()
    assert halved.halves
    halved.reset(BY_HALVES)
    assert (halved.speed, halved.halves, halved._runner.interval) == (FASTEST, False, 0.0)


def test_how_far_a_run_has_come_is_told_until_a_frame_comes(session):
    frame, under_way = session.frame, Progress("simulating", 0.5)
    session._start(iter([under_way, frame]), going=True, steps=1)
    assert session.poll(0.0)
    assert session.progress is under_way
    assert session.poll(0.0)
    assert (session.progress, session.frame) == (None, frame)


@pytest.mark.parametrize(("error", "said"), [(ValueError("the reason"), "the reason"), (ValueError(), "ValueError()")])
def test_what_failed_is_said_and_a_run_begins_anew(session, error, said):
    def failing():
        yield from ()
        raise error

    session.run()
    session._start(failing(), going=True, steps=1)
    assert session.poll(60.0)
    assert (session.problem, session.failure, session.running) == (said, error, False)
    session.step()
    assert (session.problem, at(rested(session))) == ("", 1)
