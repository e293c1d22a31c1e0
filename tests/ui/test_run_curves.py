"""The curves of a run: what is in view, and what the question above them says."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Experiment
from hidviz.experiments import Frame, Trace
from hidviz.experiments.run import iter_run
from hidviz.ui.plots.curves import FRAME, LINE, Curves, Line
from hidviz.ui.plots.run_curves import CostCurves
from hidviz.ui.text.status import network_caption, question

SMALL = Experiment(n_visible=6, n_hidden=2, n_steps=2_000, n_held_out=1_000, seed=3)


@pytest.fixture(scope="module")
def frames():
    return [item for item in iter_run(SMALL) if isinstance(item, Frame)]


def view(frame):
    curves = CostCurves()
    curves.show(frame)
    return curves.figure.y_range.start, curves.figure.y_range.end


def test_all_of_the_cost_is_in_view_until_it_has_passed_what_it_is_measured_by(frames):
    low, high = view(frames[1])
    costs = frames[1].trace["cost"]
    assert low < costs.min()
    assert costs.max() < high


def test_at_the_end_the_view_is_filled_by_what_tells_the_models_apart(frames):
    last = frames[-1]
    low, high = view(last)
    levels = [last.setup.cost_at_truth, last.setup.baselines.lag1, last.setup.baselines.lag2, last.snapshot.cost]
    assert low < min(levels)
    assert max(levels) < high < last.trace["cost"][0]
    assert max(levels) - min(levels) > 0.6 * (high - low)


def test_without_anything_to_measure_by_all_of_the_cost_is_in_view(frames):
    last = frames[-1]
    bare = replace(last.setup, cost_at_truth=None, held_out_cost_at_truth=None, baselines=None)
    low, high = view(replace(last, setup=bare))
    assert low < last.trace["cost"].min()
    assert np.max(last.trace["cost"]) < high


def test_a_sampled_cost_that_was_refused_is_left_out(frames):
    last = frames[-1]
    sampled = Trace.of(["step", "cost", "cost_error"], np.array([[1.0, 4.0, 0.1], [2.0, np.nan, np.nan]]))
    none = Trace.of(sampled.names, np.full((1, 3), np.nan))
    curves = CostCurves()
    for trace, labels in ((sampled, ["sampled 4.0000 ± 0.1000"]), (none, [])):
        curves.show(replace(last, sampled=trace))
        assert [text for text in curves._ends.data["text"] if "sampled" in text] == labels
        assert np.isfinite(curves.figure.y_range.end)


@pytest.mark.parametrize(
    ("n_hidden", "asks"),
    [
        (0, "Every unit is seen. Which couplings tie them together?"),
        (1, "One unit is hidden. Can the others reveal its wiring?"),
        (2, "Two units are hidden. Can the others reveal their wiring?"),
        (80, "80 units are hidden. Can the others reveal their wiring?"),
    ],
)
def test_the_question_follows_the_number_of_hidden_units(n_hidden, asks):
    assert question(n_hidden) == asks


def test_the_caption_names_the_unit_that_is_drawn():
    assert "h3:" in network_caption(2)
    assert "Hidden" not in network_caption(None)


@pytest.mark.parametrize("n", [2, 6, 8])
def test_labels_at_the_ends_of_curves_have_each_a_line_as_far_as_there_is_room(n):
    names = [str(k) for k in range(n)]
    curves = Curves(dict.fromkeys(names, (1.0, "solid")), "cost", "Curves")
    curves.draw([Line(name, name, np.arange(2.0), np.ones(2)) for name in names], 0.0, 2.0)
    heights = np.sort(curves._ends.data["y"])
    assert np.diff(heights).min() >= 2.0 * min(LINE / FRAME, (1.0 - LINE / FRAME) / (n - 1)) - 1e-9
    assert 0.0 < heights[0] < heights[-1] < 2.0


def test_a_curve_that_is_drawn_by_exponents_is_told_as_the_cost_that_it_is(frames):
    curves = CostCurves()
    (_, (label, _value)), told = curves._hover.tooltips, curves._hover.formatters["$snap_y"]
    assert (label, told.args["exponents"]) == ("nats per bin", False)
    curves.logarithmic = True
    curves.show(frames[-1])
    (_, (label, _value)) = curves._hover.tooltips
    assert (label, told.args["exponents"]) == ("nats per bin, excess", True)
    drawn = np.asarray(curves._source.data["ys"][0])
    assert drawn.max() == pytest.approx(
        np.log10(frames[-1].trace["cost"][0] - frames[-1].trace["cost"].min()), abs=1e-3
    )


def test_labels_stand_beyond_the_longest_curve():
    curves = Curves({"short": (1.0, "solid"), "long": (1.0, "solid")}, "y", "Two")
    line = {name: Line(name, name, np.arange(n + 1.0), np.zeros(n + 1)) for name, n in (("short", 10), ("long", 60))}
    curves.draw(list(line.values()), -1.0, 1.0)
    assert min(curves._ends.data["x"]) > 60.0
    assert curves._leaders.data["x0"] == [10.0, 60.0]


def test_the_ring_stands_where_the_held_out_cost_was_lowest(frames):
    last, curves = frames[-1], CostCurves()
    curves.show(last)
    costs = last.trace["held_out"]
    assert curves._best.data["y"] == [costs.min()]
    assert curves._best.data["x"] == [last.trace["step"][int(np.argmin(costs))]]
    opened = replace(last, snapshot=replace(last.snapshot, best=None))
    before = dict(curves._best.data)
    curves.show(opened)
    assert dict(curves._best.data) == before, "what was kept of a run that was opened does not matter"
