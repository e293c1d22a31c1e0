"""The height of the 1/T line: what the information says, and what repeated learning does."""

import numpy as np
import pandas as pd
import pytest

from hidviz import Experiment
from hidviz.sweeps.heights import heights, with_heights
from hidviz.sweeps.measurement import measure
from hidviz.sweeps.sweep import table


@pytest.fixture(scope="module")
def network():
    return Experiment(n_visible=4, n_hidden=1, model="stochastic", learner="exact", n_steps=100_000, n_held_out=0)


@pytest.mark.slow
def test_errors_of_the_maximum_lie_at_the_height():
    """Eight data sets of as many networks, 24 couplings each: the mean square error is within some ten per cent."""
    found = []
    for seed in range(1, 9):
        one = Experiment(n_visible=4, n_hidden=1, model="stochastic", learner="exact", n_steps=50_000, n_held_out=0,
                         seed=seed)  # fmt: skip
        rows = with_heights(table([measure(one)]))
        found.append(rows["mse_aligned"].to_numpy() / rows["mse_expected"].to_numpy())
    assert np.mean(found) == pytest.approx(1.0, abs=0.35)


def test_height_goes_as_one_over_the_number_of_transitions_and_only_for_the_likelihood(network):
    rows = table([])
    made = [
        {"key": f"{learner}{T}", "n_visible": 4, "n_hidden": 1, "n_steps": T, "variance": 1.0, "model": "stochastic",
         "hidden_hidden": False, "bias": 0.0, "learner": learner, "n_hidden_assumed": np.nan, "seed": 1, "block": block}
        for learner in ("exact", "mean-field") for T in (1_001, 10_001) for block in "JKL"
    ]  # fmt: skip
    found = with_heights(pd.DataFrame(made, columns=rows.columns))
    exact = found[found["learner"] == "exact"].pivot_table(index="n_steps", columns="block", values="mse_expected")
    np.testing.assert_allclose(exact.loc[1_001] / exact.loc[10_001], 10.0)
    np.testing.assert_allclose(exact.loc[1_001] * 1_000.0, [heights(network)[block] for block in "JKL"])
    assert found.loc[found["learner"] != "exact", "mse_expected"].isna().all()
