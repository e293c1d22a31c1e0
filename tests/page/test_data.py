"""The tab Data in a real Chromium."""

import pytest

from tests.pages import choose, press, state, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "?tab=data&nv=8&nh=2&T=600&m=1&out=0&seed=3"


@pytest.fixture(scope="module")
def small(opened):
    """A small network with couplings among hidden units, on a narrow page."""
    return opened(SMALL, width=800)


def drawing(tab, name):
    return tab.get_by_role("group", name=name)


def test_data_tab_shows_activity_correlations_network_and_path(opened):
    tab = opened("?tab=data")
    tab.get_by_text("Root mean square: lag 1").wait_for()
    tab.get_by_text("The 100 strongest of 396 couplings.").wait_for()
    tab.get_by_text("a path has no intermediate hidden step").wait_for()
    tab.get_by_role("table", name="Factors of path 1").get_by_text("K from hidden 1").wait_for()
    until(tab, lambda: drawing(tab, "Network over time").locator("line").count() == 200, "200 lines")
    tab.get_by_label("Reveal hidden units").first.click()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_hidden_states_as_found_stand_under_the_true_ones_and_what_is_wrong_is_counted(opened):
    tab = opened("?tab=data&nv=8&nh=2&T=600&out=0&model=stochastic&learner=exact&step=5", width=800)
    tab.get_by_label("Reveal hidden units").first.click()
    tab.get_by_text("Told by the couplings of step 5:").first.wait_for()
    tab.get_by_text("the least that any method can reach").first.wait_for()
    press(tab, "Step")
    tab.get_by_text("Told by the couplings of step 6:").first.wait_for()
    tab.get_by_label("Reveal hidden units").first.click()
    until(tab, lambda: not tab.get_by_text("Told by the couplings").first.is_visible(), "nothing to be told")


def test_a_unit_is_isolated_by_keyboard_and_by_menu(small):
    tab = small
    network = drawing(tab, "Network over time")
    first = tab.get_by_role("button", name="Couplings of visible 1", exact=True)
    first.focus()
    first.press("End")
    tab.get_by_role("button", name="Couplings of hidden 2", exact=True).press(" ")
    tab.get_by_text("All 19 couplings of hidden 2.").wait_for()
    assert state(tab)["running"] is False
    until(tab, lambda: network.locator("line").count() == 20, "20 lines")
    tab.get_by_role("button", name="Couplings of hidden 2", exact=True).press("Escape")
    tab.get_by_text("All 100 couplings.").wait_for()
    choose(tab, "Isolate unit", "visible 3")
    tab.get_by_text("All 19 couplings of visible 3.").wait_for()


def test_the_path_of_an_error_is_stepped_in_delay_and_follows_the_learner(small):
    tab = small
    table = tab.get_by_role("table", name="Factors of path 1")
    table.wait_for()
    before = table.inner_text()
    press(tab, "Step")
    until(tab, lambda: table.inner_text() != before, "another path")
    tab.get_by_role("slider", name="Delay q").first.press("ArrowRight")
    tab.get_by_text("comes back through 2 hidden units").wait_for()
    table.get_by_text("M from hidden").wait_for()
    until(tab, lambda: drawing(tab, "How an error propagates back").locator("line").count() == 3, "3 lines")
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_learner_without_such_paths_says_so(opened):
    tab = opened("?tab=data&nv=6&nh=2&T=300&model=stochastic&learner=exact&out=0&theme=dark")
    tab.get_by_text("Only back-propagation sends errors along such paths").wait_for()
    tab.get_by_text("Root mean square: lag 1").wait_for()
