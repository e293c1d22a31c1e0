"""The tab Scores: its words, and its behaviour in a real Chromium."""

import time

import numpy as np
import pytest

from hidviz import Experiment, Recording, simulate
from hidviz.evaluation.error_bars import compare_errors, error_bars
from hidviz.evaluation.model_comparison import judge
from hidviz.network.couplings import random_couplings
from hidviz.ui.text.scores import bars_in_words, table_of, table_of_bars, verdict_of
from tests.pages import press, state, wait_for


def browser(test):
    return pytest.mark.slow(pytest.mark.browser(test))


def row(tab, name):
    return tab.get_by_role("row").filter(has=tab.get_by_role("rowheader", name=name))


def judged(*, held_out=True, fits=("Fit",), **settings):
    truth = random_couplings(4, 1, np.random.default_rng(4))
    recording, other = (simulate(truth, 2000, np.random.default_rng(seed))[0] for seed in (1, 2))
    settings |= {"held_out": other} if held_out else {}
    named = dict.fromkeys(fits, truth)
    *_, last = judge(named, recording, np.random.default_rng(0), learner="exact", truth=truth, **settings)
    return last, truth, recording


def test_the_best_model_is_marked_and_the_criteria_are_told():
    last, _, _ = judged()
    table, words = table_of(last, "#5b4fcf"), verdict_of(last)
    assert table.count("<span>best fit</span>") == 1
    assert '<tr class="best"><th scope="row">Fit' in table
    assert "n = 1,999 transitions" in table
    assert "**Fit predicts held-out data best of all fits**" in words
    assert "below lag 1, " in words
    assert "AIC and BIC choose fit" in words
    assert "AIC with the effective number of parameters" in words
    for each in last.candidates[1:]:
        assert f"<td>{each.n_parameters}</td><td>{each.criteria.n_effective:,.1f}</td>" in table
    assert "±" not in words


def test_a_sampled_likelihood_is_shown_with_its_error_and_its_effective_samples():
    couplings = random_couplings(3, 20, np.random.default_rng(0))
    recording = Recording(np.random.default_rng(1).choice([-1, 1], (40, 3)))
    *_, last = judge({"Fit": couplings}, recording, np.random.default_rng(0), learner="exact")
    evidence = last.candidates[0].training
    assert 1.0 <= evidence.fewest < 1440.0
    assert f"± {evidence.cost_error:.4f}, ≥ {evidence.fewest:.0f} samples" in table_of(last, "#5b4fcf")
    assert "Likelihoods with ± are sampled" in verdict_of(last)


def test_without_held_out_data_nothing_is_marked_and_a_way_out_is_told():
    last, _, _ = judged(held_out=False)
    assert "best fit</span>" not in table_of(last, "#5b4fcf")
    assert "There are no held-out data" in verdict_of(last)


def test_a_fit_that_loses_to_a_baseline_is_told_so():
    last, _, _ = judged(fits=())
    assert "does not beat a model without hidden units" in verdict_of(last)


def test_error_bars_are_told_with_flat_directions_and_the_scale_valley():
    _, truth, recording = judged()
    bars = error_bars(truth, recording)
    words = bars_in_words(bars, converged=True)
    assert "None of the 24 directions is flat" in words
    assert "the factor c is known to ±" in words
    assert "converged" not in words
    table = table_of_bars(compare_errors(bars, truth, truth), dict.fromkeys("JKL", "#000"), 7)
    assert table.count('<th scope="row"') == 3
    assert "100 %" in table
    spare = random_couplings(4, 2, np.random.default_rng(0), variance=1e-6)
    assert "directions are flat" in bars_in_words(error_bars(spare, recording), converged=False)


@browser
def test_a_paused_fit_is_judged_and_its_error_bars_shown(open_page):
    tab = open_page("?tab=scores")
    press(tab, "Score this fit")
    row(tab, "This fit").wait_for()
    tab.get_by_text("predicts held-out data best").wait_for()
    assert tab.get_by_role("region", name="Models judged").get_by_role("row").count() >= 5
    assert "best" in row(tab, "This fit").inner_text() or "best" in row(tab, "Best held-out").inner_text()
    cost = row(tab, "This fit").get_by_role("cell").first.inner_text()
    assert cost == f"{state(tab)['cost']:.4f}"
    press(tab, "Error bars")
    tab.get_by_text("None of the 396 directions is flat").wait_for(timeout=60_000)
    cells = row(tab, "K").get_by_role("cell").all_inner_texts()
    assert cells[0] == "36"
    assert float(cells[2]) == pytest.approx(state(tab)["rms_aligned"]["K"], abs=6e-5)
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@browser
def test_a_running_fit_is_judged_and_the_page_says_when_it_has_moved_on(open_page):
    tab = open_page("?tab=scores&nv=6&nh=2&T=4000&model=stochastic&learner=exact&opt=gradient&rate=0.001", width=800)
    press(tab, "Run")
    wait_for(tab, lambda now: now["running"], "the run")
    press(tab, "Score this fit")
    tab.get_by_text("The page has moved on since").wait_for()
    row(tab, "Lag 2").wait_for()
    assert state(tab)["running"]
    press(tab, "Error bars")
    tab.get_by_text("has not converged").wait_for()
    press(tab, "Pause")
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@browser
def test_what_would_take_too_long_is_refused_in_a_sentence_and_what_takes_long_can_be_cancelled(open_page):
    tab = open_page("?tab=scores&nv=80&nh=20&T=20000&out=20000&model=stochastic&learner=mean-field&theme=dark")
    wait_for(tab, lambda now: now["cost"] is not None, "step 0")
    press(tab, "Error bars")
    tab.get_by_text("at most 2,500 of them, got 9,600").wait_for()
    press(tab, "Score this fit")
    tab.get_by_text("Scoring: ").wait_for()
    press(tab, "Cancel")
    tab.get_by_text("Scoring cancelled.").wait_for()
    deadline = time.monotonic() + 10
    while tab.get_by_role("button", name="Score this fit", exact=True).is_disabled():
        assert time.monotonic() < deadline
        tab.wait_for_timeout(50)


def test_the_defaults_of_the_page_are_what_these_tests_count():
    assert (Experiment().n_visible, Experiment().n_hidden) == (18, 2)


def test_before_anything_is_scored_the_run_of_fig_3_is_shown(open_page):
    tab = open_page("?tab=scores", width=1280, height=720)
    tab.get_by_text("An example, the finished run of Fig. 3:").wait_for()
    tab.get_by_role("rowheader", name="The run of Fig. 3").wait_for()
    assert tab.get_by_role("row").count() > 4
    tab.get_by_text("predicts held-out data best").wait_for()
