"""Tables of plain cells parsed at one go, by pandas: quick, and without a word on which cell is not plain.

Where one is not, nothing is returned, and `text` goes through the lines to name it. Bins × units come in stretches of
lines, each kept in as few bytes as hold its counts: 10⁸ of them are 100 MB, and would be 400 as they are parsed.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.network.build_spikes import Labelled
from hidviz.numerics import Array

WIDE = 1000  # columns beyond which pandas takes longer for a column than for all of its numbers
_STRETCH = 2**22  # numbers that are parsed at a time


def matrix_of(
    raw: bytes, begin: int, delimiter: str, decimal: str, width: int, *, trailing: bool
) -> NDArray[Any] | None:
    """Bins × units; None where a cell is not a finite number, or a line has more or fewer of them.

    Args:
        raw: a text.
        begin: where its data begin.
        delimiter: between cells; a space for any number of spaces.
        decimal: what stands before decimals, whole numbers apart.
        width: cells of the first line.
        trailing: whether every line ends with a delimiter that nothing follows.
    """
    for kind in (np.int32, np.float64):
        body = io.BytesIO(raw)
        body.seek(begin)
        try:
            if width <= WIDE:
                parsed = _parsed(body, delimiter, decimal, width, trailing, kind)
            elif trailing or decimal == ",":
                return None
            else:
                parsed = _parsed_wide(body, delimiter, kind)
            with np.errstate(invalid="ignore"):  # of numbers that are no whole ones, which are then read as they are
                stretches = [_narrow(each) for each in parsed]
        except (ValueError, OverflowError):  # pandas' own errors of parsing are ValueErrors
            continue
        if stretches and all(each.shape[1] == width and np.isfinite(each).all() for each in stretches):
            return np.concatenate(stretches)
    return None


def events_of(
    raw: bytes, begin: int, delimiter: str, decimal: str, ends: int, when: int, who: int, which: int | None
) -> tuple[Array, Labelled, Labelled | None] | None:
    """Times, units and trials of a list of events; None where a line is not plain, or spaces divide cells.

    Args:
        raw: a text.
        begin: where its data begin.
        delimiter: between cells.
        decimal: what stands before decimals.
        ends: delimiters of a line.
        when: column of times.
        who: column of units.
        which: column of trials; None for none.
    """
    if delimiter == " ":
        return None
    import pandas as pd  # takes a second to import, and text alone needs it

    body = io.BytesIO(raw)
    body.seek(begin)
    words = (who,) if which is None else (who, which)
    kinds: dict[Any, Any] = {when: np.float64, **dict.fromkeys(words, object)}
    try:
        table = pd.read_csv(
            body, header=None, sep=delimiter, decimal=decimal, skipinitialspace=True,
            usecols=sorted(kinds), dtype=kinds, na_filter=False,
        )  # fmt: skip
    except (ValueError, OverflowError):
        return None
    times = table[when].to_numpy()
    columns = [Labelled(codes, labels.tolist()) for codes, labels in (pd.factorize(table[k].to_numpy()) for k in words)]
    if raw.count(delimiter.encode(), begin) != ends * len(table):  # pandas is silent on cells that nobody asked for
        return None
    if not np.isfinite(times).all() or not all(label.strip() for label in columns[0].labels):
        return None
    return times, columns[0], None if which is None else columns[1]


def _parsed(
    body: io.BytesIO, delimiter: str, decimal: str, width: int, trailing: bool, kind: type
) -> Iterator[NDArray[Any]]:
    import pandas as pd

    tables = pd.read_csv(
        body, header=None, sep=r"\s+" if delimiter == " " else delimiter, decimal=decimal, comment="#",
        skipinitialspace=True, dtype=dict.fromkeys(range(width), kind), chunksize=max(_STRETCH // width, 1),
    )  # fmt: skip
    with tables:
        for table in tables:
            checkpoint()
            if trailing and table.shape[1] == width + 1 and table[width].isna().all():
                table = table.drop(columns=width)  # what stands behind the last delimiter
            yield table.to_numpy()


def _parsed_wide(body: io.BytesIO, delimiter: str, kind: type) -> Iterator[NDArray[Any]]:
    yield np.loadtxt(
        body, dtype=kind, delimiter=None if delimiter == " " else delimiter, comments="#", quotechar='"', ndmin=2,
        encoding="utf-8",
    )  # fmt: skip


def _narrow(numbers: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers in as few bytes as hold them."""
    if numbers.dtype.kind == "f" or not numbers.size:
        return numbers
    kind = np.result_type(np.min_scalar_type(numbers.min()), np.min_scalar_type(numbers.max()), np.int8)
    return numbers.astype(kind)
