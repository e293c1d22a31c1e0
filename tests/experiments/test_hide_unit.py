"""A hidden unit stands for the one that was hidden where there is one to be found, and the control tells where not."""

import numpy as np
import pytest

from hidviz import Recording, divide, hide_unit, random_couplings, simulate
from hidviz.experiments.hide_unit import _auc, _correlation, _given, _hidden


def test_a_unit_of_a_simulated_network_is_found_and_survives_the_control():
    truth = random_couplings(6, 0, np.random.default_rng(1), variance=2.0, bias=0.3)
    parts = divide(simulate(truth, 8000, np.random.default_rng(11), hidden="stochastic").recording)
    found = hide_unit(parts, 0, starts=2, max_steps=100)
    assert found.r >= 0.5
    assert found.partial >= 0.5
    assert found.auc >= 0.85
    assert found.r <= found.ceiling + 3 * found.chance
    assert found.is_the_unit
    assert "an unseen unit" in found.in_words()


def test_a_state_shared_by_all_is_not_taken_for_the_unit():
    # All units follow one slow state and are otherwise independent: the posterior knows the state, as the count does.
    rng = np.random.default_rng(2)
    state = np.repeat(rng.random(400) < 0.4, 20)
    rate = np.where(state, 0.6, 0.1)[:, None]
    parts = divide(Recording(np.where(rng.random((8000, 6)) < rate, 1, -1)))
    found = hide_unit(parts, "unit 1", starts=1, max_steps=60)
    assert found.r > 0.3
    assert abs(found.partial) < 0.5 * found.r
    assert not found.is_the_unit
    assert "a shared state" in found.in_words()


def test_hiding_a_unit_of_known_couplings_moves_them_to_the_other_blocks():
    whole = random_couplings(4, 0, np.random.default_rng(3), bias=0.5)
    hidden = _hidden(whole, 1)
    assert hidden.K[:, 0] == pytest.approx(whole.J[[0, 2, 3], 1])
    assert hidden.L[0] == pytest.approx(whole.J[1, [0, 2, 3]])
    assert hidden.M[0, 0] == whole.J[1, 1]
    assert (hidden.g[0], hidden.h[2]) == (whole.h[1], whole.h[3])


def test_partial_correlation_and_area_are_those_of_their_definitions():
    rng = np.random.default_rng(4)
    truth = np.where(rng.random(200) < 0.3, 1.0, -1.0)
    score = truth + rng.normal(0.0, 2.0, 200).round(1)
    pairs = score[truth > 0][:, None] - score[truth < 0][None, :]
    assert _auc(score, truth) == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)))
    z = rng.normal(size=200)
    x, y = z + rng.normal(size=200), -z + rng.normal(size=200)
    r_xy, r_xz, r_yz = np.corrcoef(x, y)[0, 1], np.corrcoef(x, z)[0, 1], np.corrcoef(y, z)[0, 1]
    partial = (r_xy - r_xz * r_yz) / np.sqrt((1 - r_xz**2) * (1 - r_yz**2))
    assert _correlation(_given(x, z[:, None]), _given(y, z[:, None])) == pytest.approx(partial)


def test_a_unit_that_is_not_there_is_refused():
    parts = divide(Recording(np.where(np.random.default_rng(1).random((200, 2)) < 0.5, 1, -1), names=["a", "b"]))
    with pytest.raises(ValueError, match="no unit c; there are a, b"):
        hide_unit(parts, "c")
    with pytest.raises(ValueError, match="from 0 to 1, got 2"):
        hide_unit(parts, 2)


@pytest.mark.slow
def test_each_of_six_units_of_a_simulated_network_is_found_and_survives_the_control():
    truth = random_couplings(6, 0, np.random.default_rng(1), variance=2.0, bias=0.3)
    parts = divide(simulate(truth, 20_000, np.random.default_rng(11), hidden="stochastic").recording)
    for unit in range(6):
        found = hide_unit(parts, unit, starts=2, max_steps=150)
        assert found.r >= 0.5
        assert found.partial >= 0.5
        assert found.auc >= 0.85
        assert found.r == pytest.approx(found.ceiling, abs=3 * found.chance)
        assert found.is_the_unit
