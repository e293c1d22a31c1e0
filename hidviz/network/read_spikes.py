"""Files: recordings in the formats that laboratories keep them in, read with every check.

    .csv .tsv .txt    bins × units, or events in columns of times and units
    .npy              (T, N) or (trials, T, N); Kilosort's spike_times.npy beside spike_clusters.npy
    .npz              an array a trial, or an array of spike times a unit
    .mat              a cell array of spike times, or a matrix; versions 5 and 7.3
    .nwb              the units table, with its trials
    .h5               NWB, or retinal waves

Several files are several trials. Every refusal begins with the name of the file and says what to do.
"""

from __future__ import annotations

import csv
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from hidviz.network.formats.hdf5 import read_h5, read_nwb
from hidviz.network.formats.matlab import read_mat
from hidviz.network.formats.numpy_files import KILOSORT, read_npy, read_npz
from hidviz.network.formats.options import MOST_BYTES, Options
from hidviz.network.formats.text import read_text
from hidviz.network.spikes import Spikes

FORMATS: Mapping[str, Callable[[Path, Options], Spikes]] = MappingProxyType(
    {
        ".csv": read_text,
        ".tsv": read_text,
        ".txt": read_text,
        ".npy": read_npy,
        ".npz": read_npz,
        ".mat": read_mat,
        ".nwb": read_nwb,
        ".h5": read_h5,
        ".hdf5": read_h5,
    }
)


def read_spikes(
    paths: Path | str | Iterable[Path | str],
    *,
    bin: float | None = None,  # noqa: A002 - the field's word
    transpose: bool = False,
    variable: str | None = None,
    rate: float | None = None,
    trials: str | None = None,
) -> Spikes:
    """Read one or more files as the trials of one recording.

    Args:
        paths: a file, or several that hold the same units.
        bin: seconds per bin of files that hold counts.
        transpose: the files have units down the rows and time across.
        variable: which variable to read of files that have several.
        rate: ticks per second of spike times that are samples; None for seconds.
        trials: the table of intervals of an .nwb file that are its trials; "none" for none.

    Raises:
        ValueError: a file cannot be read as spikes; the message names it and says what to do.
    """
    given = [Path(paths)] if isinstance(paths, Path | str) else [Path(path) for path in paths]
    if not given:
        raise ValueError("There must be a file to read, got none.")
    if rate is not None and not 0.0 < rate < float("inf"):
        raise ValueError(f"A rate must be a positive number of samples a second, got {rate!r}.")
    options = Options(transpose=transpose, variable=variable, rate=rate, trials=trials, bin=bin)
    return _joined([_one(path, options) for path in given], given)


# What libraries raise for a file that is damaged in the middle, beside their own words for it.
DAMAGED = (
    EOFError, zipfile.BadZipFile, zlib.error, csv.Error, struct.error, KeyError, IndexError, TypeError, RuntimeError,
    NotImplementedError, OverflowError, NameError,
)  # fmt: skip


def _one(path: Path, options: Options) -> Spikes:
    if path.is_dir() and all((path / name).is_file() for name in KILOSORT):
        path = path / KILOSORT[0]
    ending = path.suffix.lower()
    if path.is_dir():
        raise ValueError(f"{path} is a folder without both {' and '.join(KILOSORT)}: name the file to read.")
    if ending in (".gz", ".bz2", ".xz", ".zip", ".xlsx", ".xls"):
        raise ValueError(f"{path} is packed, or a workbook: unpack it, or save the sheet as .csv.")
    if ending not in FORMATS:
        raise ValueError(
            f"{path} must end in one of {', '.join(FORMATS)}: save spike times as .csv in columns time and unit, "
            "or bins × units as .npy."
        )
    try:
        if not path.is_file():
            raise ValueError("is no file")
        if (size := path.stat().st_size) > MOST_BYTES:
            raise ValueError(f"has {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} are read: cut it in parts")
        return FORMATS[ending](path, options)
    except MemoryError as error:
        raise ValueError(f"{path} takes more memory than there is ({error}): cut it in parts.") from error
    except DAMAGED as error:
        raise ValueError(f"{path} is damaged, or laid out in another way ({type(error).__name__}: {error}).") from error
    except (ValueError, OSError) as error:
        # what a reader says of a part of the file begins with where; of the whole file, with a verb
        sentence = str(error)
        between = ", " if sentence.startswith(("line ", "row ", "trial ")) else " " if sentence[:1].islower() else ": "
        raise ValueError(f"{path}{between}{sentence}{'' if sentence.endswith(('.', '?')) else '.'}") from error


def _joined(parts: list[Spikes], paths: list[Path]) -> Spikes:
    """Files of the same units as the trials of one recording."""
    first = parts[0]
    for part, path in zip(parts, paths, strict=True):
        if (part.n_units, part.are_times) != (first.n_units, first.are_times) or part.names != first.names:
            raise ValueError(
                f"{path} must hold the same units as {paths[0]}, {', '.join(first.names)}, got "
                f"{', '.join(part.names)}: "
                "files of one recording are its trials."
            )
    if len(parts) == 1:
        return first
    return replace(
        first,
        trials=tuple(chain(*(part.trials for part in parts))),
        counts=tuple(chain(*(part.counts for part in parts))),
        remarks=tuple(f"{path}: {remark}" for part, path in zip(parts, paths, strict=True) for remark in part.remarks),
    )
