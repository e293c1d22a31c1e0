"""Tables name every coupling and every bin."""

import numpy as np
import pandas as pd
import pytest

from hidviz import (
    HiddenIsing,
    Recording,
    couplings_dataset,
    couplings_table,
    hidden_posterior,
    posterior_dataset,
    posterior_table,
    random_couplings,
    simulate,
)


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


def test_what_the_estimator_finds_is_a_table_with_the_names_of_the_columns_it_saw():
    truth = random_couplings(3, 1, np.random.default_rng(3), bias=0.2)
    states = simulate(truth, 600, np.random.default_rng(4)).recording.trials[0]
    frame = pd.DataFrame(states, columns=["ca1", "ca2", "ca3"])
    model = HiddenIsing(n_hidden=1, starts=1, max_steps=20).fit(frame)
    table = couplings_table(model.couplings_, model.feature_names_in_)
    assert table["from"].drop_duplicates().tolist() == ["ca1", "ca2", "ca3", "hidden1", "bias"]
    posterior = posterior_table(model.couplings_, Recording(states))["hidden1"]
    np.testing.assert_array_equal(posterior, model.transform(frame)[:-1, 0])


def test_arrays_of_xarray_have_the_names_of_both_ends():
    pytest.importorskip("xarray", reason="optional: xarray is not installed")
    couplings = random_couplings(3, 2, np.random.default_rng(1), hidden_hidden=True, bias=0.3)
    found = couplings_dataset(couplings, ["ca1", "ca2", "ca3"], standard_errors=couplings)
    table = couplings_table(couplings, ["ca1", "ca2", "ca3"])
    receives = {name: "hidden_to" if name in "LMg" else "to" for name in "JKLMhg"}
    sends = {name: "hidden_from" if name in "KM" else "from" for name in "JKLM"}
    for row in table.itertuples(index=False):
        ends = {receives[row.block]: row[1]} | ({sends[row.block]: row[2]} if row.block in sends else {})
        assert float(found[row.block].sel(ends)) == float(found[f"{row.block}_error"].sel(ends)) == row.value
    with pytest.raises(ValueError, match="3 visible units must have as many names, got 1"):
        couplings_dataset(couplings, ["a"])


def test_a_posterior_of_xarray_has_trial_bin_and_hidden_unit():
    pytest.importorskip("xarray", reason="optional: xarray is not installed")
    couplings = random_couplings(3, 2, np.random.default_rng(1))
    states = np.where(np.random.default_rng(2).random((30, 3)) < 0.5, 1, -1)
    recording = Recording([states[:10], states[10:]], bin=0.02)
    found = posterior_dataset(couplings, recording)
    assert dict(found.sizes) == {"trial": 2, "bin": 19, "hidden": 2}
    assert found["hidden"].values.tolist() == ["hidden1", "hidden2"]
    assert float(found["seconds"].sel(bin=5)) == pytest.approx(0.1)
    smoothed = hidden_posterior(couplings, recording).smoothed
    np.testing.assert_array_equal(found["mean"].sel(trial=2), smoothed[9:])
    np.testing.assert_array_equal(found["mean"].sel(trial=1)[:9], smoothed[:9])
    assert np.isnan(found["mean"].sel(trial=1)[9:]).all()
    assert "seconds" not in posterior_dataset(couplings, Recording(states))
