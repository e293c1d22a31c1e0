import itertools

import numpy as np
import pytest

from hidviz.numerics import receivers, response


def plainly(W, inputs, following):
    """log P[s'] = s'H - log 2cosh H and eps = s' - tanh H, unit by unit."""
    H = W @ inputs
    return (following * H - np.logaddexp(H, -H)).sum(), following - np.tanh(H)


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 20.0])
def test_likelihood_and_error_are_those_of_independent_units(scale):
    rng = np.random.default_rng(1)
    W, inputs = rng.normal(0.0, scale, (7, 5)), rng.choice([-1.0, 1.0], (5, 40))
    following = rng.choice([-1.0, 1.0], (7, 40))
    value, error = response(receivers(W), inputs, 2.0 * following)
    wanted, wanted_error = plainly(W, inputs, following)
    assert value == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(error, wanted_error, atol=1e-14)


def test_probabilities_of_all_following_states_add_up_to_one():
    rng = np.random.default_rng(2)
    units, inputs = receivers(rng.normal(0.0, 1.0, (4, 3))), rng.uniform(-1.0, 1.0, (3, 1))
    states = itertools.product((-1.0, 1.0), repeat=4)
    total = sum(np.exp(response(units, inputs, 2.0 * np.array(state)[:, None])[0]) for state in states)
    assert total == pytest.approx(1.0, rel=1e-14)


def test_a_bin_that_is_left_out_counts_as_unknown_and_has_no_error():
    rng = np.random.default_rng(3)
    W, inputs = rng.normal(0.0, 1.0, (4, 3)), rng.choice([-1.0, 1.0], (3, 2))
    doubled = np.stack([2.0 * rng.choice([-1.0, 1.0], 4), np.zeros(4)], axis=1)
    value, error = response(receivers(W), inputs, doubled)
    alone, _ = response(receivers(W), inputs[:, :1], doubled[:, :1])
    assert value == pytest.approx(alone - 4 * np.log(2.0), rel=1e-14)
    np.testing.assert_array_equal(error[:, 1], 0.0)


def test_many_strong_units_share_no_product_that_overflows():
    """400 units whose fields reach 60: one product over all of them would be exp(48,000)."""
    rng = np.random.default_rng(4)
    W, inputs = rng.choice([-30.0, 30.0], (400, 2)), rng.choice([-1.0, 1.0], (2, 6))
    following = rng.choice([-1.0, 1.0], (400, 6))
    units = receivers(W)
    assert len(units.groups) > 1
    assert [i for group in units.groups for i in range(400)[group]] == list(range(400))
    value, error = response(units, inputs, 2.0 * following)
    wanted, wanted_error = plainly(W, inputs, following)
    assert value == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(error, wanted_error, atol=1e-13)


def test_couplings_without_bound_are_guarded():
    W, inputs = np.array([[1e5, 0.0], [3.0, 1.0]]), np.array([[1.0, -1.0], [1.0, 1.0]])
    following = np.array([[-1.0, -1.0], [1.0, -1.0]])
    value, error = response(receivers(W), inputs, 2.0 * following)
    wanted, wanted_error = plainly(W, inputs, following)
    assert value == pytest.approx(wanted, rel=1e-13)
    np.testing.assert_allclose(error, wanted_error, atol=1e-13)
