"""HDF5 files: Neurodata Without Borders, and those of the repository of retinal waves.

h5py alone suffices: the units table of NWB 2 is two plain arrays, all spike times in a row and where each unit ends.
pynwb would load and check the whole schema, with a dozen packages below it, to give the same two.
"""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from hidviz.network.build_spikes import as_train, begin_of, from_trials
from hidviz.network.formats.options import MOST_BYTES, Options
from hidviz.network.spikes import Spikes, Trial
from hidviz.numerics import Array

SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(path: Path) -> bool:
    """Whether a file is HDF5; a MATLAB file of version 7.3 has its signature after 512 bytes."""
    with path.open("rb") as file:
        head = file.read(520)
    return SIGNATURE in (head[:8], head[512:520])


def opened(path: Path) -> Any:
    """An open HDF5 file.

    Raises:
        ValueError: it is none, or h5py is not there.
    """
    if not is_hdf5(path):
        raise ValueError("is no HDF5 file, whatever its name says")
    try:
        import h5py  # an extra: most recordings are read without it
    except ImportError as error:
        raise ValueError("needs h5py to be read: pip install h5py") from error
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise ValueError(f"is damaged ({error})") from error


def whole(dataset: Any) -> Any:
    """All of a data set, which may claim to hold more than is in its file.

    Raises:
        ValueError: it is a group, or would take too much memory.
    """
    if not hasattr(dataset, "dtype"):
        raise ValueError(f"has a group {dataset.name} where numbers were expected: it is laid out in another way")
    if (size := float(dataset.size or 0) * dataset.dtype.itemsize) > MOST_BYTES:
        raise ValueError(
            f"says that {dataset.name} holds {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} are read: cut "
            "it in parts"
        )
    return dataset[()]


def read_nwb(path: Path, options: Options) -> Spikes:
    """The units table of an .nwb file; its trials, else what was observed, are the trials.

    Raises:
        ValueError: there is no table of units, or no such table of intervals.
    """
    with opened(path) as file:
        if "units" not in file or "spike_times" not in file["units"]:
            raise ValueError(f"has no table of units with spike times; it has {', '.join(file)}: sort its spikes first")
        units, remarks = file["units"], list[str]()
        trains = _ragged(units, "spike_times")
        label = next((name for name in ("unit_name", "id") if name in units), None)
        names = None if label is None else [_word(value) for value in whole(units[label])]
        if names is not None and len(set(names)) < len(names):
            names = [_word(value) for value in whole(units["id"])] if "id" in units else None
            remarks.append("Names of the column unit_name are given twice: units have the numbers of the column id.")
        table, told = _intervals(file, options.trials)
        spans = table or _observed(units)
    if names is not None and len(names) != len(trains):
        raise ValueError(f"has {len(names)} names or numbers of units, and {len(trains)} spike trains: it is damaged")
    called = names or [str(k + 1) for k in range(len(trains))]
    trains = [as_train(train * options.tick, name) for train, name in zip(trains, called, strict=True)]
    trials = [Trial(tuple(train[(train >= a) & (train < b)] for train in trains), a, b) for a, b in spans] or [
        Trial(tuple(trains), begin_of(trains))
    ]
    if spans and any(map(len, trains)) and not any(map(len, chain(*(trial.trains for trial in trials)))):
        first, last = min(train[0] for train in trains if len(train)), max(train[-1] for train in trains if len(train))
        raise ValueError(
            f"has spikes from {first:.4g} to {last:.4g} s and none in its trials, {spans[0][0]:g} to {spans[-1][1]:g} "
            "s: name another table with --trials, or say --trials none"
        )
    return from_trials(trials, names).remarked(*remarks, *told)


def read_h5(path: Path, options: Options) -> Spikes:
    """A recording of retinal waves: `spikes`, all times in a row, `sCount`, how many of each unit, and `names`.

    Raises:
        ValueError: it is laid out in another way.
    """
    with opened(path) as file:
        if "units" in file and "spike_times" in file["units"]:
            pass
        elif missing := [name for name in ("spikes", "sCount") if name not in file]:
            raise ValueError(
                f"must have {' and '.join(missing)} (a spike train each), or be an .nwb file, and has "
                f"{', '.join(file)}: save arrays as .npz or .mat"
            )
        else:
            counts = np.asarray(whole(file["sCount"]), dtype=np.int64).ravel()
            times = np.asarray(whole(file["spikes"]), dtype=np.float64).ravel() * options.tick
            names = [_word(value) for value in np.ravel(whole(file["names"]))] if "names" in file else None
            if counts.sum() != len(times):
                raise ValueError(f"counts {counts.sum():,} spikes but holds {len(times):,}: it is damaged")
            called = names or [str(k + 1) for k in range(len(counts))]
            trains = tuple(map(as_train, np.split(times, np.cumsum(counts)[:-1]), called))
            return from_trials([Trial(trains)], names)
    return read_nwb(path, options)


def _ragged(units: Any, name: str) -> list[Array]:
    """A column of lists: all entries in a row, and where each list ends."""
    values, ends = whole(units[name]), np.asarray(whole(units[f"{name}_index"]), dtype=np.int64)
    return np.split(np.asarray(values, dtype=np.float64), ends[:-1])


def _intervals(file: Any, wanted: str | None) -> tuple[list[tuple[float, float]], list[str]]:
    """The intervals that are the trials, and what there is to say of them."""
    tables = file.get("intervals", {})
    if wanted == "none":
        return [], []
    if wanted is not None and wanted not in tables:
        raise ValueError(f"has no table of intervals {wanted}; it has {', '.join(tables) or 'none'}")
    name = wanted or "trials"
    if name not in tables:
        return [], []
    starts, stops = (np.asarray(whole(tables[name][f"{end}_time"]), dtype=np.float64) for end in ("start", "stop"))
    spans = list(zip(starts.tolist(), stops.tolist(), strict=True))
    kept = [(a, b) for a, b in spans if np.isfinite([a, b]).all() and a < b]
    remarks = []
    if kept:
        what = "The interval" if len(kept) == 1 else f"The {len(kept)} intervals"
        are = "is the trial" if len(kept) == 1 else "are the trials"
        remarks.append(f"{what} of the table {name} {are}, and nothing outside is read; --trials none reads all.")
    if n := len(spans) - len(kept):
        all_of_it = "" if kept else ", so that the whole recording is read"
        remarks.append(
            f"{n} of {len(spans)} intervals of the table {name} do not end after they start: left out{all_of_it}."
        )
    ordered = sorted(kept)
    if n := sum(later[0] < earlier[1] for earlier, later in pairwise(ordered)):
        remarks.append(
            f"{n} of the {len(kept)} intervals of the table {name} begin before another has ended: bins in both are "
            "learned from and judged by. Shorten them, or read all with --trials none."
        )
    return kept, remarks


def _observed(units: Any) -> list[tuple[float, float]]:
    """The span in which every unit was observed, where the file says so."""
    if "obs_intervals" not in units:
        return []
    spans = np.asarray(whole(units["obs_intervals"]), dtype=np.float64).reshape(-1, 2)
    ends = np.asarray(whole(units["obs_intervals_index"]), dtype=np.int64)
    own = [spans[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    if any(not np.array_equal(each, own[0]) for each in own):
        start, stop = max(each[0, 0] for each in own if len(each)), min(each[-1, 1] for each in own if len(each))
        return [(float(start), float(stop))]
    return [(float(a), float(b)) for a, b in own[0]]


def _word(value: Any) -> str:
    return value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
