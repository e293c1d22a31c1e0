"""Where the paper is misprinted: the corrected rule passes the test that the printed one fails."""

import math

import numpy as np
import pytest

from tests.oracle import errata
from tests.oracle.slope import slope

BLOCKS = ("J", "K", "L", "M")


def example(n_visible=3, n_hidden=2, length=4, seed=2, strength=0.7):
    rng = np.random.default_rng(seed)
    shapes = {"J": (n_visible, n_visible), "K": (n_visible, n_hidden)}
    shapes |= {"L": (n_hidden, n_visible), "M": (n_hidden, n_hidden)}
    blocks = {name: rng.normal(0.0, strength, shape) for name, shape in shapes.items()}
    return rng.choice([-1.0, 1.0], (length, n_visible)), blocks


def off(found, wanted):
    """Largest error of a block, relative to the block."""
    return {name: np.abs(found[name] - wanted[name]).max() / np.abs(wanted[name]).max() for name in BLOCKS}


@pytest.fixture(scope="module")
def continuous():
    s, blocks = example(length=9)
    wanted = slope(lambda **moved: errata.continuous_log_likelihood(s, **moved), blocks)
    return s, blocks, wanted


@pytest.fixture(scope="module")
def stochastic():
    s, blocks = example()
    return s, blocks, slope(lambda **moved: errata.log_likelihood(s, **moved), blocks)


def test_continuous_rules_are_the_slope(continuous):
    s, blocks, wanted = continuous
    assert max(off(errata.continuous_slopes(s, **blocks), wanted).values()) < 1e-8


def test_error_is_that_of_the_next_bin(continuous):
    s, blocks, wanted = continuous
    wrong = off(errata.continuous_slopes(s, **blocks, printed_error=True), wanted)
    assert min(wrong[name] for name in BLOCKS) > 0.1


def test_error_paths_run_to_the_end_of_the_data_in_decreasing_time(continuous):
    s, blocks, wanted = continuous
    wrong = off(errata.continuous_slopes(s, **blocks, printed_paths=True), wanted)
    assert wrong["J"] < 1e-8
    assert wrong["K"] < 1e-8
    assert wrong["L"] > 0.1
    assert wrong["M"] > 0.1


@pytest.mark.parametrize("printed", [False, True])
def test_each_unit_contributes_its_factor_once_and_the_start_is_flat(printed):
    s, blocks = example(n_visible=2, n_hidden=2, length=3)
    logs = []
    for visible in errata.histories(2, 2):
        joined = np.concatenate([s[:1], visible])
        logs += [errata.log_joint(joined, sigma, **blocks, printed=printed) for sigma in errata.histories(3, 2)]
    total = np.exp(np.logaddexp.reduce(logs))
    assert (total == pytest.approx(1.0, abs=1e-12)) is not printed


@pytest.mark.parametrize("printed", [False, True])
def test_fourth_term_of_the_energy_sums_over_both_hidden_units(printed):
    s, blocks = example()
    gaps = [
        errata.energy(s, sigma, **blocks, printed=printed) + errata.log_joint(s, sigma, **blocks)
        for sigma in errata.histories(4, 2)
    ]
    assert (np.abs(gaps).max() < 1e-12) is not printed


def test_exact_rules_are_the_slope(stochastic):
    s, blocks, wanted = stochastic
    assert max(off(errata.exact_slopes(s, **blocks), wanted).values()) < 1e-8


def test_energy_is_minus_the_log_probability(stochastic):
    s, blocks, wanted = stochastic
    wrong = off(errata.exact_slopes(s, **blocks, printed_energy=True), wanted)
    assert min(wrong.values()) > 0.1


def test_slope_in_hidden_to_hidden_couplings_compares_the_receiver_with_itself(stochastic):
    s, blocks, wanted = stochastic
    wrong = off(errata.exact_slopes(s, **blocks, printed_M=True), wanted)
    assert wrong["M"] > 0.1
    assert max(wrong[name] for name in ("J", "K", "L")) < 1e-8


def test_likelihood_with_hidden_to_hidden_couplings_needs_no_sum_over_histories(stochastic):
    s, blocks, _ = stochastic
    states = errata.histories(1, 2)[:, 0]
    log_weight = np.full(len(states), -2.0 * math.log(2.0))
    for t in range(len(s) - 1):
        H, B = s[t] @ blocks["J"].T + states @ blocks["K"].T, s[t] @ blocks["L"].T + states @ blocks["M"].T
        log_weight = log_weight + (s[t + 1] * H - np.logaddexp(H, -H)).sum(axis=1)
        steps = (states[None] * B[:, None] - np.logaddexp(B, -B)[:, None]).sum(axis=2)
        log_weight = np.logaddexp.reduce(log_weight[:, None] + steps, axis=0)
    assert np.logaddexp.reduce(log_weight) == pytest.approx(errata.log_likelihood(s, **blocks), abs=1e-12)


@pytest.mark.parametrize("printed", [False, True])
def test_terms_with_j_equal_indices_carry_half_the_power(printed):
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    H, variance = 0.6, 0.15
    fields = H + math.sqrt(variance) * nodes
    average = weights @ np.logaddexp(fields, -fields) / weights.sum()
    series = errata.pair_series(H, variance, orders=12, printed=printed)
    assert (series == pytest.approx(average, abs=1e-5)) is not printed  # the term of order 14 is 3e-6


def test_lowest_order_rules_hold_squared_spreads():
    s, blocks = example(n_visible=4, n_hidden=3, length=8, strength=0.5)
    mu = np.random.default_rng(3).uniform(-0.9, 0.9, (8, 3))
    wanted = slope(lambda **moved: errata.lowest_order_objective(s, mu, **moved), blocks)
    assert max(off(errata.lowest_order_slopes(s, mu, **blocks), wanted).values()) < 1e-8
    assert min(off(errata.lowest_order_slopes(s, mu, **blocks, printed=True), wanted).values()) > 0.01


def test_flipping_a_hidden_unit_flips_its_hidden_couplings_too(stochastic):
    s, blocks, _ = stochastic
    before, sign = errata.log_likelihood(s, **blocks), np.array([1.0, -1.0])
    as_printed = blocks | {"K": blocks["K"] * sign, "L": blocks["L"] * sign[:, None]}
    complete = as_printed | {"M": blocks["M"] * sign * sign[:, None]}
    assert errata.log_likelihood(s, **complete) == pytest.approx(before, abs=1e-12)
    assert abs(errata.log_likelihood(s, **as_printed) - before) > 1e-3
