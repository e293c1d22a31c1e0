"""The tab Restarts in a real Chromium."""

import json

import pytest

from hidviz import Experiment
from hidviz.experiments.restarts import Restarts, restarts
from tests.pages import enter, press, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SMALL = "?tab=restarts&nv=6&nh=2&T=400&out=100&seed=4&max=10"
EXPERIMENT = Experiment(n_visible=6, n_hidden=2, n_steps=400, n_held_out=100, seed=4, max_steps=10)


@pytest.fixture(scope="module")
def small(opened):
    """A small network, in the dark and on a narrow page."""
    return opened(SMALL + "&theme=dark", width=800)


def enabled(tab, name):
    tab.locator("button:enabled", has_text=name).wait_for()


def rows(tab):
    return tab.get_by_role("region", name="Table of starts").locator("tbody tr")


def numbers(row):
    return json.loads(row.get_attribute("data-exact"))


def done(tab, n):
    enter(tab, "Number of starts", str(n))
    press(tab, "Run starts")
    tab.get_by_text(f" of {n} starts reached the best cost").wait_for(timeout=90_000)
    tab.get_by_text("all have ended").wait_for(timeout=90_000)


def shown(tab, cost):
    """The state of the page once it shows a run of this cost."""
    return wait_for(tab, lambda now: abs(now["cost"] - cost) < 1e-9, f"the cost {cost}")


def test_every_row_is_the_run_of_its_start_and_loading_it_shows_the_same_numbers(small):
    tab = small
    done(tab, 3)
    expected = [item for item in restarts(EXPERIMENT, 3) if isinstance(item, Restarts)][-1]
    tab.get_by_text(f"{expected.n_best()} of 3 starts reached the best cost").wait_for()
    assert rows(tab).count() == 3
    for k, start in enumerate(expected.starts):
        exact = numbers(rows(tab).nth(k))
        assert exact["cost"] == pytest.approx(start.cost, abs=1e-9)
        press(tab, f"Load start {start.index}")
        now = shown(tab, start.cost)
        assert now["rms"] == pytest.approx(exact["rms"], abs=1e-9)
        assert now["rms_aligned"] == pytest.approx(exact["rms_aligned"], abs=1e-9)
        assert now["step"] == 10
        tab.locator("tr[aria-current=true]", has_text="Load").wait_for()
    assert "draw=3" in tab.url


def test_a_click_on_a_mark_loads_its_run(small):
    tab = small
    done(tab, 2)
    place = """index => {
        const plot = Bokeh.documents.map(d => d.get_model_by_name("Starts: K")).find(Boolean)
        const view = Bokeh.index.find_one(plot)
        const { left, found } = plot.renderers.at(-1).data_source.data
        view.canvas_view.el.scrollIntoView({ block: "center" })
        const box = view.canvas_view.el.getBoundingClientRect()
        return [box.x + view.frame.x_scale.compute(left[index]), box.y + view.frame.y_scale.compute(found[index])]
    }"""
    for k in (1, 0):
        exact = numbers(rows(tab).nth(k))
        tab.wait_for_timeout(800)  # two clicks at once are a double click, wherever they are
        tab.mouse.click(*tab.evaluate(place, k))
        assert shown(tab, exact["cost"])["rms"] == pytest.approx(exact["rms"], abs=1e-9)


def test_starts_can_be_paused_gone_on_with_and_stopped(opened):
    tab = opened("?tab=restarts&nv=10&nh=2&T=2000&out=0&opt=gradient&rate=0.001")
    press(tab, "Run starts")
    tab.get_by_text("starts, the lowest cost so far").wait_for()
    press(tab, "Pause starts")
    enabled(tab, "Run starts")
    steps = rows(tab).first.inner_text()
    tab.wait_for_timeout(800)
    assert rows(tab).first.inner_text() == steps
    press(tab, "Run starts")
    until(tab, lambda: rows(tab).first.inner_text() != steps, "further steps")
    press(tab, "Cancel starts")
    enabled(tab, "Run starts")
    tab.locator("button:disabled", has_text="Cancel starts").wait_for()
    assert rows(tab).count() == 8
    tab.context.close()


def test_a_number_out_of_range_is_answered_at_the_field(small):
    tab = small
    enter(tab, "Number of starts", "65")
    press(tab, "Run starts")
    tab.get_by_text("The number of starts must be a whole number from 1 to 64, got 65.").wait_for()
    done(tab, 1)


def test_other_knobs_are_noticed_and_loading_brings_the_old_ones_back(small):
    tab = small
    done(tab, 4)
    before = numbers(rows(tab).nth(1))
    press(tab, "New data")
    tab.get_by_text("The knobs have changed since these starts were run").wait_for()
    press(tab, "Load start 2")
    shown(tab, before["cost"])
    tab.get_by_text("The knobs have changed since these starts were run").wait_for(state="detached")
    assert state(tab)["seed"] == 4
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_infeasible_learner_is_refused_with_the_number(opened):
    tab = opened("?tab=restarts&nv=20&nh=30&T=500&model=stochastic&learner=exact&out=0")
    press(tab, "Run starts")
    tab.get_by_text("2**30").first.wait_for()
    tab.context.close()


def test_at_figure_3_all_starts_reach_the_best_cost(opened):
    tab = opened("?tab=restarts")
    enter(tab, "Number of starts", "4")
    press(tab, "Run starts")
    tab.get_by_text("4 of 4 starts reached the best cost").wait_for(timeout=300_000)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_before_anything_is_run_eight_starts_of_fig_3_are_shown_and_can_be_loaded(open_page):
    tab = open_page("?tab=restarts", width=1280, height=720)
    tab.get_by_text("An example, eight finished starts of Fig. 3:").wait_for()
    tab.get_by_text("8 of 8 starts reached the best cost").wait_for()
    assert rows(tab).count() == 8
    cost = numbers(rows(tab).nth(2))["cost"]
    press(tab, "Load start 3")
    assert shown(tab, cost)["converged"]
