"""Spikes from lists of times: unit by unit, event by event, in columns, trial by trial; checked and named."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.network.build_counts import TIMES, check_unmasked, from_counts, named
from hidviz.network.spikes import Spikes, Trial
from hidviz.numerics import Array

UNITS = (
    "unit", "units", "unit_id", "cluster", "clusters", "cluster_id", "spike_cluster", "spike_clusters", "neuron",
    "neurons", "neuron_id", "cell", "cells", "cell_id", "channel", "id",
)  # fmt: skip
TRIALS = ("trial", "trial_id", "trials", "sweep", "repeat")
MOST_TRAINS = 200_000  # spike trains, over all trials
LONG = 1e3  # a median interval between spikes of so many seconds means another unit of time
LATEST = 1e11  # seconds: three thousand years


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
    called = [str(k + 1) for k in range(len(units))] if names is None else [str(name) for name in names]
    arrays = [_list_of(unit, called[k] if k < len(called) else str(k + 1)) for k, unit in enumerate(units)]
    flat = all(array.ndim == 1 and array.size > 2 and array.dtype.kind in "buif" for array in arrays)
    if arrays and flat and len({array.size for array in arrays}) == 1:
        whole = all((array == np.floor(array)).all() for array in arrays)
        if whole and not all((np.diff(array.astype(np.float64)) > 0.0).all() for array in arrays):
            return from_counts([np.column_stack(arrays)], bin=bin, names=names)
    trains = tuple(map(as_train, arrays, called if len(called) == len(arrays) else [""] * len(arrays)))
    return from_trials([Trial(trains, begin_of(trains))], names if names is None else called)


def _list_of(unit: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(unit)
    except ValueError as error:
        raise ValueError(
            f"Spike times of unit {name} must be one list of numbers, got lists within it: trials of spike times are a "
            "table with columns time, unit and trial."
        ) from error


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
    if not any(map(len, chain(*(trial.trains for trial in trials)))):
        raise ValueError(f"There must be at least one spike, got none of {n_units} unit{'s' * (n_units > 1)}.")
    intervals = np.concatenate([np.diff(train) for trial in trials for train in trial.trains] or [np.empty(0)])
    if intervals.size and (median := float(np.median(intervals))) > LONG:
        raise ValueError(
            f"Spike times must be in seconds, and the median interval between spikes is {median:g}: are these samples "
            "or milliseconds? Say --rate HZ, 1000 for milliseconds."
        )
    return Spikes(tuple(trials), (), named(names, n_units))


def from_events(times: Array, units: Sequence[Any], trials: Sequence[Any] | None = None) -> Spikes:
    """Spikes from a list of events: when, which unit, and in which trial: see `from_labels`."""
    return from_labels(times, labelled(units), None if trials is None else labelled(trials))


class Labelled(NamedTuple):
    """A column of words: (n,) which of the different ones each is, and these."""

    codes: NDArray[np.intp]
    labels: list[str]

    def in_order(self) -> Labelled:
        """The same with its words in order, each once; 3.0 is 3."""
        plain = [re.sub(r"^(\d+)\.0+$", r"\1", label.strip()) for label in self.labels]
        names = sorted(set(plain), key=_in_order)
        place = {name: k for k, name in enumerate(names)}
        return Labelled(np.array([place[name] for name in plain], np.intp)[self.codes], names)


def labelled(words: Sequence[Any]) -> Labelled:
    """A column of words, or of what can be said in a word."""
    said = [str(word) for word in words]
    place = {word: k for k, word in enumerate(dict.fromkeys(said))}
    return Labelled(np.array([place[word] for word in said], np.intp), list(place))


def from_labels(times: Array, units: Labelled, trials: Labelled | None = None) -> Spikes:
    """Spikes from a list of events whose units and trials are known by their labels.

    Times of several trials count from the start of each, and all trials last as long; but where every trial begins
    after the one before it has ended, they are times of the whole session.

    Args:
        times: (n,) when, seconds.
        units: (n,) which unit.
        trials: (n,) which trial; None for one.
    """
    who, which = units.in_order(), None if trials is None else trials.in_order().codes
    trains = split_trains(times, who.codes, who.labels, which)
    if len(trains) == 1:
        start = begin_of([times[[times.argmin(), times.argmax()]]]) if len(times) else 0.0
        return from_trials([Trial(trains[0], start)], who.labels)
    ends = [(min(t[0] for t in each if len(t)), max(t[-1] for t in each if len(t))) for each in trains]
    if all(later[0] > earlier[1] for earlier, later in pairwise(ends)):
        spans = [(float(a), float(np.nextafter(b, np.inf))) for a, b in ends]
        remark = (
            "Each trial begins after the one before it has ended: these are taken for times of the whole session, and "
            "each trial for lasting from its first spike to its last."
        )
        return from_trials([Trial(t, *span) for t, span in zip(trains, spans, strict=True)], who.labels).remarked(
            remark
        )
    last = float(np.nextafter(times.max(), np.inf))
    start = begin_of([times[[times.argmin(), times.argmax()]]])
    return from_trials([Trial(each, start, last) for each in trains], who.labels)


def from_columns(columns: Mapping[str, Any], tick: float = 1.0) -> Spikes | None:
    """Spikes from lists side by side, one of which has the name of times and one that of units; None for others.

    Args:
        columns: lists by name.
        tick: seconds per unit of the times.
    """
    places = {plain_name(name.rpartition(".")[2]): name for name in columns}
    when, who, which = (next((places[n] for n in known if n in places), None) for known in (TIMES, UNITS, TRIALS))
    if when is None or who is None:
        return None
    arrays = {name: np.ravel(columns[name]) for name in (when, who, which) if name is not None}
    if len({len(array) for array in arrays.values()}) > 1 or any(
        np.size(columns[n]) != max(np.shape(columns[n]), default=0) for n in arrays
    ):
        return None
    trials = None if which is None else _counted(arrays[which])
    return from_labels(arrays[when].astype(np.float64) * tick, _counted(arrays[who]), trials)


def _counted(values: NDArray[Any]) -> Labelled:
    labels, codes = np.unique(values, return_inverse=True)
    return Labelled(codes, [str(label) for label in labels.tolist()])


def split_trains(
    times: Array, units: NDArray[np.intp], names: Sequence[str], trials: NDArray[np.intp] | None = None
) -> list[tuple[Array, ...]]:
    """Events in any order as the trains of all units, trial by trial.

    Args:
        times: (n,) when.
        units: (n,) which unit, counted from 0.
        names: of the units.
        trials: (n,) which trial, counted from 0; None for one trial.

    Raises:
        ValueError: a time is not finite, or there are so many trials of so many units that it cannot be meant.
    """
    which = np.zeros(len(times), np.intp) if trials is None else trials
    n_trials, n_units = int(which.max(initial=0)) + 1, len(names)
    if n_trials * n_units > MOST_TRAINS:
        raise ValueError(
            f"At most {MOST_TRAINS:,} spike trains can be read, got {n_trials:,} trials of {n_units:,} units: does "
            "another column say which unit fired, or in which trial?"
        )
    cell = which * n_units + units
    order = np.lexsort((times, cell))
    ends = np.cumsum(np.bincount(cell, minlength=n_trials * n_units))
    split = np.split(np.asarray(times)[order], ends[:-1])
    trains = [as_train(train, names[k % n_units]) for k, train in enumerate(split)]
    return [tuple(trains[k * n_units : (k + 1) * n_units]) for k in range(n_trials)]


def as_train(times: Any, unit: str = "") -> Array:
    """Spike times of one unit, rising.

    Args:
        times: in any order, seconds.
        unit: its name, for a sentence.

    Raises:
        ValueError: they are not a list of finite numbers, or cannot be seconds.
    """
    whose = f"Spike times of unit {unit}" if unit else "Spike times"
    check_unmasked(times)
    train = np.asarray(times)
    if train.dtype.kind not in "buif" or train.ndim > 2 or (train.ndim == 2 and 1 not in train.shape and train.size):
        raise ValueError(f"{whose} must be a list of numbers, got shape {train.shape} of {train.dtype}.")
    train = train.ravel().astype(np.float64)
    if (wrong := np.flatnonzero(~np.isfinite(train))).size:
        value = "NaN" if np.isnan(train[wrong[0]]) else "infinity"
        raise ValueError(f"{whose} must be finite numbers, got {value} at place {wrong[0] + 1:,}: leave it out.")
    train = np.sort(train)
    if train.size and max(-train[0], train[-1]) > LATEST:
        value = max(train[0], train[-1], key=abs)
        raise ValueError(f"{whose} must be in seconds, got {value:g}: leave it out, or say --rate if these are ticks.")
    train.flags.writeable = False
    return train


def plain_name(name: str) -> str:
    """The name of a column without its unit in brackets, in small letters: "Spike Time (s)" is "spike_time"."""
    return re.sub(r"[\s_]+", "_", re.sub(r"[\(\[].*", "", name).strip().lower())


def _in_order(name: str) -> tuple[float, str]:
    """Numbers by size, then words by letter."""
    return (float(name), "") if name.lstrip("-").isdigit() else (np.inf, name)
