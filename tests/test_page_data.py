"""The tab Data in a real Chromium."""

import json
import time

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "?tab=data&nv=8&nh=2&T=600&m=1&out=0&seed=3"


def choose(tab, label, option):
    tab.get_by_role("combobox", name=label).first.click()
    tab.get_by_text(option, exact=True).last.click()


def wait_until(condition, tab, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)


def drawing(tab, name):
    return tab.get_by_role("group", name=name)


def test_data_tab_shows_activity_correlations_network_and_path(open_page):
    tab = open_page("?tab=data")
    tab.get_by_text("Root mean square").wait_for()
    tab.get_by_text("The 100 strongest of 396 couplings.").wait_for()
    tab.get_by_text("a path has no intermediate hidden step").wait_for()
    tab.get_by_role("table", name="Factors of path 1").get_by_text("K from hidden 1").wait_for()
    wait_until(lambda: drawing(tab, "Network over time").locator("line").count() == 200, tab)
    tab.get_by_label("Reveal hidden units").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_unit_is_isolated_by_keyboard_and_by_menu(open_page):
    tab = open_page(SMALL)
    network = drawing(tab, "Network over time")
    first = tab.get_by_role("button", name="Couplings of visible 1", exact=True)
    first.focus()
    first.press("End")
    tab.get_by_role("button", name="Couplings of hidden 2", exact=True).press(" ")
    tab.get_by_text("All 19 couplings of hidden 2.").wait_for()
    assert json.loads(tab.locator("#hidviz-status").get_attribute("data-state"))["running"] is False
    wait_until(lambda: network.locator("line").count() == 20, tab)
    tab.get_by_role("button", name="Couplings of hidden 2", exact=True).press("Escape")
    tab.get_by_text("All 100 couplings.").wait_for()
    choose(tab, "Isolate unit", "visible 3")
    tab.get_by_text("All 19 couplings of visible 3.").wait_for()


def test_the_path_of_an_error_is_stepped_in_delay_and_follows_the_learner(open_page):
    tab = open_page(SMALL, width=800)
    table = tab.get_by_role("table", name="Factors of path 1")
    table.wait_for()
    before = table.inner_text()
    tab.get_by_role("button", name="Step", exact=True).click()
    wait_until(lambda: table.inner_text() != before, tab)
    tab.get_by_role("slider", name="Delay q").first.press("ArrowRight")
    tab.get_by_text("comes back through 2 hidden units").wait_for()
    table.get_by_text("M from hidden").wait_for()
    wait_until(lambda: drawing(tab, "Path of an error").locator("line").count() == 3, tab)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_learner_without_such_paths_says_so(open_page):
    tab = open_page("?tab=data&nv=6&nh=2&T=300&model=stochastic&learner=exact&out=0&theme=dark")
    tab.get_by_text("Only back-propagation sends errors along such paths").wait_for()
    tab.get_by_text("Root mean square").wait_for()
