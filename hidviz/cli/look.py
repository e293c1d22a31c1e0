"""`hidviz look`: what a recording holds, before anything is learned from it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np

from hidviz.cli import recordings
from hidviz.cli.terminal import DONE, Refused, report
from hidviz.evaluation import repeating
from hidviz.network import Preview, Spikes

TEACHING = """\
layouts, by the ending of FILE:
  .csv .tsv .txt   bins down the rows, units across (a line of names may come first); or columns time and unit
  .npy             (T, N) or (trials, T, N); Kilosort's spike_times.npy beside its spike_clusters.npy
  .npz             an array a trial, or an array of spike times a unit
  .mat             a cell array of spike times, or a matrix (versions 5 and 7.3)
  .nwb .h5         the units table, with its trials (pip install h5py)

  hidviz look session.nwb --bin 20ms
  hidviz look spike_times.npy --rate 30000 --bin 10ms
"""


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser(
        "look",
        help="look at a recording: units, rates, what binning loses, what looks wrong",
        description="Look at your own recording before anything is learned from it. Nothing is written.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    recordings.add(parser)
    parser.set_defaults(act=act)


def act(given: argparse.Namespace) -> int:
    """Read and describe."""
    try:
        spikes = recordings.spikes(given)
        report("\n".join(in_words(spikes, spikes.preview(given.bin if spikes.are_times else None))))
    except ValueError as error:
        raise Refused(str(error)) from error
    return DONE


def in_words(spikes: Spikes, preview: Preview) -> Iterator[str]:
    """The preview, line by line.

    Args:
        spikes: what was read.
        preview: of it.
    """
    what = "spike times" if spikes.are_times else "counts"
    trials = "1 trial" if len(preview.n_bins) == 1 else f"{len(preview.n_bins)} trials"
    width = "" if preview.bin is None else f" of {1000 * preview.bin:g} ms, {preview.seconds:,.4g} s"
    yield f"{len(preview.names)} units, {what}; {sum(preview.n_bins):,} bins{width}, in {trials}"
    if repeating(preview.n_bins):
        yield f"{len(preview.n_bins)} trials of {preview.n_bins[0]} bins: a scan also fits what all share, h(t)"
    yield f"{preview.n_spikes.sum():,} spikes, {preview.lost.sum():,} of them lost to the binning"
    if preview.loss:
        curve = "  ".join(f"{1000 * width:g} ms {100 * part:.1f} %" for width, part in preview.loss.items())
        yield f"lost by width: {curve}"
    yield ""
    rates = preview.rates
    yield f"{'unit':<16}{'spikes':>10}{'bins with one':>15}{'lost':>8}" + ("" if rates is None else f"{'Hz':>10}")
    for k in np.argsort(-preview.n_spikes, kind="stable"):
        lost = preview.lost[k] / max(preview.n_spikes[k], 1)
        line = f"{preview.names[k]:<16}{preview.n_spikes[k]:>10,}{preview.fired[k]:>14.2%} {lost:>7.1%}"
        yield line + ("" if rates is None else f"{rates[k]:>10.3g}")
    if preview.remarks:
        yield ""
        yield from preview.remarks
