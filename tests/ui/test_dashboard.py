"""The parts of the page that can be judged without a browser: labels, ticks, thinning, words."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz import Experiment, Gauge
from hidviz.experiments import Frame, iter_run
from hidviz.learners import Infeasible, TooLarge
from hidviz.learning import Cure, Penalty, Remark
from hidviz.ui import Dashboard
from hidviz.ui.components.learner_note import LearnerNote, duration
from hidviz.ui.plots.axes import MAX_POINTS, decimate
from hidviz.ui.plots.curves import spread
from hidviz.ui.plots.heatmaps import unit_ticks
from hidviz.ui.state.link import TABS, Link, View, read_query
from hidviz.ui.text.status import equivalents_in_words, gauge_in_words, penalty_in_words, remarks_of


@settings(derandomize=True, deadline=None)
@given(n=st.integers(1, 20_000), seed=st.integers(0, 99))
def test_thinning_keeps_the_ends_and_the_extremes(n, seed):
    y = np.random.default_rng(seed).normal(size=n)
    x = np.arange(float(n))
    shown_x, shown_y = decimate(x, y)
    assert len(shown_x) == len(shown_y) <= MAX_POINTS
    assert (np.diff(shown_x) > 0).all()
    assert (shown_y == y[shown_x.astype(int)]).all()
    assert (shown_x[0], shown_x[-1]) == (0.0, n - 1.0)
    assert (shown_y.min(), shown_y.max()) == (y.min(), y.max())


@settings(derandomize=True, deadline=None)
@given(heights=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=8))
def test_labels_never_touch_and_keep_their_order(heights):
    placed = spread(heights, 0.08, 0.0, 1.0)
    assert all(-1e-12 <= height <= 1.0 for height in placed)
    ordered = np.array(placed)[np.argsort(heights, kind="stable")]
    assert (np.diff(ordered) >= 0.08 - 1e-12).all()


@settings(derandomize=True, deadline=None)
@given(n_visible=st.integers(1, 200), n_hidden=st.integers(0, 200))
def test_unit_numbers_are_few_and_true(n_visible, n_hidden):
    ticks, labels = unit_ticks(n_visible, n_hidden)
    assert len(ticks) == len(labels) <= 22
    for tick, label in zip(ticks, labels, strict=True):
        if label.startswith("h") and "–" not in label:
            assert tick == n_visible + int(label[1:]) - 1
        elif not label.startswith("h"):
            assert tick == int(label) - 1
    last = max(tick for tick, label in zip(ticks, labels, strict=True) if not label.startswith("h"))
    assert last == 0.0 or n_visible - last >= (n_visible + n_hidden) / 13, "room for h1 beside it"


@pytest.mark.parametrize(
    ("gauge", "sentence"),
    [
        (Gauge([0, 1], [1, 1]), "Nothing to align: every hidden unit has its true label and sign."),
        (Gauge([0, 1], [1, -1]), "Alignment flips hidden unit 2."),
        (Gauge([1, 0], [1, 1]), "Alignment relabels 2 → 1, 1 → 2."),
        (Gauge([1, 0], [-1, 1]), "Alignment flips hidden unit 2 and relabels 2 → 1, 1 → 2."),
    ],
)
def test_alignment_is_spelled_out(gauge, sentence):
    assert gauge_in_words(gauge, 2, 2) == sentence


def test_many_units_are_counted_and_not_listed():
    gauge = Gauge(np.roll(np.arange(20), 1), -np.ones(20))
    assert gauge_in_words(gauge, 20, 20) == "Alignment flips 20 hidden units and relabels 20."


def test_equivalent_models_are_counted():
    assert equivalents_in_words(2) == "2² · 2! = 8 models give exactly the same data"
    assert "e+" in equivalents_in_words(80)
    assert "10^" in equivalents_in_words(200)


@pytest.mark.parametrize(("seconds", "words"), [(4e-4, "0.4 ms"), (0.012, "12 ms"), (3.21, "3.2 s"), (300, "5 min")])
def test_spans_of_time_are_readable(seconds, words):
    assert duration(seconds) == words


def test_each_kind_of_remark_is_told_once_with_the_first_cure_and_all_its_sentences():
    experiment = Experiment(n_visible=3, n_hidden=1, n_steps=20, n_held_out=0, max_steps=0, seed=2)
    (frame,) = [item for item in iter_run(experiment) if isinstance(item, Frame)]
    runaway = Remark("runaway", "A coupling has reached 7.", Cure("Set a box of 2", {"box": 2.0}))
    further = replace(runaway, sentence="A coupling has reached 8.")
    lost = Remark("lost e-step", "The E-step lost its fixed point.", Cure("Set a box of 0.7", {"box": 0.7}))
    dashboard = Dashboard(Link(experiment))
    try:
        for remarks, text in (
            ((runaway,), runaway.sentence),
            ((further,), runaway.sentence),
            ((further, lost), f"{further.sentence} {lost.sentence}"),
            ((), ""),
        ):
            dashboard.session.frame = replace(frame, snapshot=replace(frame.snapshot, remarks=remarks))
            dashboard._draw_words()
            assert dashboard.notice.text == text
            assert dashboard.notice.cure == ("Set a box of 2" if remarks else "")
    finally:
        dashboard.close()


def test_a_run_that_converged_needs_no_telling_and_one_that_is_infeasible_a_cure():
    converged = Remark("converged", "Converged.")
    assert remarks_of(None, None) == ()
    (told,) = remarks_of(None, Infeasible("Too many hidden units."))
    assert told.cure.knobs == {"learner": "mean-field"}
    (told,) = remarks_of(None, TooLarge("Too many bins.", {"n_steps": 1000, "n_held_out": 0}))
    assert (told.cure.label, told.cure.knobs) == ("Take 1,000 bins", {"n_steps": 1000, "n_held_out": 0})
    (told,) = remarks_of(None, TooLarge("Too many units."))
    assert told.cure is None
    experiment = Experiment(n_visible=3, n_hidden=1, n_steps=20, n_held_out=0, max_steps=0)
    (frame,) = [item for item in iter_run(experiment) if isinstance(item, Frame)]
    frame = replace(frame, snapshot=replace(frame.snapshot, remarks=(converged,)))
    assert remarks_of(frame, None) == ()


def test_every_tab_has_its_key_in_the_links():
    dashboard = Dashboard(Link(Experiment(n_visible=3, n_hidden=1, n_steps=20, n_held_out=0)))
    try:
        assert dashboard.views.keys == TABS
        for k in range(len(TABS)):
            dashboard.views.bar.active = k
            assert dashboard.address.query().endswith(f"tab={TABS[k]}") == (k > 0)
    finally:
        dashboard.close()


@pytest.mark.slow
def test_a_lesson_of_a_link_brings_its_knobs_and_stays_in_the_address():
    dashboard = Dashboard(Link(Experiment(n_visible=3, n_hidden=1, n_steps=20), view=View(lesson="hidden-twin")))
    try:
        assert dashboard.session.wanted == Experiment()
        assert dashboard.address.query() == "?lesson=hidden-twin"
        dashboard.lessons.run.leave()
        dashboard.address.show()
        assert dashboard.instrument.address == ["", 0]
    finally:
        dashboard.close()


def test_what_a_link_says_of_the_view_stays_in_the_address():
    tiny = Experiment(n_visible=3, n_hidden=1, n_steps=20, n_held_out=0)
    view = View(tab="compare", theme="dark", hide="controls", align=True, mode="lecture", speed="slow")
    dashboard = Dashboard(Link(tiny, view=view))
    try:
        assert read_query(dashboard.address.query()) == Link(tiny, view=view)
        dashboard.session.change(seed=4)
        dashboard.views.bar.active = 0
        dashboard.restyle(False)
        kept = replace(view, tab="learn", theme="")
        query, answered = dashboard.instrument.address
        assert (read_query(query), answered) == (Link(replace(tiny, seed=4), view=kept), 0)
        dashboard.instrument._handle_msg({"address": ["?nv=4&log=1&tab=scores", 2]})
        query, answered = dashboard.instrument.address
        assert (read_query(query).experiment, answered) == (Experiment(n_visible=4), 2)
        assert (dashboard.session.wanted, dashboard.address.view) == (
            Experiment(n_visible=4),
            View(tab="scores", log=True, hide="controls", mode="lecture"),  # of the page as it was built
        )
    finally:
        dashboard.close()


def test_the_weights_of_a_learned_penalty_are_told_and_of_a_given_one_not():
    fixed, learned = Penalty({"J": 0.1}), Penalty({"J": 0.0123, "K": 0.2}, {"J": 35.2, "K": 9.6}, learned=True)
    assert penalty_in_words(fixed) == ""
    told = "Penalty learned: J 0.012, K 0.2 a bin. The data determine so many couplings: J 35, K 10."
    assert penalty_in_words(learned) == told
    assert (
        penalty_in_words(replace(learned, settled=False, determined={}))
        == "Penalty learned so far: J 0.012, K 0.2 a bin."
    )


def test_advice_is_offered_until_it_is_taken():
    taken = {}
    note = LearnerNote(lambda **knobs: taken.update(knobs))
    small = Experiment(n_visible=5, n_hidden=5, n_steps=1000, model="stochastic", learner="mean-field")
    note.show(small)
    assert "runs away" in note.advice
    assert note.offer == "Set Held-out patience 30, Penalty learned"
    note._handle_msg({"press": "advice"})
    note.show(replace(small, **taken))
    assert note.offer == ""
