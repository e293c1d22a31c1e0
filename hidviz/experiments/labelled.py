"""Labelled tables: couplings and posteriors with the names of the units, for pandas, xarray and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hidviz.learners import hidden_posterior
from hidviz.network import BLOCKS, MATRICES, Couplings, Recording

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

ENDS = {"J": "vv", "K": "vh", "L": "hv", "M": "hh", "h": "v", "g": "h"}  # who receives, who sends


def couplings_table(
    couplings: Couplings,
    names: Sequence[str] | None = None,
    *,
    standard_errors: Couplings | None = None,
    outlives: Couplings | None = None,
    blocks: Sequence[str] = BLOCKS,
) -> pd.DataFrame:
    """A row for each coupling: block, to, from, value and, if given, its standard error, not a number where it is zero.

    Args:
        couplings: of a network.
        names: of the visible units; u1, u2 … if left out.
        standard_errors: of the same shapes, as `error_bars` gives them.
        outlives: of the same shapes, the strongest L1 penalty that each outlives, as `L1Path` has it; biases have none.
        blocks: which blocks to list.

    Raises:
        ValueError: there are not as many names as visible units.
    """
    import pandas as pd  # takes a second to import, and tables alone need it

    called, rows = _called(couplings, names), []
    for block in blocks:
        values = getattr(couplings, block)
        errors = None if standard_errors is None else getattr(standard_errors, block)
        for place in np.ndindex(values.shape):
            row = {
                "block": block,
                "to": called[ENDS[block][0]][place[0]],
                "from": called[ENDS[block][1]][place[1]] if values.ndim == 2 else "bias",
                "value": float(values[place]),
            }
            rows.append(row if errors is None else row | {"standard_error": float(errors[place]) or np.nan})
    columns = ["block", "to", "from", "value", *(["standard_error"] if standard_errors is not None else [])]
    table = pd.DataFrame(rows, columns=columns)
    if outlives is None:
        return table
    sizes = [getattr(outlives, block).ravel() if block in MATRICES else np.full(getattr(outlives, block).size, np.nan)
             for block in blocks]  # fmt: skip
    return table.assign(outlives=np.concatenate(sizes))


def couplings_dataset(
    couplings: Couplings, names: Sequence[str] | None = None, *, standard_errors: Couplings | None = None
) -> xr.Dataset:
    """The blocks as arrays of xarray, which must be installed, with the names of who receives and who sends.

    Args:
        couplings: of a network.
        names: of the visible units; u1, u2 … if left out.
        standard_errors: of the same shapes, as `error_bars` gives them; each stands beside its block, as J_error.

    Raises:
        ImportError: xarray is not there.
        ValueError: there are not as many names as visible units.
    """
    import xarray as xr  # optional: tables of pandas do without

    called = _called(couplings, names)
    axes = {"v": ("to", "from"), "h": ("hidden_to", "hidden_from")}
    given = {"": couplings} | ({} if standard_errors is None else {"_error": standard_errors})
    arrays = {
        f"{block}{ending}": ([axes[end][k] for k, end in enumerate(ENDS[block])], getattr(each, block))
        for ending, each in given.items()
        for block in BLOCKS
    }
    return xr.Dataset(arrays, coords={axis: called[end] for end, both in axes.items() for axis in both})


def posterior_dataset(couplings: Couplings, recording: Recording) -> xr.Dataset:
    """`posterior_table` as an array `mean` of trial, bin and hidden; not a number behind the end of a trial.

    Raises:
        ImportError: xarray is not there.
        Infeasible: there are too many hidden units to sum over.
    """
    table = posterior_table(couplings, recording).set_index(["trial", "bin"]).drop(columns="seconds", errors="ignore")
    array = table.rename_axis(columns="hidden").to_xarray().to_dataarray("hidden").transpose("trial", "bin", "hidden")
    found: xr.Dataset = array.to_dataset(name="mean")
    return found if recording.bin is None else found.assign_coords(seconds=found["bin"] * recording.bin)


def _called(couplings: Couplings, names: Sequence[str] | None) -> dict[str, list[str]]:
    """Names of visible (v) and of hidden units (h)."""
    visible = [f"u{i + 1}" for i in range(couplings.n_visible)] if names is None else [str(name) for name in names]
    if len(visible) != couplings.n_visible:
        raise ValueError(f"{couplings.n_visible} visible units must have as many names, got {len(visible)}.")
    return {"v": visible, "h": [f"hidden{a + 1}" for a in range(couplings.n_hidden)]}


def posterior_table(couplings: Couplings, recording: Recording) -> pd.DataFrame:
    """A row for each bin that predicts another: trial, bin, seconds if known, and <σ_a> of each hidden unit given all.

    Raises:
        Infeasible: there are too many hidden units to sum over.
    """
    import pandas as pd

    lengths = [len(trial) - 1 for trial in recording.trials]
    table = {
        "trial": np.repeat(np.arange(1, len(lengths) + 1), lengths),
        "bin": np.concatenate([np.arange(n) for n in lengths]),
    }
    if recording.bin is not None:
        table["seconds"] = table["bin"] * recording.bin
    smoothed = hidden_posterior(couplings, recording).smoothed
    return pd.DataFrame(table | {f"hidden{a + 1}": column for a, column in enumerate(smoothed.T)})
