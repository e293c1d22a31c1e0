"""One step in numbers: what is written adds up, and is of the coupling that was chosen, in the gauge that is shown."""

import re
import time
from functools import cache

import numpy as np
import pytest

from hidviz.experiments import Experiment, Frame
from hidviz.experiments.run import iter_resumed, iter_run
from hidviz.network import regauge
from hidviz.ui.state.chosen_coupling import ChosenCoupling
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.learn import LearnTab
from hidviz.ui.text.step import step_in_numbers

PLACES = [("J", 2, 1), ("K", 3, 1), ("L", 0, 2)]


@cache
def frames(n=2, halves=False, **knobs):
    """The first frames of a small run."""
    run = iter_run(Experiment(n_visible=5, n_hidden=2, n_steps=60, **knobs))
    first = next(item for item in run if isinstance(item, Frame))
    resumed = (item for item in iter_resumed(first, halves=halves) if isinstance(item, Frame))
    return [frame for frame, _ in zip(resumed, range(n + 1), strict=False)]


def told(frame, place=None, *, align=False, halves=False):
    chosen = ChosenCoupling()
    chosen.place = place
    followed = chosen.followed(frame, 0, align=align)
    return followed, {name: says for name, says, _ in step_in_numbers(frame, followed, halves=halves)}


def settle(session):
    deadline = time.monotonic() + 60
    while session.poll() or session.awaiting or session._runner.running:
        assert time.monotonic() < deadline
        time.sleep(0.005)


def numbers(text):
    return [float(each.replace("−", "-").replace(",", "")) for each in re.findall(r"−?[0-9][0-9,]*\.?[0-9]*", text)]


@pytest.mark.parametrize("place", PLACES)
def test_the_passes_of_back_propagation_multiply_to_what_the_first_bins_say(place):
    _, after = frames(1, learner="backprop", optimiser="gradient")
    _, phases = told(after, place)
    assert list(phases) == ["Forward", "Error", "Backward", "Update"]
    *factors, product = numbers(phases["Backward"].split("=")[0]) + numbers(phases["Backward"].split("=")[1])[:1]
    assert product == pytest.approx(np.prod(factors), abs=2e-4)
    value, rate, slope, now = numbers(phases["Update"].split(":")[1])
    assert now == pytest.approx(value + rate * slope, abs=2e-4)
    assert f"{slope:.4f}".replace("-", "−") in phases["Backward"]


def test_the_example_of_back_propagation_is_that_of_the_data():
    before, after = frames(1, learner="backprop", optimiser="gradient")
    s, couplings = after.data.recording.trials[0].astype(float), before.snapshot.couplings
    mu = np.tanh(couplings.g + couplings.L @ s[0])
    error = s[2] - np.tanh(couplings.h + couplings.J @ s[1] + couplings.K @ mu)
    chosen = ChosenCoupling()
    followed = chosen.followed(after, 0, align=False)
    said = {each.name: each.says for each in step_in_numbers(after, followed, halves=False)}
    shown = [numbers(said["Forward"])[2], numbers(said["Error"])[-1]]
    np.testing.assert_allclose(shown, [mu[followed.sender], error[followed.receiver]], atol=1e-4)


def test_an_optimiser_that_chooses_its_own_step_is_said_to():
    _, phases = told(frames(1, learner="exact")[-1])
    assert list(phases) == ["Slope", "Update"]
    value, change, now, *_ = numbers(phases["Update"].split(":")[1].replace("− ", "−").replace("+ ", ""))
    assert now == pytest.approx(value + change, abs=2e-4)
    assert "the step that L-BFGS took" in phases["Update"]


def test_halves_mark_the_one_just_seen():
    lit = []
    for frame in frames(2, halves=True, learner="mean-field")[1:]:
        followed, _ = told(frame)
        lit.append([phase.lit for phase in step_in_numbers(frame, followed, halves=True)])
    assert lit == [[True, False], [False, True]]


@pytest.mark.parametrize("learner", ["backprop", "exact"])
@pytest.mark.parametrize("place", [("K", 3, 1), ("L", 0, 2)])
def test_the_numbers_are_of_the_coupling_shown_aligned_or_as_found(learner, place):
    """The same coupling of the truth is followed; aligned it is told under the labels and signs of the maps."""
    frame = frames(2, learner=learner, optimiser="gradient", seed=3)[-1]
    for align in (False, True):
        followed, phases = told(frame, place, align=align)
        shown = regauge(frame.snapshot.couplings, frame.gauge) if align else frame.snapshot.couplings
        now = numbers(phases["Update"].split("=")[1])[0]
        assert now == pytest.approx(getattr(shown, followed.block)[followed.receiver, followed.sender], abs=1e-4)
        if align:
            assert followed[:3] == place


def test_without_a_choice_the_same_coupling_is_followed_from_step_to_step():
    chosen = ChosenCoupling()
    run = frames(2, learner="exact")
    first = chosen.followed(run[0], 1, align=False)
    assert first.block == "K"
    assert first.sender == 1
    assert abs(run[0].snapshot.couplings.K[first.receiver, 1]) == np.abs(run[0].snapshot.couplings.K[:, 1]).max()
    assert chosen.followed(run[2], 1, align=False) == first
    assert chosen.followed(run[2], 0, align=False).sender == 0


def test_a_start_has_no_step_to_tell_of():
    assert told(frames(learner="exact")[0])[1] == {}


@pytest.mark.parametrize("learner", ["visible", "visible-lag2"])
@pytest.mark.parametrize("align", [False, True])
def test_a_learner_without_those_hidden_units_is_drawn_and_told_of(learner, align):
    session = Session(Experiment(n_visible=5, n_hidden=2, n_steps=60, learner=learner))
    tab = LearnTab(session, lambda: None)
    try:
        settle(session)
        session.step()
        settle(session)
        tab.align_switch.value, tab.coupling.place = align, ("K", 1, 1)
        assert tab.look()
        assert tab.one_step.visible
        session.run()
        settle(session)
        assert tab.look()
        assert not tab.one_step.visible
    finally:
        session.close()
