"""Text: .csv, .tsv and .txt, as bins × units or as a list of events.

The delimiter is the one of , ; tab or spaces that divides the first lines alike; cells may stand in quotes; lines that
begin with # are passed over. A first line is one of names if none of its cells is a number, or if its numbers count the
columns. A list of events has such names, among them one for times and one for units.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.network.build_counts import TIMES, check_shape, cut_where_changed, from_counts
from hidviz.network.build_spikes import TRIALS, UNITS, Labelled, from_labels, labelled, plain_name
from hidviz.network.formats.at_one_go import events_of, matrix_of
from hidviz.network.formats.lines import as_utf8, decoded, head_of, holds
from hidviz.network.formats.options import Options
from hidviz.network.spikes import Spikes
from hidviz.numerics import Array

WORDS = {"true": 1.0, "false": 0.0}
DIVIDERS = {"\t": "tabs", ";": "semicolons", ",": "commas", " ": "spaces"}
DELIMITERS = tuple(DIVIDERS)
LONGEST_CELL = 40  # characters of a cell that a sentence quotes
NO_COUNTS = "Are these spike times? Then save them in two columns, and let line 1 name the columns: time,unit"
SECOND = " If this is a second line of names, leave one of them out."
LOOKED_AT = 20  # lines that tell the layout


class _Layout(NamedTuple):
    """How a text is laid out.

    Args:
        delimiter: between cells.
        names: of the columns; None without a line of them.
        first: index of the first line with data.
        trailing: whether every line ends with a delimiter that nothing follows.
    """

    delimiter: str
    names: list[str] | None
    first: int
    trailing: bool = False

    @property
    def decimal(self) -> str:
        """What may stand before decimals beside a point: where semicolons divide cells, a comma."""
        return "," if self.delimiter == ";" else "."

    def number(self, cell: str) -> float | None:
        """A cell as a number; None if it is none."""
        return number(cell.replace(",", ".") if self.decimal == "," else cell)


@dataclass(frozen=True)
class _Text:
    """A text.

    Args:
        raw: its bytes, UTF-8 or as good.
        layout: how it is laid out.
        head: its first lines, with their ends.
    """

    raw: bytes
    layout: _Layout
    head: list[bytes]

    @property
    def begin(self) -> int:
        """Where its data begin, in bytes."""
        return sum(map(len, self.head[: self.layout.first]))

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Number of the line, from 1, and its cells."""
        for k, line in enumerate(self.raw[self.begin :].splitlines(), self.layout.first + 1):
            if holds(line):
                yield k, _cells(decoded(line), self.layout.delimiter, self.layout.trailing)


def read_text(path: Path, options: Options) -> Spikes:
    """Read a text file.

    Raises:
        ValueError: it holds no spikes; the message names line and column.
    """
    raw = as_utf8(path.read_bytes())
    head = head_of(raw, LOOKED_AT)
    shown = [k for k, line in enumerate(head) if holds(line)]
    if not shown:
        raise ValueError("is empty")
    text = _Text(raw, _layout([decoded(line).rstrip("\r\n") for line in head], shown), head)
    names = text.layout.names
    places = {plain_name(name): k for k, name in enumerate(names or ())}
    when = next((places[name] for name in TIMES if name in places), None)
    who = next((places[name] for name in UNITS if name in places), None)
    which = next((places[name] for name in TRIALS if name in places), None)
    if names and when is not None and who is not None:
        return _events(text, when, who, which, options)
    if names and len(names) == 2 and when is not None:
        raise ValueError(
            f'has a column "{names[when]}" and one "{names[1 - when]}": name the latter "unit" if it says which unit '
            "fired, or leave the former out"
        )
    array = _matrix(text)
    broken = array.dtype.kind == "f" and np.mean(array != np.floor(array), axis=0).max() > 0.5  # of a column
    if broken and not names:
        raise ValueError(f"holds decimals. {NO_COUNTS}")
    if options.transpose:
        return from_counts([array.T], bin=options.bin)
    taken, trials = _unique(names), [array]
    if taken and which is not None and len(taken) > 1:
        trials = cut_where_changed(np.delete(array, which, axis=1), array[:, which])
        taken = [name for k, name in enumerate(taken) if k != which]
    try:
        check_shape(array)
        return from_counts(trials, bin=options.bin, names=taken)
    except ValueError as error:
        hint = f" {NO_COUNTS}." if broken else ""
        raise ValueError(_by_line(error, trials, text) + hint) from error


def _layout(lines: list[str], shown: list[int]) -> _Layout:
    head = [lines[k] for k in shown[:LOOKED_AT]]
    delimiter = next(
        (each for each in DELIMITERS[:3] if all(each in line for line in head)),
        " " if all(len(line.split()) > 1 for line in head) else ",",
    )
    trailing = delimiter != " " and all(line.rstrip(" ").endswith(delimiter) for line in head)
    cells = _cells(head[0], delimiter, trailing)
    rest = [number(cell) for line in head[1:] for cell in _cells(line, delimiter, trailing)]
    values = [number(cell) for cell in cells]
    told = [value for value in values if value is not None]
    named = not told and any(cell.strip() for cell in cells)
    counting = _counts_up(told) and len(told) >= len(cells) - 1 and len(told) >= 3 and len(shown) > 1
    if counting and (len(told) < len(cells) or told[-1] > max((v for v in rest if v is not None), default=0.0)):
        named = True
    names, first = [cell.strip() for cell in cells], shown[1] if len(shown) > 1 else shown[0] + 1
    return _Layout(delimiter, names, first, trailing) if named else _Layout(delimiter, None, shown[0], trailing)


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


def _cells(line: str, delimiter: str, trailing: bool = False) -> list[str]:
    if delimiter == " ":
        return line.split()
    cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])
    return cells[:-1] if trailing and cells and not cells[-1].strip() else cells


def _matrix(text: _Text) -> NDArray[Any]:
    """All cells as numbers: at one go where every cell is plain, else cell by cell to name the first that is not."""
    layout = text.layout
    width = len(next(text.rows(), (0, layout.names or []))[1])
    if width and (not layout.names or width == len(layout.names)):
        table = matrix_of(text.raw, text.begin, layout.delimiter, layout.decimal, width, trailing=layout.trailing)
        if table is not None:
            return table
    return _cell_by_cell(text)


def _cell_by_cell(text: _Text) -> Array:
    layout = text.layout
    width, first = len(layout.names) if layout.names else 0, layout.first + 1
    numbers: list[list[float]] = []
    for line, cells in text.rows():
        if not width:
            width, first = len(cells), line
        if len(cells) != width:
            n = f"{len(cells)} cell{'s' * (len(cells) != 1)}"
            divide = DIVIDERS[layout.delimiter]
            raise ValueError(
                f"line {line}: {n}, but {width} in line {first if numbers else 1}, where {divide} divide them"
            )
        row = []
        for k, cell in enumerate(cells):
            value = layout.number(cell)
            if value is None:
                what = f'"{_short(cell)}" is no number' if cell.strip() else "is blank"
                hint = ""
                if not numbers and layout.names and _are_words(cells):
                    hint = SECOND
                elif not numbers and not layout.names:
                    hint = " If this line holds names, let none of them be a number."
                raise ValueError(f"line {line}, {_column(layout, k)}: {what}.{hint}")
            if not np.isfinite(value):
                raise ValueError(f"line {line}, {_column(layout, k)}: {_short(cell)} is no count: a value is missing.")
            row.append(value)
        numbers.append(row)
    return np.array(numbers)


def _are_words(cells: list[str]) -> bool:
    """Whether no cell begins like a number."""
    return not any(cell.strip()[:1].lstrip("+-.").isdigit() for cell in cells)


def _short(cell: str) -> str:
    cell = cell.strip()
    return cell if len(cell) <= LONGEST_CELL else f"{cell[:LONGEST_CELL]}…"


def _column(layout: _Layout, k: int) -> str:
    return f'column "{_short(layout.names[k])}"' if layout.names and layout.names[k] else f"column {k + 1}"


def _by_line(error: ValueError, trials: list[NDArray[Any]], text: _Text) -> str:
    """The sentence about a cell with the line and the column of the file in place of trial, row and column."""
    found = re.match(r"(?:trial (\d+), )?row (\d+), column (\d+) \(([^)]*)\): (.*)", str(error), flags=re.DOTALL)
    if found is None:
        return str(error)
    row, column = sum(map(len, trials[: int(found[1] or 1) - 1])) + int(found[2]), f'column "{_short(found[4])}"'
    if not text.layout.names:  # clocks are left out before cells are looked at: count the columns of the file
        kept = [k for k in range(trials[0].shape[1]) if not _was_clock(trials[0], k)]
        column = f"column {kept[int(found[3]) - 1] + 1}"
    line = next(line for k, (line, _) in enumerate(text.rows(), 1) if k == row)
    return f"line {line}, {column}: {found[5]}"


def _was_clock(array: NDArray[Any], k: int) -> bool:
    steps = np.diff(array[:, k].astype(np.float64))
    return len(steps) >= 4 and steps[0] > 0 and bool(np.allclose(steps, steps[0], rtol=1e-3))


def _unique(names: list[str] | None) -> list[str] | None:
    """Names that are all different and none of them empty, but for a clock's."""
    if names is None:
        return None
    taken = [name or ("" if k == 0 else f"column {k + 1}") for k, name in enumerate(names)]
    twice = sorted(name for name, n in Counter(taken).items() if n > 1)
    if twice:
        raise ValueError(f'line 1: two columns have the name "{twice[0]}"')
    return taken


def _events(text: _Text, when: int, who: int, which: int | None, options: Options) -> Spikes:
    layout = text.layout
    said = re.search(
        r"[(\[_ ](ms|msec|milliseconds|us|µs|μs|usec|microseconds)\b", (layout.names or [""])[when].lower()
    )
    tick = (
        options.tick
        if options.rate is not None or said is None
        else 1e-3
        if said[1].startswith(("ms", "milli"))
        else 1e-6
    )
    ends = len(layout.names or ()) - 1 + layout.trailing
    found = events_of(text.raw, text.begin, layout.delimiter, layout.decimal, ends, when, who, which)
    times, units, trials = found or _event_by_event(text, when, who, which)
    if not len(times):
        raise ValueError("has a heading and no events below it")
    return from_labels(times * tick, units, trials)


def _event_by_event(text: _Text, when: int, who: int, which: int | None) -> tuple[Array, Labelled, Labelled | None]:
    layout, names, comma = text.layout, text.layout.names or [], text.layout.delimiter == ","
    times, units, trials = list[float](), list[str](), list[str]()
    for line, cells in text.rows():
        if len(cells) != len(names):
            hint = " Decimal commas? Let semicolons divide the cells." if len(cells) > len(names) and comma else ""
            raise ValueError(f"line {line}: {len(cells)} cells, but {len(names)} names in the heading.{hint}")
        value = layout.number(cells[when])
        if value is None or not np.isfinite(value):
            comma_alone = cells[when].count(",") == 1 and number(cells[when].replace(",", ".")) is not None
            hint = " Write decimals with a point." if comma_alone else SECOND if not times and _are_words(cells) else ""
            raise ValueError(f'line {line}, {_column(layout, when)}: "{_short(cells[when])}" is no time.{hint}')
        if not cells[who].strip():
            raise ValueError(f"line {line}, {_column(layout, who)}: is blank, and must say which unit fired.")
        times.append(value)
        units.append(cells[who])
        trials.append(cells[which] if which is not None else "")
    return np.array(times), labelled(units), None if which is None else labelled(trials)
