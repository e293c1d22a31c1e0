"""A stranger's first minute, in a real Chromium: the hidden twin is found by doing what the page says."""

import pytest

from hidviz.ui.text.lessons import LESSONS
from tests.pages import choose, front, press, settled, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def go_on(tab, place, n=7):
    tab.get_by_role("button", name="Next", exact=True, disabled=False).click(timeout=300_000)  # a scan takes its time
    tab.get_by_text(f"step {place} of {n}").wait_for()


def ran(tab, learner):
    """Press Run, and wait for the end of a run by this learner."""
    press(tab, "Run")
    wait_for(tab, lambda now: now["running"] or now["step"] == 0, "the beginning")
    wait_for(tab, lambda now: not now["running"] and not now["awaited"] and now["step"] > 30, f"the end of {learner}")


def here(tab, name):
    """Press what a step names in the text itself."""
    tab.get_by_role("button", name=f"{name}, from here", exact=True).first.click()


# Of each picture of this name: its top and bottom on the screen, and those of what is not covered: below what stays at
# the top, and above the bar that a phone has at the bottom.
SIGHT = """(name) => {
  const found = []
  const look = (root) => { for (const it of root.querySelectorAll("*")) {
    if (it.shadowRoot) { look(it.shadowRoot) }
    if (it.getAttribute("aria-label") === name && it.classList.contains("bk-Figure")) { found.push(it) }
    if (it.matches(".under")) { card = it }
    if (it.matches(".of-run")) { bar = it }
  } }
  let card, bar
  look(document)
  const [picture] = found.map((it) => it.getClientRects()[0]), run = bar.getClientRects()[0]
  const free = run.top > innerHeight / 2 ? run.top : innerHeight
  return [picture.left, picture.top, picture.right, picture.bottom, card.getClientRects()[0].bottom, free]
}"""


def in_sight(tab, name):
    """Whether all of the picture of this name can be seen, with the card."""
    left, top, right, bottom, above, below = settled(tab, SIGHT, name)
    width = tab.viewport_size["width"]
    return left >= -1 and right <= width + 1 and above - 1 <= top and bottom <= below + 1


def half_covered(tab):
    """Whether the card, or the edge around it, covers a part of the row of tabs."""
    tabs, edge = tab.get_by_role("tablist").first, 8
    if not tabs.is_visible():
        return False
    row, card = tabs.bounding_box(), tab.get_by_label("Lesson", exact=True).first.bounding_box()
    below = card["y"] + card["height"]
    return row["y"] + edge < below < row["y"] + row["height"] - edge


def look_at(tab, key, place):
    """Wait until the picture that matters most to a step is in sight."""
    name = LESSONS[key].steps[place - 1].look[0]
    until(tab, lambda: in_sight(tab, name), f"{name} at step {place}", 20)
    until(tab, lambda: not half_covered(tab), "a row of tabs that is not half covered", 20)


# Makes the line over the tabs higher by so many pixels, as a late font or sentence does.
GROW = """(pixels) => {
  const look = (root) => root.querySelector(".instrument") ??
    [...root.querySelectorAll("*")].map((it) => it.shadowRoot && look(it.shadowRoot)).find(Boolean)
  look(document).getRootNode().host.style.paddingBottom = `${pixels}px`
}"""


def opened_and_grown(open_page, act=None):
    """The first step of a lesson, in sight; then this act, if any, and a while later the page grows."""
    tab = open_page("?lesson=hidden-twin", width=1280, height=720)
    tab.get_by_text("step 1 of 7").wait_for()
    look_at(tab, "hidden-twin", 1)
    if act:
        act(tab)
    tab.wait_for_timeout(1_500)
    tab.evaluate(GROW, 200)
    return tab


def test_what_moves_late_is_followed(open_page):
    tab = opened_and_grown(open_page)
    look_at(tab, "hidden-twin", 1)


def test_whoever_scrolls_is_not_scrolled_back(open_page):
    def scroll(tab):
        tab.mouse.move(640, 500)
        tab.mouse.wheel(0, 1)

    tab = opened_and_grown(open_page, scroll)
    tab.wait_for_timeout(2_500)
    assert not in_sight(tab, LESSONS["hidden-twin"].steps[0].look[0])


@pytest.mark.parametrize(
    ("size", "query"),
    [((1280, 720), ""), ((390, 844), ""), ((1920, 1080), "?mode=lecture&hide=settings,tabs,transport")],
)
def test_the_hidden_twin_is_found_by_doing_what_the_page_says(open_page, size, query):
    tab = open_page(query, width=size[0], height=size[1])
    tab.get_by_text("Two units are hidden. Can the others reveal their wiring?").wait_for()
    press(tab, "One-minute tour")
    tab.get_by_text("step 1 of 7").wait_for()
    assert "lesson=hidden-twin" in tab.url
    wait_for(tab, lambda now: now["step"] == 0 and not now["awaited"], "a run that is yet to be made")
    look_at(tab, "hidden-twin", 1)
    tab.get_by_role("button", name="Next", exact=True).click(force=True)
    tab.get_by_text("First do or answer what it asks.").wait_for()
    here(tab, "Run")
    wait_for(tab, lambda now: now["converged"] and not now["running"] and now["step"] > 100, "the end")
    go_on(tab, 2)
    look_at(tab, "hidden-twin", 2)
    height = tab.get_by_label("Lesson", exact=True).first.bounding_box()["height"]
    press(tab, "No")
    tab.get_by_text("its own mirror image").first.wait_for()
    go_on(tab, 3)
    look_at(tab, "hidden-twin", 3)
    before = state(tab)
    unit = before["gauge"]["signs"].index(-1)
    here(tab, f"Flip hidden unit {before['gauge']['order'][unit] + 1}")
    after = wait_for(tab, lambda now: min(now["gauge"]["signs"]) > 0, "the flip")
    assert after["cost"] == before["cost"]
    assert after["rms"]["K"] < 0.1 < before["rms"]["K"]
    assert in_sight(tab, "Inferred − true"), "a press does not take away what it changes"
    go_on(tab, 4)
    look_at(tab, "hidden-twin", 4)
    assert not tab.get_by_text("models give exactly the same data").is_visible(), "which would answer it"
    press(tab, "Yes")
    tab.get_by_role("button", name="✓ No", exact=True).wait_for()
    go_on(tab, 5)
    look_at(tab, "hidden-twin", 5)
    here(tab, "Flip K only")
    wait_for(tab, lambda now: now["cost"] > before["cost"] + 0.01, "a cost that rose")
    go_on(tab, 6)
    here(tab, "Undo")
    wait_for(tab, lambda now: now["cost"] == before["cost"], "the cost of before")
    go_on(tab, 7)
    tab.get_by_text("eight twins").first.wait_for()
    if size[0] > 700:
        assert tab.get_by_label("Lesson", exact=True).first.bounding_box()["height"] == height, "nothing jumps"
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    press(tab, "Next lesson")
    tab.get_by_text("step 1 of 4").wait_for()
    assert "lesson=why-the-error" in tab.url
    press(tab, "Leave the lesson")
    until(tab, lambda: "lesson" not in tab.url, "an address without the lesson")


def test_a_setting_that_the_link_hides_is_set_from_the_text(open_page):
    tab = open_page("?lesson=how-much-data&mode=lecture&hide=settings,tabs&lock=1", width=1280, height=720)
    tab.get_by_text("step 1 of 4").wait_for()
    here(tab, "Run")
    wait_for(tab, lambda now: not now["running"] and now["step"] > 30, "the end")
    go_on(tab, 2, 4)
    press(tab, "About half")
    go_on(tab, 3, 4)
    here(tab, "Data length T")
    until(tab, lambda: "T=8000" in tab.url, "the setting in the address")
    here(tab, "Run")
    wait_for(tab, lambda now: not now["running"] and not now["awaited"] and now["step"] > 30, "the end")
    go_on(tab, 4, 4)
    tab.get_by_text("with 2,000 bins").first.wait_for()
    here(tab, "Data length")
    tab.get_by_text("This page does not show it.").wait_for()


def test_digits_answer_while_a_lesson_asks_and_flip_when_it_does_not(open_page):
    tab = open_page("?lesson=mean-field&learner=exact", width=1280, height=720)
    tab.get_by_text("step 1 of 4").wait_for()
    signs = wait_for(tab, lambda now: "gauge" in now, "the run")["gauge"]["signs"]
    ran(tab, "exact")
    go_on(tab, 2, 4)
    signs = state(tab)["gauge"]["signs"]
    tab.keyboard.press("7")  # there is no seventh answer
    tab.keyboard.press("2")
    tab.get_by_role("button", name="✓ Yes", exact=True).wait_for()
    assert tab.get_by_role("button", name="No", exact=True).get_attribute("aria-pressed") == "true"
    assert state(tab)["gauge"]["signs"] == signs, "nothing was flipped"
    tab.keyboard.press("2")
    wait_for(tab, lambda now: now["gauge"]["signs"] != signs, "a flip")


def test_a_phone_has_the_answers_under_the_question_and_a_row_of_tabs_that_fades_where_it_goes_on(open_page):
    tab = open_page("?lesson=impossible", width=390, height=844)
    tab.get_by_text("step 1 of 5").wait_for()
    question = tab.get_by_text("Can M be inferred all the same?").last.bounding_box()
    answer = tab.get_by_role("button", name="Yes", exact=True).bounding_box()
    leave = tab.get_by_role("button", name="Leave the lesson", exact=True).bounding_box()
    assert leave["y"] < question["y"] < question["y"] + question["height"] <= answer["y"] + 1
    tabs = tab.get_by_role("tablist").first
    fades = "(row) => [row.classList.contains('more-left'), row.classList.contains('more-right')]"
    until(tab, lambda: tabs.evaluate(fades) == [False, True], "more to the right")
    tabs.evaluate("(row) => { row.scrollLeft = row.scrollWidth }")
    until(tab, lambda: tabs.evaluate(fades) == [True, False], "more to the left")


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


def test_what_the_paper_calls_impossible_is_done_by_doing_what_the_page_says(open_page):
    tab = open_page("?lesson=impossible", width=1280, height=720)
    tab.get_by_text("step 1 of 5").wait_for()
    press(tab, "Yes")
    tab.get_by_text("one hidden history at a time").wait_for()
    go_on(tab, 2, 5)
    ran(tab, "sampling")
    assert tab.get_by_text("J K L M · thin: unaligned").is_visible(), "the legend has the colour of M"
    go_on(tab, 3, 5)
    press(tab, "No")
    go_on(tab, 4, 5)
    choose(tab, "Learner", "Exact")
    ran(tab, "the exact sum")
    go_on(tab, 5, 5)
    errors = state(tab)["rms_aligned"]
    tab.get_by_text(f"Exact: K {errors['K']:.3f}, M {errors['M']:.3f}.").wait_for()


def test_your_own_spikes_lead_from_ours_to_a_unit_that_was_hidden(open_page):
    tab = open_page("?lesson=own-spikes", width=1280, height=720)
    tab.get_by_text("step 1 of 6").wait_for()
    assert tab.get_by_role("tab", name="My data", exact=True, selected=True).count() == 1
    press(tab, "Try ours")
    go_on(tab, 2, 6)
    tab.get_by_text("16 units, in bins of 20 ms").wait_for()
    press(tab, "One")
    go_on(tab, 3, 6)
    choose(tab, "Most hidden units", "1")
    choose(tab, "Starts", "1")
    press(tab, "Start scan")
    go_on(tab, 4, 6)
    tab.get_by_text("nats per bin better than lag 1").first.wait_for()
    press(tab, "A shared state")
    go_on(tab, 5, 6)
    press(tab, "Check model")
    go_on(tab, 6, 6)
    tab.get_by_text("was hidden and inferred from the others").first.wait_for()
    for place in (5, 4, 3, 2, 1):
        press(tab, "Back")
        tab.get_by_text(f"step {place} of 6").wait_for()
    until(tab, lambda: not tab.get_by_text("How many hidden units?", exact=True).is_visible(), "the tab as it was")
    front(tab, "Learn")
    tab.get_by_text("step 1 of 6").wait_for()
