"""An experiment is its knobs: the same knobs give the same numbers, and each stream of chance depends on its own."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from hidviz.evaluation.errors import rms_errors
from hidviz.experiments.experiment import CHOICES, RANGES, Experiment
from hidviz.experiments.frame import Frame, regauge_frame
from hidviz.experiments.presets import PRESETS
from hidviz.experiments.progress import Progress
from hidviz.experiments.run import iter_edited, iter_resumed, iter_run, with_knobs
from hidviz.learners import LEARNERS, Infeasible
from hidviz.network.gauge import Gauge, best_gauge

SMALL = Experiment(n_visible=5, n_hidden=2, n_steps=400, n_held_out=300, max_steps=12)


def world_of(experiment):
    steps = experiment.simulate()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def frames_of(experiment, data=None):
    return [item for item in iter_run(experiment, data) if isinstance(item, Frame)]


def assert_same_frames(some, others):
    for one, other in zip(some, others, strict=True):
        assert one.snapshot.couplings == other.snapshot.couplings
        assert (one.snapshot.step, one.snapshot.state) == (other.snapshot.step, other.snapshot.state)
        assert one.gauge == other.gauge
        assert one.trace.names == other.trace.names
        for name in one.trace.names:
            assert np.array_equal(one.trace[name], other.trace[name])


# Chance


def test_the_same_experiment_gives_the_same_numbers():
    assert_same_frames(frames_of(SMALL), frames_of(replace(SMALL)))


@pytest.mark.parametrize("learner", ["gibbs", "mean-field", "exact"])
def test_the_same_experiment_gives_the_same_numbers_for_other_learners(learner):
    experiment = replace(SMALL, learner=learner, model="stochastic", max_steps=4)
    assert_same_frames(frames_of(experiment), frames_of(experiment))


def test_every_stream_of_chance_depends_on_the_seed():
    one, other = world_of(SMALL), world_of(replace(SMALL, seed=2))
    assert one.truth != other.truth
    assert not np.array_equal(one.recording.trials[0], other.recording.trials[0])
    assert SMALL.starting_point(one.truth) != replace(SMALL, seed=2).starting_point(one.truth)


def test_held_out_data_are_not_the_data():
    data = world_of(replace(SMALL, n_held_out=SMALL.n_steps))
    assert not np.array_equal(data.recording.trials[0], data.held_out.trials[0])
    agreement = (data.recording.trials[0] == data.held_out.trials[0]).mean()
    assert 0.4 < agreement < 0.6


def test_more_data_begin_with_the_same_data_and_leave_truth_and_held_out_data_alone():
    short, long = world_of(SMALL), world_of(replace(SMALL, n_steps=1000))
    assert short.truth == long.truth
    assert np.array_equal(short.recording.trials[0], long.recording.trials[0][:400])
    assert np.array_equal(short.hidden, long.hidden[:400])
    assert np.array_equal(short.held_out.trials[0], long.held_out.trials[0])


def test_hidden_to_hidden_couplings_leave_the_other_blocks_and_the_start_alone():
    plain, full = SMALL.truth(), replace(SMALL, hidden_hidden=True).truth()
    starts = [each.starting_point(plain) for each in (SMALL, replace(SMALL, hidden_hidden=True))]
    for one, other in ((plain, full), starts):
        assert other.M.all()
        assert not one.M.any()
        for name in ("J", "K", "L"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_another_start_is_on_the_same_data():
    again = replace(SMALL, start_index=2)
    assert again.data_key == SMALL.data_key
    assert again.starting_point(SMALL.truth()) != SMALL.starting_point(SMALL.truth())
    assert np.array_equal(world_of(again).recording.trials[0], world_of(SMALL).recording.trials[0])


def test_experiments_with_one_data_key_share_a_world():
    data = world_of(SMALL)
    assert_same_frames(frames_of(SMALL, data=data), frames_of(SMALL))
    other = replace(SMALL, learner="visible", penalty=0.1, start_index=3, max_steps=2)
    assert other.data_key == SMALL.data_key
    assert frames_of(other, data=data)[0].data is data


@pytest.mark.parametrize(
    "knob",
    [
        {"n_visible": 6}, {"n_hidden": 1}, {"n_steps": 500}, {"variance": 2.0}, {"model": "stochastic"},
        {"hidden_hidden": True}, {"bias": 0.1}, {"n_held_out": 0}, {"seed": 9},
    ],
)  # fmt: skip
def test_knobs_of_the_data_change_the_key(knob):
    assert replace(SMALL, **knob).data_key != SMALL.data_key


# Starts


def test_starts_are_told_apart_by_what_they_know():
    truth = SMALL.truth()
    points = {name: replace(SMALL, start=name).starting_point(truth) for name in CHOICES["start"]}
    assert points["truth"] == truth
    assert np.array_equal(np.sign(points["right-signed"].K), np.sign(truth.K))
    assert np.array_equal(np.sign(points["wrong-signed"].K), -np.sign(truth.K))
    assert np.array_equal(np.abs(points["random"].K), np.abs(points["wrong-signed"].K))
    assert points["random"] == SMALL.starting_point(replace(SMALL, seed=5).truth())


def test_a_learner_may_assume_another_number_of_hidden_units():
    for assumed in (0, 1, 4):
        frames = frames_of(replace(SMALL, n_hidden_assumed=assumed, max_steps=3))
        assert frames[-1].snapshot.couplings.n_hidden == assumed
        assert len(frames[-1].gauge.order) == max(assumed, 2)


def test_the_data_cannot_tell_the_right_signs_from_the_wrong_ones():
    """Fig. 3 in small: mirrored starts end at mirrored models, of exactly the same cost."""
    small = Experiment(n_visible=8, n_hidden=2, n_steps=1500, n_held_out=0)
    right, wrong, true = (
        frames_of(replace(small, start=start))[-1] for start in ("right-signed", "wrong-signed", "truth")
    )
    for frame in (wrong, true):
        assert frame.snapshot.cost == pytest.approx(right.snapshot.cost, abs=1e-6)
    assert right.gauge.is_identity
    assert wrong.gauge.signs.tolist() == [-1.0, -1.0]
    assert wrong.trace["rms_K"][-1] > 5.0 * wrong.trace["aligned_K"][-1]
    assert wrong.trace["aligned_K"][-1] == pytest.approx(right.trace["rms_K"][-1], abs=1e-3)
    assert right.snapshot.cost < right.setup.cost_at_truth


@pytest.mark.slow
def test_every_start_of_fig_3_ends_at_the_same_cost():
    """18 + 2, T = 10 000; bounds are twice the errors of a trial with another network: J .016, K .039, L .017."""
    fig3 = replace(PRESETS["fig3"], n_held_out=0)
    data = world_of(fig3)
    runs = [replace(fig3, start_index=k) for k in range(1, 7)]
    ends = [frames_of(run, data=data)[-1] for run in (*runs, replace(fig3, start="right-signed"))]
    for end in ends:
        assert end.snapshot.state == "converged"
        assert end.snapshot.cost == pytest.approx(ends[0].snapshot.cost, abs=1e-6)
        assert 0.01 < end.setup.cost_at_truth - end.snapshot.cost < 0.03  # about n_parameters / 2T = .02
        assert end.trace["aligned_J"][-1] < 0.032
        assert end.trace["aligned_K"][-1] < 0.078
        assert end.trace["aligned_L"][-1] < 0.034
        if not end.gauge.is_identity:
            assert end.trace["rms_K"][-1] > 0.4
            assert end.trace["rms_L"][-1] > 0.2
    assert ends[-1].gauge.is_identity
    assert not all(end.gauge.is_identity for end in ends)


@pytest.mark.slow
def test_lbfgs_needs_far_fewer_evaluations_than_gradient_ascent():
    fig3 = replace(PRESETS["fig3"], n_held_out=0)
    data = world_of(fig3)

    def evaluations(floor, **knobs):
        for item in iter_run(replace(fig3, **knobs), data):
            if isinstance(item, Frame) and item.snapshot.cost < floor:
                return item.snapshot.evaluations
        raise AssertionError("the floor was not reached")

    floor = frames_of(fig3, data=data)[-1].snapshot.cost + 1e-6
    needed = [evaluations(floor, start_index=k) for k in (1, 2, 3)]
    assert max(needed) <= 150
    # .25 is close to the largest rate at which the cost still falls at every step
    assert 8 * np.median(needed) <= evaluations(floor, optimiser="gradient", rate=0.25, max_steps=4000)


# The run as a live view sees it


def test_a_run_tells_of_its_preparation_and_then_of_every_step():
    items = list(iter_run(SMALL))
    kinds = [type(item) for item in items]
    first = kinds.index(Frame)
    assert set(kinds[:first]) == {Progress}
    assert set(kinds[first:]) == {Frame}
    fractions = [item.fraction for item in items[:first]]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1.0
    assert [item.snapshot.step for item in items[first:]] == list(range(13))


def test_a_frame_knows_its_past_and_its_errors():
    for k, frame in enumerate(frames_of(SMALL)):
        snapshot, truth = frame.snapshot, frame.data.truth
        assert len(frame.trace) == k + 1
        assert frame.trace["cost"][-1] == snapshot.cost
        assert frame.trace["held_out"][-1] == snapshot.held_out
        assert frame.gauge == best_gauge(snapshot.couplings, truth)
        for name, kind in (("rms", False), ("aligned", True)):
            for block, error in rms_errors(snapshot.couplings, truth, align=kind).items():
                assert frame.trace[f"{name}_{block}"][-1] == error


def test_the_cost_at_the_truth_is_that_of_the_true_couplings():
    frame = frames_of(replace(SMALL, max_steps=0))[0]
    n = frame.data.recording.n_transitions
    assert frame.setup.cost_at_truth == -frame.setup.learner(frame.data.truth).objective / n
    assert frame.setup.held_out_cost_at_truth == pytest.approx(
        -frame.setup.held_out(frame.data.truth).objective / frame.data.held_out.n_transitions
    )
    assert frames_of(replace(SMALL, n_held_out=0, max_steps=0))[0].snapshot.held_out is None


def test_an_approximate_learner_is_shown_beside_the_exact_cost():
    frames = frames_of(replace(SMALL, learner="mean-field", model="stochastic", max_steps=2))
    exact = frames[-1].setup.exact
    assert exact is not None
    assert frames[-1].trace["exact"][-1] == -exact(frames[-1].snapshot.couplings).objective / 399
    assert "exact" not in frames_of(replace(SMALL, max_steps=0))[0].trace


@pytest.mark.parametrize("at", [0, 5, 12])
@pytest.mark.parametrize(
    "knobs", [{}, {"optimiser": "momentum", "rate": 0.1}, {"learner": "gibbs", "model": "stochastic"}]
)
def test_going_on_from_a_frame_is_the_same_run(at, knobs):
    experiment = replace(SMALL, **knobs)
    whole = frames_of(experiment)
    again = list(iter_resumed(whole[at]))
    assert again[0] is whole[at]
    assert_same_frames(again, whole[at:])


def test_rewinding_gives_the_same_arrays():
    whole = frames_of(SMALL)
    again = frames_of(SMALL, data=whole[0].data)
    assert_same_frames(again, whole)


def test_a_flipped_frame_goes_on_down_the_same_curve():
    whole = frames_of(replace(SMALL, max_steps=40))
    gauge = Gauge([1, 0], [1.0, -1.0])
    flipped = list(iter_resumed(regauge_frame(whole[10], gauge)))
    for one, other in zip(flipped, whole[10:], strict=True):
        assert one.snapshot.cost == pytest.approx(other.snapshot.cost, abs=1e-9)
        for block in ("J", "K", "L"):
            assert one.trace[f"aligned_{block}"][-1] == pytest.approx(other.trace[f"aligned_{block}"][-1], abs=1e-7)
    # the flip is a row of its own at the same step, and the frame it was made of keeps its past
    assert flipped[0].trace["step"].tolist() == [*range(11), 10]
    assert whole[10].trace["step"].tolist() == list(range(11))


def test_flipping_a_frame_and_back_gives_it_back_but_for_its_past():
    frame = frames_of(SMALL)[-1]
    gauge = Gauge([1, 0], [1.0, -1.0])
    back = regauge_frame(regauge_frame(frame, gauge), gauge.inverse())
    assert back.snapshot.couplings == frame.snapshot.couplings
    assert back.gauge == frame.gauge
    assert len(back.trace) == len(frame.trace) + 2


def test_a_box_turned_on_half_way_acts_at_once_and_is_seen():
    frame = frames_of(SMALL)[-1]
    boxed = list(islice(iter_resumed(with_knobs(frame, box=0.05, max_steps=20)), 4))
    for item in boxed:
        assert np.abs(item.snapshot.couplings.vector()).max() <= 0.05
        assert item.trace["cost"][-1] == item.snapshot.cost


@pytest.mark.parametrize("knobs", [{"n_steps": 500}, {"seed": 2, "rate": 0.1}, {"learner": "visible"}])
def test_only_knobs_that_apply_midway_can_change_within_a_run(knobs):
    with pytest.raises(ValueError, match="Only box, max_steps, optimiser, patience, penalty, rate can change"):
        with_knobs(frames_of(SMALL)[-1], **knobs)


def test_other_couplings_keep_the_step_and_its_past_and_are_gone_on_from():
    frame = frames_of(SMALL)[5]
    edited, after, *_ = iter_edited(frame, frame.data.truth)
    assert (edited.experiment, edited.snapshot.step, edited.snapshot.couplings) == (SMALL, 5, frame.data.truth)
    assert edited.trace["step"].tolist() == [0, 1, 2, 3, 4, 5, 5]
    assert edited.snapshot.cost == pytest.approx(frame.setup.cost_at_truth, abs=1e-12)
    assert after.trace["step"].tolist() == [0, 1, 2, 3, 4, 5, 5, 6]
    assert after.snapshot.cost < edited.snapshot.cost


def test_the_snapshots_of_a_run_are_those_of_its_frames():
    snapshots = list(SMALL.run())
    assert [snapshot.step for snapshot in snapshots] == list(range(13))
    assert [each.couplings for each in snapshots] == [frame.snapshot.couplings for frame in frames_of(SMALL)]


def test_patience_is_left_out_where_no_held_out_cost_is_affordable():
    experiment = Experiment(
        n_visible=30, n_hidden=30, n_steps=100, n_held_out=100, model="stochastic", learner="mean-field",
        patience=1, max_steps=2,
    )  # fmt: skip
    frames = frames_of(experiment)
    assert frames[0].setup.held_out is None
    assert frames[-1].snapshot.step == 2


def test_what_would_take_too_long_is_refused_with_its_number():
    with pytest.raises(Infeasible, match=r"\d"):
        frames_of(Experiment(n_visible=5, n_hidden=40, n_steps=100, n_held_out=0, learner="exact", model="stochastic"))


# The knobs


@pytest.mark.parametrize("name", RANGES)
def test_every_number_is_checked_with_a_sentence(name):
    low, high = RANGES[name]
    base = {"n_held_out": 100, name: low}
    Experiment(**base)
    Experiment(**(base | {name: high}))
    for beyond in (low - 1, high + 1):
        with pytest.raises(ValueError, match=f"{name} must lie between {low:g} and {high:g}".replace("+", r"\+")):
            Experiment(**(base | {name: beyond}))
    for wrong in ("5", True, float("nan")):
        with pytest.raises(ValueError, match=f"{name} must (be a|lie between)"):
            Experiment(**(base | {name: wrong}))


@pytest.mark.parametrize("name", ["n_visible", "n_steps", "seed", "max_steps", "start_index"])
def test_counts_are_whole_numbers(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number, got 12.5"):
        Experiment(**{name: 12.5})


@pytest.mark.parametrize("name", ["n_visible", "variance", "seed", "penalty", "learner", "model"])
def test_only_knobs_with_a_default_of_their_own_may_be_left_open(name):
    with pytest.raises(ValueError, match=f"{name} must be"):
        Experiment(**{name: None})


@pytest.mark.parametrize("name", CHOICES)
def test_every_choice_is_checked_with_a_sentence(name):
    with pytest.raises(
        ValueError, match=f"{name} must be one of {next(iter(CHOICES[name]))}, .*, got 'other'|, got 'other'"
    ):
        Experiment(**{name: "other"})


@pytest.mark.parametrize(
    ("knobs", "sentence"),
    [
        ({"hidden_hidden": "no"}, "hidden_hidden must be True or False, got 'no'"),
        ({"n_held_out": 3}, "n_held_out must be 0 or at least 10, got 3"),
        ({"patience": 5, "n_held_out": 0}, "patience waits for the held-out cost: set n_held_out"),
    ],
)
def test_knobs_that_do_not_go_together_are_refused(knobs, sentence):
    with pytest.raises(ValueError, match=sentence):
        Experiment(**knobs)


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("full", [False, True])
def test_every_learner_runs_in_an_experiment(learner, full):
    experiment = Experiment(
        n_visible=4, n_hidden=2, n_steps=120, n_held_out=60, model="stochastic", learner=learner,
        hidden_hidden=full, bias=0.2 * full, max_steps=3,
    )  # fmt: skip
    frames = frames_of(experiment)
    assert frames[-1].snapshot.step == 3
    assert frames[-1].snapshot.state == "finished"
    assert frames[-1].snapshot.optimiser == experiment.optimiser_used
    assert np.isfinite(frames[-1].trace["cost"]).all()


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_starts(name):
    preset = PRESETS[name]
    small = replace(preset, n_steps=min(preset.n_steps, 200), n_held_out=min(preset.n_held_out, 200), max_steps=1)
    assert frames_of(small)[-1].snapshot.step == 1


@pytest.mark.parametrize("learner", [name for name in LEARNERS if LEARNERS[name].stochastic])
def test_the_noise_of_a_sampling_learner_comes_from_the_seed_and_from_a_stream_of_its_own(learner):
    experiment = replace(SMALL, learner=learner, model="stochastic", n_held_out=0)
    data = world_of(experiment)
    at = experiment.starting_point(data.truth)

    def drawn(**knobs):
        return replace(experiment, **knobs).prepare(data).learner(at).beliefs.hidden

    assert np.array_equal(drawn(seed=1), drawn(seed=1))
    assert not np.array_equal(drawn(seed=1), drawn(seed=2))
    assert np.array_equal(drawn(seed=1), drawn(seed=1, start_index=2, max_steps=3))
    assert world_of(replace(experiment, learner="visible")).recording.trials[0].tobytes() == (
        data.recording.trials[0].tobytes()
    )


def test_numbers_of_numpy_are_as_good_as_pythons_own():
    knobs = {"n_visible": 5, "n_steps": 1000, "variance": 0.5, "rate": 0.1, "seed": 3, "max_steps": 4}
    kinds = {"variance": np.float64, "rate": np.float32}
    experiment = Experiment(hidden_hidden=np.bool_(True), **{k: kinds.get(k, np.int64)(v) for k, v in knobs.items()})
    assert type(experiment.hidden_hidden) is bool
    for name, value in knobs.items():
        assert type(getattr(experiment, name)) is type(value)
        assert getattr(experiment, name) == pytest.approx(value)
    assert replace(experiment, rate=0.1) == Experiment(hidden_hidden=True, **knobs)
    with pytest.raises(ValueError, match="n_steps must be a whole number"):
        Experiment(n_steps=np.float64(1000.0))


def test_how_it_learns_is_what_learn_is_asked():
    options = replace(SMALL, patience=7, penalty=0.1, box=2.0, rate=0.3).learn_options(None)
    assert options == {
        "optimiser": None, "rate": 0.3, "penalty": 0.1, "box": 2.0, "held_out": None, "patience": None, "max_steps": 12,
    }  # fmt: skip
    judge = replace(SMALL, patience=7).prepare(world_of(SMALL)).held_out
    assert replace(SMALL, patience=7).learn_options(judge)["patience"] == 7
