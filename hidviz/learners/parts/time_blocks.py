"""Time blocks: a recording cut into segments of equal length, for recursions that run side by side.

How the segments are joined is in `numerics/parallel_in_time`; this is the half that knows a recording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.network import Recording
from hidviz.numerics import Array, Flags, join_segments

Number = TypeVar("Number", np.int8, np.float64)

_CACHED = 2**15  # numbers in a block of time, so that its handful of arrays stays in the cache
_LONG, _SHARED = 2**22, 2**17  # from so many in all, and then in a block: enough for cores to work side by side
_WIDEST = 1024  # segments side by side, at most; more would crowd the cache
_SAME = 2.0**-50  # relative size of a difference that is rounding
_STRIDE = 8  # steps of a segment run again before it is compared


@dataclass(frozen=True, eq=False)
class Segments:
    """A recording in segments of equal length: bin k of segment z is column k * n_segments + z.

    What is left over at the end of the last segment has no state, and predicts nothing. Paths of the hidden
    units are (n_steps + 1, n_hidden, n_segments): their last step is the seam, the first bin of the next segment.

    Args:
        states: (Nv + 1, n_columns), the visible state and the constant unit.
        doubled: (Nv, n_columns), twice the state one bin later; 0 where nothing follows.
        n_steps: bins in a segment.
        n_segments: segments.
        n_left_out: columns without a transition.
        starts: (step, segment) of each start of a trial, the seams included.
        transitions: which of all bins something follows.
        field: (Nv, n_columns) the external field, 0 where nothing follows; None where there is none.
    """

    states: NDArray[np.int8]
    doubled: NDArray[np.int8]
    n_steps: int
    n_segments: int
    n_left_out: int
    starts: NDArray[np.intp]
    transitions: slice | NDArray[np.intp]
    field: Array | None = None

    def field_at(self, columns: slice) -> Array | None:
        """The external field in some columns."""
        return None if self.field is None else self.field[:, columns]

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Time in blocks: steps, and the columns that these are."""
        numbers = _CACHED if self.states.size < _LONG else _SHARED
        length = max(numbers // (len(self.states) * self.n_segments), 1)
        for k in range(0, self.n_steps, length):
            checkpoint()
            end = min(k + length, self.n_steps)
            yield slice(k, end), slice(k * self.n_segments, end * self.n_segments)

    def in_time(self, path: Array) -> Array:
        """A path as (n_transitions, n_hidden), in the order of `Recording.transitions`."""
        by_bin = path[:-1].transpose(2, 0, 1).reshape(self.states.shape[1], path.shape[1])
        return by_bin[self.transitions]


def segments(recording: Recording, *, cut: bool) -> Segments:
    """Cut a recording into about as many segments as balances their length and their number; or into one."""
    n_bins, n_visible = recording.n_bins, recording.n_visible
    n_segments = min(isqrt(8 * n_bins), _WIDEST) if cut else 1
    n_steps = -(-n_bins // n_segments)
    ends = np.cumsum([len(trial) for trial in recording.trials])
    begins = np.concatenate([[0], ends[:-1]])

    states = np.zeros((n_steps * n_segments, n_visible + 1), np.int8)
    states[:n_bins, :n_visible] = np.concatenate(recording.trials)
    states[:n_bins, n_visible] = 1
    doubled = np.zeros((n_steps * n_segments, n_visible), np.int8)
    doubled[:-1] = 2 * states[1:, :n_visible]
    doubled[ends - 1] = 0

    def columns(by_bin: NDArray[Number]) -> NDArray[Number]:
        by_column = by_bin.reshape(n_segments, n_steps, -1).transpose(2, 1, 0).reshape(by_bin.shape[1], -1)
        return np.ascontiguousarray(by_column)  # a single segment is only a view: a fifth slower with every use

    transitions = slice(n_bins - 1) if len(ends) == 1 else np.delete(np.arange(n_bins), ends - 1)
    field = recording.external_fields()
    if field is not None:
        by_bin = np.zeros((n_steps * n_segments, n_visible))
        by_bin[transitions] = field
        field = columns(by_bin)
    starts = np.stack([begins % n_steps, begins // n_steps], axis=1)
    seams = starts[(starts[:, 0] == 0) & (starts[:, 1] > 0)] + [n_steps, -1]
    return Segments(
        states=columns(states),
        doubled=columns(doubled),
        n_steps=n_steps,
        n_segments=n_segments,
        n_left_out=n_steps * n_segments - recording.n_transitions,
        starts=np.concatenate([starts, seams]),
        transitions=transitions,
        field=field,
    )


def side_by_side(step: Callable[[int, Array, Array], None], path: Array, *, starting: slice, ending: slice) -> None:
    """Fill a path by step(k, path[k], path[k + 1]), in place; the first segment to run starts at 0.

    Args:
        step: one step of all segments.
        path: (steps + 1, n_hidden, n_segments), overwritten.
        starting: the segments that start where another ends.
        ending: these others, in the same order.
    """
    states = list(path)

    def advance(steps: slice, _segments: object) -> None:
        for k in range(steps.start, steps.stop):
            if k % 64 == 0:
                checkpoint()
            step(k, states[k], states[k + 1])

    states[0][:] = 0.0
    advance(slice(0, len(path) - 1), None)
    tolerance = _SAME * float(np.abs(states[-1]).max(initial=0.0))

    def differ(some: Array, others: Array) -> Flags:
        """All or none of them: one step is of all segments."""
        return np.full(len(some), np.abs(some - others).max(initial=0.0) > tolerance)

    join_segments(path.swapaxes(1, 2), advance, differ, stride=_STRIDE, starting=starting, ending=ending)
