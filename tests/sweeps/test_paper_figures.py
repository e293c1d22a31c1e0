"""Figures: slopes, panels, files, and the shipped results, which recompute."""

import numpy as np
import pandas as pd
import pytest

from hidviz import Experiment
from hidviz.background.executors import alone
from hidviz.evaluation import replica_theory
from hidviz.experiments import ASSETS
from hidviz.experiments.presets import PRESETS
from hidviz.sweeps.figure_curves import panels
from hidviz.sweeps.measurement import key_of, measure
from hidviz.sweeps.paper_claims import claims
from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.results import differing, load, paths, results_of, save
from hidviz.sweeps.spread import slopes
from hidviz.sweeps.sweep import Sweep, grid, run_sweep, table
from tests.sweeps.synthetic import synthetic


def test_panel_of_errors_holds_a_curve_for_each_learner_and_block():
    one = synthetic({"J": lambda T: 1.0 / T, "K": lambda T: 2.0 / T})
    stopped = synthetic({"J": lambda T: 3.0 / T}, patience=20.0)
    (panel,) = panels("errors", pd.concat([one, stopped]))
    assert [series.label for series in panel.series] == [
        "J, Exact, stopped", "J, Exact, converged", "K, Exact, converged", "1/T"
    ]  # fmt: skip
    np.testing.assert_allclose(panel.series[1].y, 1.0 / panel.series[1].x)
    np.testing.assert_allclose(panel.series[-1].y * panel.series[-1].x, 1.0)


def test_panel_of_floors_holds_bold_curves_over_the_visible_units_at_the_largest_data_length_of_each_learner():
    errors = {"J": lambda T: 1.0 / T, "K": lambda T: 0.1 + 0.0 * T, "L": lambda T: 2.0 / T}
    sizes = [synthetic(errors, n_visible=n, n_hidden=h, learner="mean-field") for h in (2, 4) for n in (2, 8, 4)]
    other = synthetic(errors, n_visible=8, learner="mean-field-correlated")
    few, many = panels("floors", pd.concat([*sizes, other[other["n_steps"] == 30_000]]))
    assert (few.title, many.title) == ("2 hidden units", "4 hidden units")
    assert few.x_label == "visible units"
    bold = [series for series in few.series if series.role == "curve"]
    titles = ("Mean field, lowest order", "Mean field, correlated")
    assert [series.label for series in bold] == [f"{block}, {title}, T = 30,000" for title in titles for block in "JKL"]
    assert [series.label for series in few.series if series.role == "thin"][:2] == ["J, T = 1,000", "K, T = 1,000"]
    assert (len(few.series), len(many.series)) == (15, 12)
    np.testing.assert_array_equal(bold[1].x, [2, 4, 8])
    np.testing.assert_allclose(bold[2].y, 2.0 / 30_000)


def test_panel_of_a_phase_holds_both_shares_and_their_theory_over_the_ratio_of_hidden_to_visible_units():
    errors = {"J": lambda T: 1.0 / T, "K": lambda T: 2.0 / T}
    more = {"n_visible": 8, "wrong_signs_at_truth": 0.1}
    rows = [
        synthetic(errors, n_hidden=n, variance=variance, wrong_signs=0.1 * n + 0.01 * seed, seed=seed, **more)
        for variance in (4.0, 1.0)
        for n in (4, 2)
        for seed in (1, 3)
    ]
    one, four = panels(
        "phase", pd.concat(rows).assign(key=lambda t: t.groupby(["variance", "n_hidden", "seed"]).ngroup())
    )
    assert [panel.title for panel in (one, four)] == ["coupling variance 1", "coupling variance 4"]
    true, learned, theory = one.series
    np.testing.assert_array_equal(learned.x, [0.25, 0.5])
    np.testing.assert_allclose(learned.y, [0.22, 0.42])
    np.testing.assert_allclose(learned.high - learned.y, np.std([1, 3], ddof=1) / 100)
    np.testing.assert_allclose(learned.y - learned.low, np.std([1, 3], ddof=1) / 100)
    np.testing.assert_allclose(true.y, 0.1)
    np.testing.assert_allclose(theory.x[[0, -1]], [0.25, 0.5])
    np.testing.assert_allclose(theory.y[[0, -1]], [replica_theory(1.0, ratio).wrong_signs for ratio in (0.25, 0.5)])
    assert [series.role for series in one.series] == ["curve", "curve", "thin"]
    assert [series.label for series in one.series][:2] == ["true couplings", "learned couplings"]


def test_a_point_lies_at_the_mean_of_its_networks_and_its_bar_reaches_a_standard_deviation():
    seeds = [synthetic({"J": lambda T, c=c: c / T}, seed=c) for c in (1, 2, 4)]
    curve = panels("errors", pd.concat(seeds))[0].series[0]
    np.testing.assert_allclose(curve.y, 2.0 / curve.x)
    np.testing.assert_allclose(curve.low, 1.0 / curve.x)  # logarithms 0, log 2, 2 log 2 have the deviation log 2
    np.testing.assert_allclose(curve.high, 4.0 / curve.x)
    assert curve.networks == (3,) * 4


def test_runs_by_another_optimiser_have_a_panel_of_their_own_and_single_lengths_stay_in_the_table():
    plain = synthetic({"J": lambda T: 1.0 / T})
    ascent = synthetic({"J": lambda T: 9.0 / T}, optimiser="gradient")
    learned = synthetic({"J": lambda T: 5.0 / T}, penalty="learned").head(1)
    one, other = panels("errors", pd.concat([plain, ascent, learned]))
    assert (one.title, other.title) == (
        "5 visible + 2 hidden units", "5 visible + 2 hidden units, gradient ascent"
    )  # fmt: skip
    np.testing.assert_allclose(one.series[0].y, 1.0 / one.series[0].x)
    np.testing.assert_allclose(other.series[0].y, 9.0 / other.series[0].x)
    (alone,) = panels("errors", learned)
    assert alone.title.endswith("learned penalty")


def test_expected_lines_take_the_place_of_the_guide():
    found = synthetic({"J": lambda T: 1.0 / T}).assign(mse_expected=lambda rows: 3.0 / rows["n_steps"])
    (panel,) = panels("errors", found)
    assert [series.role for series in panel.series] == ["curve", "thin"]
    np.testing.assert_allclose(panel.series[1].y * panel.series[1].x, 3.0)


def test_a_panel_says_how_many_of_its_runs_are_flagged():
    found = synthetic({"J": lambda T: 1.0 / T, "K": lambda T: 2.0 / T})
    found = found.assign(flag=np.where(found["n_steps"] > 5_000, "box and unconverged", ""))
    (panel,) = panels("errors", found)
    assert panel.remark == "2 of 4 runs at the box; 2 of 4 runs not converged"


def test_costs_are_drawn_relative_to_the_truth_on_the_same_data():
    found = synthetic({"J": lambda T: 1.0 / T})
    limit = synthetic({"J": lambda T: 0.0}, start="truth", max_steps=0, cost=5.0)  # noqa: ARG005
    limit = limit.tail(1).assign(key="limit")
    (panel,) = panels("costs", pd.concat([found, limit]))
    curves = {series.what: series for series in panel.series}
    np.testing.assert_allclose(curves["cost"].y, 5.0 - 10.0 / curves["cost"].x)
    np.testing.assert_allclose(curves["held_out"].y, 5.0 + 10.0 / curves["cost"].x)
    np.testing.assert_allclose(curves["limit"].y, 5.0)


def test_nothing_found_makes_no_panel():
    assert panels("errors", table([])) == ()
    assert panels("costs", synthetic({"J": lambda T: 1.0 / T}, cost_at_truth=np.nan)) == ()


def test_every_figure_says_its_rules_and_has_two_versions():
    for number, figure in FIGURES.items():
        assert figure.name == (f"figure{number}" if number.isdigit() else number)
        assert "box" in figure.rules or "±" in figure.rules
        assert "penalty" in figure.rules
        assert set(figure.quick) < set(figure.full)
    assert PRESETS["fig3"] in FIGURES["3"].quick
    sizes = {(e.n_visible, e.n_hidden) for e in FIGURES["5"].full}
    assert sizes == {(80, 80), (80, 20)}
    assert {e.learner for e in FIGURES["6"].full} == {"exact", "mean-field", "mean-field-correlated", "gibbs"}
    assert max(e.n_steps for e in FIGURES["6"].full) >= 1_000_000


def test_results_survive_their_files(tmp_path):
    base = Experiment(n_visible=3, n_hidden=1, n_steps=200, n_held_out=100)
    *_, last = run_sweep(Sweep("tiny", grid(base, start_index=(1, 2)), with_traces=True), alone)
    results = results_of(last, title="Tiny")
    written = save(results, tmp_path)
    assert written == paths(tmp_path, "tiny", with_traces=True)
    again = load(tmp_path, "tiny")
    assert again.experiments == last.sweep.experiments
    assert again.settings == results.settings
    assert differing(again.table, results.table, tolerance=1e-10) == ()
    assert list(again.table["flag"]) == list(results.table["flag"])
    assert len(again.traces) == len(results.traces)
    moved = again.table.assign(mse_raw=again.table["mse_raw"] * 1.01)
    assert set(differing(moved, results.table)) == set(results.table["key"])
    assert [panel.title for panel in panels("traces", again.table, again.traces)] == [
        "Cost of every start", "Errors, random start"
    ]  # fmt: skip


# Rounding differs between machines, and a stopped run may then take another path: hence per cents. A sampled hidden
# state that falls the other way changes all that follow, so there the spread between samples is the measure.
SAME = {"3": 1e-4, "4": 1e-2, "5": 0.2, "6": 1e-2, "floors": 1e-2, "phase": 1e-2}
CHEAP = {"3": 1, "4": -1, "5": 3, "6": 3, "floors": 1, "phase": 0}


@pytest.mark.slow
@pytest.mark.parametrize("number", FIGURES)
def test_one_cheap_shipped_point_recomputes(number):
    _recompute(number, [FIGURES[number].quick[CHEAP[number]]])


@pytest.mark.slow
@pytest.mark.parametrize("number", FIGURES)
def test_all_quick_shipped_points_recompute(number):
    _recompute(number, FIGURES[number].quick)


def _recompute(number, experiments):
    figure = FIGURES[number]
    shipped = load(ASSETS, figure.name)
    assert set(map(key_of, experiments)) <= set(shipped.table["key"])
    found = table([measure(experiment, with_states=figure.kind == "phase") for experiment in experiments])
    assert differing(found, shipped.table, tolerance=SAME[number]) == ()


def test_shipped_experiments_are_those_of_the_figures():
    for figure in FIGURES.values():
        shipped = load(ASSETS, figure.name)
        assert shipped.experiments == figure.full
        assert shipped.table["key"].nunique() == len(figure.full)
        assert shipped.settings["failed"] == {}
        assert shipped.settings["rules"] == figure.rules


def test_shipped_figure_4_rises_and_falls_to_the_limit():
    found = load(ASSETS, "figure4").table.drop_duplicates("key")
    limit = found[found["max_steps"] == 0]["cost"].mean()
    runs = found[found["max_steps"].isna()]
    excess = runs.assign(above=runs["held_out"] - runs["held_out_at_truth"], below=runs["cost_at_truth"] - runs["cost"])
    means = excess.groupby("n_steps")[["above", "below", "cost_at_truth"]].mean()
    assert (np.diff(means[["above", "below"]], axis=0) < 0.0).all()
    long = means.loc[10_000:]
    assert len(long) == 3
    half = 300 / (2 * long.index.to_numpy())
    np.testing.assert_allclose(long["above"] / half, 1.0, atol=0.3)
    np.testing.assert_allclose(long["below"] / half, 1.0, atol=0.15)
    assert limit == pytest.approx(means["cost_at_truth"].iloc[-1], abs=0.01)


@pytest.mark.parametrize("number", FIGURES)
def test_a_figure_is_predicted_to_take_about_as_long_as_it_took(number):
    figure = FIGURES[number]
    taken = load(ASSETS, figure.name).table.drop_duplicates("key")["seconds"].sum()
    assert taken / 2.5 < Sweep(figure.name, figure.full).predicted_seconds < 2.5 * taken


def slope_of(found, block):
    return found.set_index("block")["slope"][block]


def test_shipped_figure_5_falls_as_the_readme_says():
    found = load(ASSETS, "figure5").table
    few, many = (found[found["n_hidden"] == n] for n in (20, 80))
    assert few.groupby(["learner", "n_steps"])["seed"].nunique().min() >= 3
    assert many.groupby(["learner", "n_steps"])["seed"].nunique().min() >= 3
    by_mean_field = few[few["learner"] == "mean-field"]
    assert by_mean_field["n_steps"].max() == 100_000
    for block in "JL":
        assert slope_of(slopes(by_mean_field, low=3_000), block) == pytest.approx(-1.0, abs=0.1)
    assert slope_of(slopes(by_mean_field, low=10_000), "K") > -0.8  # it nears its floor
    sampled = slopes(few[few["learner"] == "gibbs"], low=3_000)
    assert sampled["high"].iloc[0] == 100_000
    for block in "JKL":
        assert slope_of(sampled, block) == pytest.approx(-1.0, abs=0.15)  # no floor in sight
    short = many[many["n_steps"] <= 10_000]
    sizes = short.groupby(["block", "learner"])["mse_aligned"]
    assert sizes.min()[["K", "L"]].min() > 0.01  # the couplings themselves have a mean square of 0.0125
    long = many[many["n_steps"] == 30_000].groupby(["block", "learner"])["mse_aligned"]
    assert long.max()[["K", "L"]].max() < 0.01
    last = many[many["n_steps"] == 100_000]
    ends = last.groupby(["learner", "block"])["mse_aligned"]
    assert ends.max()["gibbs"].max() < 0.0005
    assert ends.min()["mean-field"][["K", "L"]].min() > 0.002  # no further than at 3·10⁴
    J = many[many["block"] == "J"].set_index(["learner", "n_steps", "seed"])["mse_aligned"].sort_index()
    assert (J["mean-field", 10_000] > 1.3 * J["gibbs", 10_000]).all()
    by_learner = {name: slope_of(slopes(rows), "J") for name, rows in many.groupby("learner")}
    assert by_learner["gibbs"] == pytest.approx(-1.0, abs=0.1)
    assert by_learner["mean-field"] > -0.75


def test_shipped_figure_6_parts_and_falls_as_it_says():
    found = load(ASSETS, "figure6").table
    verdicts = {claim.claim: claim.verdict for claim in claims({"6": found})}
    for n in (5, 8):
        assert verdicts[f"{n} + {n}: they have parted by T = 3·10³, above exact"] == "yes"
    for how in ("by L-BFGS", "by gradient ascent"):
        assert verdicts[f"8 + 8, T = 300, stopped, {how}: mean field about as good as exact"] == "yes"
    exact = found[
        (found["learner"] == "exact") & found["patience"].isna() & (found["penalty"].astype(str) != "learned")
    ]
    for n in (5, 8):
        long = slopes(exact[exact["n_visible"] == n], low=30_000).set_index("block")
        assert long["slope"]["J"] == pytest.approx(-1.0, abs=0.1)
        assert long["networks"].min() >= 8
    expected = exact[exact["n_steps"] >= 300_000]
    ratios = np.log(expected["mse_aligned"] / expected["mse_expected"]).groupby(expected["block"]).mean()
    assert ratios.abs().max() < np.log(1.5)


def ends_of_mean_field(block):
    found = load(ASSETS, "floors").table
    return found[(found["block"] == block) & (found["learner"] == "mean-field")]


@pytest.mark.parametrize("n_steps", [10_000, 30_000])
def test_shipped_floors_fall_with_more_visible_units_for_each_hidden_one(n_steps):
    K = ends_of_mean_field("K")
    K = K[K["n_steps"] == n_steps]
    networks = K.groupby(["n_hidden", "n_visible"])["seed"].nunique()
    assert networks.min() >= 10
    ends = np.exp(np.log(K["mse_aligned"]).groupby([K["n_hidden"], K["n_visible"]]).mean())
    for n_hidden in (2, 4):
        falling = ends.loc[n_hidden].sort_index().to_numpy()
        assert (np.diff(falling) < 0.0).all()
        assert n_steps > 10_000 or falling[0] > 0.4 / n_hidden  # of a mean square of 1 / Nh


def test_shipped_floors_are_floors_but_that_of_the_most_visible_units():
    K = ends_of_mean_field("K").assign(log=lambda rows: np.log(rows["mse_aligned"]))
    by_length = K.pivot_table(index=["n_hidden", "n_visible", "seed"], columns="n_steps", values="log")
    powers = ((by_length[30_000] - by_length[10_000]) / np.log(3.0)).groupby(["n_hidden", "n_visible"]).mean()
    assert powers.drop([(4, 32), (2, 16)]).abs().max() < 0.15
    assert powers[4, 32] < -0.5


def test_shipped_ends_of_correlated_mean_field_are_lower_where_there_are_more_visible_units():
    found = load(ASSETS, "floors").table
    K = found[(found["block"] == "K") & (found["n_steps"] == 30_000)]
    pairs = K.pivot_table(index=["n_visible", "n_hidden", "seed"], columns="learner", values="mse_aligned").dropna()
    ratios = np.log(pairs["mean-field-correlated"] / pairs["mean-field"]).groupby(["n_visible", "n_hidden"])
    assert len(ratios.count()) == K.groupby(["n_visible", "n_hidden"]).ngroups
    assert ratios.count().min() >= 10
    factors = np.exp(ratios.mean())
    assert factors[[(2, 2), (4, 4)]].min() > 0.8
    assert factors[[(8, 2), (16, 2), (16, 4)]].max() < 0.6


def test_shipped_phase_tells_hidden_states_as_well_as_the_truth_where_couplings_are_strong():
    shipped = load(ASSETS, "phase").table.drop_duplicates("key")
    assert (shipped["wrong_signs"] < 0.5).all()
    means = shipped.groupby(["variance", "n_hidden"])[["wrong_signs", "wrong_signs_at_truth"]].mean()
    at_truth = means["wrong_signs_at_truth"].unstack()
    assert (np.diff(at_truth.to_numpy(), axis=0) < 0.0).all()  # stronger couplings tell more
    assert (np.diff(at_truth.to_numpy(), axis=1) > 0.0).all()  # more hidden units, less
    excess = (means["wrong_signs"] - means["wrong_signs_at_truth"]).unstack()
    assert excess.loc[4.0].max() < 0.03
