"""A, its field and its slopes hang together: each is the derivative of the first, for every theory."""

import numpy as np
import pytest

from hidviz.learners.parts.mean_field_cases import cases_of, distinct_cases
from hidviz.learners.parts.mean_field_objective import (
    Theory,
    chunk,
    field,
    field_and_value,
    objective_and_slopes,
    wire,
)
from hidviz.network import Recording, as_gradient, random_couplings
from hidviz.network.couplings import BLOCKS, Couplings
from hidviz.numerics import LOWEST, NAIVE, gaussian
from tests.oracle import meanfield as oracle
from tests.oracle.slope import slope

THEORIES = {
    "naive": Theory(NAIVE),
    "lowest": Theory(LOWEST),
    "gaussian": Theory(gaussian(41)),
    "second": Theory(LOWEST, second_order=True),
}
theories = pytest.mark.parametrize("name", THEORIES)
same_time = pytest.mark.parametrize("same_time", [False, True], ids=["", "same-time"])
with_and_without_m = pytest.mark.parametrize("coupled", [False, True], ids=["M=0", "M"])


def problem(name, coupled, same_time, n_visible=4, n_hidden=3, lengths=(6, 2, 4)):
    rng = np.random.default_rng(7)
    data = Recording([rng.choice([-1, 1], (length, n_visible)) for length in lengths])
    couplings = random_couplings(n_visible, n_hidden, rng, variance=0.7, hidden_hidden=coupled, bias=0.3)
    theory = THEORIES[name]._replace(same_time=same_time)
    mu = np.tanh(rng.normal(0.0, 1.0, (data.n_transitions, n_hidden)))
    return data, couplings, theory, mu


def value_at(data, couplings, theory, mu):
    return objective_and_slopes(theory, wire(couplings, theory), cases_of(data), mu)[0]


@theories
@with_and_without_m
@same_time
def test_the_objective_is_the_sum_over_bins_and_units_at_any_magnetisations(name, coupled, same_time):
    data, couplings, theory, mu = problem(name, coupled, same_time)
    parts = np.split(mu, np.cumsum([len(trial) - 1 for trial in data.trials])[:-1])
    blocks = {block: getattr(couplings, block) for block in BLOCKS}
    wanted = oracle.objective(data.trials, parts, name, same_time, **blocks)
    tolerance = 1e-7 if name == "gaussian" else 1e-12  # two quadratures
    assert value_at(data, couplings, theory, mu) == pytest.approx(wanted, rel=tolerance)


@theories
@with_and_without_m
@same_time
def test_the_field_is_the_slope_in_the_magnetisations(name, coupled, same_time):
    """∂A/∂mu = field - atanh mu, all of it, whichever rows are asked for."""
    data, couplings, theory, mu = problem(name, coupled, same_time)
    c = chunk(theory, wire(couplings, theory), cases_of(data), 0, len(mu))
    rows = np.random.default_rng(2).permutation(len(mu))
    wanted = slope(lambda m: value_at(data, couplings, theory, m), {"m": mu})["m"]
    found = field(c, mu, rows) - np.arctanh(mu[rows])
    np.testing.assert_allclose(found, wanted[rows], atol=1e-7)


@theories
@with_and_without_m
@same_time
def test_the_value_of_a_bin_changes_as_the_objective_does(name, coupled, same_time):
    data, couplings, theory, mu = problem(name, coupled, same_time)
    c = chunk(theory, wire(couplings, theory), cases_of(data), 0, len(mu))
    rng = np.random.default_rng(3)
    for t in range(len(mu)):
        moved = mu.copy()
        moved[t] = np.tanh(rng.normal(size=mu.shape[1]))
        row = np.array([t])
        gain = field_and_value(c, moved, row)[1][0] - field_and_value(c, mu, row)[1][0]
        wanted = value_at(data, couplings, theory, moved) - value_at(data, couplings, theory, mu)
        assert gain == pytest.approx(wanted, abs=1e-11)
        np.testing.assert_allclose(field_and_value(c, mu, row)[0], field(c, mu, row), atol=1e-13)


@theories
@with_and_without_m
@same_time
def test_the_slopes_are_those_of_the_objective_at_fixed_magnetisations(name, coupled, same_time):
    data, couplings, theory, mu = problem(name, coupled, same_time)
    blocks = {block: getattr(couplings, block) for block in BLOCKS if coupled or block != "M"}
    wanted = slope(lambda **changed: value_at(data, Couplings(**changed), theory, mu), blocks)
    found = as_gradient(*objective_and_slopes(theory, wire(couplings, theory), cases_of(data), mu)[1], BLOCKS)
    for block in blocks:
        np.testing.assert_allclose(getattr(found, block), wanted[block], atol=1e-7, err_msg=block)


@theories
def test_m_has_a_slope_where_it_is_zero(name):
    """Else a run that starts at M = 0 and learns M would never leave it."""
    data, couplings, theory, mu = problem(name, False, False)
    found = objective_and_slopes(theory, wire(couplings, theory), cases_of(data), mu)[1].M
    near = {"M": np.zeros_like(couplings.M)}

    def value(M):
        return value_at(data, Couplings(couplings.J, couplings.K, couplings.L, M, couplings.h, couplings.g), theory, mu)

    np.testing.assert_allclose(found, slope(value, near)["M"], atol=1e-6)


def test_chunks_leave_no_seam():
    """More rows than a chunk holds, in trials that end within chunks."""
    data, couplings, theory, mu = problem("second", True, True, 5, 2, (700, 900, 2, 1200))
    wiring, cases = wire(couplings, theory), cases_of(data)
    total, slopes = objective_and_slopes(theory, wiring, cases, mu)
    begins = np.cumsum([0] + [len(trial) - 1 for trial in data.trials])
    parts = [
        objective_and_slopes(theory, wiring, cases_of(Recording(trial)), mu[begin:end])
        for trial, begin, end in zip(data.trials, begins, begins[1:], strict=False)
    ]
    assert total == pytest.approx(sum(part for part, _ in parts), rel=1e-12)
    for k, whole in enumerate(slopes):
        np.testing.assert_allclose(whole, sum(part[k] for _, part in parts), rtol=1e-10, atol=1e-9)


@theories
def test_distinct_cases_count_as_often_as_they_occur(name):
    data, couplings, theory, _ = problem(name, False, False, 2, 2, (300, 200))
    wiring, cases = wire(couplings, theory), cases_of(data)
    distinct = distinct_cases(data, cases)
    mu = np.tanh(np.random.default_rng(1).normal(size=(len(distinct.first), 2)))
    few, slopes = objective_and_slopes(theory, wiring, distinct.cases, mu)
    many, wanted = objective_and_slopes(theory, wiring, cases, mu[distinct.inverse])
    assert few == pytest.approx(many, rel=1e-12)
    for block in ("Jh", "K", "Lg"):
        np.testing.assert_allclose(getattr(slopes, block), getattr(wanted, block), rtol=1e-10, atol=1e-10)
