"""The memory of a run is predicted, and a run that does not fit is refused before anything is made."""

import json
import pickle
import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from hidviz import Experiment, fit_recording, iter_run
from hidviz.background import PROCESS, RUN, asked_for, memory_left, return_value
from hidviz.background.executors import alone
from hidviz.evaluation import baseline_memory
from hidviz.experiments import Settings
from hidviz.experiments.memory import predicted_memory, room_for
from hidviz.experiments.ranges import RANGES
from hidviz.learners import LEARNERS, LIKELIHOODS, Infeasible, TooLarge, prepare
from hidviz.network import Recording
from hidviz.sweeps import Sweep, grid, run_sweep
from hidviz.sweeps.measurement import measure

HUGE = Experiment(n_visible=200, n_hidden=200, n_steps=10_000_000, n_held_out=10_000_000)
SMALL = Experiment(n_visible=4, n_hidden=1, n_steps=200, n_held_out=100, max_steps=2)


@pytest.fixture
def gigabyte(monkeypatch):
    """A run may use one gigabyte."""
    monkeypatch.setenv(PROCESS, "100G")
    monkeypatch.setenv(RUN, "1G")


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize("name", LEARNERS)
def test_more_units_and_more_bins_never_take_less(name, hidden_hidden):
    for size in ((5, 3, 1000), (18, 2, 100_000), (30, 8, 10_000)):
        for k in range(3):
            larger = tuple(n + (i == k) for i, n in enumerate(size))
            assert LEARNERS[name].memory(*larger, hidden_hidden) >= LEARNERS[name].memory(*size, hidden_hidden) > 0.0


def test_the_refusal_says_how_much_of_how_much_and_what_would_fit(gigabyte):  # noqa: ARG001
    with pytest.raises(TooLarge) as refused, room_for(HUGE):  # and not made, should it be let in
        pass
    said = str(refused.value)
    assert f"{predicted_memory(HUGE) / 1e9:.3g} GB" in said
    assert "a run may use 1 GB" in said
    assert RUN in said
    most = int(re.search(r"at most ([\d,]+) bins", said)[1].replace(",", ""))
    assert len(str(most).rstrip("0")) <= 2, "a number that can be remembered"
    assert refused.value.knobs == {"n_steps": most, "n_held_out": most}
    fitting = replace(HUGE, **refused.value.knobs)
    with room_for(fitting):
        pass
    with pytest.raises(TooLarge), room_for(replace(HUGE, n_steps=int(1.2 * most), n_held_out=int(1.2 * most))):
        pass
    assert str(pickle.loads(pickle.dumps(refused.value))) == said


@pytest.mark.parametrize(
    ("n_held_out", "said"), [(0, "3,000,000 bins of"), (2000, "3,000,000 bins, and 2,000 held out, of")]
)
def test_the_refusal_names_what_was_asked_for(gigabyte, n_held_out, said):  # noqa: ARG001
    wanted = replace(HUGE, n_steps=3_000_000, n_held_out=n_held_out, n_hidden=7)
    with (
        pytest.raises(TooLarge, match=f"for {said} 200 \\+ 7 units, and a run may use 1 GB: at most"),
        room_for(wanted),
    ):
        pass


def test_a_run_that_just_fits_is_allowed(monkeypatch):
    monkeypatch.setenv(PROCESS, "100G")
    monkeypatch.setenv(RUN, str(predicted_memory(SMALL)))
    with room_for(SMALL):
        pass
    monkeypatch.setenv(RUN, "100G")
    monkeypatch.setattr("hidviz.experiments.memory.memory_left", lambda: predicted_memory(SMALL))
    with room_for(SMALL):
        pass


def test_what_is_left_is_never_less_than_nothing(monkeypatch):
    monkeypatch.setenv(PROCESS, "100G")
    with (
        asked_for(200e9),
        pytest.raises(TooLarge, match="and 0 MB is left of what all runs here share"),
        room_for(SMALL),
    ):
        pass


@pytest.mark.parametrize("with_data", [True, False])
def test_what_a_run_needs_is_gone_while_it_is_filled(monkeypatch, with_data):
    monkeypatch.setenv(PROCESS, "100G")
    monkeypatch.setattr("hidviz.background.memory.resident", lambda: 0.0)
    before = memory_left()
    with room_for(SMALL, with_data=with_data):
        assert before - memory_left() == pytest.approx(predicted_memory(SMALL, with_data=with_data))
    assert memory_left() == before


def test_the_offer_goes_down_to_the_fewest_bins_there_may_be(monkeypatch):
    """Just enough for the fewest, and a little less."""
    few = replace(SMALL, n_steps=2000, n_held_out=0)
    fewest = int(RANGES["n_steps"][0])
    enough = predicted_memory(replace(few, n_steps=fewest))
    monkeypatch.setenv(RUN, str(enough))
    with pytest.raises(TooLarge, match=f"at most {fewest} bins would fit") as refused, room_for(few):
        pass
    assert refused.value.knobs == {"n_steps": fewest, "n_held_out": 0}
    monkeypatch.setenv(RUN, str(enough - 1.0))
    with pytest.raises(TooLarge, match="no number of bins would fit"), room_for(few):
        pass


@pytest.mark.parametrize(("fitting", "offered"), [(667, 660), (67, 67), (12_345, 12_000)])
def test_the_offer_has_two_digits_that_count_and_zeros(monkeypatch, fitting, offered):
    many = replace(SMALL, n_steps=20_000, n_held_out=0)
    monkeypatch.setenv(RUN, str(predicted_memory(replace(many, n_steps=fitting))))
    with pytest.raises(TooLarge, match=f"at most {offered:,} bins would fit") as refused, room_for(many):
        pass
    assert refused.value.knobs["n_steps"] == offered


@pytest.mark.parametrize(("model", "of_hidden"), [("continuous", 32), ("stochastic", 4)])
def test_data_are_whole_numbers_of_bytes_a_unit_and_three_more_while_they_are_made(model, of_hidden):
    """States of one byte; hidden units between -1 and 1 of eight. The held-out ones are kept without the hidden."""
    few = Experiment(n_visible=10, n_hidden=4, n_steps=1000, n_held_out=10_000_000, learner="visible", model=model)
    kept = 1000 * (10 + of_hidden) + 10_000_000 * 10
    assert predicted_memory(few) == 3e7 + kept + 10_000_000 * (30 + of_hidden)
    many = replace(few, n_steps=10_000_000, n_held_out=0)
    assert predicted_memory(many) == predicted_memory(many, with_data=False) + 10_000_000 * (10 + of_hidden)


def test_what_is_prepared_in_turn_counts_once_and_a_quarter_of_the_rest():
    """Backpropagation and the exact likelihood of 5 + 2 true units judge; mean field has none of its own."""

    def memory(name, n_hidden, n):
        return LEARNERS[name].memory(5, n_hidden, n, False)

    def whole(*parts):
        return 3e7 + 0.75 * max(parts) + 0.25 * sum(parts)

    def predicted(**knobs):
        wanted = Experiment(n_visible=5, n_hidden=2, n_steps=2000, **knobs)
        return pytest.approx(predicted_memory(wanted, with_data=False), rel=1e-12)

    true = {model: [memory(name, 2, n) for n in (1000, 2000)] for model, name in LIKELIHOODS.items()}
    assert predicted(learner="exact", model="stochastic", n_held_out=1000) == whole(
        memory("exact", 2, 2000), memory("exact", 2, 1000), *true["stochastic"], baseline_memory(5, 2000)
    )
    assert predicted(learner="exact", model="stochastic", n_held_out=0) == whole(
        memory("exact", 2, 2000), true["stochastic"][1]
    )
    assert predicted(learner="mean-field", n_hidden_assumed=3, n_held_out=1000) == whole(
        memory("mean-field", 3, 2000), memory("exact", 3, 1000), *true["continuous"], memory("exact", 3, 2000),
        baseline_memory(5, 2000),
    )  # fmt: skip
    assert predicted(learner="mean-field", n_hidden_assumed=30, n_held_out=0) == whole(
        memory("mean-field", 30, 2000), true["continuous"][1]
    ), "an exact likelihood that takes too long beside every step is none"


def test_held_out_data_are_kept_beside_the_others():
    without, with_some = (predicted_memory(replace(HUGE, n_held_out=n)) for n in (0, 10_000_000))
    assert with_some - without >= 10_000_000 * HUGE.n_visible


def test_held_out_data_that_are_shorter_stay_as_they_are(gigabyte):  # noqa: ARG001
    with pytest.raises(TooLarge) as refused, room_for(replace(HUGE, n_held_out=100)):
        pass
    assert refused.value.knobs["n_held_out"] == 100 < refused.value.knobs["n_steps"]


def test_no_offer_is_made_where_fewer_bins_do_not_help(monkeypatch):
    monkeypatch.setenv(RUN, "1M")
    with pytest.raises(TooLarge, match="no number of bins would fit") as refused, room_for(SMALL):
        pass
    assert refused.value.knobs == {}


def test_every_door_refuses_before_it_makes_anything(gigabyte, monkeypatch):  # noqa: ARG001
    def made(*_, **__):
        raise AssertionError("data were made")

    monkeypatch.setattr(np.random, "default_rng", made)
    for begin in (HUGE.simulate, HUGE.run, lambda: iter_run(HUGE), lambda: iter([measure(HUGE)])):
        with pytest.raises(TooLarge):
            next(begin())


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
def test_time_is_told_before_memory_as_no_fewer_bins_would_help_and_before_data_are_made(hidden_hidden, monkeypatch):
    slow = replace(HUGE, n_hidden=16, learner="exact", model="stochastic", hidden_hidden=hidden_hidden)
    recording = Recording(np.ones((2000, 50)))

    def made(*_, **__):
        raise AssertionError("data were made")

    monkeypatch.setenv(RUN, "200k")
    monkeypatch.setattr(np.random, "default_rng", made)
    for begin in (
        slow.run,
        lambda: iter_run(slow),
        lambda: iter([measure(slow)]),
        lambda: iter([prepare("exact", recording, n_hidden=17, hidden_hidden=hidden_hidden)]),
    ):
        with pytest.raises(Infeasible, match=r"exact .*needs [24]\*\*1[67] .* or at most \d+ hidden units") as refused:
            next(begin())
        assert not isinstance(refused.value, TooLarge)


def test_what_other_runs_use_or_have_asked_for_counts(monkeypatch):
    monkeypatch.setenv(PROCESS, "100G")
    monkeypatch.setenv(RUN, "100G")
    with room_for(SMALL):
        pass
    with (
        asked_for(99.9e9),
        pytest.raises(TooLarge, match=r"is left of what all runs here share.*HIDVIZ_MEMORY"),
        room_for(SMALL),
    ):
        pass
    with room_for(SMALL):
        pass


def test_a_sweep_refuses_such_a_point_and_goes_on(gigabyte):  # noqa: ARG001
    sweep = Sweep("lengths", grid(replace(SMALL, n_visible=150), n_steps=(100, 10_000_000, 200)))
    *_, last = run_sweep(sweep, alone)
    assert len(last.measurements) == 2
    (sentence,) = last.failed.values()
    assert "a run may use 1 GB" in sentence


def test_a_recording_that_is_too_long_for_its_learner_is_refused(monkeypatch):
    states = np.where(np.random.default_rng(1).random((2000, 5)) < 0.5, 1, -1)
    settings = Settings(learner="mean-field", n_hidden=3, max_steps=1, starts=1)
    monkeypatch.setenv(RUN, "200k")
    with pytest.raises(
        TooLarge, match=r"lowest order would need about .* MB .* of 5 \+ 3 units.*at most [\d,]+ would fit"
    ):
        return_value(fit_recording(Recording(states), settings))


PEAK = """
import json, sys
import hidviz.sweeps, matplotlib, scipy.optimize
from hidviz import Experiment, iter_run
from hidviz.experiments import Frame

def status(key):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))

experiment = Experiment(**json.loads(sys.argv[1]))
list(iter_run(Experiment(**{**json.loads(sys.argv[1]), "n_steps": 100, "n_held_out": 100})))  # late imports
idle = status("VmRSS")
for item in iter_run(experiment):
    pass
print(status("VmHWM") - idle)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="optional: the peak of a process is read from Linux")
@pytest.mark.parametrize(
    "knobs",
    [
        {"n_visible": 18, "n_hidden": 2, "n_steps": 2_000_000, "n_held_out": 0},
        {"n_visible": 40, "n_hidden": 40, "n_steps": 200_000, "n_held_out": 0},
        {"n_visible": 20, "n_hidden": 30, "n_steps": 100_000, "n_held_out": 50_000, "hidden_hidden": True},
        {"n_visible": 18, "n_hidden": 2, "n_steps": 500_000, "n_held_out": 0, "learner": "exact"},
        {"n_visible": 5, "n_hidden": 5, "n_steps": 2_000_000, "n_held_out": 0, "learner": "exact"},
        {"n_visible": 8, "n_hidden": 3, "n_steps": 500_000, "n_held_out": 0, "learner": "exact", "hidden_hidden": True},
        {"n_visible": 10, "n_hidden": 10, "n_steps": 200_000, "n_held_out": 100_000, "learner": "mean-field"},
        {"n_visible": 30, "n_hidden": 30, "n_steps": 100_000, "n_held_out": 0, "learner": "mean-field", "max_steps": 1},
        {"n_visible": 10, "n_hidden": 8, "n_steps": 150_000, "n_held_out": 0, "learner": "mean-field-correlated"},
        {"n_visible": 20, "n_hidden": 30, "n_steps": 200_000, "n_held_out": 0, "learner": "gibbs"},
        {
            "n_visible": 40,
            "n_hidden": 0,
            "n_steps": 400_000,
            "n_held_out": 100_000,
            "learner": "visible",
            "max_steps": 12,
        },
        {"n_visible": 60, "n_hidden": 0, "n_steps": 500_000, "n_held_out": 0, "learner": "visible-lag2"},
    ],
    ids=lambda knobs: f"{knobs.get('learner', 'backprop')}-{knobs['n_visible']}-{knobs['n_hidden']}",
)
def test_the_prediction_is_right_within_a_factor_of_two(knobs):
    stochastic = {"model": "stochastic"} if "learner" in knobs else {}
    knobs = {"max_steps": 2} | knobs | stochastic
    done = subprocess.run([sys.executable, "-c", PEAK, json.dumps(knobs)], capture_output=True, text=True, check=True)
    peak, predicted = float(done.stdout), predicted_memory(Experiment(**knobs))
    assert peak > 7e7, "large enough to judge by"
    assert peak / 2.0 < predicted < 2.0 * peak, f"predicted {predicted / 1e6:.0f} MB, took {peak / 1e6:.0f} MB"
