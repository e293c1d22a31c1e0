"""The tab Symmetry in a real Chromium."""

import re

import numpy as np
import pytest

from hidviz.evaluation.equivalent_models import cost_per_bin, flip_half
from hidviz.experiments import shipped_frame
from hidviz.learners import LEARNERS
from tests.pages import choose, enter, press, rest_at, show_knobs, state

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def fig3(opened):
    """The page as it opens, with the tab in front."""
    tab = opened("?tab=equivalent")
    tab.get_by_text("data cannot select one").wait_for()
    return tab


@pytest.fixture(scope="module")
def small(opened):
    """A small network that learns slowly, in the dark and on a narrow page."""
    return opened("?tab=equivalent&nv=6&nh=2&T=400&out=0&seed=3&opt=gradient&rate=0.001&theme=dark", width=800)


def models(tab):
    return tab.get_by_role("list", name="Equivalent models").get_by_role("button")


def model(tab, k):
    return tab.get_by_role("button", name=re.compile(rf"^Load equivalent model {k}:"))


def test_all_equivalents_are_there_with_one_cost_and_one_is_nearest(fig3):
    tab = fig3
    costs = [float(each.get_attribute("data-cost")) for each in models(tab).all()]
    assert len(costs) == 8
    assert np.ptp(costs) < 1e-12
    assert costs[0] == pytest.approx(state(tab)["cost"], abs=1e-9)
    assert tab.get_by_role("button", name=re.compile("nearest to the truth")).count() == 1
    assert model(tab, 1).get_attribute("aria-pressed") == "true"


def test_a_model_is_loaded_by_a_press_and_given_back_by_undo(fig3):
    tab = fig3
    before = state(tab)
    tab.get_by_role("button", name=re.compile("nearest to the truth")).click()
    tab.get_by_role("button", name=re.compile("nearest to the truth, shown on the page")).wait_for()
    now = state(tab)
    assert now["cost"] == pytest.approx(before["cost"], abs=1e-9)
    assert now["rms"] == pytest.approx(now["rms_aligned"], abs=1e-9)
    assert now["rms"]["K"] < 0.1 < before["rms"]["K"]
    model(tab, 6).focus()
    tab.keyboard.press("Enter")
    tab.get_by_role("button", name=re.compile("^Load equivalent model 6:.*shown on the page")).wait_for()
    tab.keyboard.press("u")
    tab.get_by_role("button", name=re.compile("nearest to the truth, shown on the page")).wait_for()
    assert state(tab)["rms"] == now["rms"]


def test_half_a_flip_costs_what_the_engine_says(fig3):
    tab = fig3
    frame = shipped_frame("fig3")
    for block in "KL":
        choose(tab, "Block flipped alone", block)
        broken = flip_half(frame.snapshot.couplings, 0, block)
        jump = cost_per_bin(frame.setup.learner, broken) - frame.snapshot.cost
        tab.get_by_text(f"Flip it in {block} only: {jump / 18:+.4f} nats per unit and bin").wait_for()
    choose(tab, "Hidden unit to break", "2")
    tab.get_by_text("Flip hidden unit 2 in K and L: ±0 nats per bin, a symmetry.").wait_for()
    tab.get_by_text("not a symmetry", exact=True).wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_scale_valley_is_walked_for_all_units_and_for_one(small):
    tab = small
    rest_at(tab, 5)
    tab.get_by_text(re.compile(r"Within 0.001 nats per bin of the lowest for c from")).wait_for()
    choose(tab, "Hidden units to scale", "1")
    tab.get_by_text(re.compile(r"Within 0.001 nats per bin of the lowest for c from")).wait_for()


def test_a_step_further_is_evaluated_and_a_running_one_is_not_followed(small):
    tab = small
    rest_at(tab, 5)
    tab.get_by_text("Evaluated at step 5:").wait_for()
    press(tab, "Step")
    tab.get_by_text("Evaluated at step 6:").wait_for()
    press(tab, "Run")
    tab.get_by_text(re.compile("The page has gone on to step .*: press Update.")).wait_for()
    press(tab, "Update")
    tab.get_by_text("Evaluated at step 6:").wait_for(state="detached")
    press(tab, "Pause")
    tab.get_by_text("data cannot select one").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_too_many_models_are_refused_with_their_number_and_the_rest_works(small):
    show_knobs(small)
    enter(small, "Hidden units", "4")
    small.get_by_text("4 hidden units have 384 equivalent models").wait_for()
    small.get_by_text("not a symmetry", exact=True).wait_for()
    assert models(small).count() == 0


def test_without_hidden_units_there_is_nothing_to_flip(small):
    show_knobs(small)
    choose(small, "Learner", LEARNERS["visible"].title)
    small.get_by_text("This learner infers no hidden units").wait_for()
