"""What a person does, without a browser: the session and its worker."""

import io
import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from hidviz import Couplings, Experiment, Gauge, load_bundle, save_bundle
from hidviz.background import RUN
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_run
from hidviz.learners import Infeasible
from hidviz.network.couplings import BLOCKS
from hidviz.ui.state.session import Session, depth_of
from hidviz.ui.state.undo import DEPTH

SMALL = Experiment(n_visible=6, n_hidden=2, n_steps=400, n_held_out=200)


@pytest.fixture
def session():
    opened = Session(SMALL)
    settle(opened)
    yield opened
    opened.close()


def settle(session, condition=lambda s: not s.running, seconds=60):
    """Poll as the page does, until the condition holds."""
    deadline = time.monotonic() + seconds
    while True:
        session.poll()
        if session.frame is not None and session.progress is None and condition(session):
            return session.frame
        assert time.monotonic() < deadline, (session.event, session.problem)
        time.sleep(0.005)


def step(session, n):
    for _ in range(n):
        before = session.frame.snapshot.step
        session.step()
        settle(session, lambda s, before=before: s.frame.snapshot.step == before + 1 and not s.running)
    return session.frame


def test_it_opens_at_step_0_and_paused(session):
    assert session.frame.snapshot.step == 0
    assert not session.running


def test_rewind_and_steps_repeat_bit_by_bit(session):
    first = step(session, 5)
    session.rewind()
    settle(session, lambda s: s.frame.snapshot.step == 0 and not s.running)
    again = step(session, 5)
    assert again.snapshot.couplings == first.snapshot.couplings
    for name in first.trace.names:
        assert np.array_equal(again.trace[name], first.trace[name])


def test_a_press_while_step_0_is_being_made_is_not_lost():
    session = Session(replace(SMALL, n_steps=100_000))
    try:
        assert session.frame is None
        session.step()
        session.step()
        settle(session, lambda s: s.frame.snapshot.step == 2 and not s.running)
        for before in (session.run, session.pause, session.rewind):
            session.rewind()
            before()
            session.step()
            settle(session, lambda s: s.frame.snapshot.step == 1 and not s.running)
        session.rewind()
        session.run()
        settle(session, lambda s: s.frame.snapshot.step > 1 and s.running)
    finally:
        session.close()


def test_a_step_right_after_the_rewind_of_a_finished_run_is_made(session):
    session.run()
    settle(session, lambda s: s.finished)
    session.rewind()
    session.step()
    settle(session, lambda s: s.frame.snapshot.step == 1 and not s.running)


def test_every_press_of_step_counts_however_seldom_somebody_looks(session):
    for before in (session.rewind, session.new_data):
        before()
        session.pause()
        for _ in range(3):
            session.step()
            deadline = time.monotonic() + 60
            while session._runner.running:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        assert settle(session, lambda s: not s.awaiting).snapshot.step == 3


def test_a_run_to_a_step_rests_there_and_is_the_run_itself(session):
    step(session, 2)
    session.run_to(7)
    frame = settle(session, lambda s: s.frame.snapshot.step == 7 and not s.running)
    assert frame.trace["cost"].tolist() == [item.cost for item in itertools.islice(SMALL.run(), 8)]
    assert not session.problem


def test_the_speed_of_a_run_is_told_while_it_runs(session):
    session.run()
    settle(session, lambda s: s.steps_per_second > 0.0)
    session.pause()
    assert session.steps_per_second == 0.0


def test_why_a_run_has_ended_is_said_once_and_until_something_else_is_done():
    session = Session(replace(SMALL, max_steps=2))
    try:
        settle(session)
        session.run()
        settle(session, lambda s: s.finished)
        assert session.event == "Finished: 2 steps made."
        session.flip(0)
        settle(session, lambda s: not s.awaiting and "2 steps" not in s.event)
        assert "Finished" not in session.event
    finally:
        session.close()


def test_flip_twice_and_undo_are_exact(session):
    before = step(session, 4)
    session.flip(1)
    flipped = settle(session, lambda s: s.frame is not before)
    assert flipped.snapshot.cost == before.snapshot.cost
    assert flipped.trace["aligned_K"][-1] == pytest.approx(before.trace["aligned_K"][-1], abs=1e-9)
    assert flipped.snapshot.couplings != before.snapshot.couplings
    session.flip(1)
    twice = settle(session, lambda s: s.frame is not flipped)
    assert twice.snapshot.couplings == before.snapshot.couplings
    session.undo()
    session.undo()
    assert settle(session) is before


def test_a_run_flipped_on_the_way_costs_the_same(session):
    step(session, 10)
    session.flip(0)
    session.swap(0, 1)
    flipped = step(session, 10).trace["cost"][-10:]
    plain = [item.cost for item in SMALL.run()][11:21]
    assert flipped == pytest.approx(plain, abs=1e-9)


def test_a_broken_flip_raises_the_cost_and_says_so(session):
    before = step(session, 20)
    session.break_flip(0, "K")
    broken = settle(session, lambda s: s.frame is not before and "changed by" in s.event)
    assert broken.snapshot.cost > before.snapshot.cost + 1e-3
    assert broken.snapshot.step == before.snapshot.step
    assert "not a symmetry" in session.event
    session.undo()
    assert settle(session) is before


def test_a_coupling_set_by_hand_stays_until_undone(session):
    before = step(session, 3)
    session.set_coupling("J", 2, 4, 0.75)
    edited = settle(session, lambda s: s.frame is not before)
    expected = {block: getattr(before.snapshot.couplings, block).copy() for block in BLOCKS}
    expected["J"][2, 4] = 0.75
    assert edited.snapshot.couplings == Couplings(**expected)
    assert "J 3, 5 set to 0.75" in session.event
    step(session, 1)
    session.undo()
    assert settle(session, lambda s: s.frame is before) is before
    with pytest.raises(ValueError, match="between ±100"):
        session.set_coupling("J", 0, 0, float("nan"))


def test_undo_gives_back_the_frame_and_its_knobs(session):
    before = step(session, 3)
    session.flip(0)
    session.change(penalty=0.01)
    settle(session)
    assert session.wanted == replace(SMALL, penalty=0.01)
    session.undo()
    assert (session.frame, session.wanted) == (before, SMALL)
    assert step(session, 1).experiment == SMALL
    assert session.frame.snapshot.step == before.snapshot.step + 1


# While new data are being made


def preparing(session):
    """The same session, with much more data on the way than can be made in a moment."""
    session.change(n_visible=5, n_steps=300_000)
    assert session.awaiting
    assert (session.wanted.n_visible, session.wanted.n_steps) == (5, 300_000)
    return session


@pytest.mark.parametrize(
    "act",
    [lambda s: s.flip(0), lambda s: s.swap(0, 1), lambda s: s.apply(Gauge([1, 0], [1, -1]), "another")],
    ids=["flip", "swap", "apply"],
)
def test_another_gauge_leaves_the_new_data_on_their_way(session, act):
    before = session.frame
    act(preparing(session))
    assert session.frame.experiment == before.experiment == SMALL
    assert session.frame.snapshot.couplings != before.snapshot.couplings
    assert session.awaiting
    assert session.wanted.n_visible == 5
    found = settle(session, lambda s: not s.awaiting)
    assert found.experiment == session.wanted == replace(SMALL, n_visible=5, n_steps=300_000)
    assert found.data.recording.n_visible == 5


@pytest.mark.parametrize(
    "act",
    [lambda s: s.set_coupling("J", 0, 1, 0.5), lambda s: s.break_flip(0, "K"), lambda s: s.undo()],
    ids=["set", "break", "undo"],
)
def test_a_decision_for_the_run_shown_brings_its_knobs_back(session, act):
    session.flip(0)
    act(preparing(session))
    assert not session.awaiting
    assert session.wanted == session.frame.experiment == SMALL
    assert settle(session).experiment == SMALL
    assert step(session, 1).experiment == SMALL


def test_a_run_loaded_or_opened_meanwhile_brings_its_own_knobs(session):
    other = replace(SMALL, seed=5, n_visible=4, max_steps=2)
    frame = [item for item in iter_run(other) if isinstance(item, Frame)][-1]
    preparing(session).load(frame)
    assert (session.frame, session.wanted) == (frame, other)
    file = io.BytesIO()
    save_bundle(file, frame)
    file.seek(0)
    preparing(session).open(load_bundle(file))
    assert (session.frame, session.wanted) == (frame, other)
    opened = settle(session, lambda s: not s.awaiting)
    assert opened is not frame
    assert opened.experiment == session.wanted == other


def test_a_run_from_a_file_rests_where_it_was_kept(session):
    file = io.BytesIO()
    save_bundle(file, step(session, 3))
    session.rewind()
    settle(session)
    file.seek(0)
    session.open(load_bundle(file))
    assert not session.running
    assert settle(session, lambda s: not s.awaiting).snapshot.step == 3
    assert not session.running


def test_a_flip_leaves_a_paused_run_paused_and_its_steps_whole():
    session = Session(replace(SMALL, model="stochastic", learner="mean-field"))
    try:
        settle(session)
        session.half_step()
        settle(session, lambda s: s.frame.snapshot.phase == "M" and not s.running)
        session.flip(0)
        assert not session.running
        assert not session.halves
    finally:
        session.close()


def test_half_a_step_of_a_learner_without_an_e_step_is_a_whole_one(session):
    plain = step(session, 1).snapshot
    session.rewind()
    settle(session)
    session.half_step()
    found = settle(session, lambda s: s.frame.snapshot.step == 1 and not s.running)
    assert found.snapshot.couplings == plain.couplings


def test_a_frame_of_another_experiment_is_not_shown_as_this_one(session):
    with pytest.raises(ValueError, match="must belong to the experiment"):
        session.reset(replace(SMALL, seed=9), session.frame)


def test_closing_ends_the_worker():
    before = set(threading.enumerate())
    session = Session(replace(SMALL, n_steps=10_000_000))
    started = set(threading.enumerate()) - before
    assert len(started) == 1
    session.run()
    session.close()
    started.pop().join(60)
    assert not set(threading.enumerate()) - before
    assert not session.running
    assert session.frame is None


def test_undo_is_deep_and_has_an_end(session):
    before = step(session, 1)
    for _ in range(DEPTH + 5):
        session.flip(0)
    for _ in range(DEPTH + 5):
        session.undo()
    settle(session)
    assert session.n_undo[0] == 0
    assert "nothing to undo" in session.event
    session.redo()
    assert session.n_undo == (1, DEPTH - 1) == (1, 49)
    assert session.frame.snapshot.cost == before.snapshot.cost


def test_what_was_undone_comes_back_in_order(session):
    shown = [step(session, 3)]
    for unit in (0, 1, 0):
        session.flip(unit)
        shown.append(settle(session, lambda s: s.frame is not shown[-1]))
    for travel, place in [
        (session.undo, 2),
        (session.undo, 1),
        (session.undo, 0),
        (session.redo, 1),
        (session.redo, 2),
    ]:
        travel()
        assert settle(session) is shown[place]


def test_knobs_act_as_they_say(session):
    data = session.frame.data
    step(session, 3)
    session.change(penalty=0.01)
    now = settle(session)
    assert (now.snapshot.step, now.data) == (3, data)
    session.change(start="truth")
    learning = settle(session, lambda s: s.frame.snapshot.step == 0 and not s.running)
    assert learning.data is data
    assert learning.snapshot.couplings == data.truth
    session.change(n_steps=500)
    longer = settle(session, lambda s: s.frame.data is not data and not s.running)
    assert longer.data.truth == data.truth
    assert longer.data.recording.n_bins == 500


def test_a_knob_out_of_range_changes_nothing(session):
    before = step(session, 2)
    with pytest.raises(ValueError, match="n_visible must lie between 1 and 200, got 0"):
        session.change(n_visible=0)
    assert session.wanted == SMALL
    assert session.frame is before


def test_a_run_that_needs_too_much_memory_is_refused_at_once_and_the_session_lives(session, monkeypatch):
    monkeypatch.setenv(RUN, "500M")
    shown = step(session, 2)
    session.change(n_visible=200, n_hidden=200, n_steps=10_000_000, n_held_out=10_000_000)
    settle(session, lambda s: s.failure is not None)
    assert "a run may use 500 MB" in session.problem
    assert session.frame is shown, "what was shown stays"
    for act in (session.run, session.step, session.rewind):
        act()
        settle(session, lambda s: s.failure is not None)
    session.change(**{name: getattr(SMALL, name) for name in ("n_visible", "n_hidden", "n_steps", "n_held_out")})
    settle(session, lambda s: s.failure is None and not s.awaiting and not s.running)
    assert step(session, 2).snapshot.couplings == shown.snapshot.couplings


def test_frames_to_undo_to_are_fewer_where_each_remembers_much(session, monkeypatch):
    frame = step(session, 1)
    assert depth_of(frame) == DEPTH
    each = frame.snapshot.estimate.beliefs.nbytes
    assert each >= frame.snapshot.estimate.beliefs.hidden.nbytes > 0
    monkeypatch.setattr("hidviz.ui.state.session.ROOM", 3.5 * each)
    for k in range(6):
        session.flip(k % 2)
    assert session.n_undo == (3, 0)
    monkeypatch.setattr("hidviz.ui.state.session.ROOM", 0.5 * each)
    session.flip(0)
    assert session.n_undo == (1, 0), "the last one can be undone however large"


def test_an_infeasible_learner_is_refused_and_can_be_replaced(session):
    session.change(model="stochastic", n_hidden=30, learner="exact")
    settle(session, lambda s: isinstance(s.failure, Infeasible))
    assert "mean field" in session.problem
    session.change(learner="mean-field")
    settle(session, lambda s: not s.problem and s.frame.snapshot.couplings.n_hidden == 30 and not s.running)
    step(session, 1)


def test_run_starts_a_finished_run_again(session):
    session.run()
    done = settle(session, lambda s: s.finished)
    session.run()
    settle(session, lambda s: s.frame.snapshot.step < done.snapshot.step)
    again = settle(session, lambda s: s.finished)
    assert again.snapshot.couplings == done.snapshot.couplings


def test_new_start_keeps_the_data_and_new_data_does_not(session):
    data = session.frame.data
    session.new_start()
    moved = settle(session, lambda s: s.frame.snapshot.step > 0)
    assert moved.data is data
    session.new_data()
    other = settle(session, lambda s: s.frame.data is not data)
    assert other.data.truth != data.truth


def test_a_step_is_made_in_halves_and_comes_out_the_same():
    knobs = replace(SMALL, model="stochastic", learner="mean-field")
    whole, halved = Session(knobs), Session(knobs)
    try:
        settle(whole)
        settle(halved)
        start = halved.frame
        halved.half_step()
        moved = settle(halved, lambda s: s.frame.snapshot.phase == "M" and not s.running)
        assert moved.snapshot.couplings != start.snapshot.couplings
        halved.half_step()
        settled = settle(halved, lambda s: s.frame.snapshot.phase == "E" and s.frame is not start)
        assert settled.snapshot.couplings == moved.snapshot.couplings
        assert settled.snapshot.cost != moved.snapshot.cost
        halved.half_step()
        settle(halved, lambda s: s.frame.snapshot.phase == "M")
        halved.step()
        second = settle(halved, lambda s: s.frame.snapshot.step == 2 and s.frame.snapshot.phase == "E")
        assert second.snapshot.cost == step(whole, 2).snapshot.cost
        assert np.array_equal(second.trace["cost"], whole.frame.trace["cost"])
    finally:
        whole.close()
        halved.close()


def test_reset_leaves_nothing_of_what_was_done(session):
    fresh = session.frame
    step(session, 3)
    session.flip(0)
    session.change(seed=9)
    session.reset(SMALL, fresh)
    time.sleep(0.2)
    assert not session.poll()
    assert session.frame is fresh
    assert session.wanted == SMALL
    assert session.n_undo == (0, 0)
    assert step(session, 1).snapshot.step == 1


def test_what_is_done_to_a_run_is_marked_at_its_step_and_goes_with_the_run(session):
    step(session, 4)
    session.flip(1)
    session.change(rate=0.5)
    session.break_flip(0, "K")
    assert [at for at, _ in session.marks] == [4, 4, 4]
    assert [what.split(",")[0] for _, what in session.marks] == [
        "hidden 2 flipped", "settings changed", "Only K of hidden unit 1 flipped",
    ]  # fmt: skip
    session.undo()
    settle(session, lambda s: s.event == "Undone.")
    assert session.marks[-1] == (4, "undo or redo")
    settle(session, lambda s: not s.awaiting)
    session.new_start()
    settle(session, lambda s: not s.awaiting)
    assert session.marks == ()
