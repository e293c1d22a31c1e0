"""Trace: what was measured at every step so far, as columns that only ever grow."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

import numpy as np

from hidviz.numerics import Array

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

    @classmethod
    def of(cls, names: Sequence[str], rows: Array) -> Trace:
        """A trace with these columns.

        Args:
            names: of the columns.
            rows: (n_rows, n_columns), copied.
        """
        trace = cls()
        trace.names, trace._n = tuple(names), len(rows)
        trace._rows, trace._used = np.array(rows, dtype=np.float64), [len(rows)]
        return trace

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, name: str) -> Array:
        """The column of this name, (n_rows,), read-only."""
        column = self._rows[: self._n, self.names.index(name)]
        column.flags.writeable = False
        return column

    def __contains__(self, name: str) -> bool:
        return name in self.names

    def shortened(self) -> Trace:
        """The trace without its last row."""
        shorter = Trace()
        shorter.names, shorter._n, shorter._rows, shorter._used = self.names, self._n - 1, self._rows, self._used
        return shorter

    def extended(self, row: Mapping[str, float]) -> Trace:
        """A trace with one more row, which must have the columns of the first."""
        longer = Trace()
        longer.names, longer._n = self.names or tuple(row), self._n + 1
        with _claiming:
            has_room = self._n < len(self._rows) and self._used[0] == self._n
            if has_room:
                self._used[0] += 1
        if has_room:
            longer._rows, longer._used = self._rows, self._used
        else:
            longer._rows = np.empty((max(64, 2 * self._n), len(longer.names)))
            longer._rows[: self._n] = self._rows[: self._n].reshape(self._n, len(longer.names))
            longer._used = [longer._n]
        longer._rows[self._n] = [row[name] for name in longer.names]
        return longer
