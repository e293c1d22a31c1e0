"""Trace: what was measured at every step so far, as columns that only ever grow, up to a bound.

Of a run longer than `MOST_ROWS` every second step is kept, then every fourth, and so on; the first and the last are
always there. So a run may go on for as long as anybody likes.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np

from hidviz.numerics import Array

MOST_ROWS = 20_000  # of a trace; more than any screen or table shows

_claiming = threading.Lock()  # a run that is being left and the one that follows may extend the same trace at once


class Trace:
    """Named columns of numbers, one row a step; immutable, and cheap to extend.

    Extending copies only when the shared room behind the rows is full, or was written to by another branch, so a run
    of n steps costs O(n) in all and every earlier trace stays as it was.
    """

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()
        self._rows: Array = np.empty((0, 0))
        self._used: list[int] = [0]  # rows written so far into the shared room
        self._n = 0
        self._seen = 0  # rows that there were, of which every so-manieth is kept
        self._every = 1
        self._last: Array | None = None  # the last row, where it is not one of those

    @classmethod
    def of(cls, names: Sequence[str], rows: Array) -> Trace:
        """A trace with these columns.

        Args:
            names: of the columns.
            rows: (n_rows, n_columns), copied.
        """
        trace = cls()
        trace.names, trace._n, trace._seen = tuple(names), len(rows), len(rows)
        trace._rows, trace._used = np.array(rows, dtype=np.float64), [len(rows)]
        while trace._n >= MOST_ROWS:
            trace._thin_out()
        return trace

    def __len__(self) -> int:
        return self._n + (self._last is not None)

    def __getitem__(self, name: str) -> Array:
        """The column of this name, (n_rows,), read-only."""
        place = self.names.index(name)
        column = self._rows[: self._n, place]
        if self._last is not None:
            column = np.append(column, self._last[place])
        column.flags.writeable = False
        return column

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def shortened(self) -> Trace:
        """The trace without its last row; in a long one the row before that may be gone too."""
        shorter = self._again()
        shorter._seen, shorter._last = self._seen - 1, None
        shorter._n = self._n - (self._last is None)
        return shorter

    def extended(self, row: Mapping[str, float]) -> Trace:
        """A trace with one more row, which must have the columns of the first."""
        longer = self._again()
        longer.names, longer._seen, longer._last = self.names or tuple(row), self._seen + 1, None
        values = [row[name] for name in longer.names]
        if self._seen % self._every:
            longer._last = np.array(values)
            return longer
        longer._n = self._n + 1
        with _claiming:
            has_room = self._n < len(self._rows) and self._used[0] == self._n
            if has_room:
                self._used[0] += 1
        if not has_room:
            longer._rows = np.empty((max(64, 2 * self._n), len(longer.names)))
            longer._rows[: self._n] = self._rows[: self._n].reshape(self._n, len(longer.names))
            longer._used = [longer._n]
        longer._rows[self._n] = values
        if longer._n >= MOST_ROWS:
            longer._thin_out()
        return longer

    def _again(self) -> Trace:
        """The same trace, not yet seen by anybody else."""
        again = Trace()
        vars(again).update(vars(self))
        return again

    def _thin_out(self) -> None:
        """Keep every second of the rows that are kept, and the last one."""
        rows = self._rows[: self._n].reshape(self._n, len(self.names))
        if self._last is None and self._n % 2 == 0:
            self._last = rows[-1].copy()
        self._n, self._every = (self._n + 1) // 2, 2 * self._every
        self._rows = np.empty((max(MOST_ROWS, self._n), len(self.names)))
        self._rows[: self._n] = rows[::2]
        self._used = [self._n]
