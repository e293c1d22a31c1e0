"""Tables as of a sweep over the data length, made of any function."""

import numpy as np
import pandas as pd


def synthetic(errors, **more):
    """A table as of a sweep over T in which block X has these errors, {X: function of T}."""
    rows = []
    for T in (1_000, 3_000, 10_000, 30_000):
        for block, error in errors.items():
            rows.append(
                {"key": f"{T}", "n_visible": 5, "n_hidden": 2, "learner": "exact", "n_steps": T, "patience": np.nan,
                 "optimiser": None, "penalty": 0.0,
                 "seed": 1, "start": "random", "max_steps": None, "block": block, "mse_aligned": error(T),
                 "cost": 2.0 - 10 / T, "held_out": 2.1 + 10 / T, "aic": 2.0 + 5 / T, "bic": 2.0 + 9 / T,
                 "cost_at_truth": 2.0, "held_out_at_truth": 2.1} | more
            )  # fmt: skip
    return pd.DataFrame(rows)
