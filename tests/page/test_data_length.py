"""The Data length tab in a real Chromium."""

import csv
import io
import re

import pytest

from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.sweep import MEASURES
from tests.pages import choose, enter, press, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture
def tab(open_page):
    """The page with the tab in front, and shipped results drawn."""
    opened = open_page("?tab=length&nv=4&nh=1&T=300&out=200&max=20", height=1100)
    opened.get_by_text("points shipped with hidviz").wait_for()
    return opened


def own(tab, lengths="100 200", *, first=True):
    choose(tab, "Figure", "A sweep of my own")
    if first:
        tab.get_by_text("3 experiments").first.wait_for()  # those of the lengths that stand there
    enter(tab, "Data lengths", lengths)


def downloaded(tab, name):
    with tab.expect_download() as download:
        press(tab, name)
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_shipped_figures_are_drawn_with_their_rules(tab):
    for figure in FIGURES.values():
        choose(tab, "Figure", figure.title)
        tab.get_by_text(figure.rules[:60]).wait_for()
        tab.get_by_text("points shipped with hidviz (hollow)").wait_for()


def test_own_sweep_is_computed_and_handed_out(tab):
    own(tab)
    tab.get_by_text("2 experiments").wait_for()
    press(tab, "Run sweep")
    tab.get_by_text("Done: 2 of 2").wait_for(timeout=90_000)
    tab.get_by_text("2 of 2 computed here (filled)").wait_for()
    tab.get_by_label("Show table").click()
    tab.get_by_text("6 rows; costs in nats per bin").wait_for()
    name, text = downloaded(tab, "Export CSV")
    assert name == "sweep.csv"
    rows = list(csv.DictReader(io.StringIO(text.decode())))
    assert {(row["n_visible"], row["n_steps"], row["block"]) for row in rows} == {
        ("4", T, block) for T in ("100", "200") for block in "JKL"
    }
    assert set(MEASURES) <= set(rows[0])
    assert downloaded(tab, "Export CSV") == (name, text), "the same once more"


def test_pictures_are_saved_as_they_are_shown(tab):
    name, pixels = downloaded(tab, "Export PNG")
    assert (name, pixels[:4]) == ("figure4.png", b"\x89PNG")
    name, lines = downloaded(tab, "Export SVG")
    assert name == "figure4.svg"
    assert b"<svg" in lines
    assert "dashed: held-out" in lines.decode()
    assert b"<image" not in lines


@pytest.mark.slow
def test_page_with_the_figure_needs_no_network(tab):
    name, text = downloaded(tab, "Export HTML")
    assert name == "figure4.html"
    assert b"Costs, 10 + 10" in text
    assert re.search(rb'<(script|link)[^>]* (src|href)="http', text) is None


def test_wrong_length_is_answered_with_a_sentence(tab):
    own(tab, "100 ten")
    tab.get_by_text("must be a whole number such as 10,000, got “ten”").wait_for()
    tab.get_by_role("button", name="Run sweep", exact=True, disabled=True).wait_for()
    own(tab, "100", first=False)
    tab.get_by_text("1 experiment").first.wait_for()
    press(tab, "Run sweep")
    tab.get_by_text("Done: 1 of 1").wait_for(timeout=90_000)


def test_cancel_keeps_the_page_alive(tab):
    own(tab, "100 200 400000 500000")
    press(tab, "Run sweep")
    tab.get_by_role("button", name="Cancel sweep", exact=True, disabled=False).wait_for()
    press(tab, "Cancel sweep")
    tab.get_by_text("Cancelled.").wait_for()
    tab.get_by_role("button", name="Run sweep", exact=True, disabled=False).wait_for()


@pytest.mark.slow
def test_shipped_point_recomputes_and_agrees(tab):
    choose(tab, "Figure", FIGURES["6"].title)
    tab.get_by_text(FIGURES["6"].rules[:60]).wait_for()
    choose(tab, "Points to compute", "5 + 5, Exact, T = 300")
    press(tab, "Run sweep")
    tab.get_by_text("1 of 1 points shipped too agree").wait_for(timeout=120_000)


@pytest.mark.slow
def test_page_answers_while_a_sweep_runs(tab):
    own(tab, " ".join(str(T) for T in range(2_000_000, 3_000_000, 100_000)))
    press(tab, "Run sweep")
    tab.get_by_text("0 of 10 done").wait_for(timeout=60_000)
    tab.wait_for_timeout(8_000)  # until the workers are at work on every core
    tab.get_by_role("tab", name="Learn").click()
    for step in range(1, 9):
        press(tab, "Step")
        wait_for(tab, lambda now, step=step: now["step"] == step, f"step {step}", seconds=30)
    tab.get_by_role("tab", name="Data length").click()
    tab.get_by_text(re.compile(r"\d of 10 done")).wait_for()  # all of it beside the sweep
    press(tab, "Cancel sweep")
    tab.get_by_text("Cancelled.").wait_for()


def test_everything_shows_at_two_widths_and_in_the_dark(open_page):
    for query, width in (("", 800), ("&theme=dark", 1400)):
        tab = open_page("?tab=length" + query, width=width)
        tab.get_by_text("points shipped with hidviz").wait_for()
        choose(tab, "Figure", FIGURES["3"].title)
        tab.get_by_text(FIGURES["3"].rules).wait_for()
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_figure_of_fewer_panels_puts_the_others_away(tab):
    for figure, panels in (("3", 3), ("floors", 2), ("6", 4), ("4", 1)):
        choose(tab, "Figure", FIGURES[figure].title)
        tab.get_by_text(FIGURES[figure].rules[:60]).wait_for()
        tab.wait_for_function(
            "n => { const count = root => [...root.querySelectorAll('*')].reduce((sum, each) => sum"
            " + (each.classList.contains('bk-Figure') && each.getBoundingClientRect().width > 100 ? 1 : 0)"
            " + (each.shadowRoot ? count(each.shadowRoot) : 0), 0); return count(document) === n; }",
            arg=panels,
        )
