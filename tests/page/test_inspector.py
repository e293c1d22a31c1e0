"""The tab Inspector in a real Chromium: numbers that live, that are the exported ones, and that keys can reach."""

import json
import re

import numpy as np
import pytest

from hidviz.evaluation.error_bars import error_bars
from hidviz.experiments.run import iter_run
from hidviz.network.gauge import aligned
from tests.pages import choose, exported, press, settled, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SLOW = "?tab=inspector&nv=6&nh=2&T=4000&out=0&seed=3&opt=gradient&rate=0.02"


@pytest.fixture(scope="module")
def tab(opened):
    return opened(SLOW)


def table(tab):
    return tab.get_by_role("region", name=re.compile("^Couplings of (hidden|visible)"))


def rows(tab):
    return table(tab).locator("tbody tr")


def listed(tab):
    """Every row of the table in order: its name, and true, found, aligned, error, error bar with every digit."""
    seen = rows(tab).evaluate_all(
        "rows => rows.map((row) => [row.querySelector('button').textContent, row.dataset.exact])"
    )
    return [(name, json.loads(exact)) for name, exact in seen]


def numbers(tab):
    """The rows of the table by name."""
    return dict(listed(tab))


def test_values_live_while_running_and_are_the_exported_ones(tab, tmp_path):
    first = tab.get_by_role("button", name="L, to hidden 1 from visible 2", exact=True)
    first.click()
    press(tab, "Run")
    first.focus()
    seen = set()
    row = table(tab).locator("tr[aria-current=true]")
    until(tab, lambda: seen.add(row.get_attribute("data-exact")) or len(seen) > 3, "other values")
    assert state(tab)["running"]
    assert first.evaluate("e => e.getRootNode().activeElement === e"), "the focus stays where it was"
    press(tab, "Pause")
    wait_for(tab, lambda now: not now["running"], "the pause")
    bundle = exported(tab, tmp_path)[1]
    truth = bundle.experiment.truth()
    best = aligned(bundle.couplings, truth)
    name = "L h1 ← 2"
    until(tab, lambda: numbers(tab)[name][1] == bundle.couplings.L[0, 1], "the values at the pause")
    now = numbers(tab)
    assert len(now) == 12
    for k in range(6):
        for name, block, place in ((f"L h1 ← {k + 1}", "L", (0, k)), (f"K {k + 1} ← h1", "K", (k, 0))):
            true, found, shown = (getattr(each, block)[place] for each in (truth, bundle.couplings, best))
            assert now[name][:4] == [true, found, shown, shown - true]


def test_error_bars_come_when_the_run_rests_and_are_the_engine_s(tab, tmp_path):
    if state(tab)["step"] < 500:  # near a small start the scale of K against L is open, and no bar is told
        press(tab, "Run")
        wait_for(tab, lambda now: now["step"] >= 500, "some learning")
        press(tab, "Pause")
    now = wait_for(tab, lambda now: not now["running"], "the pause")
    tab.get_by_text(re.compile(rf"Error bars of step {now['step']}\. From the curvature")).wait_for()
    bundle = exported(tab, tmp_path)[1]
    data = next(item for item in iter_run(bundle.experiment) if hasattr(item, "data")).data
    errors = error_bars(bundle.couplings, data.recording, hidden="continuous").standard_errors
    expected = aligned_sizes(errors, bundle.couplings, data.truth)
    now = numbers(tab)
    for k in range(6):
        assert now[f"L h1 ← {k + 1}"][4] == pytest.approx(expected["L"][0, k], rel=1e-6)
        assert now[f"K {k + 1} ← h1"][4] == pytest.approx(expected["K"][k, 0], rel=1e-6)
    rows(tab).first.get_by_role("button").click()
    tab.get_by_text(re.compile(r"error bar ±0\.\d{4}, the error is \d+\.\d of it")).wait_for()


def aligned_sizes(errors, found, truth):
    from hidviz.network.gauge import best_gauge, regauge

    brought = regauge(errors, best_gauge(found, truth))
    return {block: np.abs(getattr(brought, block)) for block in "KL"}


def test_the_table_is_sorted_and_walked_by_keyboard(tab):
    heading = table(tab).get_by_role("button", name="Error", exact=True)
    heading.focus()
    heading.press("Enter")
    sizes = [abs(values[3]) for _, values in listed(tab)]
    assert sizes == sorted(sizes, reverse=True)
    assert table(tab).get_by_role("columnheader", name="Error", exact=True).get_attribute("aria-sort") == "descending"
    heading.press("Enter")
    sizes = [abs(values[3]) for _, values in listed(tab)]
    assert sizes == sorted(sizes)
    first = rows(tab).first.get_by_role("button")
    first.click()
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", 11), ("Home", 0)):
        tab.keyboard.press(key)
        until(tab, lambda place=place: rows(tab).nth(place).get_attribute("aria-current") == "true", f"row {place}")
        spoken = rows(tab).nth(place).get_by_role("button").get_attribute("aria-label")
        tab.get_by_text(f"{spoken}: true").wait_for()
    assert state(tab)["running"] is False
    table(tab).get_by_role("button", name="Coupling", exact=True).click()
    assert next(iter(numbers(tab))) == "L h1 ← 1"


def test_the_last_of_many_choices_counts_however_late_the_answer(tab):
    rows(tab).first.get_by_role("button").click()
    until(tab, lambda: rows(tab).first.get_attribute("aria-current") == "true", "the first row")
    rows(tab).evaluate_all("(rows) => { for (const k of [1, 0]) { rows[k].querySelector('button').click() } }")
    tab.wait_for_timeout(500)
    until(tab, lambda: rows(tab).first.get_attribute("aria-current") == "true", "the first row again", 10)
    spoken = rows(tab).first.get_by_role("button").get_attribute("aria-label")
    tab.get_by_text(f"{spoken}: true").wait_for()


def test_a_unit_is_isolated_in_the_drawing_and_in_the_table(tab):
    drawing = tab.get_by_role("group", name=re.compile("^Couplings of the unit"))
    until(tab, lambda: drawing.locator("line").count() == 12, "6 lines into hidden 1 and 6 out of it")
    assert drawing.locator("line[data-block=L]").count() == drawing.locator("line[data-block=K]").count() == 6
    tab.get_by_role("button", name="Couplings of hidden 2", exact=True).press("Enter")
    tab.get_by_text("All 12 couplings of hidden 2.").wait_for()
    until(tab, lambda: "L h2 ← 1" in numbers(tab), "the table of hidden 2")
    choose(tab, "Couplings drawn", "True")
    choose(tab, "Unit", "visible 3")
    tab.get_by_text("All 15 couplings of visible 3.").wait_for()
    until(tab, lambda: len(numbers(tab)) == 15, "the table of visible 3")


def test_a_press_on_the_map_tells_of_its_cell(tab):
    place = """([row, column]) => {
        const plot = Bokeh.documents.map(d => d.get_model_by_name("Couplings under the mouse")).find(Boolean)
        const view = Bokeh.index.find_one(plot)
        view.canvas_view.el.scrollIntoView({ block: "center" })
        const box = view.canvas_view.el.getBoundingClientRect()
        const [x, y] = [column + .5, row + .5]
        return [box.x + view.frame.x_scale.compute(x), box.y + view.frame.y_scale.compute(y)]
    }"""
    for (row, column), told in (
        ((2, 7), "K, to visible 3 from hidden 2: true"),
        ((6, 0), "L, to hidden 1 from visible 1: true"),
    ):
        at = settled(tab, place, [row, column])
        tab.mouse.move(*at)
        tab.mouse.click(*at)
        tab.get_by_text(told).wait_for()
    tab.get_by_text("error bar:").first.wait_for()


def test_it_fits_at_two_widths_and_says_what_cannot_be_known(tab, opened):
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    narrow = opened("?tab=inspector&theme=dark&nv=60&nh=1&T=100&out=0", width=800)
    narrow.get_by_text("Error bars are not known: Error bars invert a matrix of all pairs of parameters").wait_for()
    assert rows(narrow).count() == 120
    assert rows(narrow).first.get_by_role("cell").last.inner_text() == "–"
    assert narrow.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
