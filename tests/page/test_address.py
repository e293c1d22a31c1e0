"""The address in a real Chromium: it follows the page, the page follows it back, and no value in it breaks anything."""

from urllib.parse import parse_qs, urlsplit

import pytest

from tests.pages import LATE, enter, front, press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

KEPT = "hide=controls&theme=dark&mode=lecture&speed=slow&align=1&log=1"


def query_of(tab):
    return {key: values[-1] for key, values in parse_qs(urlsplit(tab.url).query).items()}


def test_what_a_link_says_of_the_view_stays_through_every_change(open_page):
    tab = open_page(f"?nv=4&nh=2&T=200&out=0&{KEPT}")
    kept = {key: value for key, value in query_of(tab).items() if key in KEPT}
    assert len(kept) == 6
    assert tab.get_by_role("switch", name="Align to truth").is_checked()
    assert tab.get_by_role("switch", name="Logarithmic cost").is_checked()
    front(tab, "Compare")
    until(tab, lambda: query_of(tab).get("tab") == "compare", "the tab in the address")
    assert kept.items() <= query_of(tab).items()
    front(tab, "Learn")
    tab.keyboard.press("a")
    until(tab, lambda: "align" not in query_of(tab), "the switch in the address")
    tab.keyboard.press("r")
    wait_for(tab, lambda now: now["step"] == 0, "the start")
    assert kept.items() - {("align", "1")} <= query_of(tab).items()
    assert query_of(tab).items() >= {("nv", "4"), ("T", "200"), ("out", "0")}


def test_back_and_forward_change_the_page_and_not_the_address_alone(open_page):
    tab = open_page("?nv=4&nh=2&T=200&out=0")
    first = state(tab)
    enter(tab, "Seed", "8")
    second = wait_for(tab, lambda now: now["seed"] == 8 and not now["awaited"], "seed 8")
    front(tab, "Compare")
    until(tab, lambda: query_of(tab).get("tab") == "compare", "the tab in the address")
    tab.go_back()
    until(tab, lambda: tab.get_by_role("tab", name="Learn", selected=True).count(), "the tab before")
    assert state(tab)["seed"] == 8
    tab.go_back()
    back = wait_for(tab, lambda now: now["seed"] == 1 and not now["awaited"], "seed 1")
    assert back["cost"] == first["cost"]
    until(tab, lambda: tab.get_by_label("Seed", exact=True).first.input_value() == "1", "the field")
    assert "seed" not in query_of(tab)
    tab.go_forward()
    assert wait_for(tab, lambda now: now["seed"] == 8 and not now["awaited"], "seed 8")["cost"] == second["cost"]
    assert query_of(tab)["seed"] == "8"


def test_back_pressed_again_before_the_page_has_answered_leaves_the_way_forward(open_page):
    tab = open_page("?nv=4&nh=2&T=200&out=0", before=LATE)
    for seed in (8, 9):
        enter(tab, "Seed", str(seed))
        until(tab, lambda seed=seed: query_of(tab).get("seed") == str(seed), "the seed in the address")
    tab.evaluate("""() => new Promise((done) => {
        window.late = 500
        history.back()
        setTimeout(() => { history.back(); setTimeout(done, 100) }, 100)
    })""")
    assert "seed" not in query_of(tab)
    wait_for(tab, lambda now: now["seed"] == 1 and not now["awaited"], "seed 1")
    tab.evaluate("window.late = 0")
    tab.wait_for_timeout(600)  # what was under way arrives
    assert "seed" not in query_of(tab)
    for seed in (8, 9):
        tab.go_forward()
        wait_for(tab, lambda now, seed=seed: now["seed"] == seed and not now["awaited"], "the seed ahead")
        assert query_of(tab)["seed"] == str(seed)


def test_a_knob_turned_after_back_is_a_step_ahead(open_page):
    tab = open_page("?nv=4&nh=2&T=200&out=0")
    enter(tab, "Seed", "8")
    until(tab, lambda: query_of(tab).get("seed") == "8", "the seed in the address")
    tab.go_back()
    wait_for(tab, lambda now: now["seed"] == 1 and not now["awaited"], "seed 1")
    enter(tab, "Seed", "9")
    until(tab, lambda: query_of(tab).get("seed") == "9", "another seed in the address")
    tab.go_back()
    wait_for(tab, lambda now: now["seed"] == 1 and not now["awaited"], "seed 1 again")
    assert "seed" not in query_of(tab)


def test_a_value_of_five_thousand_digits_is_answered_with_a_sentence(open_page):
    tab = open_page("?nv=" + "9" * 5000 + "&theme=neon&seed=3")
    alert = tab.get_by_role("alert").inner_text()
    assert "nv: Visible units must be a whole number such as 10,000" in alert
    assert "theme: “neon” is not one of light, dark." in alert
    assert len(alert) < 500
    assert state(tab)["seed"] == 3


def test_a_decimal_comma_that_is_typed_is_a_comma(open_page):
    tab = open_page("?nv=4&nh=2&T=200&out=0")
    enter(tab, "Coupling variance", "0,5")
    until(tab, lambda: query_of(tab).get("g2") == "0.5", "the variance in the address")
    until(tab, lambda: tab.get_by_label("Coupling variance", exact=True).first.input_value() == "0.5", "the field")
    enter(tab, "Visible units", "1,5")
    tab.get_by_text("got “1,5”, which is 1.5").wait_for()
    assert query_of(tab)["nv"] == "4"


def test_a_link_is_shared_whole_and_says_whether_it_was_copied(open_page):
    tab = open_page("?nv=4&T=200&out=0&hide=controls")
    press(tab, "Share link")
    sentence = tab.locator("#hidviz-status")
    until(tab, lambda: "link to this run: http" in sentence.inner_text(), "the link")
    link = sentence.inner_text().split(": ", 1)[1]
    assert link == f"{tab.url}&step=0"


def test_undo_brings_the_knobs_back_in_form_and_address(open_page):
    tab = open_page("?nv=4&nh=2&T=200&out=0")
    before = state(tab)
    press(tab, "Flip hidden unit 1")
    wait_for(tab, lambda now: now["rms"]["K"] != before["rms"]["K"], "the flip")
    tab.get_by_text("More knobs").click()
    enter(tab, "Penalty", "0.1")
    until(tab, lambda: query_of(tab).get("pen") == "0.1", "the penalty in the address")
    press(tab, "Undo")
    until(tab, lambda: "pen" not in query_of(tab), "the penalty gone")
    until(tab, lambda: tab.get_by_label("Penalty", exact=True).first.input_value() == "0", "the field")
    wait_for(tab, lambda now: now["rms"] == before["rms"], "the couplings before the flip")
