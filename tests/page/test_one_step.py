"""One step in numbers, in a real Chromium: there while steps are looked at one by one, and of the coupling chosen."""

import re

import pytest

from tests.pages import choose, front, press, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "?nv=6&T=400&seed=3&learner=backprop&opt=gradient"
EQUATION = re.compile(r"(−?[\d.]+) \+ ([\d.]+) × \(?(−?[\d.]+)\)? = (−?[\d.]+)")


def told(tab):
    return tab.get_by_role("region", name="One step in numbers")


def value(text):
    return float(text.replace("−", "-"))


def test_a_step_is_told_in_the_numbers_of_the_coupling_chosen_until_the_run_goes_on(open_page):
    tab = open_page(SMALL)
    wait_for(tab, lambda now: not now["awaited"], "the start")
    assert not told(tab).is_visible()
    press(tab, "Step")
    told(tab).get_by_text("Update", exact=True).wait_for()
    before, rate, slope, after = map(value, EQUATION.search(told(tab).inner_text()).groups())
    assert after == pytest.approx(before + rate * slope, abs=2e-4)
    assert told(tab).locator("li > b").all_inner_texts() == ["Forward", "Error", "Backward", "Update"]

    front(tab, "Inspect")
    press(tab, "L, to hidden 1 from visible 3")
    tab.get_by_text("L, to hidden 1 from visible 3").first.wait_for()
    front(tab, "Learn")
    told(tab).get_by_role("heading", name=re.compile(r"from visible 3 to hidden [12]$")).wait_for()

    press(tab, "Run")
    until(tab, lambda: not told(tab).is_visible(), "the numbers to go")


def test_slow_motion_marks_the_half_that_was_just_seen(open_page):
    tab = open_page("?nv=6&T=400&seed=3&learner=mean-field")
    wait_for(tab, lambda now: not now["awaited"], "the start")
    lit = told(tab).locator("li.lit > b")
    press(tab, "Half step")
    until(tab, lambda: lit.all_inner_texts() == ["M-step"], "the M-step")
    press(tab, "Half step")
    until(tab, lambda: lit.all_inner_texts() == ["E-step"], "the E-step")
    choose(tab, "Speed", "Slow motion")
    press(tab, "Run")
    until(tab, lambda: lit.all_inner_texts() == ["M-step"] and told(tab).is_visible(), "the next M-step")
