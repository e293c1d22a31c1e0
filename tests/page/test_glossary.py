"""Terms of the page say what they mean: to the pointer, to the Tab key, to a finger and to whoever hears the page."""

import pytest

from hidviz.ui.text.glossary import TERMS
from tests.pages import press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SAYS = {term.name: term.says for term in TERMS}


def told(tab):
    """What is shown of a term; nothing when nothing is."""
    return "".join(tab.locator("[role=tooltip]:popover-open").all_inner_texts())  # without waiting for any


def test_pointing_at_a_term_shows_its_sentence_and_leaving_it_takes_it_away(open_page):
    tab = open_page(width=1280, height=720)
    term = tab.get_by_role("heading", name="Cost per bin").locator(".term")
    assert told(tab) == ""
    term.hover()
    until(tab, lambda: told(tab) == f"bin {SAYS['bin']}", "the sentence")
    tab.locator("[role=tooltip]").hover()
    tab.wait_for_timeout(400)
    assert told(tab), "it stays while it is pointed at"
    tab.mouse.move(5, 5)
    until(tab, lambda: told(tab) == "", "it to go")


def test_the_tab_key_reaches_terms_and_esc_puts_the_sentence_away(open_page):
    tab = open_page(width=1280, height=720)
    term = tab.get_by_role("heading", name="Cost per bin").get_by_role("button", name="bin", exact=True)
    assert term.get_attribute("aria-description") == SAYS["bin"]
    term.focus()
    until(tab, lambda: told(tab) == f"bin {SAYS['bin']}", "the sentence")
    tab.keyboard.press("Escape")
    assert told(tab) == ""
    before = state(tab)
    tab.keyboard.press(" ")
    until(tab, lambda: told(tab), "the sentence again")
    tab.wait_for_timeout(300)
    assert state(tab)["step"] == before["step"]
    tab.keyboard.press("?")
    tab.get_by_role("dialog").wait_for()
    assert told(tab) == ""
    tab.keyboard.press("Escape")  # is for the help, not for a sentence below it
    tab.get_by_role("dialog").wait_for(state="hidden")
    assert not state(tab)["running"], "the key of the run is not taken from a term"
    tab.keyboard.press("Tab")
    until(tab, lambda: "bin" not in told(tab), "it to go with the focus")


def test_a_tap_shows_the_sentence_and_a_tap_elsewhere_takes_it_away(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    try:
        tab = context.new_page()
        tab.goto(server.url)
        tab.locator("#hidviz-status").wait_for(state="attached")
        wait_for(tab, lambda now: now["ready"], "the connection")
        term = tab.get_by_role("heading", name="Cost per bin").locator(".term")
        term.tap()
        until(tab, lambda: told(tab) == f"bin {SAYS['bin']}", "the sentence")
        box = tab.locator("[role=tooltip]").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
        tab.touchscreen.tap(380, 300)
        until(tab, lambda: told(tab) == "", "it to go")
    finally:
        context.close()


def test_the_first_of_each_term_in_a_text_is_marked_and_nothing_that_can_be_pressed(open_page):
    tab = open_page("?tab=equivalent", width=1280, height=720)
    title = tab.get_by_role("heading", name="Rescaling K → cK, L → L/c is a soft direction")
    title.locator(".term").first.wait_for()
    assert title.locator(".term").all_inner_texts() == ["K", "L"]
    inside = "button, label, a, summary, [role=tab], svg, tbody"
    assert tab.locator(".term").evaluate_all(f"(all) => all.filter((each) => each.closest('{inside}')).length") == 0
    assert tab.locator(".term").count() > 10


def test_a_sentence_stays_while_the_text_of_its_term_is_written_anew(open_page):
    tab = open_page(width=1280, height=720)
    press(tab, "Rewind")
    wait_for(tab, lambda now: now["step"] == 0, "the start")
    term = tab.locator(".numbers .term", has_text="nats")
    term.focus()
    until(tab, lambda: told(tab) == f"nats {SAYS['nats']}", "the sentence")
    tab.keyboard.press("s")
    wait_for(tab, lambda now: now["step"] == 1, "a step")
    until(tab, lambda: "step 1 " in tab.locator(".numbers").inner_text(), "its number")
    assert told(tab) == f"nats {SAYS['nats']}"
    assert term.evaluate("(term) => term.getRootNode().activeElement === term"), "and the focus with it"
    tab.keyboard.press("Escape")
    tab.keyboard.press("s")
    until(tab, lambda: "step 2 " in tab.locator(".numbers").inner_text(), "another step")
    assert told(tab) == "", "what was put away stays away"
    assert term.evaluate("(term) => term.getRootNode().activeElement === term"), "and the focus where it was"


def test_in_a_lecture_the_sentence_stands_at_its_term(open_page):
    tab = open_page("?mode=lecture", width=1920, height=1080)
    term = tab.get_by_role("heading", name="Cost per bin").locator(".term")
    term.hover()
    until(tab, lambda: told(tab), "the sentence")
    bubble, at = tab.locator("[role=tooltip]").bounding_box(), term.bounding_box()
    assert abs(bubble["x"] - at["x"]) < 20
    assert min(abs(bubble["y"] - at["y"] - at["height"]), abs(bubble["y"] + bubble["height"] - at["y"])) < 20
    assert (
        tab.locator("[role=tooltip]").evaluate("(it) => it.currentCSSZoom * parseFloat(getComputedStyle(it).fontSize)")
        >= 24
    )


def test_the_help_lists_all_terms(open_page):
    tab = open_page(width=1280, height=720)
    tab.keyboard.press("?")
    sheet = tab.get_by_role("dialog")
    sheet.get_by_text("Words and letters").click()
    for name, says in SAYS.items():
        assert sheet.get_by_text(says, exact=True).is_visible(), name
    sheet.locator(".term", has_text="nats").hover()
    until(tab, lambda: told(tab) == f"nats {SAYS['nats']}", "the sentence above the sheet")
