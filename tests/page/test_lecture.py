"""A lecture in a real Chromium: it can be read from the back row, the arrows lead through it, its link keeps it."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.pages import ALL, front, press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# The size on the screen of the letters of every text that is magnified and seen, in whatever shadow.
LETTERS = """() => {
  const found = []
  const look = (root) => { for (const it of root.querySelectorAll("*")) {
    if (it.shadowRoot) { look(it.shadowRoot) }
    const own = [...it.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())
    if (!own || !it.getClientRects().length || it.closest("svg, style, script, option") ||
      it.currentCSSZoom === 1) { continue }
    found.push([it.textContent.trim().slice(0, 40), parseFloat(getComputedStyle(it).fontSize) * it.currentCSSZoom])
  } }
  look(document.querySelector("body"))
  return found
}"""

NUMBERS = """all(document).filter((it) => it.matches("text.number")).map((it) =>
  parseFloat(getComputedStyle(it).fontSize) * it.getScreenCTM().a)"""


def query_of(tab):
    return {key: values[-1] for key, values in parse_qs(urlsplit(tab.url).query).items()}


def test_a_lecture_is_read_from_the_back_row(open_page):
    tab = open_page("?lesson=hidden-twin&mode=lecture&hide=settings", width=1920, height=1080)
    until(tab, lambda: tab.evaluate(LETTERS), "the magnification")
    sizes = dict(tab.evaluate(LETTERS))
    assert {"Align to truth", "True couplings", "Flip", "Run", "Share link", "Teach"} <= set(sizes)
    assert min(sizes.values()) > 23.9, min(sizes.items(), key=lambda each: each[1])
    figure = """() => [...Bokeh.documents[0]._all_models.values()].filter((it) => it.name === "Cost per bin")
      .map((it) => [it.below[0].major_label_text_font_size])[0]"""
    letters = tab.evaluate(figure)[0]
    pixels = 16 * float(letters[:-2]) if letters.endswith("em") else float(letters[:-2])
    assert pixels * 1920 / 1120 >= 24
    drawn = """() => {
      const look = (view) => view.model?.name === "Errors of the couplings" ? view :
        (view.child_views ?? []).map(look).find(Boolean)
      const view = [...(Bokeh.index.roots ?? Bokeh.index)].map(look).find(Boolean)
      const glyph = [...view.renderer_views?.values() ?? view.child_views].map((it) => it.glyph)
        .find((it) => it?.model.type === "MultiLine")
      return [...glyph.line_width]
    }"""
    widths = [1920 / 1120 * each for each in tab.evaluate(drawn)]
    assert min(widths) >= 4, "those as found"
    assert max(widths) > 1.5 * min(widths), "and the aligned ones are told from them"
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert min(tab.evaluate(f"(() => {{ {ALL}; return {NUMBERS} }})()")) > 23, "numbers of the units"


@pytest.mark.parametrize(("size", "query"), [((1920, 1080), ""), ((1280, 720), "&hide=settings")])
def test_network_maps_and_curves_are_in_sight_beside_each_step_of_a_lesson(open_page, size, query):
    tab = open_page(f"?lesson=how-much-data&mode=lecture{query}", width=size[0], height=size[1])
    tab.get_by_text("step 1 of 4").wait_for()
    until(tab, lambda: tab.evaluate(LETTERS), "the magnification")
    card = tab.get_by_label("Lesson", exact=True).first
    shown = "True couplings", "Inferred", "Inferred − true", "Cost per bin", "Errors of the couplings"

    def in_sight():
        boxes = [tab.get_by_role("img", name=name, exact=True).first.bounding_box() for name in shown]
        below = card.bounding_box()["y"] + card.bounding_box()["height"]
        return all(below <= box["y"] + 1 and box["y"] + box["height"] <= size[1] + 1 for box in boxes)

    until(tab, in_sight, "the first step", 20)
    press(tab, "Run")
    wait_for(tab, lambda now: not now["running"] and now["step"] > 30, "the end")
    press(tab, "Next")
    tab.get_by_text("step 2 of 4").wait_for()
    tab.wait_for_timeout(2000)  # in which what it speaks of is brought into sight
    assert in_sight()


def test_a_magnified_map_tells_of_the_cell_under_the_mouse(open_page):
    tab = open_page("?mode=lecture&hide=settings", width=1920, height=1080)
    until(tab, lambda: tab.evaluate(LETTERS), "the magnification")
    place = """() => {
      const look = (view) => view.model?.name === "True couplings" ? view :
        (view.child_views ?? []).map(look).find(Boolean)
      const view = [...(Bokeh.index.roots ?? Bokeh.index)].map(look).find(Boolean)
      const frame = view.frame, box = view.el, by = box.currentCSSZoom
      const { left, top } = box.querySelector ? DOMRect.fromRect(box.getBoundingClientRect()) : {}
      const sx = frame.x_scale.compute(4.5), sy = frame.y_scale.compute(6.5)
      return [by * (left + sx), by * (top + sy)]
    }"""
    until(tab, lambda: tab.evaluate(place)[0] > 0, "the map")
    tab.wait_for_timeout(500)
    tab.mouse.move(*tab.evaluate(place))
    tab.locator(".bk-tooltip-row-value, .bk-tooltip").get_by_text("visible 7").first.wait_for()
    tab.locator(".bk-tooltip-row-value, .bk-tooltip").get_by_text("visible 5").first.wait_for()


def test_the_arrows_lead_through_the_lesson_and_only_through_what_was_done(open_page):
    tab = open_page("?lesson=why-the-error&mode=lecture", width=1280, height=720)
    tab.get_by_text("step 1 of 4").wait_for()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("a")
    tab.get_by_role("button", name="Next", exact=True, disabled=False).wait_for()
    assert tab.get_by_text("step 1 of 4").count() == 1
    tab.keyboard.press("ArrowRight")
    tab.get_by_text("step 2 of 4").wait_for()
    tab.keyboard.press("ArrowLeft")
    tab.get_by_text("step 1 of 4").wait_for()


def test_a_link_keeps_all_that_was_in_it(open_page):
    kept = {
        "hide": "settings",
        "theme": "dark",
        "mode": "lecture",
        "lesson": "hidden-twin",
        "speed": "second",
        "log": "1",
    }
    tab = open_page("?" + "&".join(f"{key}={value}" for key, value in kept.items()), width=1280, height=720)
    tab.get_by_text("step 1 of 7").wait_for()
    assert kept.items() <= query_of(tab).items()
    tab.keyboard.press("a")
    until(tab, lambda: query_of(tab).get("align") == "1", "the switch")
    tab.reload()
    tab.get_by_text("step 1 of 7").wait_for()
    assert kept.items() <= query_of(tab).items()
    front(tab, "Compare")
    until(tab, lambda: query_of(tab).get("tab") == "compare", "the tab")
    front(tab, "Learn")
    press(tab, "New data")
    wait_for(tab, lambda now: now["seed"] == 2 and not now["awaited"], "new data")
    until(tab, lambda: query_of(tab).get("seed") == "2", "the seed in the address")
    assert kept.items() <= query_of(tab).items()
    assert tab.get_by_role("button", name="Teach", exact=True).is_visible()


def test_what_is_locked_away_cannot_be_brought_back(open_page):
    tab = open_page("?hide=settings,tabs,transport&lock=1", width=1280, height=720)
    for role, name in (("button", "Step"), ("button", "Show all controls"), ("button", "Teach"), ("tab", "Data")):
        assert not tab.get_by_role(role, name=name, exact=True).is_visible(), name
    assert tab.get_by_label("Visible units", exact=True).count() == 0
    assert tab.get_by_role("combobox", name="Preset").count() == 0
    before = state(tab)
    tab.keyboard.press("r")
    press(tab, "Run")
    wait_for(tab, lambda now: now["running"] or now["step"] != before["step"] or now["awaited"], "a run")
    assert query_of(tab) == {"hide": "settings,tabs,transport", "lock": "1"}


def test_what_is_hidden_comes_back_at_a_press(open_page):
    tab = open_page("?hide=settings,tabs,transport", width=1280, height=720)
    assert not tab.get_by_role("tab", name="Data", exact=True).is_visible()
    preset, drawer = tab.get_by_role("combobox", name="Preset"), tab.get_by_role("button", name="Open drawer")
    assert preset.count() == drawer.count() == 0
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert tab.get_by_role("button", name="Run", exact=True).bounding_box()["x"] > 0
    press(tab, "Show all controls")
    preset.wait_for()
    tab.get_by_role("tab", name="Data", exact=True).wait_for()
    tab.get_by_role("button", name="Step", exact=True).wait_for()
    tab.get_by_label("Visible units", exact=True).first.wait_for()
    until(tab, lambda: "hide" not in tab.url, "an address that hides nothing")


def test_what_is_left_when_the_knobs_are_hidden_is_all_in_sight_where_there_is_little_room(open_page):
    tab = open_page("?hide=settings", width=800)
    press(tab, "Step")  # what the page told of its room was heard before
    wait_for(tab, lambda now: now["step"] > 0, "a step")
    assert tab.get_by_role("button", name="Open drawer", exact=True).count() == 0
    tab.wait_for_timeout(500)  # longer than anything slides
    assert 0 <= tab.get_by_role("button", name="Run", exact=True).bounding_box()["x"] < 100


def test_links_a_code_and_one_page_to_print_are_made_for_a_class(open_page):
    tab = open_page(width=1280, height=720)
    press(tab, "Teach")
    tab.get_by_role("dialog", name="Teach with this page").wait_for()
    tab.get_by_label("Lesson to teach", exact=True).select_option("hidden-twin")
    tab.get_by_label("Hide the settings and presets").check()
    tab.get_by_label("Lock: the class cannot bring them back").check()
    theirs = tab.get_by_label("The link of the class", exact=True)
    base = tab.url.split("?")[0]
    expected = f"{base}?hide=settings&lesson=hidden-twin&lock=1"
    until(tab, lambda: theirs.input_value() == expected, "the link of the class")
    assert tab.get_by_role("img", name="The link of the class as a QR code").locator("svg").count() == 1
    with tab.expect_popup() as popup:
        press(tab, "Handout to print")
    sheet = popup.value
    sheet.get_by_role("heading", name="The hidden twin").wait_for()
    assert sheet.get_by_role("listitem").count() == 7
    assert sheet.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") == 1
    sheet.close()
    press(tab, "Open for the lecture")
    tab.wait_for_url("**mode=lecture**")
    tab.get_by_text("step 1 of 7").wait_for()
    tab.keyboard.press("ArrowRight")
    tab.get_by_text("First do or answer what it asks").first.wait_for()
    press(tab, "Teach")
    until(tab, lambda: tab.get_by_label("Lesson to teach", exact=True).input_value() == "hidden-twin", "the lesson")
    press(tab, "Close")
    press(tab, "Code for the class")
    tab.get_by_role("dialog", name="Code for the class").wait_for()
    until(tab, lambda: theirs.input_value() == expected, "what was prepared")
    code = tab.get_by_role("img", name="The link of the class as a QR code").bounding_box()
    assert code["width"] > 0.5 * 720, "read from the back row"
    assert 0 <= code["y"] < code["y"] + code["height"] <= 720, "and whole"
    assert "students=settings,lock" in tab.url, "so that the lecture's link keeps what was prepared"
    assert not tab.get_by_label("Lesson to teach", exact=True).is_visible()


@pytest.mark.parametrize(("key", "title"), [("", "Teach with this page"), ("?", "Help")])
def test_escape_closes_a_sheet_wherever_it_was_clicked_last(key, title, open_page):
    tab = open_page()
    if key:
        tab.keyboard.press(key)
    else:
        press(tab, "Teach")
    sheet = tab.get_by_role("dialog", name=title)
    sheet.locator("p, h2").first.click()
    tab.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    press(tab, "Teach")
    tab.get_by_role("dialog", name="Teach with this page").wait_for()
