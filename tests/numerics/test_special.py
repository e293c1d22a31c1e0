"""Special functions agree with their definitions where those work, and stay finite where they do not."""

import numpy as np

from hidviz.numerics.special import entropy, log_2cosh, tanh


def test_log_2cosh_is_the_log_of_2cosh():
    x = np.linspace(-300.0, 300.0, 1001)
    assert np.allclose(log_2cosh(x), np.log(2.0 * np.cosh(x)), rtol=1e-15, atol=0.0)


def test_log_2cosh_of_a_huge_field_is_its_size():
    x = np.array([-1e300, -800.0, 800.0, 1e300])
    assert np.array_equal(log_2cosh(x), np.abs(x))


def test_the_slope_of_log_2cosh_is_tanh():
    x, step = np.linspace(-5.0, 5.0, 101), 1e-5
    slope = (log_2cosh(x + step) - log_2cosh(x - step)) / (2 * step)
    assert np.allclose(slope, np.tanh(x), atol=1e-9)  # error of the difference: step², and rounding / step


def test_entropy_is_that_of_a_unit_with_this_mean():
    mu = np.linspace(-0.999, 0.999, 101)
    p = np.array([(1 + mu) / 2, (1 - mu) / 2])
    assert np.allclose(entropy(mu), -(p * np.log(p)).sum(axis=0), atol=1e-15)


def test_a_certain_unit_has_no_entropy_and_an_even_one_has_log_2():
    assert entropy(np.array([-1.0, 1.0])).tolist() == [0.0, 0.0]
    assert entropy(np.zeros(1))[0] == np.log(2.0)


def test_the_slope_of_entropy_is_minus_the_field():
    mu, step = np.linspace(-0.9, 0.9, 19), 1e-6
    slope = (entropy(mu + step) - entropy(mu - step)) / (2 * step)
    assert np.allclose(slope, -np.arctanh(mu), atol=1e-8)  # rounding / step


def test_tanh_is_right_to_rounding_at_any_field():
    fields = np.concatenate([np.linspace(-40.0, 40.0, 4001), [0.0, 1e-300, 1e4, -1e4, np.inf, -np.inf]])
    np.testing.assert_allclose(tanh(fields), np.tanh(fields), rtol=0.0, atol=4e-16)
    assert np.abs(tanh(fields)).max() == 1.0
    in_place = fields.copy()
    assert tanh(in_place, out=in_place) is in_place
    np.testing.assert_array_equal(in_place, tanh(fields))
