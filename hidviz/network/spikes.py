"""Spikes: what was recorded, before it is cut into bins: spike times or counts, units with names, trials.

    n_bins = ⌊(stop - start)/width + 1e-6⌋          bin of a spike = ⌊(time - start)/width + 1e-6⌋

Bins are half-open, and a spike on an edge belongs to the later one; the 1e-6 forgives the rounding of seconds that were
written as decimals. What does not fill a bin at the end of a trial is dropped, and no bin lies across two trials. Where
nobody says when a recording ended, the bin of its last spike is the last one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.network.preview import Preview, preview_of
from hidviz.network.recording import Recording
from hidviz.numerics import Array

MOST_UNITS = 200
MOST_ENTRIES = 10**8  # of bins × units
TOLERANCE = 1e-6  # of a bin
Counts = NDArray[np.uint16]


@dataclass(frozen=True, eq=False)
class Trial:
    """Spike times of one trial.

    Args:
        trains: for each unit its spike times, rising, in seconds.
        start: when it began, seconds.
        stop: when it ended; None where nobody knows.
    """

    trains: tuple[Array, ...]
    start: float = 0.0
    stop: float | None = None

    def n_bins(self, width: float) -> int:
        """How many whole bins it holds."""
        if self.stop is not None:
            return int(np.floor((self.stop - self.start) / width + TOLERANCE))
        return int(np.floor((self._last - self.start) / width + TOLERANCE)) + 1

    @cached_property
    def _last(self) -> float:
        """When the last spike came, of all units."""
        return float(max((train[-1] for train in self.trains if train.size), default=self.start))

    def bins(self, unit: int, width: float) -> NDArray[np.int64]:
        """The bin of each spike of a unit, rising; spikes outside the trial are left out."""
        places = np.floor((self.trains[unit] - self.start) / width + TOLERANCE).astype(np.int64)
        return places[(places >= 0) & (places < self.n_bins(width))]

    def n_spikes(self, unit: int) -> int:
        """Spikes of a unit within the trial."""
        train, stop = self.trains[unit], np.inf if self.stop is None else self.stop
        return int(((train >= self.start) & (train < stop)).sum())


@dataclass(frozen=True, eq=False)
class Spikes:
    """A recording as it came: times or counts.

    Args:
        trials: of spike times; empty where counts were given.
        counts: one (T, N) array of spike counts a trial; empty where times were given.
        names: of the units.
        bin: seconds per bin of the counts; None where it is not known, or for times.
        remarks: what was noticed on the way in, sentences.
    """

    trials: tuple[Trial, ...]
    counts: tuple[Counts, ...]
    names: tuple[str, ...]
    bin: float | None = None
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        given: Any,
        *,
        bin: float | None = None,  # noqa: A002 - the field's word
        names: Iterable[Any] | None = None,
    ) -> Spikes:
        """Spikes from whatever holds them.

        Args:
            given: a (T, N) or (trials, T, N) array of ±1 or counts, or a list of (T, N) arrays; a list of arrays of
                spike times in seconds, one a unit, or a mapping from units to them; a table with a column a unit, or
                with columns of times and units; a sparse matrix; a pynapple TsGroup or TsdFrame; neo SpikeTrains, a
                Segment or a Block; a Recording.
            bin: seconds per bin of counts.
            names: of the units; else those that are given with the data, or numbers from 1.

        Raises:
            ValueError: it holds no spikes, or in a way that is not understood; the message says what to do.
        """
        from hidviz.network.spikes_from import spikes_from  # it makes Spikes: imported where both are known

        return spikes_from(given, bin=bin, names=names)

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.names)

    @property
    def are_times(self) -> bool:
        """Whether there are spike times, which a bin can still be chosen for."""
        return bool(self.trials)

    def remarked(self, *remarks: str) -> Spikes:
        """The same with more remarks."""
        return replace(self, remarks=(*self.remarks, *remarks))

    def within(self, start: float | None = None, stop: float | None = None) -> Spikes:
        """Spike times from `start` to `stop`, in seconds; None for where they begin or end.

        Raises:
            ValueError: these are counts, or nothing lies between the two.
        """
        if not self.are_times:
            raise ValueError("Counts have no times to choose from: cut the array itself.")
        kept = []
        for trial in self.trials:
            begin = trial.start if start is None else max(start, trial.start)
            ends = [end for end in (trial.stop, stop) if end is not None]
            end = min(ends) if ends else None
            if end is None or begin < end:
                kept.append(replace(trial, start=begin, stop=end))
        if not kept:
            raise ValueError(f"There is nothing between {start} and {stop} s.")
        return replace(self, trials=tuple(kept))

    def only(self, units: Sequence[int]) -> Spikes:
        """These units alone, counted from 0."""
        return replace(
            self,
            trials=tuple(replace(trial, trains=tuple(trial.trains[k] for k in units)) for trial in self.trials),
            counts=tuple(counts[:, units] for counts in self.counts),
            names=tuple(self.names[k] for k in units),
        )

    def binned(self, bin: float | None = None) -> tuple[Counts, ...]:  # noqa: A002 - the field's word
        """Spike counts of every trial, each (T, N).

        Args:
            bin: width in seconds; needed for times, and not to be changed for counts.

        Raises:
            ValueError: there is no width, or too much of everything.
        """
        if not self.are_times:
            if bin is not None and self.bin is not None and not np.isclose(bin, self.bin, rtol=1e-3):
                raise ValueError(f"These are counts in bins of {self.bin:g} s already: leave the bin out.")
            return self.counts
        width = self._width(bin)
        lengths = [trial.n_bins(width) for trial in self.trials]
        if sum(lengths) * self.n_units > MOST_ENTRIES:
            raise ValueError(
                f"Bins of {width:g} s make {sum(lengths):,} × {self.n_units} entries, and at most {MOST_ENTRIES:,} are "
                "kept: take wider bins, or a part of the recording."
            )
        return tuple(_counted(trial, n, width) for trial, n in zip(self.trials, lengths, strict=True) if n > 0)

    def preview(self, bin: float | None = None) -> Preview:  # noqa: A002 - the field's word
        """What a person should see before anything is learned: rates, spikes lost to binning, and what looks wrong.

        Args:
            bin: width in seconds; needed for times.
        """
        return preview_of(self, self._width(bin) if self.are_times else bin)

    def recording(
        self,
        bin: float | None = None,  # noqa: A002 - the field's word
        *,
        drop: bool = True,
    ) -> Recording:
        """The recording that learners see: +1 for a bin with a spike, -1 for one without.

        Args:
            bin: width in seconds; needed for times.
            drop: leave out units that never change, which tell nothing.

        Raises:
            ValueError: no unit or no bin is left.
        """
        states = []
        for counts in self.binned(bin):
            checkpoint()
            trial = np.full(counts.shape, -1, np.int8)
            trial[counts > 0] = 1
            states.append(trial)
        kept = [trial for trial in states if len(trial) > 1]
        if not kept:
            raise ValueError("There must be a trial of at least 2 bins: take narrower bins.")
        names = self.names
        if drop:
            lowest, highest = (np.array([getattr(trial, end)(axis=0) for trial in kept]) for end in ("min", "max"))
            active = np.flatnonzero(lowest.min(axis=0) < highest.max(axis=0)).tolist()
            if not active:
                raise ValueError("No unit ever changes its state: there is nothing to learn. Are the bins right?")
            if len(active) < self.n_units:
                kept, names = [trial[:, active] for trial in kept], tuple(names[k] for k in active)
        if len(names) > MOST_UNITS:
            raise ValueError(
                f"At most {MOST_UNITS} units can be learned from, got {len(names)}: choose some of them by name. "
                "If time runs across, add --transpose."
            )
        return Recording(kept, names, self.bin if bin is None else bin)

    def _width(self, bin: float | None) -> float:  # noqa: A002 - the field's word
        if bin is None:
            raise ValueError("These are spike times: say how wide a bin is, such as --bin 20ms.")
        if not 0.0 < bin < np.inf:
            raise ValueError(f"A bin must be a positive number of seconds, got {bin!r}.")
        return float(bin)


def _counted(trial: Trial, n_bins: int, width: float) -> Counts:
    counts = np.zeros((len(trial.trains), n_bins), np.uint16)
    for unit, row in enumerate(counts):
        checkpoint()
        row[:] = np.minimum(np.bincount(trial.bins(unit, width), minlength=n_bins), np.iinfo(np.uint16).max)
    return np.ascontiguousarray(counts.T)
