"""MATLAB files: a cell array of vectors holds spike times, a matrix bins × units.

Files of version 7.3 are HDF5, which h5py reads; there arrays come out transposed, which is undone.
"""

from __future__ import annotations

import os
import struct
import zlib
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.io.matlab import MatReadError

from hidviz.background import checkpoint
from hidviz.network.build_counts import from_counts
from hidviz.network.build_spikes import as_train, begin_of, from_columns, from_trials
from hidviz.network.formats.hdf5 import is_hdf5, opened, whole
from hidviz.network.formats.options import MOST_BYTES, Options
from hidviz.network.spikes import Spikes, Trial

# Where SciPy has a choice (1.18), sparse arrays and not matrices.
AS_ARRAYS: dict[str, Any] = {"spmatrix": False} if "spmatrix" in signature(loadmat).parameters else {}
DEEPEST = 5  # structs within structs
_PACKED = 15  # the kind of an element that is compressed
_PIECE = 2**20  # bytes that are unpacked at a time


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
        lists = {name: value for name, value in variables.items() if not isinstance(value, list)}
        if not candidates and (events := from_columns(lists, options.tick)) is not None:
            return events
        if not candidates:
            told = ", ".join(_told(name, value) for name, value in variables.items()) or "nothing"
            raise ValueError(
                f"holds no cell array of spike times and no matrix of ±1 or counts, but {told}: save a cell array with "
                "a vector for each unit, or a matrix of bins × units"
            )
        if len(candidates) > 1:
            raise ValueError(f"has {' and '.join(candidates)}: say which, such as --variable {candidates[0]}")
        chosen = candidates[0]
    value = variables[chosen]
    if isinstance(value, _Table) and _are_trains(value):
        raise ValueError(
            f"has {chosen}, a cell array of {' × '.join(map(str, value.shape))}: is a row a unit, or a trial? Save one "
            "row of cells with a vector for each unit, or columns time, unit and trial as .csv"
        )
    if isinstance(value, list):
        if not _are_trains(value):  # matrices, a trial each
            return from_counts([cell.T if options.transpose else cell for cell in value], bin=options.bin)
        trains = tuple(
            as_train(np.asarray(train, dtype=np.float64) * options.tick, f"{k + 1} (cell {k + 1} of {chosen})")
            for k, train in enumerate(value)
        )
        return from_trials([Trial(trains, begin_of(trains))])
    if value.ndim == 3:
        return from_counts([trial.T if options.transpose else trial for trial in value], bin=options.bin)
    return from_counts([value.T if options.transpose else value], bin=options.bin)


class _Table(list[Any]):
    """Cells in rows and columns."""

    shape: tuple[int, ...] = ()


def _cells(value: NDArray[Any], cells: list[Any]) -> list[Any]:
    """The cells of an array: a table where there is more than one row and more than one column."""
    if sum(n > 1 for n in value.shape) < 2:
        return cells
    table = _Table(cells)
    table.shape = value.shape
    return table


def _told(name: str, value: Any) -> str:
    return f"{name} {np.shape(value)}" if not isinstance(value, list) else f"{name}, cells of other things"


def _may_be_spikes(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and _are_cells(value)
    if value.dtype.kind not in "buif" or value.ndim not in (2, 3) or 1 in value.shape:
        return False
    return bool(np.isfinite(value).all() and (value >= -1).all() and (value == np.floor(value)).all())


def _v5(path: Path) -> dict[str, Any]:
    if _unpacked(path) > MOST_BYTES:
        raise ValueError(
            f"would unpack to more than {MOST_BYTES / 1e6:,.0f} MB, and no more are read: save counts as uint8, or a "
            "part of them"
        )
    try:
        stored = loadmat(path, chars_as_strings=True, **AS_ARRAYS)
    except (MatReadError, ValueError, NotImplementedError, OSError, TypeError) as error:
        raise ValueError(f"is no MATLAB file that can be read ({error})") from error
    found: dict[str, Any] = {}
    for name, value in stored.items():
        if not name.startswith("__"):
            found |= _fields(name, value)
    return found


def _unpacked(path: Path) -> int:
    """Bytes that a file of version 5 unpacks to, or as many of them as are too many; found without keeping any."""
    total, size = 0, path.stat().st_size
    with path.open("rb") as file:
        order = ">" if file.read(128)[126:] == b"MI" else "<"
        while len(head := file.read(8)) == 8 and total <= MOST_BYTES:
            kind, n = struct.unpack(f"{order}II", head)
            n = min(n, size - file.tell())
            if kind != _PACKED:
                total += n
                file.seek(n, os.SEEK_CUR)
                continue
            packed, unpacking = file.read(n), zlib.decompressobj()
            while packed and total <= MOST_BYTES:
                checkpoint()
                total += len(unpacking.decompress(packed, _PIECE))
                packed = unpacking.unconsumed_tail
    return total


def _fields(name: str, value: Any) -> dict[str, Any]:
    """A variable, or the fields of a struct by their full names; cell arrays as lists."""
    if hasattr(value, "toarray"):
        return {name: value.toarray()} if 8.0 * np.prod(value.shape, dtype=np.float64) <= MOST_BYTES else {}
    if not isinstance(value, np.ndarray):
        return {}
    if value.dtype.names is not None and value.size == 1:
        found: dict[str, Any] = {}
        for field in value.dtype.names:
            found |= _fields(f"{name}.{field}", value[field].item())
        return found
    if value.dtype.names is not None:  # a struct array, an element a unit: the same field of each, side by side
        return {
            f"{name}.{field}": _cells(value, [np.asarray(cell) for cell in value[field].ravel()])
            for field in value.dtype.names
        }
    if value.dtype != object:
        return {name: value}
    cells = [np.asarray(cell) for cell in value.ravel()]
    if cells and cells[0].dtype.names and all(c.dtype.names == cells[0].dtype.names and c.size == 1 for c in cells):
        return {f"{name}.{field}": [np.asarray(c[field].item()) for c in cells] for field in cells[0].dtype.names}
    return {name: _cells(value, cells)}


def _v73(path: Path) -> dict[str, Any]:
    with opened(path) as file:
        return _v73_fields(file, file, "", DEEPEST)


def _v73_fields(file: Any, group: Any, prefix: str, depth: int) -> dict[str, Any]:
    """The variables of a file, and the fields of its structs by their full names."""
    found: dict[str, Any] = {}
    for name, item in group.items():
        if name.startswith("#"):
            continue
        if not hasattr(item, "dtype"):
            found |= _v73_fields(file, item, f"{prefix}{name}.", depth - 1) if depth else {}
        elif item.dtype.kind == "O":
            references = whole(item).T
            if all(references.ravel()):
                found[prefix + name] = _cells(references, [_v73_array(file[each]) for each in references.ravel()])
            else:
                raise ValueError(f"has {prefix}{name}, a cell of which points to nothing: it is damaged")
        elif _class_of(item) != "char":
            found[prefix + name] = _v73_array(item)
    return found


def _v73_array(item: Any) -> NDArray[Any]:
    """An array as MATLAB shows it; of an empty one the file holds its lengths, and words are words."""
    if hasattr(item, "dtype") and item.attrs.get("MATLAB_empty", 0):
        return np.empty(0)
    if _class_of(item) == "char" or not hasattr(item, "dtype") or item.dtype.kind == "O":
        return np.array("words, or further cells")
    return np.asarray(whole(item)).T


def _class_of(item: Any) -> str:
    told = item.attrs.get("MATLAB_class", b"")
    return told.decode(errors="replace") if isinstance(told, bytes) else str(told)


def _are_cells(cells: list[Any]) -> bool:
    """Whether a cell array holds lists of numbers, or matrices of them."""
    return _are_trains(cells) or (bool(cells) and all(_may_be_spikes(cell) for cell in cells))


def _are_trains(cells: list[Any]) -> bool:
    """Whether every cell is a list of numbers; an empty cell is a silent unit."""
    return all(
        cell.dtype.kind in "buif" and (cell.size == max(cell.shape, default=0) or not cell.size) for cell in cells
    )
