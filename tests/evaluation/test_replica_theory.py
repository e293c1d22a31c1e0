"""Replica theory against networks with many units, and where it can be worked out by hand."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm

from hidviz.evaluation import hidden_magnetisations, replica_theory, wrong_signs
from hidviz.evaluation.replica_theory import _settled
from hidviz.network.couplings import random_couplings
from hidviz.network.simulation import simulate


def told(n_visible, n_hidden, n_bins, **kinds):
    """Share of wrong signs of a network, read through its true couplings."""
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(1), **kinds)
    run = simulate(truth, n_bins, np.random.default_rng(11), hidden="stochastic")
    return wrong_signs(hidden_magnetisations(truth, run.recording), run.hidden[:-1])


@pytest.mark.parametrize("variance", [0.25, 1.0, 4.0])
def test_exact_sums_over_ten_hidden_units_come_close(variance):
    assert told(30, 10, 600, variance=variance) == pytest.approx(replica_theory(variance, 1 / 3).wrong_signs, abs=0.015)


@pytest.mark.slow
@pytest.mark.parametrize(("n_visible", "n_hidden"), [(120, 60), (80, 80), (60, 120)])
@pytest.mark.parametrize(
    ("variance", "hidden_hidden"), [(0.25, False), (1.0, False), (4.0, False), (0.25, True), (1.0, True)]
)
def test_large_networks_have_its_share_of_wrong_signs(n_visible, n_hidden, variance, hidden_hidden):
    """With M at g² = 4 a hundred Gibbs sweeps are too few: .119 of 60 + 120, .112 after six hundred, .105 in theory."""
    found = told(n_visible, n_hidden, 1_000, variance=variance, hidden_hidden=hidden_hidden)
    theory = replica_theory(variance, n_hidden / n_visible, hidden_hidden=hidden_hidden)
    assert found == pytest.approx(theory.wrong_signs, abs=0.01)  # some .002 of it by 100 samples alone


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
    assert replica_theory(variance, 1e7).wrong_signs == pytest.approx(share, abs=1e-4)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
@pytest.mark.parametrize(("variance", "ratio"), [(0.1, 0.1), (1.0, 1.0), (9.0, 3.0)])
def test_it_does_not_matter_where_the_iteration_begins(variance, ratio, hidden_hidden):
    overlap = replica_theory(variance, ratio, hidden_hidden=hidden_hidden).overlap
    for start in ((1e-6, 1e-6), (1.0 - 1e-9, 200.0)):
        assert _settled(start, variance, ratio, hidden_hidden)[0] == pytest.approx(overlap, abs=1e-7)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
def test_it_has_settled_and_its_averages_are_fine_enough(hidden_hidden):
    """A variance told a hair larger uses other nodes; nothing jumps."""
    for variance in (0.25, 1.0, 4.0, 9.0, 25.0, 99.0):
        one, other = (replica_theory(variance * scale, 0.5, hidden_hidden=hidden_hidden) for scale in (1.0, 1.0 + 1e-7))
        assert one.overlap == pytest.approx(other.overlap, abs=1e-6)


@pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
def test_more_hidden_units_tell_less(hidden_hidden):
    shares = [replica_theory(1.0, ratio, hidden_hidden=hidden_hidden).wrong_signs for ratio in (0.1, 0.3, 1.0, 3.0)]
    assert shares[0] > 0.0
    assert np.diff(shares).min() > 0.0
    assert shares[-1] < 0.5


@pytest.mark.parametrize(
    ("variance", "ratio", "words"),
    [(0.0, 1.0, "up to 100, got 0.0"), (101.0, 1.0, "up to 100, got 101"), (np.nan, 1.0, "got nan"),
     (1.0, 0.0, "positive number, got 0.0"), (1.0, np.inf, "got inf")],
)  # fmt: skip
def test_what_it_cannot_tell_is_refused(variance, ratio, words):
    with pytest.raises(ValueError, match=words):
        replica_theory(variance, ratio)
