"""What the Inspector tells of couplings and of how well they are known, without a browser."""

import time
from dataclasses import replace

import numpy as np
import pytest

from hidviz import Experiment
from hidviz.evaluation.error_bars import error_bars
from hidviz.evaluation.information import error_bar_seconds
from hidviz.experiments.frame import Frame, regauge_frame
from hidviz.experiments.run import iter_run
from hidviz.network.gauge import Gauge, aligned
from hidviz.ui.components.couplings_table import Row, rows_of_unit
from hidviz.ui.state.chosen_coupling import ChosenCoupling
from hidviz.ui.state.error_bar_worker import Knowing, Known, settings_of
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.inspector import InspectorTab

SMALL = Experiment(n_visible=4, n_hidden=2, n_steps=800, n_held_out=0, seed=3)


def frames_of(experiment):
    return [item for item in iter_run(experiment) if isinstance(item, Frame)]


@pytest.fixture(scope="module")
def frames():
    return frames_of(replace(SMALL, max_steps=30))


@pytest.fixture
def knowing():
    made = Knowing()
    yield made
    made.stop()


def waited_for(knowing):
    deadline = time.monotonic() + 60
    while knowing.working:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def settled(knowing, frame):
    waited_for(knowing)
    knowing.follow(frame, running=False)
    return knowing


def test_a_unit_has_every_coupling_to_and_from_it_once(frames):
    rows = rows_of_unit(frames[-1], 5)
    assert [(row.block, row.receiver, row.sender) for row in rows] == [
        *(("L", 1, j) for j in range(4)),
        *(("K", i, 1) for i in range(4)),
    ]
    rows = rows_of_unit(frames[-1], 0)
    assert len({(row.block, row.receiver, row.sender) for row in rows}) == len(rows) == 4 + 2 + 3 + 2
    best = aligned(frames[-1].snapshot.couplings, frames[-1].data.truth)
    for row in rows:
        assert row.true == getattr(frames[-1].data.truth, row.block)[row.receiver, row.sender]
        assert row.found == getattr(frames[-1].snapshot.couplings, row.block)[row.receiver, row.sender]
        assert row.aligned == getattr(best, row.block)[row.receiver, row.sender]


@pytest.mark.parametrize(
    ("bar", "words"),
    [
        (np.nan, "error bar not known."),
        (np.inf, "not identifiable (flat direction)."),
        (0.05, "±0.0500, the error is 2.0 of it."),
    ],
)
def test_a_coupling_is_told_in_words(bar, words):
    row = Row("K", 2, 0, 0.5, -0.6, 0.6, bar)
    assert row.name == "K 3 ← h1"
    told = row.in_words()
    assert told.startswith(
        "**K, to visible 3 from hidden 1**: true +0.5000, found −0.6000, aligned +0.6000, error +0.1"
    )
    assert told.endswith(words)


def test_error_bars_come_by_themselves_where_the_run_rests(frames, knowing):
    last = frames[-1]
    knowing.follow(last, running=True)
    assert not knowing.working
    assert "where the run rests" in knowing.in_words(last, running=True)
    knowing.follow(last, running=False)
    known = settled(knowing, last).known
    expected = error_bars(last.snapshot.couplings, last.data.recording, hidden="continuous")
    order, signs = last.gauge.order, last.gauge.signs
    assert np.array_equal(known.standard_errors["J"], expected.standard_errors.J)
    assert np.allclose(known.standard_errors["K"], np.abs(expected.standard_errors.K[:, order] * signs), rtol=1e-12)
    assert np.isnan(known.standard_errors["M"]).all()
    assert "Error bars of step 30. From the curvature" in knowing.in_words(last, running=False)


def test_bars_that_are_found_while_the_tab_looks_are_drawn_at_the_next_look(frames, monkeypatch):
    session = Session(frames[10].experiment, frames[10])
    tab = InspectorTab(session, ChosenCoupling())
    follow = tab._knowing.follow

    def following(frame, *, running):
        follow(frame, running=running)
        waited_for(tab._knowing)

    monkeypatch.setattr(tab._knowing, "follow", following)
    for frame in frames[10], frames[-1]:
        session.frame = frame
        for _ in range(4):
            if tab.stirred:
                tab.look()
        assert tab.bars_line.object.startswith(f"Error bars of step {frame.snapshot.step}. From the curvature")
        assert not tab.stirred


def test_flips_need_nothing_anew_and_other_steps_do(frames, knowing):
    last = frames[-1]
    knowing.follow(last, running=False)
    known = settled(knowing, last).known
    flipped = regauge_frame(last, Gauge([1, 0], [1, -1]))
    knowing.follow(flipped, running=False)
    assert knowing.known is known
    assert not knowing.working
    assert "the page shows" not in knowing.in_words(flipped, running=False)
    knowing.follow(frames[10], running=True)
    assert "Error bars of step 30; the page shows step 10." in knowing.in_words(frames[10], running=True)
    knowing.follow(frames[10], running=False)
    assert settled(knowing, frames[10]).known.frame is frames[10]


def test_other_data_make_them_unknown(frames, knowing):
    knowing.follow(frames[-1], running=False)
    settled(knowing, frames[-1])
    other = frames_of(replace(SMALL, seed=4, max_steps=0))[-1]
    knowing.follow(other, running=True)
    assert knowing.known is None
    assert "not known" in knowing.in_words(other, running=True)


def test_what_takes_long_waits_until_asked_and_can_be_given_up(knowing):
    experiment = Experiment(
        n_visible=5, n_hidden=9, n_steps=20_000, n_held_out=0, model="stochastic", learner="exact", max_steps=0
    )
    frame = frames_of(experiment)[-1]
    seconds = error_bar_seconds(frame.snapshot.couplings, frame.data.recording, **settings_of(frame))
    assert 5.0 < seconds < 300.0
    knowing.follow(frame, running=False)
    assert not knowing.working
    assert "Ask for them" in knowing.in_words(frame, running=False)
    knowing.ask(frame)
    assert "being worked out" in knowing.in_words(frame, running=False)
    knowing.stop()
    knowing.follow(frame, running=False)
    assert not knowing.working
    assert "Ask for them" in knowing.in_words(frame, running=False)


@pytest.mark.parametrize(
    ("knobs", "reason"),
    [
        ({"n_visible": 60, "n_hidden": 1, "n_steps": 100}, "at most 2,500 of them, got 3,720"),
        ({"learner": "visible-lag2", "n_steps": 100}, "copies of the visible ones"),
    ],
)
def test_what_cannot_be_known_is_said_with_its_reason(knobs, reason, knowing):
    experiment = replace(SMALL, max_steps=0, **knobs)
    frame = frames_of(experiment)[-1]
    knowing.follow(frame, running=False)
    settled(knowing, frame)
    assert knowing.in_words(frame, running=False).startswith("Error bars are not known: ")
    assert reason in knowing.in_words(frame, running=False)
    assert knowing.known is None


def test_what_the_data_do_not_tell_has_no_bar():
    frame = frames_of(replace(SMALL, n_hidden_assumed=3, max_steps=0, start="truth"))[-1]
    bars = error_bars(frame.snapshot.couplings, frame.data.recording, hidden="continuous")
    assert bars.n_flat
    known = Known.of(frame, bars).standard_errors
    assert np.isinf(known["L"][2]).any()
    assert np.isfinite(known["J"]).all()
    names = [row.in_words() for row in rows_of_unit(frame, 6, known)]
    assert any("not identifiable" in words for words in names)
