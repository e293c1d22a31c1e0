"""Reset all in a real Chromium: afterwards the page is as fresh in every field."""

import pytest

from tests.pages import enter, front, press, state, until, visiting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIELDS = """() => {
  const under = (e) => [e, ...(e.shadowRoot ? walk(e.shadowRoot) : [])]
  const walk = (root) => [...root.querySelectorAll('*')].flatMap(under)
  const all = walk(document).filter((e) => e.getClientRects().length)
  const of = (kind) => all.filter((e) => e.matches(kind))
  return {
    inputs: of('input').map((e) => [e.id && (e.getRootNode().querySelector(`label[for="${e.id}"]`)?.innerText ?? ''),
      e.type, e.value, e.checked]),
    menus: of('[role=combobox], select').map((e) => e.innerText || e.value),
    tab: of('[role=tab][aria-selected=true]').map((e) => e.innerText),
    buttons: of('button').map((e) => [e.innerText, e.disabled]),
    alerts: of('[role=alert]').map((e) => e.innerText),
    sentence: of('#hidviz-status').map((e) => e.innerText),
  }
}"""


def fields(tab):
    """Everything that a person can see or set, and what the page says of itself."""
    until(tab, lambda: tab.evaluate(FIELDS)["menus"], "the page")
    return tab.evaluate(FIELDS) | {"state": state(tab), "address": tab.url}


def test_reset_all_equals_a_fresh_page_in_every_field(browser, server):
    with visiting(browser, server) as opened:
        tab = opened()
        fresh = fields(tab)
        tab.get_by_label("Align to truth", exact=True).first.click()
        tab.get_by_label("Logarithmic cost", exact=True).first.click()
        press(tab, "Flip hidden unit 1")
        enter(tab, "Visible units", "5")
        wait_for(tab, lambda now: now["step"] == 0, "new data")
        enter(tab, "Data length T", "300")
        press(tab, "Run")
        wait_for(tab, lambda now: now["step"] > 2, "steps")
        front(tab, "Inspect")
        assert fields(tab) != fresh
        press(tab, "Reset all")
        until(tab, lambda: "nv=" not in tab.url, "the bare address")
        wait_for(tab, lambda now: now["ready"] and now["preset"] == "fig3", "the first picture")
        until(tab, lambda: fields(tab) == fresh, "every field", seconds=30)
