"""Tables name every coupling and every bin."""

import numpy as np
import pytest

from hidviz import Recording, couplings_table, hidden_posterior, posterior_table, random_couplings


def test_every_coupling_has_a_row_with_its_ends():
    couplings = random_couplings(3, 2, np.random.default_rng(1), hidden_hidden=True, bias=0.3)
    table = couplings_table(couplings, ["ca1", "ca2", "ca3"], standard_errors=couplings)
    assert len(table) == couplings.vector().size
    found = table.set_index(["block", "to", "from"])["value"]
    assert found["J", "ca2", "ca3"] == couplings.J[1, 2]
    assert found["K", "ca3", "hidden1"] == couplings.K[2, 0]
    assert found["L", "hidden2", "ca1"] == couplings.L[1, 0]
    assert found["h", "ca1", "bias"] == couplings.h[0]
    assert (table["standard_error"] == table["value"]).all()
    assert "standard_error" not in couplings_table(couplings)
    with pytest.raises(ValueError, match="3 visible units must have as many names, got 1"):
        couplings_table(couplings, ["a"])


def test_every_bin_has_a_row_with_its_posterior():
    couplings = random_couplings(3, 1, np.random.default_rng(1))
    states = np.where(np.random.default_rng(2).random((30, 3)) < 0.5, 1, -1)
    recording = Recording([states[:10], states[10:]], bin=0.02)
    table = posterior_table(couplings, recording)
    assert table["trial"].tolist() == [1] * 9 + [2] * 19
    assert table["seconds"].iloc[10] == pytest.approx(0.02)
    assert np.array_equal(table["hidden1"], hidden_posterior(couplings, recording).smoothed[:, 0])
