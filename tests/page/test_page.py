"""The page in a real Chromium: what a person does, and what must then be true."""

import re
import time

import pytest
from playwright.sync_api import Error

from hidviz import Experiment
from hidviz.experiments import shipped_frame
from hidviz.network.gauge import regauge
from hidviz.ui.plots.heatmaps import TITLES, block_matrix
from hidviz.ui.state.link import write_link
from tests.pages import enter, press, rest_at, state, until, wait_for

pytestmark = pytest.mark.browser


def test_first_paint_is_a_finished_run(open_page):
    now = state(open_page())
    assert now["converged"]
    assert now["preset"] == "fig3"
    assert now["cost"] < now["cost_at_truth"]
    assert now["rms_aligned"]["K"] < 0.1


@pytest.mark.slow
def test_run_learns_and_pause_holds(open_page):
    tab = open_page("?opt=gradient")
    press(tab, "Run")
    wait_for(tab, lambda s: s["running"] and s["step"] > 3, "steps")
    press(tab, "Pause")
    now = wait_for(tab, lambda s: not s["running"], "the pause")
    assert not now["converged"]
    tab.wait_for_timeout(400)
    assert state(tab)["step"] == now["step"]
    press(tab, "Run")
    later = wait_for(tab, lambda s: s["step"] > now["step"] + 20, "more steps")
    assert later["cost"] < now["cost"]


@pytest.mark.slow
def test_rewind_and_steps_repeat_themselves(open_page):
    tab = open_page()
    first = rest_at(tab, 3)
    assert rest_at(tab, 3)["cost"] == first["cost"]


@pytest.mark.slow
def test_flip_moves_the_raw_errors_and_nothing_else(open_page):
    tab = open_page("?step=10")
    before = wait_for(tab, lambda s: s["step"] == 10 and not s["running"], "step 10")
    press(tab, "Flip hidden unit 1")
    flipped = wait_for(tab, lambda s: s["rms"]["K"] != before["rms"]["K"], "the flip")
    assert flipped["cost"] == pytest.approx(before["cost"], abs=1e-9)
    assert flipped["rms_aligned"] == pytest.approx(before["rms_aligned"], abs=1e-9)
    assert flipped["rms"]["J"] == before["rms"]["J"]
    press(tab, "Flip hidden unit 1")
    again = wait_for(tab, lambda s: s["rms"]["K"] != flipped["rms"]["K"], "the second flip")
    assert again["rms"] == before["rms"]
    press(tab, "Undo")
    undone = wait_for(tab, lambda s: s["rms"]["K"] == flipped["rms"]["K"], "undo")
    assert undone["rms"] == flipped["rms"]


@pytest.mark.slow
def test_flip_works_on_the_finished_run_and_while_running(open_page):
    tab = open_page()
    before = state(tab)
    tab.keyboard.press("1")
    after = wait_for(tab, lambda s: s["rms"]["K"] != before["rms"]["K"], "the flip by key")
    assert after["cost"] == pytest.approx(before["cost"], abs=1e-9)
    press(tab, "Run")
    wait_for(tab, lambda s: s["step"] > 2 and s["running"], "steps")
    press(tab, "Flip hidden unit 2")
    done = wait_for(tab, lambda s: s["converged"], "convergence")
    assert done["cost"] == pytest.approx(before["cost"], abs=1e-6)


@pytest.mark.slow
def test_swapping_hidden_units_keeps_the_cost(open_page):
    tab = open_page()
    before = state(tab)
    press(tab, "Swap hidden units")
    after = wait_for(tab, lambda s: s["gauge"]["order"] != before["gauge"]["order"], "the swap")
    assert after["cost"] == before["cost"]
    assert after["rms_aligned"] == pytest.approx(before["rms_aligned"], abs=1e-9)


@pytest.mark.slow
def test_another_number_of_units_makes_new_data(open_page):
    tab = open_page()
    enter(tab, "Visible units", "7")
    wait_for(tab, lambda s: s["step"] == 0, "new data")
    assert tab.get_by_text("· converged ·").count() == 0
    press(tab, "Run")
    wait_for(tab, lambda s: s["step"] > 5, "steps on the new data")


@pytest.mark.slow
def test_a_step_is_shown_in_its_halves_with_the_equations_in_play(open_page):
    tab = open_page("?nv=8&nh=2&T=1000&model=stochastic&learner=mean-field")
    rest_at(tab, 1)
    whole = rest_at(tab, 2)
    rest_at(tab, 1)
    press(tab, "Half step")
    half = wait_for(tab, lambda s: s["step"] == 2, "the M-step")
    tab.get_by_text("after the M-step").wait_for()
    until(tab, lambda: tab.locator(".note li.active").count() > 0, "the equations in play")
    in_play = tab.locator(".note li.active").all_inner_texts()
    press(tab, "Half step")
    done = wait_for(tab, lambda s: s["cost"] != half["cost"], "the E-step")
    assert done["cost"] == whole["cost"]
    until(tab, lambda: tab.locator(".note li.active").all_inner_texts() not in ([], in_play), "the equations in play")


LEFT, BELOW = 43, 29  # pixels of a map beside and below its cells, where its units are numbered


@pytest.mark.slow
@pytest.mark.parametrize("align", [False, True])
def test_a_cell_under_the_mouse_is_told_in_both_gauges(open_page, align):
    frame = shipped_frame("fig3")
    true, found = frame.data.truth, frame.snapshot.couplings
    matrices = [block_matrix(each, 2) for each in (true, found, regauge(found, frame.gauge))]
    tab = open_page()
    if align:
        tab.keyboard.press("a")
        tab.get_by_role("switch", name="Align to truth", checked=True).wait_for()
    map_ = tab.locator(".bk-Canvas").nth(TITLES.index("Inferred")).bounding_box()
    left, wide, high = map_["x"] + LEFT, map_["width"] - LEFT, map_["height"] - BELOW
    told = tab.get_by_text(re.compile("unaligned [+−]"))
    blocks = set()
    for column, row in ((9, 9), (18, 9), (19, 9), (9, 18), (9, 19)):
        across, down = left + (column + 0.4) / 20 * wide, map_["y"] + (row + 0.4) / 20 * high
        tab.mouse.move(across, down)
        tab.mouse.move(across + 2, down + 2)
        told.wait_for()
        tip = told.locator("xpath=ancestor::*[contains(., 'from')][1]").inner_text()
        units = [int(n) - 1 + 18 * (kind == "hidden") for kind, n in re.findall(r"(visible|hidden) (\d+)", tip)]
        numbers = [float(number.replace("−", "-")) for number in re.findall(r"[+−]\d+\.\d+", told.inner_text())]
        expected = [matrix[units[0], units[1]] for matrix in matrices]
        assert numbers == pytest.approx([*expected, expected[2] - expected[0]], abs=5.1e-4), units
        blocks.add((units[0] >= 18, units[1] >= 18))
        tab.mouse.move(10, 10)
        told.wait_for(state="hidden")
    assert blocks == {(False, False), (False, True), (True, False)}, "J, K and L were asked"


@pytest.mark.slow
def test_link_reproduces_the_run(open_page):
    experiment = Experiment(n_visible=9, n_hidden=3, n_steps=2000, variance=0.7, seed=5, start_index=2)
    tab = open_page("?" + write_link(experiment, step=20))
    shown = wait_for(tab, lambda s: s["step"] == 20 and not s["running"], "step 20")
    snapshots = experiment.run()
    expected = next(s for s in snapshots if s.step == 20)
    assert shown["cost"] == pytest.approx(expected.cost, abs=1e-9)


@pytest.mark.slow
def test_bad_link_names_what_was_wrong(open_page):
    tab = open_page("?nv=-3&T=1e12&x=<script>alert(1)</script>")
    alert = tab.get_by_role("alert").inner_text()
    assert "nv: Visible units must lie between 1 and 200, got -3" in alert
    assert "T: Data length T must lie between" in alert
    assert "“x” is not a key" in alert
    assert tab.locator("script", has_text="alert(1)").count() == 0
    assert state(tab)["preset"] == "fig3"


@pytest.mark.slow
def test_number_out_of_range_is_answered_with_a_sentence(open_page):
    tab = open_page()
    before = state(tab)
    enter(tab, "Visible units", "5000")
    tab.get_by_text("must lie between 1 and 200, got 5000").wait_for()
    assert state(tab)["cost"] == before["cost"]
    press(tab, "Run")
    wait_for(tab, lambda s: s["running"], "running")


@pytest.mark.slow
def test_infeasible_learner_is_refused_with_an_offer(open_page):
    tab = open_page("?nv=20&nh=30&T=500&model=stochastic&learner=exact&out=0")
    wait_for(tab, lambda s: "exact" in s["error"], "the refusal")
    tab.get_by_role("button", name="Use mean field").click()
    wait_for(tab, lambda s: "exact" not in s["error"] and not s["awaited"], "the cure")
    press(tab, "Step")
    wait_for(tab, lambda s: s["step"] == 1, "a step of mean field")


@pytest.mark.slow
def test_step_size_that_diverges_stops_at_the_last_good_step(open_page):
    tab = open_page("?opt=gradient&rate=500&T=1000")
    press(tab, "Run")
    now = wait_for(tab, lambda s: s.get("state") == "diverged", "divergence")
    assert "too large" in now["error"]
    assert now["cost"] is not None


@pytest.mark.slow
def test_two_tabs_do_not_share_anything(open_page):
    one, other = open_page(), open_page()
    before = state(other)
    press(one, "Rewind")
    wait_for(one, lambda s: s["step"] == 0, "step 0")
    assert state(other) == before


@pytest.mark.slow
def test_everything_shows_at_two_widths_and_in_the_dark(open_page):
    for query, width in (("", 800), ("?theme=dark", 1400)):
        tab = open_page(query, width=width)
        assert state(tab)["converged"]
        assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.slow
def test_a_page_that_becomes_narrow_puts_its_knobs_away(open_page):
    tab = open_page("?nv=4&nh=1&T=200&out=100")
    knob = tab.get_by_label("Visible units", exact=True)
    knob.wait_for(state="visible")
    tab.set_viewport_size({"width": 390, "height": 844})
    knob.wait_for(state="hidden")
    tab.get_by_role("tab", name="Data", exact=True).click()
    tab.get_by_role("button", name="Open drawer").click()
    knob.wait_for(state="visible")


@pytest.mark.slow
def test_buttons_in_any_order_leave_a_living_page(open_page):
    tab = open_page("?T=500")
    for name in ("Step", "Rewind", "Run", "New data", "Flip hidden unit 2", "New start", "Rewind", "Swap hidden units"):
        press(tab, name)
    press(tab, "Run")
    wait_for(tab, lambda s: s["step"] > 3, "steps after all that")


@pytest.mark.slow
def test_closing_the_tab_ends_its_thread(browser):
    from tests.server import Server

    server = Server("--unused-session-lifetime", "6000", "--check-unused-sessions", "2000")
    try:
        context = browser.new_context()
        tab = context.new_page()
        tab.goto(server.url + "?nv=40&T=50000&opt=gradient")
        tab.get_by_role("button", name="Run", exact=True).click()
        wait_for(tab, lambda s: s["running"], "running")
        during = server.n_threads
        context.close()
        deadline = time.monotonic() + 60
        while server.n_threads >= during and time.monotonic() < deadline:
            time.sleep(0.5)
        assert server.n_threads < during
    finally:
        server.stop()


def reloaded(tab):
    """Ask for a reload, which the browser refuses to a program while it is between two pages."""
    try:
        tab.reload(wait_until="commit")
    except Error as error:
        if "Not attached to an active page" in str(error):
            return False
        raise
    return True


@pytest.mark.slow
def test_a_reload_in_the_middle_of_a_run_leaves_a_living_page(open_page):
    """Whenever it comes: while frames arrive, while the line is opened, and before the page is there."""
    tab = open_page("?nv=6&nh=1&T=400&out=0&opt=gradient&rate=0.01")
    for wait in (0, 20, 150, 600, 1500):
        wait_for(tab, lambda now: now["ready"], "the connection", 60)
        press(tab, "Run")
        wait_for(tab, lambda now: now["running"], "the run")
        tab.wait_for_timeout(wait)
        tab.reload()
        tab.locator("#hidviz-status").wait_for(state="attached")
    for wait in (0, 100, 400):
        until(tab, lambda: reloaded(tab), "a reload")
        tab.wait_for_timeout(wait)
    until(tab, lambda: reloaded(tab), "a reload")
    wait_for(tab, lambda now: now["ready"] and not now["running"], "the connection", 60)
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 1, "a step")
