"""A tab of the browser that nobody sees: learning goes on, drawing does not, and all is there when somebody looks."""

import pytest

from tests.pages import press, state, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# A browser whose tab can be put out of sight; headless, it never is.
COVERED = """
window.covered = false
Object.defineProperty(document, "hidden", { get: () => window.covered })
window.cover = (covered) => {
  window.covered = covered
  document.dispatchEvent(new Event("visibilitychange"))
}
"""
DRAWN = """(status) => {
  window.drawn = 0
  new MutationObserver(() => window.drawn++).observe(status, { attributeFilter: ["data-state"] })
}"""


def test_a_tab_out_of_sight_learns_on_and_draws_next_to_nothing(open_page):
    tab = open_page("?opt=gradient&max=100000", before=COVERED)
    press(tab, "Run")
    before = wait_for(tab, lambda now: now["step"] > 10, "steps")
    tab.locator("#hidviz-status").evaluate(DRAWN)
    tab.evaluate("() => window.cover(true)")
    tab.wait_for_timeout(8_000)
    assert tab.evaluate("() => window.drawn") <= 8  # those in flight, then after 1, 2, 4 and 5 seconds
    shown = state(tab)["step"]
    tab.evaluate("() => { window.drawn = 0; window.cover(false) }")
    after = wait_for(tab, lambda now: now["step"] > shown + 20, "the steps made meanwhile", 10)
    assert after["step"] > before["step"]
    wait_for(tab, lambda _: tab.evaluate("() => window.drawn") > 20, "frames as before", 20)


def test_a_press_in_a_tab_that_comes_back_is_answered_at_once(open_page):
    tab = open_page("?opt=gradient&max=100000", before=COVERED)
    press(tab, "Run")
    wait_for(tab, lambda now: now["step"] > 10, "steps")
    tab.evaluate("() => window.cover(true)")
    tab.wait_for_timeout(8_000)
    tab.evaluate("() => window.cover(false)")
    press(tab, "Pause")
    wait_for(tab, lambda now: not now["running"], "a pause", 5)
