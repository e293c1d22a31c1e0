"""How the page opens: with words at once, with nothing fetched that it does not use, and painted and laid out once."""

import pytest

from tests.pages import ALL, KNOWN, front, press, state, until, visiting, wait_for
from tests.server import Server

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Keeps what the browser tells the server, and counts what is done to figures.
HEARD = """
window.told = []
const send = WebSocket.prototype.send
WebSocket.prototype.send = function (message) { window.told.push(String(message)); return send.call(this, message) }
"""
FETCHED = "() => performance.getEntriesByType('resource').map((each) => new URL(each.name).pathname)"


def test_only_what_is_used_is_fetched_and_modules_as_they_are(open_page):
    fetched = open_page().evaluate(FETCHED)
    assert any(path.endswith("bokeh.min.js") for path in fetched)
    assert [path for path in fetched if "es-module-shims" in path or "bokeh-gl" in path or "font-awesome" in path] == []
    assert any(path.endswith("panel-material-ui.bundle.js") for path in fetched)  # by its address: a browser keeps it


def test_words_are_there_before_the_scripts(open_page):
    tab = open_page()
    ready = tab.evaluate("() => performance.getEntriesByName('first-contentful-paint')[0].startTime")
    scripts = tab.evaluate("() => performance.getEntriesByType('navigation')[0].domInteractive")
    assert ready < scripts


@pytest.mark.parametrize("query", ["", "?theme=dark"])
def test_figures_come_painted_and_nobody_paints_them_again(open_page, query):
    told = open_page(query, before=HEARD).evaluate("() => window.told")
    assert any("document_ready" in message for message in told)
    repainted = ("axis_line_color", "grid_line_color", "background_fill_color", "text_font")
    assert [message for message in told if any(name in message for name in repainted)] == []


# As soon as the page is there, and before the server has heard of that: back in the browser's history, and a key.
EARLY = """
const find = (root) => root?.querySelector("#hidviz-status") ??
  [...root?.querySelectorAll("*") ?? []].map((it) => it.shadowRoot && find(it.shadowRoot)).find(Boolean)
const early = () => {
  if (!find(document.body)?.dataset.state) { requestAnimationFrame(early); return }
  history.pushState({}, "", location.pathname + "?nv=5&nh=1&T=300&out=100")
  window.dispatchEvent(new KeyboardEvent("keydown", { key: "a" }))
  window.dispatchEvent(new PopStateEvent("popstate"))
}
early()
"""


def test_who_goes_back_before_the_server_listens_gets_there_and_nothing_is_lost(open_page):
    tab = open_page("?nv=5&nh=1&T=300&out=100&tab=data", before=EARLY)
    until(tab, lambda: tab.get_by_role("tab", name="Learn", selected=True).count() == 1, "the tab in the address")
    tab.get_by_role("img", name="Cost per bin").first.wait_for()
    until(tab, lambda: tab.get_by_role("switch", name="Align to truth").is_checked(), "what the key does")
    tab.keyboard.press("s")
    wait_for(tab, lambda now: now["step"] == 1, "a step")  # any page error fails this


def test_our_own_scripts_are_not_translated(open_page):
    """A component without a bundle is translated by each browser as it opens."""
    plain = open_page().evaluate(
        """() => [...Bokeh.index.roots[0].model.references()]
          .filter((model) => model.type.endsWith("ReactiveESM") && model.bundle == null)
          .map((model) => model.class_name)"""
    )
    assert plain == []


def test_a_window_that_changes_is_laid_out_once_for_each_picture(open_page):
    tab = open_page()
    tab.evaluate(
        """() => {
          const root = Bokeh.index.roots[0]
          const layout = root.compute_layout
          window.layouts = 0
          root.compute_layout = function () { window.layouts++; return layout.call(this) }
          window.pictures = 0
          const count = () => { window.pictures++; requestAnimationFrame(count) }
          requestAnimationFrame(count)
        }"""
    )
    tab.set_viewport_size({"width": 1000, "height": 800})
    tab.wait_for_timeout(1_500)
    layouts, pictures = tab.evaluate("() => [window.layouts, window.pictures]")
    assert 1 <= layouts <= pictures
    assert wait_for(tab, lambda now: now["step"] == state(tab)["step"], "an answer")


def test_figures_of_a_tab_fit_their_places_though_the_window_changed_while_it_was_away(open_page):
    tab = open_page()
    for name in ("Data", "Learn"):
        front(tab, name)
    tab.set_viewport_size({"width": 1000, "height": 800})
    front(tab, "Data")
    until(tab, lambda: tab.evaluate(FITS), "figures as wide as their places", 20)


def test_nothing_of_the_tab_that_is_left_is_seen_while_another_comes(open_page):
    tab = open_page()
    front(tab, "Inspect")
    tab.get_by_role("heading", name="Couplings of hidden 1").wait_for()
    assert tab.evaluate(GOING, "Data") == ["Loading Data …", True]
    tab.get_by_role("heading", name="Recorded activity").wait_for()
    assert tab.evaluate("(title) => 1 * getComputedStyle(window.placeOf(title)).opacity", "Data") == 1


GOING = """(title) => {
  %ALL%
  const places = all(document).filter((node) => node.role === "tabpanel")
  window.placeOf = (name) => places.find((place) => place.ariaLabel === name)
  const tab = all(document).find((node) => node.role === "tab" && node.textContent.trim() === title)
  tab.click()
  const says = tab.getRootNode().querySelector(".skeleton").textContent
  return [says, places.every((place) => place.inert && getComputedStyle(place).opacity === "0")]
}""".replace("%ALL%", ALL)
"""Press the name of a tab, and tell what the page says at once, and whether all that is below is out of sight."""

FITS = """() => {
  const figures = []
  const look = (view) => {
    if (view.model.type === "Figure" && view.is_displayed) { figures.push(view) }
    for (const child of view.child_views ?? []) { look(child) }
  }
  look(Bokeh.index.roots[0])
  return figures.length > 0 && figures.every((view) => Math.abs(view.el.clientWidth - view.model.outer_width) <= 1 &&
    Math.abs(view.canvas_view.el.clientWidth - view.el.clientWidth) <= 1)
}"""
"""Whether there are figures in sight, each drawn at the size of its place."""


@pytest.fixture
def open_alone(browser):
    """The same as `open_page`, on a server that nobody else visits."""
    running = Server()
    try:
        with visiting(browser, running) as opened:
            yield opened
    finally:
        running.stop()


def test_tabs_are_built_while_nothing_else_is_done_and_are_there_when_asked_for(open_alone):
    tab = open_alone("?nv=8&nh=2&T=500&opt=gradient&rate=0.001")
    press(tab, "Run")
    wait_for(tab, lambda now: now["step"] > 5, "some steps")
    before = tab.evaluate(KNOWN)
    tab.wait_for_timeout(4000)
    assert tab.evaluate(KNOWN) == before, "nothing is built beside a run"
    press(tab, "Pause")
    known = [before]

    def whole():
        tab.wait_for_timeout(3000)
        known.append(tab.evaluate(KNOWN))
        return known[-1] == known[-2] > before

    until(tab, whole, "all tabs", 90)
    for name in ("Symmetry", "Compare"):
        front(tab, name)
    assert tab.evaluate(KNOWN) < before + 1.05 * (known[-1] - before), "they were there"
    alone = open_alone("?nv=8&nh=2&T=500&hide=tabs")
    alone.wait_for_timeout(8000)
    assert alone.evaluate(KNOWN) < 1.05 * before, "where no tab can be gone to none is built"


# How far the tab in front stands from the middle of its row.
ASIDE = """(row) => {
  const its = row.querySelector("[aria-selected=true]").getBoundingClientRect(), all = row.getBoundingClientRect()
  return Math.abs(its.left + its.right - all.left - all.right) / 2
}"""


def test_on_a_phone_the_tab_in_front_stays_in_the_middle_when_others_grow_late(open_page):
    tab = open_page("?tab=mydata", width=390, height=844)
    row = tab.get_by_role("tablist").first
    until(tab, lambda: row.evaluate(ASIDE) < 2, "the middle")
    row.evaluate("(row) => { row.firstElementChild.style.minWidth = '140px' }")
    until(tab, lambda: row.evaluate(ASIDE) < 2, "the middle again", 10)
