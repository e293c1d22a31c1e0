"""Replica theory against networks with many units, and where it can be worked out by hand."""

import sys

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from hidviz.evaluation import hidden_magnetisations, replica_theory, wrong_signs
from hidviz.evaluation.replica_theory import _iterated, _settled, _wrong_signs
from hidviz.network.couplings import random_couplings
from hidviz.network.simulation import simulate

module = sys.modules[replica_theory.__module__]


def told(n_visible, n_hidden, n_bins, *, seed=1, **kinds):
    """Share of wrong signs of a network, read through its true couplings."""
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), **kinds)
    run = simulate(truth, n_bins, np.random.default_rng(seed + 10), hidden="stochastic")
    return wrong_signs(hidden_magnetisations(truth, run.recording), run.hidden[:-1])


def by_sampling(overlap, precision, variance, ratio, *, hidden_hidden, n=100_000):
    """What follows from q and q̂: the next ones and the share of wrong signs, each with its standard error.

    States and fields are drawn, slopes are differences.
    """
    rng = np.random.default_rng(3)
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    weights /= weights.sum()

    def plus(known, *, partly):
        unknown = np.sqrt(variance * (1.0 - overlap)) if partly else 0.0
        return expit(2.0 * (known[:, None] + unknown * nodes)) @ weights

    def slope(log, known):
        return (log(known + 1e-4) - log(known - 1e-4)) / 2e-4

    def drawn(*, partly):
        known = np.sqrt(variance * (1.0 + overlap if partly else 1.0)) * rng.normal(size=n)
        return known, np.where(rng.uniform(size=n) < plus(known, partly=partly), 1.0, -1.0)

    known, state = drawn(partly=True)
    later = variance / ratio * slope(lambda w: np.log(plus(state * w, partly=True)), known) ** 2
    known, state = drawn(partly=hidden_hidden)
    field = precision * state + np.sqrt(precision) * rng.normal(size=n)

    def log_z(w):
        up = plus(w, partly=hidden_hidden)
        return np.logaddexp(np.log(up) + field, np.log1p(-up) - field)

    if hidden_hidden:
        later = later + variance * slope(log_z, known) ** 2
    up = plus(known, partly=hidden_hidden)
    whole = field + 0.5 * np.log(up / (1.0 - up))
    each = (np.tanh(whole) ** 2, later, state * whole < 0.0)
    return [(np.mean(values), np.std(values) / np.sqrt(n)) for values in each]


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize(("variance", "ratio"), [(0.25, 1.0), (1.0, 0.5), (4.0, 2.0)])
@pytest.mark.parametrize("settled", [True, False], ids=["settled", "on the way"])
def test_a_step_is_what_drawn_states_and_fields_give(variance, ratio, hidden_hidden, settled):
    overlap, precision = _settled((0.5, 1.0), variance, ratio, hidden_hidden) if settled else (0.3, 0.7)
    sampled = by_sampling(overlap, precision, variance, ratio, hidden_hidden=hidden_hidden)
    share = _wrong_signs(overlap, precision, variance, hidden_hidden)
    found = (*_iterated(overlap, precision, variance, ratio, hidden_hidden), share)
    for ours, (mean, error) in zip(found, sampled, strict=True):
        assert abs(ours - mean) < 4.0 * error
        assert error < 0.02 * mean


@pytest.mark.parametrize("variance", [0.25, 1.0, 4.0])
def test_exact_sums_over_ten_hidden_units_come_close(variance):
    assert told(30, 10, 600, variance=variance) == pytest.approx(replica_theory(variance, 1 / 3).wrong_signs, abs=0.015)


@pytest.mark.parametrize("variance", [1.0, 4.0])
def test_exact_sums_with_hidden_to_hidden_couplings_come_close(variance):
    """On the average over six networks, whose own shares spread by .008 and .006."""
    shares = [told(16, 8, 600, variance=variance, hidden_hidden=True, seed=seed) for seed in range(6)]
    theory = replica_theory(variance, 0.5, hidden_hidden=True)
    assert np.mean(shares) == pytest.approx(theory.wrong_signs, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("n_visible", "n_hidden"), [(120, 60), (80, 80), (60, 120)])
@pytest.mark.parametrize(
    ("variance", "hidden_hidden"), [(0.25, False), (1.0, False), (4.0, False), (0.25, True), (1.0, True)]
)
def test_large_networks_have_its_share_of_wrong_signs(n_visible, n_hidden, variance, hidden_hidden):
    """At g² = 4 with M sweeps hang together: 60 + 120 have .118 by a hundred, .108 by six hundred, .105 in theory."""
    found = told(n_visible, n_hidden, 1_000, variance=variance, hidden_hidden=hidden_hidden)
    theory = replica_theory(variance, n_hidden / n_visible, hidden_hidden=hidden_hidden)
    assert found == pytest.approx(theory.wrong_signs, abs=0.01)  # some .002 of it by a hundred samples alone


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize("ratio", [0.25, 1.0, 4.0])
def test_weak_couplings_tell_by_what_came_before_and_by_what_follows(ratio, hidden_hidden):
    """To first order in g² past and future add up: q = g² (1 + Nv/Nh)."""
    theory = replica_theory(1e-5, ratio, hidden_hidden=hidden_hidden)
    assert theory.overlap == pytest.approx(1e-5 * (1.0 + 1.0 / ratio), rel=1e-3)
    assert theory.wrong_signs == pytest.approx(0.5 - np.sqrt(theory.overlap / (2.0 * np.pi)), abs=1e-6)


@pytest.mark.parametrize("variance", [0.25, 1.0, 9.0])
def test_of_very_many_hidden_units_the_visible_past_alone_tells(variance):
    share, _ = quad(lambda z: norm.pdf(z) * expit(-2.0 * np.sqrt(variance) * abs(z)), -9.0, 9.0, points=[0.0])
    assert replica_theory(variance, 1e6).wrong_signs == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize(("variance", "ratio"), [(0.1, 0.1), (1.0, 1.0), (9.0, 3.0)])
def test_it_does_not_matter_where_the_iteration_begins(variance, ratio, hidden_hidden):
    overlap = replica_theory(variance, ratio, hidden_hidden=hidden_hidden).overlap
    for start in ((1e-6, 1e-6), (1.0 - 1e-9, 200.0)):
        assert _settled(start, variance, ratio, hidden_hidden)[0] == pytest.approx(overlap, abs=1e-7)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize(("variance", "ratio"), [(1e-3, 1.0), (0.25, 0.05), (1.0, 0.5), (4.0, 40.0), (9.0, 1.0)])
def test_its_averages_are_as_fine_as_they_say(monkeypatch, variance, ratio, hidden_hidden):
    ours = replica_theory(variance, ratio, hidden_hidden=hidden_hidden).wrong_signs
    monkeypatch.setattr(module, "_NODES", (201, 60.0))
    module._normal.cache_clear()
    finer = replica_theory.__wrapped__(variance, ratio, hidden_hidden=hidden_hidden).wrong_signs
    module._normal.cache_clear()
    assert ours == pytest.approx(finer, abs=1e-5)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize("variance", [1e-9, 1.0, 100.0])
@pytest.mark.parametrize("ratio", [1e-6, 1e6])
def test_it_says_something_wherever_it_says_it_does(variance, ratio, hidden_hidden):
    theory = replica_theory(variance, ratio, hidden_hidden=hidden_hidden)
    assert 0.0 <= theory.wrong_signs <= 0.5
    assert 0.0 <= theory.overlap <= 1.0


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
def test_more_hidden_units_tell_less(hidden_hidden):
    shares = [replica_theory(1.0, ratio, hidden_hidden=hidden_hidden).wrong_signs for ratio in (0.1, 0.3, 1.0, 3.0)]
    assert shares[0] > 0.0
    assert np.diff(shares).min() > 0.0
    assert shares[-1] < 0.5


@pytest.mark.parametrize(
    ("variance", "ratio", "words"),
    [(0.0, 1.0, "variance must lie between 1e-09 and 100, got 0"), (101.0, 1.0, "got 101"), (np.nan, 1.0, "got nan"),
     (1.0, 0.0, "Nv must lie between 1e-06 and 1e.06, got 0"), (1.0, np.inf, "got inf")],
)  # fmt: skip
def test_what_it_cannot_tell_is_refused(variance, ratio, words):
    with pytest.raises(ValueError, match=words):
        replica_theory(variance, ratio)
