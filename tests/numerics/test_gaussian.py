import numpy as np
import pytest

from hidviz.numerics.gaussian import LOWEST, NAIVE, gaussian
from tests.oracle.meanfield import averages
from tests.oracle.slope import slope

GAUSSIAN = gaussian()
CLOSURES = {"naive": NAIVE, "lowest": LOWEST, "gaussian": GAUSSIAN}


def fields(sd, n=300):
    rng = np.random.default_rng(7)
    return rng.normal(0.0, 2.0, n), (sd * rng.random(n)) ** 2


@pytest.mark.parametrize(("sd", "tolerance"), [(0.3, 1e-6), (1.0, 1e-6), (1.5, 5e-5), (2.0, 5e-4)])
def test_quadrature_is_as_accurate_as_it_says(sd, tolerance):
    H, V = fields(sd)
    found = GAUSSIAN.averages(H, V)
    wanted = np.array([averages(field, variance, "gaussian") for field, variance in zip(H, V, strict=True)]).T
    for ours, theirs in zip(found, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=tolerance)


def test_more_nodes_reach_wider_fields():
    H, V = fields(2.0)
    wanted = [averages(field, variance, "gaussian")[0] for field, variance in zip(H, V, strict=True)]
    np.testing.assert_allclose(gaussian(41).averages(H, V).log_2cosh, wanted, atol=1e-6)


@pytest.mark.parametrize("name", CLOSURES)
def test_slopes_are_the_slopes_of_the_average(name):
    H, V = fields(2.0, 40)
    V += 0.01  # central differences need room below

    def total(H, V):
        return CLOSURES[name].averages(H, V).log_2cosh.sum()

    by_differences = slope(total, {"H": H, "V": V})
    found = CLOSURES[name].averages(H, V)
    np.testing.assert_allclose(found.tanh, by_differences["H"], atol=1e-8)
    np.testing.assert_allclose(found.chi, 2.0 * by_differences["V"], atol=1e-8)


@pytest.mark.parametrize("name", CLOSURES)
def test_slopes_alone_are_the_same_slopes(name):
    H, V = fields(1.0)
    alone, found = CLOSURES[name].slopes(H, V), CLOSURES[name].averages(H, V)
    np.testing.assert_allclose(alone.tanh, found.tanh, atol=1e-14)
    np.testing.assert_allclose(alone.chi, found.chi, atol=1e-14)


@pytest.mark.parametrize("name", CLOSURES)
def test_curvature_has_the_right_value_and_slopes(name):
    H, V = fields(0.9, 40)
    V += 0.01
    curvature = CLOSURES[name].curvature(H, V)
    theory = "lowest" if name == "naive" else name
    wanted = [averages(field, variance, theory)[2] for field, variance in zip(H, V, strict=True)]
    np.testing.assert_allclose(curvature.value, wanted, atol=1e-6)
    by_differences = slope(lambda H, V: CLOSURES[name].curvature(H, V).value.sum(), {"H": H, "V": V})
    np.testing.assert_allclose(curvature.by_field, by_differences["H"], atol=1e-8)
    np.testing.assert_allclose(curvature.by_variance, by_differences["V"], atol=1e-8)


def test_all_closures_agree_where_nothing_fluctuates():
    H = np.linspace(-4.0, 4.0, 101)
    naive = NAIVE.averages(H, np.zeros(101))
    for closure in (LOWEST, GAUSSIAN):
        found = closure.averages(H, np.zeros(101))
        np.testing.assert_allclose(found.log_2cosh, naive.log_2cosh, atol=1e-12)
        np.testing.assert_allclose(found.tanh, naive.tanh, atol=1e-12)
        # the quadrature tells deviations below 1e-6 from none no more: rounding / 1e-6
        np.testing.assert_allclose(found.chi, 1.0 - np.tanh(H) ** 2, atol=1e-9)


@pytest.mark.parametrize("name", CLOSURES)
def test_enormous_fields_and_variances_stay_finite(name):
    H = np.array([-1e6, -700.0, -20.0, 0.0, 20.0, 700.0, 1e6])
    for sd in (0.0, 1e-9, 1.0, 30.0, 1e4):
        found = CLOSURES[name].averages(H, np.full(7, sd**2))
        assert all(np.isfinite(values).all() for values in found)
        assert all(np.isfinite(values).all() for values in CLOSURES[name].curvature(H, np.full(7, sd**2)))
        if name == "gaussian":
            assert (np.abs(found.tanh) <= 1.0 + 1e-12).all()


def test_shape_and_layout_do_not_matter():
    H, V = fields(1.0, 12_000)
    flat, square = GAUSSIAN.averages(H, V), GAUSSIAN.averages(H.reshape(40, -1).T, V.reshape(40, -1).T)
    for one, other in zip(flat, square, strict=True):
        np.testing.assert_allclose(other.T.ravel(), one, atol=1e-13)
    assert GAUSSIAN.slopes(np.zeros((3, 0)), np.zeros((3, 0))).tanh.shape == (3, 0)
