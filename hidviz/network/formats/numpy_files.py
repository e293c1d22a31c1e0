"""NumPy files: .npy and .npz, never unpickled, never larger than they say, and Kilosort's pair of files."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse
from numpy.lib import format as npy
from numpy.typing import NDArray

from hidviz.network.build_counts import from_counts
from hidviz.network.build_spikes import Labelled, from_columns, from_labels, from_trials, from_units, split_trains
from hidviz.network.formats.options import MOST_BYTES, Options
from hidviz.network.spikes import MOST_ENTRIES, Spikes, Trial

MAGIC = b"\x93NUMPY"
LONGEST_HEADER = 1000  # characters; plain arrays need some hundred, and parsing holds up whatever else runs
KILOSORT = ("spike_times.npy", "spike_clusters.npy")


def read_npy(path: Path, options: Options) -> Spikes:
    """A (T, N) or (trials, T, N) array; or Kilosort's spike_times.npy beside its spike_clusters.npy.

    Raises:
        ValueError: it is no such file; the message says what it is.
    """
    if path.name in KILOSORT and all((path.parent / name).is_file() for name in KILOSORT):
        return _kilosort(path.parent, options)
    array = _npy(path)
    if array.ndim == 1 and array.size:
        raise ValueError(
            "holds one list of numbers. Spike times of one unit? Put all units into one .npz, an array each. "
            "Kilosort's? Keep spike_clusters.npy beside spike_times.npy."
        )
    if array.ndim == 3:
        trials = [trial.T if options.transpose else trial for trial in array]
        return from_counts(trials, bin=options.bin)
    return from_counts([array.T if options.transpose else array], bin=options.bin)


def read_npz(path: Path, options: Options) -> Spikes:
    """One 2-d array a trial; or 1-d arrays alone, the spike times of a unit each, by their names.

    Raises:
        ValueError: it is no such file; the message says what it is.
    """
    arrays = _npz(path)
    if options.variable is not None:
        if options.variable not in arrays:
            raise ValueError(f"has no array {options.variable}; it has {', '.join(arrays)}")
        arrays = {options.variable: arrays[options.variable]}
    if {"t", "index", "start", "end"} <= arrays.keys():  # a TsGroup as pynapple saves it
        return _group(arrays)
    if {"format", "shape", "data"} <= arrays.keys():  # a sparse matrix as SciPy saves it
        return _sparse(path, options)
    left_out = [name for name, array in arrays.items() if array.ndim == 0 or array.dtype.kind not in "buif"]
    if len(left_out) == len(arrays):
        raise ValueError(f"holds no lists and no matrices of numbers, but {', '.join(arrays)}")
    arrays = {name: array for name, array in arrays.items() if name not in left_out}
    found = _of_arrays(arrays, options)
    return found.remarked(f"{', '.join(left_out)} of the file: no list of numbers, left out.") if left_out else found


def _sparse(path: Path, options: Options) -> Spikes:
    matrix = scipy.sparse.load_npz(path)
    if np.prod(matrix.shape, dtype=np.float64) > MOST_ENTRIES:
        raise ValueError(f"holds a sparse matrix of {matrix.shape}, and at most {MOST_ENTRIES:,} entries are read")
    array = matrix.toarray()
    return from_counts([array.T if options.transpose else array], bin=options.bin)


def _of_arrays(arrays: dict[str, NDArray[Any]], options: Options) -> Spikes:
    if (events := from_columns(arrays, options.tick)) is not None:
        return events
    if all(array.ndim == 1 for array in arrays.values()):
        if options.rate is not None:
            return from_units([array * options.tick for array in arrays.values()], arrays)
        return from_units(list(arrays.values()), arrays, bin=options.bin)
    if bad := [name for name, array in arrays.items() if array.ndim not in (2, 3)]:
        raise ValueError(
            f"holds {bad[0]} of shape {arrays[bad[0]].shape} beside {_others(arrays, bad)}: choose what to read with "
            "--variable"
        )
    trials = [trial for array in arrays.values() for trial in (array if array.ndim == 3 else [array])]
    return from_counts([trial.T if options.transpose else trial for trial in trials], bin=options.bin)


def _others(arrays: dict[str, NDArray[Any]], bad: list[str]) -> str:
    rest = [f"{name} of {array.shape}" for name, array in arrays.items() if name not in bad]
    return ", ".join(rest) or "nothing else"


def _group(arrays: dict[str, NDArray[Any]]) -> Spikes:
    keys, units = np.unique(arrays["index"], return_inverse=True)
    names = [f"{key:g}" for key in keys.tolist()]
    (trains,) = split_trains(arrays["t"], units, names)
    spans = zip(arrays["start"].ravel().tolist(), arrays["end"].ravel().tolist(), strict=True)
    trials = [Trial(tuple(train[(train >= a) & (train < b)] for train in trains), a, b) for a, b in spans]
    return from_trials(trials, names)


def _npy(path: Path) -> NDArray[Any]:
    with path.open("rb") as file:
        _check_header(file, path.stat().st_size, "")
        file.seek(0)
        return np.asarray(np.load(file, allow_pickle=False))


def _npz(path: Path) -> dict[str, NDArray[Any]]:
    if not zipfile.is_zipfile(path):
        raise ValueError(f"is no .npz file: it begins like {_begins(path)}. Save arrays with numpy.savez")
    with zipfile.ZipFile(path) as archive:
        members = [info for info in archive.infolist() if info.filename.endswith(".npy")]
        if not members:
            raise ValueError("holds no arrays")
        if (total := sum(info.file_size for info in members)) > 4 * MOST_BYTES:
            raise ValueError(f"would unpack to {total / 1e6:,.0f} MB, and at most {4 * MOST_BYTES / 1e6:,.0f} are read")
        arrays = {}
        for info in members:
            name = info.filename.removesuffix(".npy")
            with archive.open(info) as file:
                _check_header(file, info.file_size, f"{name} ")
            with archive.open(info) as file:
                arrays[name] = np.asarray(npy.read_array(file, allow_pickle=False))
    return arrays


def _check_header(file: IO[bytes], n_bytes: int, what: str) -> None:
    """Refuse what is no array, holds Python objects, or claims to be larger than the file that it is in."""
    if file.read(len(MAGIC)) != MAGIC:
        raise ValueError(f"{what}is no NumPy array, whatever its name says. Save one with numpy.save")
    file.seek(0)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file, max_header_size=LONGEST_HEADER)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"{what}has a header that cannot be read: it is damaged") from error
    if min(shape, default=0) < 0:
        raise ValueError(f"{what}says that it has shape {shape}: it is damaged")
    if dtype.hasobject:
        raise ValueError(
            f"{what}holds Python objects, which are never loaded. Save plain arrays of numbers: spike times into one "
            ".npz, an array for each unit"
        )
    claimed = float(np.prod(shape, dtype=np.float64)) * dtype.itemsize
    if claimed > n_bytes:
        raise ValueError(
            f"{what}says that it holds {claimed / 1e6:,.0f} MB, but has {n_bytes / 1e6:,.2f}: it is damaged"
        )


def _begins(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(8)
    if head.startswith(MAGIC):
        return "a single array: call it .npy"
    if head[:1] == b"\x80":
        return "a pickle, which is never loaded"
    return "text" if head.isascii() and not any(byte < 9 for byte in head) else "something else"


def _kilosort(folder: Path, options: Options) -> Spikes:
    times, clusters = (_npy(folder / name).ravel() for name in KILOSORT)
    if len(times) != len(clusters):
        raise ValueError(f"{len(times):,} times beside {len(clusters):,} clusters: they are of two different sortings")
    rate, described = options.rate, folder / "params.py"
    if rate is None and described.is_file():
        found = re.search(r"^\s*sample_rate\s*=\s*([0-9.eE+]+)", described.read_text(errors="replace"), re.MULTILINE)
        rate = float(found[1]) if found else None
    if rate is None and times.dtype.kind in "iu":
        raise ValueError("holds samples: say how many there are in a second, such as --rate 30000")
    labels, units = np.unique(clusters.astype(np.int64), return_inverse=True)
    told = Labelled(units, [str(label) for label in labels.tolist()])
    return from_labels(times.astype(np.float64) / (rate or 1.0), told)
