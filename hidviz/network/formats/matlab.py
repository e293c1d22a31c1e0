"""MATLAB files: a cell array of vectors holds spike times, a matrix bins × units.

Files of version 7.3 are HDF5, which h5py reads; there arrays come out transposed, which is undone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from hidviz.network.formats.hdf5 import is_hdf5, opened
from hidviz.network.formats.options import Options
from hidviz.network.spikes import Spikes, Trial
from hidviz.network.spikes_from import as_train, from_counts, from_trials


def read_mat(path: Path, options: Options) -> Spikes:
    """Read the one variable that can hold spikes, or the one that is named.

    Raises:
        ValueError: there is none, or more than one.
    """
    variables = _v73(path) if is_hdf5(path) else _v5(path)
    if options.variable is not None:
        if options.variable not in variables:
            raise ValueError(f"has no variable {options.variable}; it has {', '.join(variables) or 'none'}")
        chosen = options.variable
    else:
        candidates = [name for name, value in variables.items() if _may_be_spikes(value)]
        if not candidates:
            told = ", ".join(f"{name} {np.shape(value)}" for name, value in variables.items()) or "nothing"
            raise ValueError(f"holds no cell array of spike times and no matrix of ±1 or counts, but {told}")
        if len(candidates) > 1:
            raise ValueError(f"has {' and '.join(candidates)}: say which, such as --variable {candidates[0]}")
        chosen = candidates[0]
    value = variables[chosen]
    if isinstance(value, list):
        trains = tuple(as_train(np.asarray(train, dtype=np.float64) * options.tick) for train in value)
        return from_trials([Trial(trains)])
    if value.ndim == 3:
        return from_counts([trial.T if options.transpose else trial for trial in value], bin=options.bin)
    return from_counts([value.T if options.transpose else value], bin=options.bin)


def _may_be_spikes(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value)
    if value.dtype.kind not in "buif" or value.ndim not in (2, 3) or 1 in value.shape:
        return False
    return bool(np.isfinite(value).all() and (value >= -1).all() and (value == np.floor(value)).all())


def _v5(path: Path) -> dict[str, Any]:
    try:
        stored = loadmat(path, chars_as_strings=True)
    except (MatReadError, ValueError, NotImplementedError, OSError, TypeError) as error:
        raise ValueError(f"is no MATLAB file that can be read ({error})") from error
    found: dict[str, Any] = {}
    for name, value in stored.items():
        if not name.startswith("__") and isinstance(value, np.ndarray):
            found[name] = [np.asarray(cell) for cell in value.ravel()] if value.dtype == object else value
    return {name: value for name, value in found.items() if not isinstance(value, list) or _are_trains(value)}


def _v73(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    with opened(path) as file:
        for name, item in file.items():
            if name.startswith("#") or not hasattr(item, "dtype"):
                continue
            if item.dtype.kind == "O":
                cells = [np.asarray(file[reference][()]).T for reference in item[()].T.ravel()]
                if _are_trains(cells):
                    found[name] = cells
            else:
                found[name] = np.asarray(item[()]).T
    return found


def _are_trains(cells: list[Any]) -> bool:
    """Whether every cell is a list of numbers; an empty cell is a silent unit."""
    return all(
        cell.dtype.kind in "buif" and (cell.size == max(cell.shape, default=0) or not cell.size) for cell in cells
    )
