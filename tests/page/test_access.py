"""The page for those who hear it or use no mouse: judged by axe-core, and gone through by keyboard alone."""

from pathlib import Path

import axe_playwright_python
import pytest

from tests.pages import choose, front, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
TABS = ("Learn", "Symmetry", "Data", "Inspect", "My data", "Restarts", "Data length", "Compare", "Scores")

# For every element, in whatever shadow.
EACH = """const each = (root, act) => { for (const it of root.querySelectorAll("*")) {
  act(it)
  if (it.shadowRoot) { each(it.shadowRoot, act) }
} }
const seen = (it) => it.getClientRects().length > 0
"""
UNFOLD = f"() => {{ {EACH} each(document, (it) => {{ if (it.tagName === 'DETAILS') {{ it.open = true }} }}) }}"
FIGURES = f"""() => {{ {EACH}
  const found = []
  each(document, (it) => {{ if (it.classList.contains("bk-Figure") && seen(it)) {{
    const [role, name, words] = ["role", "aria-label", "aria-description"].map((what) => it.getAttribute(what))
    found.push([role, it.tabIndex, name, words])
  }} }})
  return found
}}"""
FOCUSED = """() => {
  let it = document.activeElement
  while (it?.shadowRoot?.activeElement) { it = it.shadowRoot.activeElement }
  return [it?.tagName ?? "", it?.getAttribute("aria-label") || it?.textContent.trim() || ""]
}"""


def bring(tab, title):
    """Bring a tab to the front and wait until its figures have been put into words."""
    front(tab, title)
    tab.get_by_role("tabpanel", name=title, exact=True).wait_for(state="attached")
    until(tab, lambda: tab.get_by_role("tab", name=title, exact=True, selected=True).count(), title)
    until(tab, lambda: tab.get_by_text("Loading").count() == 0 or not tab.get_by_text("Loading").is_visible(), title)
    until(tab, lambda: all(role == "img" for role, *_ in tab.evaluate(FIGURES)), f"the figures of {title}")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_any_tab_with_its_folds_open(open_page, theme):
    tab = open_page(f"?theme={theme}", width=1280, height=720)
    tab.evaluate(AXE)
    found = {}
    for title in TABS:
        bring(tab, title)
        tab.evaluate(UNFOLD)
        for violation in tab.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]:
            found[f"{title}: {violation['id']}"] = [node["html"][:160] for node in violation["nodes"]]
    assert found == {}


def violations(tab):
    """What axe finds, each with the beginning of the first place of its kind."""
    found = tab.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [(each["id"], each["nodes"][0]["html"][:160]) for each in found]


def test_axe_finds_nothing_in_a_lesson_on_a_phone_or_in_the_help(open_page):
    tab = open_page("?lesson=hidden-twin", width=390, height=844)
    tab.evaluate(AXE)
    found = violations(tab)
    tab.keyboard.press("?")
    tab.get_by_role("dialog").wait_for()
    assert found + violations(tab) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "sv"])
def test_axe_finds_nothing_with_one_step_in_numbers_nor_where_a_number_is_refused(open_page, theme, language):
    tab = open_page(f"?nv=6&nh=2&T=300&out=50&opt=gradient&rate=0.2&theme={theme}&language={language}", width=1280)
    tab.evaluate(AXE)
    tab.keyboard.press("s")
    wait_for(tab, lambda now: now["step"] == 1, "a step")
    tab.locator("section.step h3").wait_for()
    found = violations(tab)
    tab.get_by_role("tab").nth(3).click()
    number = tab.get_by_role("spinbutton").last
    number.fill("5 or so")
    number.press("Enter")
    tab.get_by_text("“5 or so”").wait_for()
    assert found + violations(tab) == []


def test_every_figure_is_one_picture_with_a_name_and_words(open_page):
    tab = open_page(width=1280, height=720)
    names = []
    for title in ("Learn", "Data", "Inspect"):
        bring(tab, title)
        figures = tab.evaluate(FIGURES)
        assert figures, title
        for role, stop, name, words in figures:
            assert (role, stop) == ("img", 0)
            assert name != "Figure"
            assert words, name
            names.append((name, words))
    said = dict(names)
    assert "nats per bin" in said["Cost per bin"]
    assert f"train {state(tab)['cost']:.4f}" in said["Cost per bin"]
    assert "400 cells from −" in said["True couplings"]


def tab_to(tab, name, tag="BUTTON"):
    """Press Tab until what has this name is reached."""
    passed = []
    for _ in range(150):
        where = tab.evaluate(FOCUSED)
        if where[0] == tag and where[1].startswith(name):
            return
        passed.append(where[1][:24])
        tab.keyboard.press("Tab")
    raise AssertionError(f"the Tab key does not come to {name}: {passed}")


def press_by_key(tab, name):
    tab_to(tab, name)
    tab.keyboard.press("Enter")


def next_by_key(tab, place):
    tab.get_by_role("button", name="Next", exact=True, disabled=False).wait_for()
    press_by_key(tab, "Next")
    tab.get_by_text(f"step {place} of 7").wait_for()


def test_the_first_stop_of_the_tab_key_skips_to_the_run(open_page):
    tab = open_page(width=1280, height=720)
    tab.keyboard.press("Tab")
    assert tab.evaluate(FOCUSED) == ["BUTTON", "Skip to the run"]
    tab.keyboard.press("Enter")
    until(tab, lambda: tab.evaluate(FOCUSED) == ["BUTTON", "Run"], "Run")


def test_the_hidden_twin_is_found_by_keyboard_alone(open_page):
    tab = open_page(width=1280, height=720)
    press_by_key(tab, "One-minute tour")
    tab.get_by_text("step 1 of 7").wait_for()
    press_by_key(tab, "Run")
    wait_for(tab, lambda now: now["converged"] and not now["running"] and now["step"] > 100, "the end")
    next_by_key(tab, 2)
    press_by_key(tab, "No")
    next_by_key(tab, 3)
    before = state(tab)
    unit = before["gauge"]["order"][before["gauge"]["signs"].index(-1)] + 1
    press_by_key(tab, f"Flip hidden unit {unit}")
    wait_for(tab, lambda now: min(now["gauge"]["signs"]) > 0, "the flip")
    next_by_key(tab, 4)
    press_by_key(tab, "No")
    next_by_key(tab, 5)
    press_by_key(tab, "Flip K only")
    wait_for(tab, lambda now: now["cost"] > before["cost"] + 0.01, "a cost that rose")
    next_by_key(tab, 6)
    press_by_key(tab, "Undo")
    wait_for(tab, lambda now: now["cost"] == before["cost"], "the cost of before")
    next_by_key(tab, 7)
    assert tab.evaluate(FOCUSED)[1] == "Next lesson", "the focus stays"


def test_nothing_is_cut_at_twice_the_size(open_page):
    """A window of 1280 by 720 at 200 % has half as many pixels of the page in either direction."""
    tab = open_page(width=640, height=360)
    for title in ("Learn", "Symmetry", "Data"):
        bring(tab, title)
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), title


# What is wider than the window, but for what is swiped or scrolled by itself.
CUT = f"""() => {{ {EACH}
  const wide = []
  const swiped = (it) => {{
    for (; it && !it.classList?.contains("main-content"); it = it.parentElement ?? it.getRootNode()?.host) {{
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(it).overflowX)) {{ return true }}
    }}
    return false
  }}
  each(document, (it) => {{
    const box = it.getBoundingClientRect()
    if (box.width && box.right > window.innerWidth + 1 && !swiped(it)) {{ wide.push(it.className || it.tagName) }}
  }})
  return wide
}}"""


def in_sight(place):
    box = place.bounding_box()
    return box["x"] >= 0 and box["x"] + box["width"] <= 390


def test_no_tab_is_wider_than_a_phone(open_page):
    tab = open_page(width=390, height=844)
    for title in TABS:
        bring(tab, title)
        box = tab.locator("#hidviz-status").bounding_box()
        assert box["x"] + box["width"] <= 390, title
        tab.wait_for_timeout(1000)  # for what the tab shows to be there, where nothing says so
        assert tab.evaluate(CUT) == [], title
        assert in_sight(tab.get_by_role("tab", name=title, exact=True)), title
    bring(tab, "Data length")
    choose(tab, "Figure", "A sweep of my own")
    tab.get_by_label("Seeds", exact=True).wait_for()
    assert tab.evaluate(CUT) == []


def test_reduced_motion_lets_nothing_turn_or_flicker(open_page):
    tab = open_page(width=1280, height=720)
    tab.emulate_media(reduced_motion="reduce")
    tab.evaluate(
        f"""() => {{ {EACH}
          window.widths = new Set()
          each(document, (it) => {{ if (it.dataset?.block === "K") {{
            const watch = new MutationObserver(() => window.widths.add(it.getAttribute("stroke-width")))
            watch.observe(it, {{ attributes: true }})
          }} }})
        }}"""
    )
    before = state(tab)
    tab.keyboard.press("1")
    wait_for(tab, lambda now: now["gauge"] != before["gauge"], "the flip")
    tab.wait_for_timeout(600)  # twice the time of the motion that must not be
    assert tab.evaluate("window.widths.size") <= 18, "one width for each visible unit, and none between"


def test_on_a_phone_the_head_is_whole_and_the_maps_are_swiped(open_page):
    tab = open_page(width=390, height=844)
    for name in ("Share link", "Help"):
        box = tab.get_by_role("button", name=name, exact=True).bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    until(tab, lambda: len([each for each in tab.evaluate(FIGURES) if each[0] == "img"]) >= 5, "the figures")
    maps = [tab.get_by_role("img", name=name, exact=True).bounding_box() for name in ("True couplings", "Inferred")]
    assert maps[0]["y"] == maps[1]["y"], "in one row"
    assert maps[0]["width"] == maps[1]["width"] > 0.6 * 390, "and each nearly as wide as the window"
    flip = tab.get_by_role("button", name="Flip hidden unit 1", exact=True).bounding_box()
    assert flip["y"] > maps[0]["y"] + maps[0]["height"]
    bar = tab.get_by_role("group", name="The run", exact=True).bounding_box()
    assert flip["y"] + flip["height"] <= bar["y"], "what it flips is drawn above it, both in the first view"
    align = tab.get_by_label("Align to truth", exact=True)
    tab.get_by_role("img", name="Inferred − true", exact=True).scroll_into_view_if_needed()
    until(tab, lambda: tab.get_by_role("img", name="Inferred", exact=True).bounding_box()["x"] < 0, "the swipe")
    assert 0 <= align.bounding_box()["x"] < 100, "the switch stays under whichever map is seen"
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("size", [(1280, 720), (1400, 900), (800, 900)])
def test_flip_and_all_that_it_changes_is_in_the_first_view(open_page, size):
    tab = open_page(width=size[0], height=size[1])
    until(tab, lambda: len([each for each in tab.evaluate(FIGURES) if each[0] == "img"]) >= 5, "the figures")
    for name in ("True couplings", "Inferred", "Inferred − true", "Cost per bin", "Errors of the couplings"):
        box = tab.get_by_role("img", name=name, exact=True).bounding_box()
        assert box["x"] + box["width"] <= size[0], name
        assert box["y"] + box["height"] <= size[1], name
    for unit in (1, 2):
        box = tab.get_by_role("button", name=f"Flip hidden unit {unit}", exact=True).bounding_box()
        assert box["y"] + box["height"] <= size[1]
