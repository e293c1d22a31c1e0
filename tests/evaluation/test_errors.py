"""Scores agree with their definitions, and aligned ones do not see the gauge."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.evaluation.errors import criteria, differences, mean_square_errors, rms_errors
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.gauge import Gauge, flip, regauge


def draw(n_hidden=3, seed=0, **settings):
    return random_couplings(4, n_hidden, np.random.default_rng(seed), hidden_hidden=True, bias=0.5, **settings)


def test_errors_are_mean_squares_of_found_minus_true():
    errors = mean_square_errors(draw(seed=1), draw(), align=False)
    for name in BLOCKS:
        difference = getattr(draw(seed=1), name) - getattr(draw(), name)
        assert errors[name] == pytest.approx((difference**2).sum() / difference.size)
        assert rms_errors(draw(seed=1), draw(), align=False)[name] == pytest.approx(errors[name] ** 0.5)


def test_a_flipped_truth_has_large_errors_as_found_and_none_once_aligned():
    flipped = regauge(draw(), flip(3, 1))
    raw, found = (rms_errors(flipped, draw(), align=align) for align in (False, True))
    assert min(raw["K"], raw["L"], raw["M"], raw["g"]) > 0.1
    assert raw["J"] == raw["h"] == 0.0
    assert set(found.values()) == {0.0}


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.permutations(range(3)), st.lists(st.sampled_from((1.0, -1.0)), min_size=3, max_size=3))
def test_aligned_errors_are_the_same_in_every_gauge(order, signs):
    estimate = draw(seed=1)
    image = regauge(estimate, Gauge(order, signs))
    expected = rms_errors(estimate, draw(), align=True)
    assert rms_errors(image, draw(), align=True) == pytest.approx(expected, rel=1e-10)


def test_aligning_never_makes_the_error_of_k_and_l_larger():
    for seed in range(1, 10):
        raw, found = (mean_square_errors(draw(seed=seed), draw(), align=align) for align in (False, True))
        # K and L have equally many entries, so their mean squares add up as their square errors do
        assert found["K"] + found["L"] <= raw["K"] + raw["L"]


def test_a_missing_hidden_unit_counts_as_an_unconnected_one():
    truth = draw(2)
    fewer = Couplings(truth.J, truth.K[:, :1], truth.L[:1], truth.M[:1, :1], truth.h, truth.g[:1])
    off = differences(fewer, truth)
    assert np.array_equal(off["K"], np.column_stack([np.zeros(4), -truth.K[:, 1]]))
    assert np.array_equal(off["L"][1], -truth.L[1])
    assert not off["J"].any()
    assert rms_errors(truth, fewer, align=True)["L"] == rms_errors(fewer, truth, align=True)["L"]


def test_a_network_without_hidden_units_has_no_error_in_their_blocks():
    errors = rms_errors(draw(0), draw(0, seed=1), align=True)
    assert errors["K"] == errors["L"] == errors["M"] == errors["g"] == 0.0
    assert errors["J"] > 0.0


def test_criteria_charge_for_parameters():
    found = criteria(-1000.0, 20, 500)
    assert (found.cost, found.aic) == (1000.0, 1020.0)
    assert found.bic == pytest.approx(1000.0 + 10.0 * np.log(500))
