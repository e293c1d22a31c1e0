"""Files: recordings that a person has saved as NumPy arrays or as text, read with every check.

    .npy    one array, a trial
    .npz    one array a trial, in the order of their names' writing
    .csv    one trial, a line per time bin, numbers apart by commas; a line of names may come first

Time runs down the rows and units across. Entries are ±1, or spike counts, of which everything above 0 counts as +1.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidviz.network.recording import Recording

MOST_UNITS = 200


def read_recording(paths: Iterable[Path], *, transpose: bool = False) -> Recording:
    """Read one or more files as the trials of one recording.

    Args:
        paths: files that end in .npy, .npz or .csv.
        transpose: whether the files have units down the rows.

    Raises:
        ValueError: a file cannot be read as a recording; the message names it.
    """
    trials = []
    for path in paths:
        for name, array in _arrays(path):
            try:
                trials.append(states(array.T if transpose else array))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
    return Recording(trials)


def states(array: NDArray[Any]) -> NDArray[np.int8]:
    """±1 states from an array of ±1 or of spike counts.

    Raises:
        ValueError: the array is not (T, Nv) or holds anything else.
    """
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(f"must hold an array (T, Nv) with at least 2 time bins, got shape {array.shape}.")
    if array.shape[1] > MOST_UNITS:
        raise ValueError(
            f"must hold at most {MOST_UNITS} units, got {array.shape[1]} columns: time runs down the rows; if yours "
            "runs across, transpose it."
        )
    if not (np.issubdtype(array.dtype, np.number) or array.dtype == bool):
        raise ValueError(f"must hold numbers, got {array.dtype}.")
    numbers = array.astype(np.float64)
    if not np.isfinite(numbers).all():
        raise ValueError("must hold finite numbers, got a missing or infinite one.")
    if np.isin(numbers, (-1.0, 1.0)).all():
        return numbers.astype(np.int8)
    if (numbers < 0.0).any() or (numbers != np.floor(numbers)).any():
        wrong = numbers[(numbers < 0.0) | (numbers != np.floor(numbers))][0]
        raise ValueError(f"must hold ±1 or spike counts 0, 1, 2 …, got {wrong:g}.")
    return np.where(numbers > 0.0, 1, -1).astype(np.int8)


def _arrays(path: Path) -> list[tuple[str, NDArray[Any]]]:
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as stored:
                return [(f"{path}, {name}", stored[name]) for name in stored.files]
        if path.suffix == ".npy":
            return [(str(path), np.load(path, allow_pickle=False))]
        if path.suffix == ".csv":
            return [(str(path), _text(path))]
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    raise ValueError(f"{path} must end in .npy, .npz or .csv.")


def _text(path: Path) -> NDArray[np.float64]:
    with path.open(encoding="utf-8-sig") as lines:
        first = lines.readline()
    try:
        [float(word) for word in first.split(",")]
    except ValueError:
        named = 1
    else:
        named = 0
    return np.loadtxt(path, delimiter=",", skiprows=named, ndmin=2, encoding="utf-8-sig")
