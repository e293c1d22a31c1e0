"""Spikes from arrays and lists: of times unit by unit or event by event, of counts, of trials; checked and named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidviz.network.recording import is_wrapped, what_to_do
from hidviz.network.spikes import Counts, Spikes, Trial
from hidviz.numerics import Array

TIMES = (
    "time", "times", "t", "time_s", "time_ms", "times_s", "times_ms", "spike_time", "spike_times", "spike_time_s",
    "spike_times_s", "spike_time_ms", "spike_times_ms", "timestamp", "timestamps", "seconds",
)  # fmt: skip
UNITS = ("unit", "units", "unit_id", "cluster", "cluster_id", "neuron", "neuron_id", "cell", "cell_id", "channel", "id")
TRIALS = ("trial", "trial_id", "trials", "sweep", "repeat")
CLOCKS = ("", "index", "bin", "frame", "unnamed: 0", *TIMES)
MOST_TRAINS = 200_000  # spike trains, over all trials
LONG = 1e3  # a median interval between spikes of so many seconds means another unit of time


def from_units(
    units: Sequence[Any],
    names: Iterable[Any] | None = None,
    *,
    bin: float | None = None,  # noqa: A002
) -> Spikes:
    """Spikes from a list for each unit: of its spike times, or of its states in bins where all are equally long.

    Whole numbers that do not rise are no times: they are counts, or ±1.

    Raises:
        ValueError: they are neither.
    """
    for unit in units:
        check_unmasked(unit)
    arrays = [np.asarray(unit) for unit in units]
    flat = all(array.ndim == 1 and array.size > 2 and array.dtype.kind in "buif" for array in arrays)
    if arrays and flat and len({array.size for array in arrays}) == 1:
        whole = all((array == np.floor(array)).all() for array in arrays)
        if whole and not all((np.diff(array.astype(np.float64)) > 0.0).all() for array in arrays):
            return from_counts([np.column_stack(arrays)], bin=bin, names=names)
    trains = tuple(map(as_train, arrays))
    return from_trials([Trial(trains, begin_of(trains))], names)


def begin_of(trains: Sequence[Array]) -> float:
    """When a recording began that does not say: at 0, unless spikes come before, or only long after it."""
    ends = [(float(train[0]), float(train[-1])) for train in trains if train.size]
    if not ends:
        return 0.0
    first, last = min(a for a, _ in ends), max(b for _, b in ends)
    return float(np.floor(first)) if first < 0.0 or first > 10.0 * (last - first) > 0.0 else 0.0


def from_trials(trials: Sequence[Trial], names: Iterable[Any] | None = None) -> Spikes:
    """Spikes from trials of spike times in seconds.

    Raises:
        ValueError: there are no units, or the times cannot be seconds.
    """
    n_units = len(trials[0].trains) if trials else 0
    if not n_units:
        raise ValueError("There must be at least one unit, got none.")
    intervals = np.concatenate([np.diff(train) for trial in trials for train in trial.trains] or [np.empty(0)])
    if intervals.size and (median := float(np.median(intervals))) > LONG:
        raise ValueError(
            f"Spike times must be in seconds, and the median interval between spikes is {median:g}: are these samples "
            "or milliseconds? Say --rate HZ, 1000 for milliseconds."
        )
    return Spikes(tuple(trials), (), _named(names, n_units))


def from_events(times: Array, units: Sequence[Any], trials: Sequence[Any] | None = None) -> Spikes:
    """Spikes from a list of events: when, which unit, and in which trial.

    Times of several trials count from the start of each.
    """
    labels = [_label(unit) for unit in units]
    place = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    which = None if trials is None else np.unique(np.asarray(trials), return_inverse=True)[1]
    return from_labels(times, np.array([place[label] for label in labels], np.intp), list(place), which)


def from_labels(
    times: Array, units: NDArray[np.intp], labels: Sequence[str], trials: NDArray[np.intp] | None = None
) -> Spikes:
    """Spikes from a list of events whose units and trials are counted.

    Args:
        times: (n,) when, seconds.
        units: (n,) the place of the unit's label.
        labels: of the units, in any order; two that are alike are one unit.
        trials: (n,) which trial, counted from 0; None for one trial.
    """
    names = sorted(set(labels), key=_in_order)
    place = np.array([names.index(label) for label in labels], np.intp)
    which = np.zeros(len(times), np.intp) if trials is None else trials
    longest = float(times.max(initial=0.0))
    last = np.nextafter(longest, np.inf) if which.any() else None
    start = begin_of([times[[times.argmin(), times.argmax()]]]) if len(times) else 0.0
    trains = split_trains(times, place[units], len(names), which)
    return from_trials([Trial(each, start, last) for each in trains], names)


def split_trains(
    times: Array, units: NDArray[np.intp], n_units: int, trials: NDArray[np.intp] | None = None
) -> list[tuple[Array, ...]]:
    """Events in any order as the trains of all units, trial by trial.

    Args:
        times: (n,) when.
        units: (n,) which unit, counted from 0.
        n_units: how many units there are.
        trials: (n,) which trial, counted from 0; None for one trial.

    Raises:
        ValueError: a time is not finite, or there are so many trials of so many units that it cannot be meant.
    """
    which = np.zeros(len(times), np.intp) if trials is None else trials
    n_trials = int(which.max(initial=0)) + 1
    if n_trials * n_units > MOST_TRAINS:
        raise ValueError(
            f"At most {MOST_TRAINS:,} spike trains can be read, got {n_trials:,} trials of {n_units:,} units: does "
            "another column say which unit fired, or in which trial?"
        )
    cell = which * n_units + units
    order = np.lexsort((times, cell))
    ends = np.cumsum(np.bincount(cell, minlength=n_trials * n_units))
    trains = [as_train(train) for train in np.split(np.asarray(times)[order], ends[:-1])]
    return [tuple(trains[k * n_units : (k + 1) * n_units]) for k in range(n_trials)]


def from_counts(
    arrays: Sequence[Any],
    *,
    bin: float | None = None,  # noqa: A002 - the field's word
    names: Iterable[Any] | None = None,
) -> Spikes:
    """Spikes from (T, N) arrays of ±1 or of counts, a trial each; a column that only counts bins is left out.

    Raises:
        ValueError: an array is no such thing; the message says where and what to do.
    """
    for array in arrays:
        check_unmasked(array)
    given = [np.asarray(array) for array in arrays]
    widths = {array.shape[1:] for array in given}
    if len(widths) != 1:
        raise ValueError(f"Every trial must hold the same units, got shapes {', '.join(str(a.shape) for a in given)}.")
    for array in given:
        check_shape(array)
    called, remarks = None if names is None else [str(name) for name in names], []
    if given[0].shape[1] > 1 and (clocks := [k for k in range(given[0].shape[1]) if _is_clock(given, k, called)]):
        for k in clocks:
            what = f'Column "{called[k]}"' if called else f"Column {k + 1}"
            remarks.append(f"{what} rises by the same step in every bin: it is taken for a clock and left out.")
        keep = [k for k in range(given[0].shape[1]) if k not in clocks]
        step = float(given[0][1, clocks[0]] - given[0][0, clocks[0]])
        bin = step if bin is None and step < 1.0 else bin  # noqa: A001
        given = [array[:, keep] for array in given]
        called = called and [called[k] for k in keep]
    named = _named(called, given[0].shape[1])
    counts = tuple(_counts(array, named, k, len(given)) for k, array in enumerate(given))
    return Spikes((), counts, named, bin, tuple(remarks))


def check_unmasked(given: Any) -> None:
    """Raise `ValueError` if some entries are masked: as plain numbers they would be taken for states or times.

    Args:
        given: an array, masked or not, or anything else.
    """
    if isinstance(given, np.ma.MaskedArray) and (n := int(np.count_nonzero(np.ma.getmaskarray(given)))):
        place = ", ".join(str(k + 1) for k in np.argwhere(np.ma.getmaskarray(given))[0])
        raise ValueError(
            f"{n:,} entries are masked, the first at {place}: missing is not silent. Leave masked spike times out with "
            "x.compressed(); of bins, leave those out, and make what lies before and after them trials of their own."
        )


def check_shape(array: NDArray[Any]) -> None:
    """Raise `ValueError` unless an array can be bins × units."""
    if array.ndim != 2 or array.shape[0] < 2 or array.shape[1] < 1:
        raise ValueError(
            f"It must hold bins down the rows and units across, (T, N) with at least 2 bins, got shape {array.shape}."
        )
    if array.shape[1] > array.shape[0]:
        bins, units = array.shape
        raise ValueError(f"{bins} × {units}: {units:,} units in {bins:,} bins? If time runs across, add --transpose.")
    if array.dtype.kind not in "buif":
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported: it must hold ±1 or spike counts, got complex numbers.")
        raise ValueError(f"It must hold ±1 or spike counts, got {array.dtype}.")


def as_train(times: Any) -> Array:
    """Spike times of one unit, rising.

    Raises:
        ValueError: they are not a list of finite numbers.
    """
    check_unmasked(times)
    train = np.asarray(times)
    if train.dtype.kind not in "buif" or train.ndim > 2 or (train.ndim == 2 and 1 not in train.shape and train.size):
        raise ValueError(f"Spike times must be a list of numbers, got shape {train.shape} of {train.dtype}.")
    train = np.sort(train.ravel().astype(np.float64))
    if not np.isfinite(train).all():
        raise ValueError("Spike times must be finite numbers, got a missing or infinite one.")
    train.flags.writeable = False
    return train


def _counts(array: NDArray[Any], names: Sequence[str], trial: int, n_trials: int) -> Counts:
    """Counts from ±1 or counts; the first entry that is neither is named."""
    low, high = array.min(), array.max()
    if is_wrapped(array):
        raise ValueError(f"It must hold ±1 or spike counts, got {high:g}: {what_to_do(array)}")
    if low < 0 and bool(((array == 1) | (array == -1)).all()):
        return (array > 0).astype(np.uint16)
    whole = array.dtype.kind != "f" or bool((array == np.floor(array)).all())
    if low >= 0 and high <= np.iinfo(np.uint16).max and whole:
        return array.astype(np.uint16)
    wrong = ~((array >= 0) & (array <= np.iinfo(np.uint16).max))
    if not whole:
        wrong |= array != np.floor(array)
    if wrong.any():
        row, column = (int(k) for k in np.argwhere(wrong)[0])
        value = array[row, column]
        where = f"row {row + 1}, column {column + 1} ({names[column]})"
        if n_trials > 1:
            where = f"trial {trial + 1}, {where}"
        if value == -1 and low == -1 and high <= 1:
            raise ValueError(f"{where}: -1 among 0 and 1. States are -1 and 1, counts are 0, 1, 2 …: not both.")
        if not np.isfinite(value):
            raise ValueError(f"{where}: it must hold finite numbers, got {'NaN' if np.isnan(value) else 'infinity'}.")
        raise ValueError(f"{where}: it must hold ±1 or spike counts 0, 1, 2 …, got {value:g}.")
    return array.astype(np.uint16)


def _is_clock(arrays: Sequence[NDArray[Any]], column: int, names: Sequence[str] | None) -> bool:
    """Whether a column rises by the same step from bin to bin, in every trial of three bins or more."""
    named = names is not None and names[column].strip().lower() in CLOCKS
    for array in arrays:
        ticks = array[:, column].astype(np.float64)
        steps = np.diff(ticks)
        if len(steps) < 2 + 2 * (not named) or not steps[0] > 0.0 or not np.allclose(steps, steps[0], rtol=1e-3):
            return False
    return True


def _named(names: Iterable[Any] | None, n_units: int) -> tuple[str, ...]:
    if names is None:
        digits = len(str(n_units))
        return tuple(f"u{k + 1:0{digits}d}" for k in range(n_units))
    given = tuple(str(name) for name in names)
    if len(given) != n_units or len(set(given)) != n_units:
        raise ValueError(f"{n_units} units must have as many different names, got {', '.join(given)}.")
    return given


def plain_name(name: str) -> str:
    """The name of a column without its unit in brackets, in small letters: "Spike Time (s)" is "spike_time"."""
    return re.sub(r"[\s_]+", "_", re.sub(r"[\(\[].*", "", name).strip().lower())


def as_numbers(values: NDArray[Any], columns: Sequence[str]) -> NDArray[Any]:
    """A table of objects as numbers; the first column that holds something else is named."""
    for k, name in enumerate(columns):
        try:
            values[:, k].astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(f'Column "{name}" must hold numbers, got {values[0, k]!r}: leave it out.') from None
    return values.astype(np.float64)


def _label(unit: Any) -> str:
    return str(int(unit)) if isinstance(unit, float) and unit.is_integer() else str(unit).strip()


def _in_order(name: str) -> tuple[float, str]:
    """Numbers by size, then words by letter."""
    return (float(name), "") if name.lstrip("-").isdigit() else (np.inf, name)
