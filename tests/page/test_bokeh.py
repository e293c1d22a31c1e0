"""What the page does with Bokeh's private methods, and with figures that are resized before they are laid out."""

import random

import pytest

from tests.pages import front, press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

TABS = ("Data", "Inspect", "Symmetry", "Compare", "Restarts")  # those with figures inside React's layouts

# A Bokeh in which what is amended has another name, or its module is not there.
ANOTHER_BOKEH = """
let bokeh
Object.defineProperty(window, "Bokeh", {
  get: () => bokeh,
  set: (value) => {
    bokeh = value
    const original = bokeh.require
    bokeh.require = (path) => {
      if (path === "core/visuals/visual") { throw new Error(`no module ${path}`) }
      if (path === "models/layouts/layout_dom") { return { LayoutDOMView: class {} } }
      return path === "models/plots/plot_canvas" ? { PlotView: class {} } : original(path)
    }
  },
})"""


def test_a_bokeh_without_the_methods_amended_is_told_of_once_each_and_nothing_breaks(open_page):
    said = []
    tab = open_page(before=ANOTHER_BOKEH, heard=said)
    front(tab, "Compare")
    tab.get_by_role("button", name="Pin this run", exact=True).wait_for()
    front(tab, "Learn")
    press(tab, "Rewind")
    wait_for(tab, lambda now: now["step"] == 0, "step 0")
    told = sorted(text for kind, text in said if kind == "info" and text.startswith("hidviz:"))
    assert [text.split()[5] for text in told] == [
        "LayoutDOMView._after_resize",
        "LayoutDOMView.invalidate_layout",
        "LayoutDOMView.layoutable_views",
        "PlotView._after_layout",
        "PlotView._measure_layout",
        "PlotView.base_font_size",
        "VisualProperties._get_css_value",
    ]


def test_this_bokeh_has_the_methods_amended(open_page):
    said = []
    tab = open_page(heard=said)
    assert state(tab)["converged"]
    assert [text for _, text in said if text.startswith("hidviz:")] == []


LAID_OUT = """() => {
  const inside = (view) => view.layoutable_views.flatMap((child) => [child, ...inside(child)])
  const [page] = Bokeh.index.roots
  const figures = inside(page).filter((view) => view.model.type === "Figure")
  return [page.is_idle, figures.length, figures.filter((view) => view.is_displayed).length]
}"""


def test_tabs_that_were_laid_out_are_passed_over_until_they_come_forward(open_page):
    tab = open_page("?nv=4&nh=1&T=200&out=0")

    def only_what_is_seen():
        idle, walked, displayed = tab.evaluate(LAID_OUT)
        return idle and walked == displayed > 0  # a tab that is built ahead is gone through until it is laid out

    for name in ("Data", "Symmetry", "Learn"):
        front(tab, name)
        tab.wait_for_timeout(1_000)
        until(tab, only_what_is_seen, "a layout that goes through what is seen")


def test_resizing_while_a_tab_is_built_breaks_nothing(open_page):
    """Before a figure is laid out, the window's resize reaches it through its surroundings: a page error fails this."""
    tab = open_page()
    moves = random.Random(1)
    for name in TABS:
        front(tab, name)
        for _ in range(moves.randrange(3, 9)):
            tab.set_viewport_size({"width": moves.choice([700, 800, 1000, 1200, 1400]), "height": 900})
            tab.wait_for_timeout(moves.choice([0, 10, 30, 60, 120]))
    front(tab, "Learn")
    press(tab, "Rewind")
    wait_for(tab, lambda now: now["step"] == 0, "the start after all that")


# A menu changes, and before the server has come to it a key is pressed: both in one task of the browser.
CHANGE_AND_PRESS = """
const menu = [...Bokeh.documents[0]._all_models.values()].find((model) => model.data?.label === "Bins shown")
menu.data.value = "400"
window.dispatchEvent(new KeyboardEvent("keydown", { key: "a" }))"""

SHOWN = """
const raster = [...Bokeh.documents[0]._all_models.values()].find((model) => model.name === "Raster")
return raster.x_range.end - raster.x_range.start"""


def test_a_menu_that_draws_is_obeyed_when_a_key_comes_at_once_after_it(open_page):
    tab = open_page("?tab=data&T=1000")
    until(tab, lambda: tab.evaluate(f"() => {{ {SHOWN} }}") == 200, "the raster")
    tab.evaluate(f"() => {{ {CHANGE_AND_PRESS} }}")
    until(tab, lambda: tab.evaluate(f"() => {{ {SHOWN} }}") == 400, "400 bins", 10)


TOP_ROW = """(name) => {
  const find = (view) => view.model?.name === name ? view : (view.child_views ?? []).map(find).find(Boolean)
  const figure = [...(Bokeh.index.roots ?? Bokeh.index)].map(find).find(Boolean)
  const { canvas, ctx } = figure.canvas_view.primary
  const left = Math.floor(figure.frame.bbox.left * canvas.width / figure.bbox.width)
  return ctx.getImageData(0, 0, left - 12, 1).data.reduce((sum, value) => sum + value, 0)
}"""


def test_nothing_stays_at_the_edge_of_a_figure_whose_axis_has_moved(open_page):
    tab = open_page("?tab=data&nv=8&nh=3&T=600&model=stochastic&learner=exact&out=0", width=1400, height=900)
    tab.get_by_label("Reveal hidden units").first.click()
    tab.get_by_text("have the wrong sign").first.wait_for()
    tab.wait_for_timeout(500)
    assert tab.evaluate(TOP_ROW, "Raster") == 0
