"""Paths of back-propagation: each factor, their sums, and which of them are strongest."""

import numpy as np
import pytest

from hidviz.evaluation.error_paths import by_delay, excerpt_at, n_paths, strongest_paths
from hidviz.learners.backprop import BACKPROP
from hidviz.network.couplings import BLOCKS, random_couplings
from hidviz.network.recording import Recording
from tests.oracle import paths as oracle

SAME = 1e-10  # sums of a few thousand products of order one, rounded at 1e-16 each


def network(n_visible=3, n_hidden=2, *, hidden_hidden=True, lengths=(8, 2, 6), seed=1):
    rng = np.random.default_rng(seed)
    couplings = random_couplings(n_visible, n_hidden, rng, hidden_hidden=hidden_hidden, bias=0.3)
    recording = Recording([np.where(rng.random((length, n_visible)) < 0.5, -1, 1) for length in lengths])
    return couplings, recording


def blocks(couplings):
    return {name: getattr(couplings, name) for name in BLOCKS}


def learned(couplings, recording):
    return BACKPROP(recording, n_hidden=couplings.n_hidden, hidden_hidden=True, bias=True)(couplings)


def every_sender(recording):
    """The bin, the row in `hidden` and the bins left in the trial of each transition."""
    t = row = 0
    for trial in recording.trials:
        for k in range(len(trial) - 1):
            yield t + k, row + k, len(trial) - 2 - k
        t, row = t + len(trial), row + len(trial) - 1


def test_all_paths_add_up_to_the_gradient_of_back_propagation():
    couplings, recording = network()
    dL, dM = oracle.gradient([trial.astype(float) for trial in recording.trials], **blocks(couplings))
    gradient = learned(couplings, recording).gradient
    np.testing.assert_allclose(dL, gradient.L, rtol=0, atol=SAME)
    np.testing.assert_allclose(dM, gradient.M, rtol=0, atol=SAME)


@pytest.mark.parametrize("hidden_hidden", [True, False])
def test_delays_summed_over_bins_are_the_gradient_of_back_propagation(hidden_hidden):
    couplings, recording = network(5, 3, hidden_hidden=hidden_hidden, lengths=(12, 40))
    estimate = learned(couplings, recording)
    hidden, present = estimate.beliefs.hidden, recording.transitions().present
    dL, dM, dg = np.zeros_like(couplings.L), np.zeros_like(couplings.M), np.zeros_like(couplings.g)
    for t, row, _ in every_sender(recording):
        seen = excerpt_at(couplings, recording, hidden, t, 40)
        back = np.array([by_delay(seen, a).sum() for a in range(3)])
        dL += np.outer(back, present[row])
        dM += np.outer(back, hidden[row])
        dg += back
    np.testing.assert_allclose(dL, estimate.gradient.L, rtol=0, atol=SAME)
    np.testing.assert_allclose(dM, estimate.gradient.M, rtol=0, atol=SAME)
    np.testing.assert_allclose(dg, estimate.gradient.g, rtol=0, atol=SAME)


def test_all_paths_of_every_bin_are_those_of_the_oracle_strongest_first():
    couplings, recording = network(lengths=(7,))
    hidden = learned(couplings, recording).beliefs.hidden
    expected = {}
    for t, q, i, units, product in oracle.every_path(recording.trials[0].astype(float), **blocks(couplings)):
        expected.setdefault((t, q, units[-1]), {})[i, units] = product
    for (t, q, a), products in expected.items():
        seen = excerpt_at(couplings, recording, hidden, t, 5)
        found = strongest_paths(seen, a, q, 1000)
        assert len(found) == n_paths(3, 2, q) == len(products)
        for path in found:
            assert path.product == pytest.approx(products[path.source, path.units], rel=1e-12)
        sizes = [abs(path.product) for path in found]
        assert sizes == pytest.approx(sorted(map(abs, products.values()), reverse=True), rel=1e-12)
        few = strongest_paths(seen, a, q, 3)
        assert [abs(path.product) for path in few] == pytest.approx(sizes[:3], rel=1e-12)
        assert sum(path.product for path in found) == pytest.approx(by_delay(seen, a)[q], abs=1e-12)


def test_without_hidden_to_hidden_couplings_no_path_is_longer_than_two_steps():
    couplings, recording = network(4, 3, hidden_hidden=False, lengths=(10,))
    seen = excerpt_at(couplings, recording, learned(couplings, recording).beliefs.hidden, 2, 5)
    assert len(strongest_paths(seen, 1, 0, 10)) == 4
    assert strongest_paths(seen, 1, 1, 10) == []
    np.testing.assert_array_equal(by_delay(seen, 1)[1:], 0.0)


def test_paths_end_with_their_trial():
    couplings, recording = network(lengths=(8, 2, 6))
    hidden = learned(couplings, recording).beliefs.hidden
    for t, _, left in every_sender(recording):
        assert excerpt_at(couplings, recording, hidden, t, 100).n_delays == left


def test_the_factors_of_a_path_are_named_by_its_units():
    couplings, recording = network(lengths=(9,))
    hidden = learned(couplings, recording).beliefs.hidden
    path = strongest_paths(excerpt_at(couplings, recording, hidden, 3, 4), 1, 2, 1)[0]
    c2, c1, a = path.units
    assert a == 1
    _, K, X2, M1, X1, M0, X0 = path.factors
    assert (couplings.K[path.source, c2], couplings.M[c2, c1], couplings.M[c1, a]) == (K, M1, M0)
    assert tuple(1.0 - hidden[row, unit] ** 2 for row, unit in ((6, c2), (5, c1), (4, a))) == (X2, X1, X0)
