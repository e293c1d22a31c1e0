"""The files of a recording on the command line: the options that `look` and `fit` share, and what comes of them."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path

from hidviz.network import FORMATS, Recording, Spikes, read_spikes

_SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "": 1.0}


def add(parser: argparse.ArgumentParser) -> None:
    """Tell a parser of files and of how to read them."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=f"recordings, a trial each: {', '.join(FORMATS)}")
    parser.add_argument("--bin", type=seconds, metavar="WIDTH", help="width of a bin, such as 20ms; needed for times")
    parser.add_argument("--variable", metavar="V", help="what to read of a file that holds several variables")
    parser.add_argument("--trials", metavar="T", help="the .nwb table of intervals that are the trials (none: do not)")
    parser.add_argument("--rate", type=float, metavar="HZ", help="times are samples, so many a second (1000: ms)")
    parser.add_argument("--from", dest="start", type=seconds, metavar="TIME", help="leave out what is before, s")
    parser.add_argument("--to", dest="stop", type=seconds, metavar="TIME", help="leave out what is after, s")
    parser.add_argument("--names", metavar="A,B", help="names of the units, in the order of the file")
    parser.add_argument("--units", metavar="A,B", help="units to keep, by name (default: all)")
    parser.add_argument("--keep-silent", action="store_true", help="keep units that never change")
    parser.add_argument("--transpose", action="store_true", help="the files have units down the rows")


def seconds(text: str) -> float:
    """A width or a time, such as 20ms, 0.02 or 0.02s, in seconds."""
    found = re.fullmatch(r"\s*([0-9.eE+-]+?)\s*(s|ms|us|µs|)\s*", text)
    try:
        return float(found[1]) * _SECONDS[found[2]] if found else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a time such as 20ms or 0.02, got {text!r}") from None


def spikes(given: argparse.Namespace) -> Spikes:
    """What the files hold.

    Raises:
        ValueError: they cannot be read; the message says what to do.
    """
    found = read_spikes(
        [Path(name) for name in given.files], bin=given.bin, transpose=given.transpose, variable=given.variable,
        rate=given.rate, trials=given.trials,
    )  # fmt: skip
    if given.start is not None or given.stop is not None:
        found = found.within(given.start, given.stop)
    if given.names is not None:
        names = tuple(name.strip() for name in given.names.split(","))
        if len(names) != found.n_units or len(set(names)) != len(names):
            raise ValueError(f"--names must give {found.n_units} different names, got {given.names}.")
        found = replace(found, names=names)
    if given.units is not None:
        wanted = [name.strip() for name in given.units.split(",")]
        if absent := [name for name in wanted if name not in found.names]:
            raise ValueError(f"There is no unit {', '.join(absent)}; there are {', '.join(found.names)}.")
        found = found.only([found.names.index(name) for name in wanted])
    return found


def recording(found: Spikes, given: argparse.Namespace) -> Recording:
    """The recording to learn from."""
    return found.recording(given.bin if found.are_times else None, drop=not given.keep_silent)
