"""Statistics over networks: every network counts once, and what is uncertain is not settled."""

import numpy as np
import pandas as pd
import pytest

from hidviz.sweeps.spread import Estimate, difference, estimate, flag_words, flags, ratio, slopes, whole
from tests.sweeps.synthetic import synthetic


def test_slope_of_a_power_law_is_its_power():
    found = slopes(synthetic({"J": lambda T: 7.0 / T, "K": lambda T: T**-0.5, "L": lambda T: 0.3 + 0.0 * T}))
    assert list(found["block"]) == ["J", "K", "L"]
    np.testing.assert_allclose(found["slope"], [-1.0, -0.5, 0.0], atol=1e-12)
    assert (found["low"].iloc[0], found["high"].iloc[0], found["networks"].iloc[0]) == (1_000, 30_000, 1)
    assert found["error"].isna().all()  # one network tells nothing of others


def test_slope_is_the_mean_of_the_networks_slopes_whatever_their_heights():
    easy, hard = synthetic({"J": lambda T: 1.0 / T}, seed=1), synthetic({"J": lambda T: 50.0 * T**-0.8}, seed=2)
    found = slopes(pd.concat([easy, hard[hard["n_steps"] > 5_000]])).iloc[0]
    assert found["slope"] == pytest.approx(-0.9, abs=1e-12)
    assert found["error"] == pytest.approx(np.std([-1.0, -0.8], ddof=1) / np.sqrt(2), abs=1e-12)
    assert slopes(pd.concat([easy.head(1), hard.tail(1)])).empty  # two lengths, but of two networks


def test_a_curve_that_bends_has_one_slope_whichever_networks_go_on():
    """Of five networks three go on to where the curve is flat, so that a mean over all five is that of neither part."""

    def bent(T):
        return np.maximum(1.0 / T, 1e-4)

    curves = [synthetic({"J": bent}, seed=seed) for seed in range(1, 6)]
    last = curves[0]["n_steps"].max()
    cut = [one if seed < 3 else one[one["n_steps"] < last] for seed, one in enumerate(curves)]
    found, alone = slopes(pd.concat(cut)).iloc[0], slopes(curves[0]).iloc[0]
    assert found["slope"] == pytest.approx(alone["slope"], abs=1e-12)
    assert (found["networks"], found["high"]) == (3, last)
    cut = [one if seed < 2 else one[one["n_steps"] < last] for seed, one in enumerate(curves)]
    found = slopes(pd.concat(cut)).iloc[0]  # two are too few to go on
    assert (found["networks"], found["high"]) == (5, sorted(set(curves[0]["n_steps"]))[-2])
    assert set(whole(pd.concat(cut))["n_steps"]) == set(curves[0]["n_steps"]) - {last}


def test_slope_lies_within_its_error_bars():
    rng = np.random.default_rng(1)
    misses = []
    for _ in range(80):
        noisy = [synthetic({"J": lambda T: np.exp(0.2 * rng.normal()) / T}, seed=s) for s in range(8)]
        found = slopes(pd.concat(noisy)).iloc[0]
        misses.append((found["slope"] + 1.0) / found["error"])
    assert np.std(misses) == pytest.approx(1.18, abs=0.3)  # Student's t of 7 degrees of freedom


def test_runs_that_stop_or_climb_otherwise_share_no_slope():
    plain = synthetic({"J": lambda T: 1.0 / T})
    others = [
        synthetic({"J": lambda T: 1.0 + 0.0 * T}, **knob)
        for knob in ({"patience": 20.0}, {"optimiser": "gradient"}, {"penalty": "learned"})
    ]
    found = slopes(pd.concat([plain, *others])).set_index(["by", "stopped"])["slope"]
    assert found["", False] == pytest.approx(-1.0)
    assert len(found) == 4
    assert found.drop(("", False)).abs().max() < 1e-12


def test_slope_is_fitted_between_the_lengths_asked_for():
    def kinked(T):
        return 1.0 / max(T, 10_000)

    assert slopes(synthetic({"J": kinked}), low=10_000).iloc[0]["slope"] == pytest.approx(-1.0, abs=1e-12)
    assert slopes(synthetic({"J": kinked}), high=3_000).iloc[0]["slope"] == pytest.approx(0.0, abs=1e-12)
    assert slopes(synthetic({"J": kinked}), high=1_000).empty


def test_runs_at_the_truth_are_no_part_of_a_slope():
    limit = synthetic({"J": lambda T: 5.0}, start="truth", max_steps=0)  # noqa: ARG005
    both = pd.concat([synthetic({"J": lambda T: 1.0 / T}), limit])
    assert slopes(both).iloc[0]["slope"] == pytest.approx(-1.0, abs=1e-12)


def test_an_interval_holds_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(2)
    held = [low <= 0.0 <= high for low, high in (estimate(rng.normal(size=4)).interval for _ in range(2_000))]
    assert np.mean(held) == pytest.approx(0.95, abs=3 * np.sqrt(0.95 * 0.05 / 2_000))


def test_verdicts():
    sure, unsure = Estimate(0.5, 0.01, 10), Estimate(0.5, 0.4, 10)
    assert sure.verdict(0.0, 1.0) == "yes"
    assert sure.verdict(1.0, 2.0) == "no"
    assert unsure.verdict(0.0, 1.0) == unsure.verdict(1.0, 2.0) == "not settled"
    assert estimate([0.5]).verdict(0.0, 1.0) == estimate([]).verdict(0.0, 1.0) == "not settled"


def test_a_ratio_is_paired():
    hard = {1: 1.0, 2: 1e3, 3: 1e-3}
    one, other = (
        pd.concat([synthetic({"J": lambda T, c=c, f=f: f * c / T}, seed=s) for s, c in hard.items()]).query(
            "n_steps == 1000"
        )
        for f in (2.0, 1.0)
    )
    found = ratio(one, other.query("seed != 3"))
    assert (found.mean, found.networks) == (pytest.approx(np.log(2.0)), 2)
    assert found.error == pytest.approx(0.0, abs=1e-12)


def test_a_difference_has_the_error_of_both_sides_and_welchs_freedom():
    rng = np.random.default_rng(3)
    one, other = estimate(rng.normal(size=5)), estimate(1.0 + 3.0 * rng.normal(size=9))
    gap = difference(one, other)
    assert gap.error == pytest.approx(np.hypot(one.error, other.error))
    assert 4.0 < gap.freedom < 12.0
    equal = difference(Estimate(0.0, 1.0, 6), Estimate(0.0, 1.0, 6))
    assert equal.freedom == pytest.approx(10.0)
    assert np.isnan(difference(one, estimate([1.0])).error)


def test_flags_tell_the_box_and_what_has_not_converged():
    rows = pd.DataFrame(
        [
            ("exact", 2.0, 2.0, "converged", np.nan, np.nan),
            ("exact", 2.0, 1.9, "stuck", np.nan, np.nan),
            ("mean-field", 2.0, 2.0, "finished", np.nan, 300),
            ("mean-field", 2.0, 1.0, "finished", 20, np.nan),
            ("gibbs", np.nan, 5.0, "finished", np.nan, 800),
            ("exact", np.nan, 1.0, "finished", np.nan, 0),
        ],
        columns=["learner", "box", "largest", "state", "patience", "max_steps"],
    )
    found = flags(rows)
    assert list(found) == ["box", "unconverged", "box and unconverged", "", "", ""]
    assert flag_words(rows.assign(flag=found, key=range(6))) == "2 of 6 runs at the box; 2 of 6 runs not converged"
