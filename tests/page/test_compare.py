"""The tab Compare in a real Chromium: pinned runs side by side."""

import re

import pytest

from tests.pages import choose, enter, press, rest_at, state, until, visiting, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def tab(browser, server):
    with visiting(browser, server) as opened:
        yield opened("?tab=compare&nv=6&nh=2&T=400&out=0&seed=3")


def test_a_run_and_its_flip_are_the_same_model_and_only_turned_knobs_are_listed(tab):
    rest_at(tab, 6)
    press(tab, "Pin this run")
    tab.get_by_text("1 run pinned.").wait_for()
    before = state(tab)
    tab.keyboard.press("2")
    wait_for(tab, lambda now: now["rms"] != before["rms"], "the flip")
    press(tab, "Pin this run")
    tab.get_by_text(
        "Alignment flips hidden unit 2. The rms differences are then J 0.0000, K 0.0000, L 0.0000."
    ).wait_for()
    tab.get_by_text("None: the same knobs.").wait_for()
    tab.get_by_text("More knobs").click()
    enter(tab, "Penalty", "0.5")
    until(tab, lambda: "pen=0.5" in tab.url, "the penalty")
    rest_at(tab, 6)
    press(tab, "Pin this run")
    tab.get_by_text("3 runs pinned.").wait_for()
    tab.get_by_role("rowheader", name="Penalty").wait_for()
    assert tab.get_by_role("rowheader").count() == 1
    cells = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader", name="Penalty")).get_by_role("cell")
    assert cells.all_inner_texts() == ["0.0", "0.5"]
    choose(tab, "One", next(text for text in options(tab, "One") if text.startswith("3:")))
    tab.get_by_text("None: the same knobs.").wait_for()
    tab.get_by_text("Both have the same labels and signs. The rms differences are then J 0.0000").wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def options(tab, label):
    tab.get_by_role("combobox", name=label, exact=True).first.click()
    tab.get_by_role("menuitem").nth(2).wait_for()
    texts = tab.get_by_role("menuitem").all_inner_texts()
    tab.keyboard.press("Escape")
    assert len(texts) == 3
    assert all(re.match(r"\d: Back-propagation, L-BFGS, step 6, \d+\.\d{4}$", text) for text in texts)
    return texts


def test_one_press_sets_momentum_beside_the_run_that_is_shown(open_page):
    tab = open_page("?tab=compare", width=1280, height=720)
    assert not tab.get_by_role("heading", name="Knobs that differ").is_visible(), "empty axes"
    press(tab, "Compare with momentum")
    tab.get_by_role("rowheader", name="Optimiser").wait_for()
    row = tab.get_by_role("row").filter(has=tab.get_by_role("rowheader", name="Optimiser"))
    assert row.get_by_role("cell").all_inner_texts() == ["L-BFGS", "Momentum"]
    tab.get_by_text("The rms differences are then").wait_for()
    assert state(tab)["step"] == 144, "the run of the page stays as it is"
