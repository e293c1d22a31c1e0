"""Spikes from arrays of bins × units: of ±1 or of counts, a trial each; checked and named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidviz.network.recording import is_wrapped, what_to_do
from hidviz.network.spikes import Counts, Spikes

TIMES = (
    "time", "times", "t", "time_s", "time_ms", "times_s", "times_ms", "spike_time", "spike_times", "spike_time_s",
    "spike_times_s", "spike_time_ms", "spike_times_ms",
    "time_us", "times_us", "spike_time_us", "spike_times_us", "timestamp", "timestamps", "seconds",
)  # fmt: skip
CLOCKS = ("", "index", "bin", "frame", "unnamed: 0", *TIMES)


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
        raise ValueError(
            f"Every trial must hold the same units, got shapes {', '.join(str(a.shape) for a in given)}: choose one "
            "with --variable."
        )
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
    units = named(called, given[0].shape[1])
    counts = tuple(_counts(array, units, k, len(given)) for k, array in enumerate(given))
    return Spikes((), counts, units, bin, tuple(remarks))


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
        hint = "."
        if array.ndim == 1 and array.dtype.kind in "buif":
            hint = ": one unit alone is a column, x[:, None], and spike times are a list with a list for each unit."
        raise ValueError(
            f"It must hold bins down the rows and units across, (T, N) with at least 2 bins, got shape {array.shape}"
            f"{hint}"
        )
    if array.shape[1] > array.shape[0] and array.dtype.kind == "f" and np.mean(array != np.floor(array)) > 0.5:
        raise ValueError(
            f"It must hold ±1 or spike counts, got decimals, such as {array[array != np.floor(array)][0]:g}: spike "
            "times are a list with a list for each unit."
        )
    if array.shape[1] > array.shape[0]:
        bins, units = array.shape
        raise ValueError(f"{bins} × {units}: {units:,} units in {bins:,} bins? If time runs across, add --transpose.")
    if array.dtype.kind not in "buif":
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported: it must hold ±1 or spike counts, got complex numbers.")
        raise ValueError(f"It must hold ±1 or spike counts, got {array.dtype}.")


def _counts(array: NDArray[Any], names: Sequence[str], trial: int, n_trials: int) -> Counts:
    """Counts from ±1 or counts; the first entry that is neither is named."""
    if array.dtype == np.float16:  # which ends at 65,504
        array = array.astype(np.float32)
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


def named(names: Iterable[Any] | None, n_units: int) -> tuple[str, ...]:
    """Names of units, all different; numbers where there are none.

    Raises:
        ValueError: there are more or fewer, or two are alike.
    """
    if names is None:
        digits = len(str(n_units))
        return tuple(f"u{k + 1:0{digits}d}" for k in range(n_units))
    given = tuple(str(name) for name in names)
    if len(given) != n_units or len(set(given)) != n_units:
        raise ValueError(f"{n_units} units must have as many different names, got {', '.join(given)}.")
    return given


def as_numbers(values: NDArray[Any], columns: Sequence[str]) -> NDArray[Any]:
    """A table of objects as numbers; the first column that holds something else is named."""
    for k, name in enumerate(columns):
        try:
            values[:, k].astype(np.float64)
        except (TypeError, ValueError):
            row = next(row for row, value in enumerate(values[:, k]) if not _is_number(value))
            what = "leave it out" if row == 0 else "a value is missing, or leave the column out"
            raise ValueError(
                f'Column "{name}" must hold numbers, got {values[row, k]!r} in row {row + 1}: {what}.'
            ) from None
    return values.astype(np.float64)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def cut_where_changed(array: NDArray[Any], trials: NDArray[Any]) -> list[NDArray[Any]]:
    """The rows of an array as trials: a new one begins where the number or the name of the trial changes."""
    return np.split(array, np.flatnonzero(trials[1:] != trials[:-1]) + 1)
