"""Gauges form a group, move couplings exactly, and the best one is best among all."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.network.couplings import BLOCKS, random_couplings
from hidviz.network.gauge import (
    Gauge,
    aligned,
    best_gauge,
    cosines,
    flip,
    identity,
    n_equivalent_models,
    overlaps,
    regauge,
    swap,
    with_hidden,
)


def draw(n_hidden, seed=0, n_visible=3, **more):
    return random_couplings(n_visible, n_hidden, np.random.default_rng(seed), hidden_hidden=True, bias=1.0, **more)


def every_gauge(n_hidden):
    for order in permutations(range(n_hidden)):
        for signs in product((1.0, -1.0), repeat=n_hidden):
            yield Gauge(order, signs)


@st.composite
def gauges(draw_from, n_hidden=4):
    order = draw_from(st.permutations(range(n_hidden)))
    signs = draw_from(st.lists(st.sampled_from((1.0, -1.0)), min_size=n_hidden, max_size=n_hidden))
    return Gauge(order, signs)


def square_error(couplings, truth):
    return sum(((getattr(couplings, name) - getattr(truth, name)) ** 2).sum() for name in "KL")


group = settings(derandomize=True, max_examples=30, deadline=None)


@group
@given(gauges(), gauges(), gauges())
def test_gauges_form_a_group(first, second, third):
    assert first.then(second).then(third) == first.then(second.then(third))
    assert first.then(identity(4)) == identity(4).then(first) == first
    assert first.then(first.inverse()).is_identity
    assert first.inverse().then(first).is_identity
    assert first.then(second).inverse() == second.inverse().then(first.inverse())


@group
@given(gauges(), gauges())
def test_one_gauge_then_another_is_their_product(first, second):
    couplings = draw(4)
    assert regauge(regauge(couplings, first), second) == regauge(couplings, first.then(second))


@group
@given(gauges())
def test_a_gauge_and_its_inverse_leave_every_bit_as_it_was(gauge):
    couplings = draw(4)
    back = regauge(regauge(couplings, gauge), gauge.inverse())
    for name in BLOCKS:
        assert getattr(back, name).tobytes() == getattr(couplings, name).tobytes()


@group
@given(gauges())
def test_equal_gauges_have_equal_hashes(gauge):
    again = Gauge(list(gauge.order), list(gauge.signs))
    assert again == gauge
    assert hash(again) == hash(gauge)
    assert (gauge == gauge.order.tolist()) is False
    assert gauge != gauge.then(flip(4, 0))


def test_flipping_or_swapping_twice_changes_nothing():
    couplings = draw(3)
    for gauge in (flip(3, 1), swap(3, 0, 2)):
        assert not gauge.is_identity
        assert gauge.then(gauge).is_identity
        assert regauge(regauge(couplings, gauge), gauge) == couplings


def test_a_flip_moves_every_coupling_of_the_unit_and_its_bias():
    couplings, flipped = draw(2), regauge(draw(2), flip(2, 1))
    assert np.array_equal(flipped.K, couplings.K * [1, -1])
    assert np.array_equal(flipped.L, couplings.L * [[1], [-1]])
    assert np.array_equal(flipped.M, couplings.M * [[1, -1], [-1, 1]])
    assert np.array_equal(flipped.g, couplings.g * [1, -1])
    assert np.array_equal(flipped.J, couplings.J)
    assert np.array_equal(flipped.h, couplings.h)


@pytest.mark.parametrize("n_hidden", range(5))
def test_every_equivalent_model_is_counted(n_hidden):
    models = set(every_gauge(n_hidden))
    assert len(models) == n_equivalent_models(n_hidden)
    assert len({regauge(draw(n_hidden), gauge).vector().tobytes() for gauge in models}) == len(models)


@pytest.mark.parametrize("n_hidden", range(5))
@pytest.mark.parametrize("seed", range(4))
def test_the_best_gauge_is_best_of_all(n_hidden, seed):
    estimate, truth = draw(n_hidden, seed), draw(n_hidden, seed + 100)
    best = min(square_error(regauge(estimate, gauge), truth) for gauge in every_gauge(n_hidden))
    assert square_error(regauge(estimate, best_gauge(estimate, truth)), truth) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize(("n_found", "n_true"), [(1, 3), (3, 1), (2, 4), (4, 3), (0, 2), (2, 0)])
def test_the_best_gauge_is_best_with_unequal_numbers_of_hidden_units(n_found, n_true):
    estimate, truth = draw(n_found, 5), draw(n_true, 6)
    n = max(n_found, n_true)
    wide, wide_truth = with_hidden(estimate, n), with_hidden(truth, n)
    best = min(square_error(regauge(wide, gauge), wide_truth) for gauge in every_gauge(n))
    assert aligned(estimate, truth).n_hidden == n
    assert square_error(aligned(estimate, truth), wide_truth) == pytest.approx(best, rel=1e-12)


@group
@given(gauges())
def test_alignment_undoes_any_gauge(gauge):
    truth = draw(4)
    assert best_gauge(regauge(truth, gauge), truth) == gauge.inverse()
    assert aligned(regauge(truth, gauge), truth) == truth


@group
@given(gauges())
def test_an_aligned_error_does_not_depend_on_the_gauge_of_the_estimate(gauge):
    estimate, truth = draw(4, 1), draw(4, 2)
    assert aligned(regauge(estimate, gauge), truth) == aligned(estimate, truth)


def test_units_that_agree_with_none_stay_as_they_are():
    truth = random_couplings(5, 2, np.random.default_rng(1))
    found = truth.with_vector(np.zeros(truth.vector(BLOCKS).size), BLOCKS)
    assert best_gauge(found, truth).signs.tolist() == [1.0, 1.0]


def test_overlaps_have_a_row_per_true_and_a_column_per_found_unit():
    estimate, truth = draw(2, 1), draw(3, 2)
    agreement = overlaps(estimate, truth)
    for a, b in np.ndindex(3, 2):
        assert agreement[a, b] == pytest.approx(truth.K[:, a] @ estimate.K[:, b] + truth.L[a] @ estimate.L[b])
    assert not agreement[:, 2].any()


def test_cosines_are_one_for_equal_units_and_zero_for_unconnected_ones():
    truth = draw(2)
    agreement = cosines(with_hidden(regauge(truth, flip(2, 0)), 3), truth)
    assert np.diag(agreement) == pytest.approx([-1.0, 1.0, 0.0])
    assert np.abs(agreement).max() <= 1.0 + 1e-15


def test_unconnected_units_are_appended_and_never_removed():
    couplings = draw(2)
    wide = with_hidden(couplings, 4)
    assert wide.n_hidden == 4
    assert np.array_equal(wide.K[:, :2], couplings.K)
    assert not wide.K[:, 2:].any()
    assert not wide.M[2:].any()
    assert with_hidden(couplings, 1) is with_hidden(couplings, 2) is couplings


@pytest.mark.parametrize(
    ("order", "signs", "sentence"),
    [
        ([0, 0], [1, 1], "permutation of 0 … Nh-1"),
        ([1, 2], [1, 1], "permutation"),
        ([[0]], [1], "permutation"),
        ([0, 1], [1], r"2 entries \+1 or -1"),
        ([0, 1], [1, 0.5], r"entries \+1 or -1"),
    ],
)
def test_what_is_no_gauge_is_refused(order, signs, sentence):
    with pytest.raises(ValueError, match=sentence):
        Gauge(order, signs)


def test_a_gauge_for_other_units_is_refused():
    with pytest.raises(ValueError, match="The gauge is for 3 hidden units, the couplings have 2"):
        regauge(draw(2), identity(3))


def test_cosines_do_not_depend_on_how_strong_the_couplings_are():
    truth = draw(3)
    weak = replace(truth, K=1e-3 * truth.K, L=1e-3 * truth.L)
    np.testing.assert_allclose(cosines(weak, truth), cosines(truth, truth), atol=1e-12)
    np.testing.assert_allclose(cosines(weak, weak), cosines(truth, truth), atol=1e-12)
