"""Text: .csv, .tsv and .txt, as bins × units or as a list of events.

The delimiter is the one of , ; tab or spaces that divides the first lines alike; cells may stand in quotes; lines that
begin with # are passed over. A first line is one of names if none of its cells is a number, or if its numbers count the
columns. A list of events has such names, among them one for times and one for units.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.network.build_spikes import CLOCKS, TIMES, TRIALS, UNITS, check_shape, from_counts, from_events, plain_name
from hidviz.network.formats.options import Options
from hidviz.network.spikes import Spikes
from hidviz.numerics import Array

WORDS = {"true": 1.0, "false": 0.0}
DELIMITERS = (",", ";", "\t", " ")
LONGEST_CELL = 40  # characters of a cell that a sentence quotes
WIDE = 1000  # columns beyond which pandas takes longer for a column than for all of its numbers


class _Layout(NamedTuple):
    """How a text is laid out.

    Args:
        delimiter: between cells.
        names: of the columns; None without a line of them.
        first: index of the first line with data.
    """

    delimiter: str
    names: list[str] | None
    first: int


def read_text(path: Path, options: Options) -> Spikes:
    """Read a text file.

    Raises:
        ValueError: it holds no spikes; the message names line and column.
    """
    text = _decoded(path.read_bytes())
    lines = text.splitlines()
    shown = [k for k, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")]
    if not shown:
        raise ValueError("is empty")
    layout = _layout(lines, shown)
    names = layout.names
    places = {plain_name(name): k for k, name in enumerate(names or ())}
    when = next((places[name] for name in TIMES if name in places), None)
    who = next((places[name] for name in UNITS if name in places), None)
    if names and when is not None and who is not None:
        which = next((places[name] for name in TRIALS if name in places), None)
        return _events(lines, layout, when, who, which, options)
    if names and len(names) == 2 and when is not None:
        raise ValueError(
            f'has a column "{names[when]}" and one "{names[1 - when]}": name the latter "unit" if it says which unit '
            "fired, or leave the former out"
        )
    array = _matrix(text, lines, layout)
    if array.shape[1] <= 2 and array.dtype.kind == "f" and (array[:, 0] != np.floor(array[:, 0])).any() and not names:
        raise ValueError("holds decimals: are these spike times? Then let line 1 name the columns: time,unit")
    if options.transpose:
        return from_counts([array.T], bin=options.bin)
    try:
        check_shape(array)
        return from_counts([array], bin=options.bin, names=_unique(names))
    except ValueError as error:
        raise ValueError(_by_line(error, array, lines, layout)) from error


def _decoded(raw: bytes) -> str:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return raw.decode("utf-16")
    if b"\x00" in raw[:4096]:
        raise ValueError("is no text: it holds zero bytes")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _layout(lines: list[str], shown: list[int]) -> _Layout:
    head = [lines[k] for k in shown[:20]]
    delimiter = next(
        (each for each in DELIMITERS[:3] if all(each in line for line in head)),
        " " if all(len(line.split()) > 1 for line in head) else ",",
    )
    cells = _cells(head[0], delimiter)
    rest = [number(cell) for line in head[1:] for cell in _cells(line, delimiter)]
    values = [number(cell) for cell in cells]
    told = [value for value in values if value is not None]
    named = not told and any(cell.strip() for cell in cells)
    counting = _counts_up(told) and len(told) >= len(cells) - 1 and len(told) >= 3 and len(shown) > 1
    if counting and (len(told) < len(cells) or told[-1] > max((v for v in rest if v is not None), default=0.0)):
        named = True
    if not named:
        return _Layout(delimiter, None, shown[0])
    return _Layout(delimiter, [cell.strip() for cell in cells], shown[1] if len(shown) > 1 else shown[0] + 1)


def _counts_up(values: list[float]) -> bool:
    return all(b - a == 1.0 for a, b in pairwise(values))


def number(cell: str) -> float | None:
    """A cell as a number, True and False as 1 and 0; None if it is none."""
    word = cell.strip().lower()
    if word in WORDS:
        return WORDS[word]
    try:
        return float(word)
    except ValueError:
        return None


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    return next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])


def _rows(lines: list[str], layout: _Layout) -> Iterator[tuple[int, list[str]]]:
    """Number of the line, from 1, and its cells."""
    for k, line in enumerate(lines[layout.first :], layout.first + 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield k, _cells(line, layout.delimiter)


def _matrix(text: str, lines: list[str], layout: _Layout) -> NDArray[Any]:
    """All cells as numbers: at one go where every cell is plain, else cell by cell to name the first that is not."""
    body = io.StringIO(text)
    for _ in range(layout.first):
        body.readline()
    begin = body.tell()
    parse = _parse_wide if len(_cells(lines[layout.first], layout.delimiter)) > WIDE else _parse
    for kind in (np.int32, np.float64):
        body.seek(begin)
        try:
            with np.errstate(invalid="ignore"):  # of numbers that are no whole ones, which are then read as they are
                table = parse(body, layout.delimiter, kind)
        except (ValueError, OverflowError):  # pandas' own errors of parsing are ValueErrors
            continue
        if np.isfinite(table).all() and (not layout.names or table.shape[1] == len(layout.names)):
            return table
    return _cell_by_cell(lines, layout)


def _parse(body: io.StringIO, delimiter: str, kind: type) -> NDArray[Any]:
    import pandas as pd  # takes a second to import, and text alone needs it

    table: NDArray[Any] = pd.read_csv(
        body, header=None, sep=r"\s+" if delimiter == " " else delimiter, comment="#", skipinitialspace=True,
        dtype=kind, low_memory=False,
    ).to_numpy()  # fmt: skip
    return table


def _parse_wide(body: io.StringIO, delimiter: str, kind: type) -> NDArray[Any]:
    found: NDArray[Any] = np.loadtxt(
        body, dtype=kind, delimiter=None if delimiter == " " else delimiter, comments="#", quotechar='"', ndmin=2
    )
    return found


def _cell_by_cell(lines: list[str], layout: _Layout) -> Array:
    width, first = len(layout.names) if layout.names else 0, layout.first + 1
    numbers: list[list[float]] = []
    for line, cells in _rows(lines, layout):
        if not width:
            width, first = len(cells), line
        if len(cells) != width:
            raise ValueError(f"line {line}: {len(cells)} cells, but {width} in line {first if numbers else 1}")
        row = []
        for k, cell in enumerate(cells):
            value = number(cell)
            if value is None:
                what = f'"{_short(cell)}" is no number' if cell.strip() else "is blank"
                hint = " If this line holds names, let none of them be a number." if not numbers else ""
                raise ValueError(f"line {line}, {_column(layout, k)}: {what}.{hint}")
            if not np.isfinite(value):
                raise ValueError(f"line {line}, {_column(layout, k)}: {_short(cell)} is no count: a value is missing.")
            row.append(value)
        numbers.append(row)
    return np.array(numbers)


def _short(cell: str) -> str:
    cell = cell.strip()
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"


def _column(layout: _Layout, k: int) -> str:
    return f'column "{_short(layout.names[k])}"' if layout.names and layout.names[k] else f"column {k + 1}"


def _by_line(error: ValueError, array: NDArray[Any], lines: list[str], layout: _Layout) -> str:
    """The sentence about a cell with the line and the column of the file in place of row and column."""
    found = re.match(r"row (\d+), column (\d+) \([^)]*\): (.*)", str(error), flags=re.DOTALL)
    if found is None:
        return str(error)
    row, column = int(found[1]), int(found[2])
    # clocks are left out before cells are looked at: count the columns of the file
    kept = [k for k in range(array.shape[1]) if not _was_clock(array, k, layout)]
    line = next(line for k, (line, _) in enumerate(_rows(lines, layout), 1) if k == row)
    return f"line {line}, {_column(layout, kept[column - 1])}: {found[3]}"


def _was_clock(array: NDArray[Any], k: int, layout: _Layout) -> bool:
    steps = np.diff(array[:, k].astype(np.float64))
    named = layout.names is not None and layout.names[k].strip().lower() in CLOCKS
    return len(steps) >= 2 + 2 * (not named) and steps[0] > 0 and bool(np.allclose(steps, steps[0], rtol=1e-3))


def _unique(names: list[str] | None) -> list[str] | None:
    """Names that are all different and none of them empty, but for a clock's."""
    if names is None:
        return None
    taken = [name or ("" if k == 0 else f"column {k + 1}") for k, name in enumerate(names)]
    twice = sorted(name for name, n in Counter(taken).items() if n > 1)
    if twice:
        raise ValueError(f'line 1: two columns have the name "{twice[0]}"')
    return taken


def _events(lines: list[str], layout: _Layout, when: int, who: int, which: int | None, options: Options) -> Spikes:
    times, units, trials = [], [], []
    in_ms = options.rate is None and re.search(r"[(\[_ ](ms|msec|milliseconds)\b", (layout.names or [""])[when].lower())
    tick = 1e-3 if in_ms else options.tick
    for line, cells in _rows(lines, layout):
        if len(cells) <= max(when, who, which or 0):
            raise ValueError(f"line {line}: {len(cells)} cells, but {len(layout.names or ())} names in the heading")
        cell = cells[when].strip()
        value = number(cell.replace(",", ".") if layout.delimiter == ";" else cell)
        if value is None or not np.isfinite(value):
            raise ValueError(f'line {line}, {_column(layout, when)}: "{_short(cell)}" is no time.')
        if not cells[who].strip():
            raise ValueError(f"line {line}, {_column(layout, who)}: is blank, and must say which unit fired.")
        times.append(value * tick)
        units.append(_plain(cells[who]))
        trials.append(cells[which] if which is not None else "")
    if not times:
        raise ValueError("has a heading and no events below it")
    return from_events(np.array(times), units, trials if which is not None else None)


def _plain(cell: str) -> str:
    """A unit's label: 3.0 is 3."""
    return re.sub(r"^(\d+)\.0+$", r"\1", cell.strip())
