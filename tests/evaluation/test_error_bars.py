from dataclasses import replace

import numpy as np
import pytest

from hidviz import (
    LEARNERS,
    Couplings,
    Infeasible,
    Recording,
    Settings,
    divide,
    fit,
    fit_recording,
    random_couplings,
    random_start,
    regauge,
    simulate,
)
from hidviz.background import return_value
from hidviz.background.checkpoint import paced
from hidviz.evaluation.error_bars import FLAT, compare_errors, error_bars
from hidviz.evaluation.information import information
from hidviz.network.couplings import learned_blocks
from hidviz.network.gauge import Gauge, best_gauge
from tests.benchmarks.sparse import sparse_network
from tests.oracle import louis


def case(n_visible=3, n_hidden=2, lengths=(60, 2, 40), bias=0.3, seed=0):
    """Couplings and a recording of unrelated noise: the identity holds anywhere, not only at a maximum."""
    rng = np.random.default_rng(seed)
    couplings = random_couplings(n_visible, n_hidden, rng, variance=1.5, bias=bias)
    return couplings, Recording([rng.choice([-1.0, 1.0], (n, n_visible)) for n in lengths])


def matrix(couplings, recording, **settings):
    steps = information(couplings, recording, **settings)
    while True:
        try:
            assert 0.0 <= next(steps) < 1.0
        except StopIteration as finished:
            return finished.value


def second_differences(learner, couplings, step=2e-3):
    """Minus the slope of the gradient by differences of fourth order: errors of about 1e-11."""
    theta, blocks = couplings.vector(learner.learned), learner.learned
    rows = []
    for k in range(len(theta)):
        away = np.eye(len(theta))[k] * step
        g = {
            m: learner(couplings.with_vector(theta + m * away, blocks)).gradient.vector(blocks) for m in (-2, -1, 1, 2)
        }
        rows.append((8.0 * (g[-1] - g[1]) + g[2] - g[-2]) / (12.0 * step))
    return np.array(rows)


def close(found, expected, tolerance):
    return np.abs(found - expected).max() < tolerance * np.abs(expected).max()


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("n_hidden", [0, 1, 2])
def test_the_information_is_the_louis_identity_state_by_state(n_hidden, bias):
    c, recording = case(n_hidden=n_hidden)
    slow = louis.information(c.J, c.K, c.L, c.h, c.g, [trial.astype(float) for trial in recording.trials])
    expected = louis.in_blocks(slow, c.n_visible, n_hidden, bias=bias)
    assert close(matrix(c, recording, bias=bias), expected, 1e-13)


@pytest.mark.parametrize(("hidden", "name"), [("stochastic", "exact"), ("continuous", "backprop")])
@pytest.mark.parametrize(("n_visible", "n_hidden"), [(3, 2), (5, 1)])
def test_the_information_is_the_slope_of_the_exact_gradient(n_visible, n_hidden, hidden, name):
    c, recording = case(n_visible, n_hidden, lengths=(300, 100))
    learner = LEARNERS[name](recording, n_hidden=n_hidden, bias=True)
    assert close(matrix(c, recording, hidden=hidden, bias=True), second_differences(learner, c), 1e-8)


@pytest.mark.parametrize(("hidden", "name"), [("continuous", "backprop"), ("stochastic", "exact")])
def test_differences_serve_hidden_to_hidden_couplings(hidden, name):
    c, recording = case(2, lengths=(60, 20))
    c = Couplings(c.J, c.K, c.L, np.array([[0.2, -0.5], [0.4, 0.1]]), c.h, c.g)
    learner = LEARNERS[name](recording, n_hidden=2, hidden_hidden=True, bias=True)
    found = matrix(c, recording, hidden=hidden, hidden_hidden=True, bias=True)
    assert close(found, second_differences(learner, c), 1e-7)  # second order in steps of 1e-4
    assert np.array_equal(found, found.T)


def test_information_adds_over_trials_in_blocks_of_any_size():
    c, recording = case(5, 5, lengths=(900, 2, 300))  # 468 transitions make a block
    parts = [matrix(c, Recording([trial]), bias=True) for trial in recording.trials]
    assert close(matrix(c, recording, bias=True), sum(parts), 1e-13)


def test_fields_of_any_size_are_survived():
    c, recording = case()
    strong = Couplings(400.0 * c.J, 100.0 * c.K, 100.0 * c.L)
    assert np.isfinite(matrix(strong, recording)).all()


def test_error_bars_belong_to_their_couplings_whatever_the_gauge():
    truth = random_couplings(4, 2, np.random.default_rng(1))
    recording, _ = simulate(truth, 4000, np.random.default_rng(2))
    gauge = Gauge([1, 0], [-1.0, 1.0])
    bars, moved = (error_bars(c, recording, bias=True) for c in (truth, regauge(truth, gauge)))
    expected = regauge(bars.standard_errors, gauge)
    for name in learned_blocks(2, bias=True):
        np.testing.assert_allclose(getattr(moved.standard_errors, name), np.abs(getattr(expected, name)), rtol=1e-9)
    np.testing.assert_allclose(moved.scale_errors, bars.scale_errors[[1, 0]], rtol=1e-9)
    assert compare_errors(bars, truth, truth)["K"].error == 0.0
    assert not bars.standard_errors.M.any()
    assert bars.how == "the Louis identity"


def test_without_flat_directions_the_bars_are_those_of_the_inverse_and_follow_one_over_t():
    truth = random_couplings(4, 1, np.random.default_rng(3), variance=2.0)
    recording, _ = simulate(truth, 20_000, np.random.default_rng(4))
    bars = error_bars(truth, recording)
    assert bars.n_flat == 0
    assert not bars.flat_shares
    variance = np.diag(np.linalg.inv(matrix(truth, recording)))
    np.testing.assert_allclose(bars.standard_errors.vector("JKL"), np.sqrt(variance), rtol=1e-9)
    assert np.isclose(bars.mean_variance["J"], variance[:16].mean(), rtol=1e-9)
    assert np.isclose(bars.expected(2 * recording.n_transitions)["L"], 0.5 * bars.mean_variance["L"])


def test_a_superfluous_hidden_unit_is_reported_as_flat():
    truth = random_couplings(4, 1, np.random.default_rng(5), variance=2.0)
    recording, _ = simulate(truth, 5000, np.random.default_rng(6))
    silent = Couplings(truth.J, np.pad(truth.K, ((0, 0), (0, 1))), np.pad(truth.L, ((0, 1), (0, 0))))
    bars = error_bars(silent, recording)
    assert bars.n_flat >= 4  # with K = 0 nothing depends on its row of L
    assert bars.flat_shares["L"] > 0.5
    assert np.isclose(sum(bars.flat_shares.values()), 1.0)
    assert np.isinf(bars.scale_errors[1])
    assert np.isfinite(bars.scale_errors[0])
    assert (bars.eigenvalues[bars.n_flat :] >= FLAT).all()


def test_comparison_leaves_out_what_the_estimate_lacks_and_counts_what_the_truth_lacks():
    truth = random_couplings(4, 2, np.random.default_rng(7))
    recording, _ = simulate(truth, 2000, np.random.default_rng(8))
    for n_hidden in (0, 1, 3):
        other = random_couplings(4, n_hidden, np.random.default_rng(9))
        found = compare_errors(error_bars(other, recording), other, truth)
        assert {name: each.n for name, each in found.items()} == (
            {"J": 16, "K": 4 * n_hidden, "L": 4 * n_hidden} if n_hidden else {"J": 16}
        )


def test_the_infeasible_is_refused_with_its_number():
    c, recording = random_couplings(60, 1, np.random.default_rng(0)), Recording(np.ones((10, 60)))
    with pytest.raises(Infeasible, match="got 3,720"):
        error_bars(c, recording)
    c, recording = random_couplings(4, 30, np.random.default_rng(0)), Recording(np.ones((10, 4)))
    with pytest.raises(Infeasible, match=r"2\*\*30 hidden states"):
        error_bars(c, recording)
    with pytest.raises(Infeasible, match="evaluations of 9 transitions"):
        error_bars(c, recording, hidden_hidden=True)


def test_a_pause_is_offered_between_blocks_and_between_evaluations():
    c, recording = case(5, 5, lengths=(1000,))
    calls = []
    with paced(lambda: calls.append(1)):
        error_bars(c, recording)
        assert len(calls) >= 3
        c, recording = case(2, 1, lengths=(30,))
        calls.clear()
        error_bars(c, recording, hidden="continuous", hidden_hidden=True)
    assert len(calls) >= 2 * 9


@pytest.mark.slow
def test_intervals_of_95_percent_cover_the_truth():
    """Five networks of 45 couplings each, so that the fraction is known to about 1.5 %."""
    covered = {"J": [], "K": [], "L": []}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = random_couplings(5, 2, rng)
        recording, _ = simulate(truth, 20_000, rng)
        learner = LEARNERS["exact"](recording, n_hidden=2)
        best = min(
            (fit(learner, random_start(5, 2, rng, scale=0.2, learned=learner.learned)) for _ in range(2)),
            key=lambda found: found.last.cost,
        )
        bars = error_bars(best.couplings, recording)
        assert bars.n_flat == 0
        for name, block in compare_errors(bars, best.couplings, truth).items():
            covered[name] += [block.covered * block.n, block.n]
    hits, total = (sum(sum(counts[k::2]) for counts in covered.values()) for k in (0, 1))
    assert total == 225
    assert 0.90 <= hits / total <= 0.99


@pytest.mark.parametrize("bias", [False, True])
def test_rows_without_hidden_units_are_the_blocks_of_the_whole_matrix(bias):
    couplings, recording = case(4, 0, (300, 2, 200))
    bars = error_bars(couplings, recording, bias=bias)
    whole = matrix(couplings, recording, bias=bias)
    blocks = learned_blocks(0, bias=bias)
    expected = np.sqrt(np.diagonal(np.linalg.inv(whole)))
    np.testing.assert_allclose(bars.standard_errors.vector(blocks), expected, rtol=1e-9)
    np.testing.assert_allclose(bars.eigenvalues, np.linalg.eigvalsh(whole), rtol=1e-9)
    assert bars.n_flat == 0


def test_fifty_units_without_hidden_ones_have_error_bars():
    # 2,550 parameters, more than one matrix may have; coins, so each bar is 1/sqrt(n) to a few per cent.
    rng = np.random.default_rng(4)
    recording = Recording(rng.choice([-1, 1], (5_001, 50)))
    nothing = Couplings(np.zeros((50, 50)), np.zeros((50, 0)), np.zeros((0, 50)))
    bars = error_bars(nothing, recording, bias=True)
    np.testing.assert_allclose(bars.standard_errors.vector(("J", "h")), 5_000**-0.5, rtol=0.05)


@pytest.mark.parametrize(("n_hidden", "hidden_hidden"), [(2, False), (2, True), (0, False)])
def test_couplings_that_are_held_at_zero_have_no_error_and_the_others_that_of_a_smaller_model(n_hidden, hidden_hidden):
    full, recording = case(3, n_hidden, (300, 2, 200))
    blocks = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=True)
    rng = np.random.default_rng(1)
    kept = {name: rng.random(getattr(full, name).shape) < 0.6 for name in ("J", "K", "L", "M")}
    couplings = replace(full, **{name: getattr(full, name) * there for name, there in kept.items()})
    bars = error_bars(couplings, recording, hidden_hidden=hidden_hidden, bias=True, zeros_held=True)
    free = np.concatenate(
        [kept[name].ravel() if name in kept else np.full(getattr(full, name).size, True) for name in blocks]
    )
    if hidden_hidden:  # M of a random network is zero: nothing of it is kept
        free &= np.concatenate([np.full(getattr(full, name).size, name != "M") for name in blocks])
    whole = matrix(couplings, recording, hidden_hidden=hidden_hidden, bias=True)
    values, directions = np.linalg.eigh(whole[np.ix_(free, free)])
    told = values >= FLAT
    expected = np.sqrt((directions[:, told] ** 2 / values[told]).sum(axis=1))
    found = bars.standard_errors.vector(blocks)
    np.testing.assert_allclose(found[free], expected, rtol=1e-8)
    assert not found[~free].any()
    assert not bars.flat_parts.vector(blocks)[~free].any()
    assert len(bars.eigenvalues) == free.sum() < len(free)
    errors = bars.standard_errors.J[kept["J"]]
    assert bars.mean_variance["J"] == pytest.approx(np.mean(errors**2))


@pytest.mark.slow
def test_errors_of_what_an_l1_penalty_keeps_cover_the_truth_somewhat_less_often_than_they_say():
    """Six networks of 8 + 1 units with 30 % of their couplings; of some 200 that are kept, 95 % would be covered."""
    hits = total = 0
    for seed in range(6):
        truth = sparse_network(8, 1, 0.3, seed)
        recording = simulate(truth, 6_000, np.random.default_rng([seed, 1])).recording
        found = return_value(fit_recording(recording, Settings("exact", 1, max_steps=300, l1="chosen")))
        bars = error_bars(found.couplings, divide(recording).learn, bias=True, zeros_held=True)
        gauge = best_gauge(found.couplings, truth)
        aligned, errors = (regauge(each, gauge) for each in (found.couplings, bars.standard_errors))
        for name in ("J", "K", "L"):
            value, error = getattr(aligned, name), np.abs(getattr(errors, name))
            kept = value != 0.0
            hits += int((np.abs(value - getattr(truth, name))[kept] <= 1.96 * error[kept]).sum())
            total += int(kept.sum())
    assert total > 100
    assert 0.75 < hits / total < 0.96
