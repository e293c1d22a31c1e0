"""Heights: where the 1/T line of the errors must lie once data are plentiful, from the information in each bin.

    mean square error of a block  →  tr [F⁻¹]_block / (entries of the block · number of transitions)

F is the Fisher information of one transition at the true couplings, an average over what the network does of products
of scores (see `hidviz.evaluation.effective_parameters`). It is the error of the maximum of the likelihood when T is
large, and no unbiased estimate is better at any T. Here it is averaged over `BINS` bins of the network's own. The
curvature of the likelihood has the same mean, but from 30,000 bins of 8 + 8 units its smallest eigenvalues come out
negative, where the products of scores have them to within a tenth.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from hidviz.background import one_blas_thread, return_value
from hidviz.evaluation import LONGEST_ERROR_BARS, MOST_PARAMETERS, error_bar_seconds, score_products
from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS

BINS = 100_000
BLOCKS = ("J", "K", "L")
NETWORK = ["n_visible", "n_hidden", "variance", "seed"]


def with_heights(table: pd.DataFrame) -> pd.DataFrame:
    """The table with a column `mse_expected`: the height of the 1/T line over the number of transitions of each row.

    As it is if no row has one. NaN where it would take too long, and of a learner that does not maximise the likelihood
    of the true model: one with stochastic hidden units, without couplings among them and biases.
    """
    likely = table["learner"].map(lambda name: LEARNERS[name].likelihood and LEARNERS[name].hidden == "stochastic")
    simple = (table["model"] == "stochastic") & ~table["hidden_hidden"].astype(bool) & (table["bias"] == 0.0)
    right = likely & simple & table["n_hidden_assumed"].isna()
    if not right.any():
        return table
    expected = pd.Series(np.nan, table.index)
    for _, rows in table[right].groupby(NETWORK, sort=False):
        network: dict[str, Any] = {name: rows[name].iloc[0] for name in NETWORK}
        experiment = Experiment(**network, model="stochastic", learner="exact", n_steps=BINS, n_held_out=0)
        expected[rows.index] = rows["block"].map(heights(experiment)).astype(float) / (rows["n_steps"] - 1)
    return table.assign(mse_expected=expected)


@lru_cache(maxsize=64)
def heights(experiment: Experiment) -> dict[str, float]:
    """Expected mean square error times the number of transitions, of each block; empty if it would take too long."""
    with one_blas_thread():
        data = return_value(experiment.simulate())
        n_parameters = len(data.truth.vector(BLOCKS))
        if n_parameters > MOST_PARAMETERS or error_bar_seconds(data.truth, data.recording) > LONGEST_ERROR_BARS:
            return {}
        products = return_value(score_products(data.truth, data.recording, hidden="stochastic", bias=False))
        variances = np.diag(np.linalg.inv(products / data.recording.n_transitions))
    ends = np.cumsum([getattr(data.truth, block).size for block in BLOCKS])[:-1]
    return {block: float(part.mean()) for block, part in zip(BLOCKS, np.split(variances, ends), strict=True)}
