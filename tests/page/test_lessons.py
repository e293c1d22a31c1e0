"""A stranger's first minute, in a real Chromium: the hidden twin is found by doing what the page says."""

import re

import pytest

from tests.pages import press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def go_on(tab, place):
    tab.get_by_role("button", name="Next", exact=True, disabled=False).click()
    tab.get_by_text(f"step {place} of 7").wait_for()


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_the_hidden_twin_is_found_by_doing_what_the_page_says(open_page, size):
    tab = open_page(width=size[0], height=size[1])
    tab.get_by_text("Two units are hidden. Can the others reveal their wiring?").wait_for()
    press(tab, "Show me in a minute")
    tab.get_by_text("step 1 of 7").wait_for()
    assert "lesson=hidden-twin" in tab.url
    press(tab, "Run")
    wait_for(tab, lambda now: now["converged"] and not now["running"] and now["step"] > 100, "the end")
    go_on(tab, 2)
    press(tab, "No")
    tab.get_by_text("its own mirror image").wait_for()
    go_on(tab, 3)
    before = state(tab)
    unit = before["gauge"]["signs"].index(-1)
    unit = before["gauge"]["order"][unit] + 1
    tab.get_by_role("button", name=re.compile(rf"^Flip (hidden )?(unit )?{unit}")).first.click()
    after = wait_for(tab, lambda now: min(now["gauge"]["signs"]) > 0, "the flip")
    assert after["cost"] == before["cost"]
    assert after["rms"]["K"] < 0.1 < before["rms"]["K"]
    go_on(tab, 4)
    press(tab, "No")
    go_on(tab, 5)
    press(tab, "Flip K only")
    wait_for(tab, lambda now: now["cost"] > before["cost"] + 0.01, "a cost that rose")
    go_on(tab, 6)
    press(tab, "Undo")
    wait_for(tab, lambda now: now["cost"] == before["cost"], "the cost of before")
    go_on(tab, 7)
    tab.get_by_text("eight twins").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    press(tab, "Leave the lesson")
    until(tab, lambda: "lesson" not in tab.url, "an address without the lesson")


def test_a_link_opens_the_lesson_and_back_shows_what_was(open_page):
    tab = open_page("?lesson=hidden-twin&theme=dark", width=1280, height=720)
    tab.get_by_text("step 1 of 7").wait_for()
    shown = state(tab)
    press(tab, "Run")
    wait_for(tab, lambda now: now["converged"] and not now["running"] and now["step"] > 100, "the end")
    go_on(tab, 2)
    press(tab, "Back")
    tab.get_by_text("step 1 of 7").wait_for()
    back = wait_for(tab, lambda now: now["step"] == shown["step"], "the first picture")
    assert (back["cost"], back["rms"]) == (shown["cost"], shown["rms"])
    tab.reload()
    tab.get_by_text("step 1 of 7").wait_for()
