"""Spikes from whatever holds them: arrays, lists, mappings, tables, sparse matrices, pynapple and neo objects.

Objects of other packages are known by what they can do, not by their class, so none of those packages is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hidviz.network.build_counts import TIMES, as_numbers, check_unmasked, cut_where_changed, from_counts
from hidviz.network.build_spikes import TRIALS, UNITS, as_train, from_events, from_trials, from_units, plain_name
from hidviz.network.recording import Recording
from hidviz.network.spikes import MOST_ENTRIES, Spikes, Trial
from hidviz.numerics import Array


def spikes_from(given: Any, *, bin: float | None = None, names: Iterable[Any] | None = None) -> Spikes:  # noqa: A002
    """See `Spikes.of`."""
    called = None if names is None else [str(name) for name in names]
    if isinstance(given, Spikes):
        return given
    if isinstance(given, Recording):
        counts = [(trial > 0).astype(np.uint16) for trial in given.trials]
        return from_counts(counts, bin=given.bin if bin is None else bin, names=called or given.names)
    if hasattr(given, "segments"):  # a neo Block
        return _trials_of([_neo(segment.spiketrains) for segment in given.segments], called)
    if hasattr(given, "spiketrains"):  # a neo Segment
        return from_trials([_neo(given.spiketrains)[0]], called or _neo(given.spiketrains)[1])
    if hasattr(given, "time_support") and hasattr(given, "keys"):
        return _pynapple(given, called)
    if hasattr(given, "columns"):
        return _table(given, bin, called)
    if isinstance(given, Mapping) and not hasattr(given, "toarray"):
        return from_units(list(given.values()), called or [str(key) for key in given], bin=bin)
    if (
        hasattr(given, "index") and getattr(getattr(given, "dtype", None), "kind", "") == "O"
    ):  # a pandas Series of lists
        return from_units(list(given), called or [str(key) for key in given.index], bin=bin)
    if hasattr(given, "toarray") and hasattr(given, "nnz"):
        if np.prod(given.shape, dtype=np.float64) > MOST_ENTRIES:
            raise ValueError(f"A sparse matrix must have at most {MOST_ENTRIES:,} entries in all, got {given.shape}.")
        given = given.toarray()
    if isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given):
        return _several(given, bin, called)
    check_unmasked(given)
    array = np.asarray(given)
    if array.ndim == 0 or isinstance(given, str | bytes):
        hint = ": to read a file, call read_spikes" if isinstance(given, str | bytes) else ""
        raise ValueError(f"Spikes must be an array, a list, a mapping or a table, got {type(given).__name__}{hint}.")
    if array.ndim == 1 and array.dtype == object:
        return from_units(list(array), called, bin=bin)
    if array.ndim == 2 and array.dtype == object:
        array = as_numbers(array, called or [str(k + 1) for k in range(array.shape[1])])
    return from_counts(list(array) if array.ndim == 3 else [array], bin=bin, names=called)


def _several(given: Sequence[Any], bin: float | None, names: list[str] | None) -> Spikes:  # noqa: A002
    if all(hasattr(each, "t_start") and hasattr(each, "times") for each in given):
        trial, own = _neo(given)
        return from_trials([trial], names or own)
    for each in given:
        check_unmasked(each)
    shapes = [np.shape(each) if not hasattr(each, "toarray") else each.shape for each in given]
    if all(len(shape) == 2 and shape[0] > 1 for shape in shapes):
        arrays = [each.toarray() if hasattr(each, "toarray") else np.asarray(each) for each in given]
        return from_counts(arrays, bin=bin, names=names)
    if not any(isinstance(each, np.ndarray) for each in given) and len(set(shapes)) == 1:
        matrix = np.asarray(given)  # lists in a list
        if matrix.dtype.kind not in "f" or (matrix == np.floor(matrix)).all():
            return from_counts([matrix], bin=bin, names=names)
    return from_units(given, names, bin=bin)


def _trials_of(trials: Sequence[tuple[Trial, list[str]]], names: list[str] | None) -> Spikes:
    if not trials:
        raise ValueError("The block must hold at least one segment with spike trains, got none.")
    return from_trials([trial for trial, _ in trials], names or trials[0][1])


def _neo(trains: Sequence[Any]) -> tuple[Trial, list[str]]:
    """A trial from neo SpikeTrains, which know their unit of time."""
    seconds = [_seconds(train.times) for train in trains]
    starts, stops = ([float(_seconds(getattr(train, end))) for train in trains] for end in ("t_start", "t_stop"))
    names = [str(getattr(train, "name", None) or f"u{k + 1}") for k, train in enumerate(trains)]
    if len(set(names)) < len(names):
        names = [f"{name} ({k + 1})" for k, name in enumerate(names)]
    return Trial(tuple(map(as_train, seconds)), min(starts), max(stops)), names


def _seconds(quantity: Any) -> Any:
    return quantity.rescale("s").magnitude if hasattr(quantity, "rescale") else quantity


def _pynapple(group: Any, names: list[str] | None) -> Spikes:
    """A TsGroup: its epochs are the trials."""
    keys = list(group.keys())
    trains = [as_train(group[key].t if hasattr(group[key], "t") else group[key].index) for key in keys]
    epochs = np.asarray(group.time_support.values, dtype=np.float64).reshape(-1, 2)
    trials = [Trial(tuple(train[(train >= a) & (train < b)] for train in trains), a, b) for a, b in epochs.tolist()]
    return from_trials(trials, names or [str(key) for key in keys])


def _table(table: Any, bin: float | None, names: list[str] | None) -> Spikes:  # noqa: A002
    """A table: events where it has columns of times and units, else a column a unit."""
    columns = [" ".join(map(str, name)) if isinstance(name, tuple) else str(name) for name in table.columns]
    places = {plain_name(name): k for k, name in enumerate(columns)}
    values = np.asarray(table.to_numpy() if hasattr(table, "to_numpy") else table.values)
    when, who, trial = (next((places[n] for n in known if n in places), None) for known in (TIMES, UNITS, TRIALS))
    if when is not None and who is not None:
        times = _moments(values[:, [when]], columns[when])
        return from_events(times, values[:, who].tolist(), None if trial is None else values[:, trial].tolist())
    if values.dtype.kind == "O":
        values = as_numbers(values, columns)
    if bin is None and hasattr(table, "t") and len(table.t) > 1:  # a pynapple TsdFrame
        bin = float(f"{np.median(np.diff(table.t)):.9g}")  # noqa: A001 - differences of times have rounding
    if trial is not None and trial not in (when, who):
        which = values[:, trial]
        values, columns = np.delete(values, trial, axis=1), [name for k, name in enumerate(columns) if k != trial]
    elif (level := next((k for k, name in enumerate(_levels(table)) if name in TRIALS), None)) is not None:
        which = np.asarray(table.index.get_level_values(level))
    else:
        return from_counts([values], bin=bin, names=names or columns)
    return from_counts(cut_where_changed(values, which), bin=bin, names=names or columns)


def _levels(table: Any) -> list[str]:
    """Names of the levels of the index of a table, plain."""
    return [plain_name(str(name)) for name in getattr(getattr(table, "index", None), "names", None) or ()]


def _moments(values: Any, column: str) -> Array:
    """A column of times in seconds; dates count from that of the first event."""
    try:
        return as_numbers(values, [column])[:, 0] if values.dtype.kind == "O" else values[:, 0].astype(np.float64)
    except ValueError:
        begin = values[0, 0] if hasattr(values[0, 0], "timestamp") else values[0, 0] - values[0, 0]
        try:
            return np.array([(value - begin).total_seconds() for value in values[:, 0]])
        except (AttributeError, TypeError):
            pass
        raise
