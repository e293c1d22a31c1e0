import numpy as np
import pytest

from hidviz.numerics import Tables, distinct, expected_tanh, joint_states, rank
from hidviz.numerics.joint_states import DIRECT_RANKS


@pytest.mark.parametrize("n_hidden", [0, 1, 4])
def test_joint_states_are_all_of_them_once_the_last_unit_changing_fastest(n_hidden):
    states = joint_states(n_hidden)
    assert states.shape == (2**n_hidden, n_hidden)
    assert sorted(map(tuple, states)) == list(map(tuple, states))
    assert len(set(map(tuple, states))) == 2**n_hidden
    assert set(np.unique(states)) <= {-1.0, 1.0}


@pytest.mark.parametrize("largest", [50, DIRECT_RANKS * 4], ids=["counted", "sorted"])
def test_ranks_lead_back_to_the_codes(largest):
    codes = np.random.default_rng(1).integers(0, largest, 300)
    found, ranks = rank(codes)
    np.testing.assert_array_equal(found, np.unique(codes))
    np.testing.assert_array_equal(found[ranks], codes)


@pytest.mark.parametrize("n_visible", [3, 31, 75])
def test_distinct_states_lead_back_to_the_rows(n_visible):
    rng = np.random.default_rng(2)
    known = rng.choice(np.array([-1, 1], np.int8), (6, n_visible))
    known[0] = 0  # no state
    known[1], known[2] = -1, 1
    rows = known[rng.integers(0, 6, 200)]
    found, index = distinct(rows)
    assert len(found) == len(np.unique(known, axis=0))
    np.testing.assert_array_equal(found[index, :-1], rows)
    np.testing.assert_array_equal(found[index, -1], rows[:, 0] != 0)


@pytest.mark.parametrize("scale", [0.0, 1.0, 400.0], ids=["none", "moderate", "far"])
def test_tables_are_the_probabilities_and_weights_of_each_state(scale):
    rng = np.random.default_rng(3)
    hidden, visible = rng.normal(0.0, scale, (5, 8)), rng.normal(0.0, scale, (11, 5))
    minus, log_weight = Tables(hidden)(visible)
    H = visible.T[:, :, None] + hidden[:, None, :]
    with np.errstate(under="ignore"):
        wanted = np.exp(-np.logaddexp(0.0, np.clip(2.0 * H, -700.0, 700.0)))
    np.testing.assert_allclose(minus, wanted, rtol=1e-12, atol=1e-280)
    np.testing.assert_allclose(log_weight, -np.logaddexp(H, -H).sum(axis=0), rtol=1e-12, atol=1e-12)


def test_expected_tanh_is_the_weighted_sum():
    rng = np.random.default_rng(4)
    hidden, visible, weight = rng.normal(size=(3, 4)), rng.normal(size=(6, 3)), rng.random((6, 4))
    minus, _ = Tables(hidden)(visible)
    over_hidden, over_visible = expected_tanh(minus, weight)
    tanh = np.tanh(visible.T[:, :, None] + hidden[:, None, :])
    np.testing.assert_allclose(over_hidden, np.einsum("inz,nz->ni", tanh, weight), atol=1e-14)
    np.testing.assert_allclose(over_visible, np.einsum("inz,nz->iz", tanh, weight), atol=1e-14)
