"""Own files: what was dropped on the page, how to read it, and what is in it; the spikes stay in memory.

The readers open paths. So what was handed in lies in a folder of the system's while it is read, and not a moment
longer; refusals name the file as its owner knows it.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hidviz.experiments import ASSETS
from hidviz.network import Preview, Spikes, read_spikes
from hidviz.numerics import States
from hidviz.ui.text.language import _

LARGEST = 50 * 2**20  # bytes of all files together
OURS = "assets/recordings/hippocampus.mat"
OURS_ENDS = 998.0  # seconds, the length of the recording
SAMPLE = 500  # bins that are drawn
KILOSORT = {"spike_times.npy", "spike_clusters.npy"}


@dataclass(frozen=True)
class How:
    """How to read files, and what of them; None and empty for what they say themselves.

    Args:
        variable: which variable of a file that holds several.
        rate: ticks a second of times that are samples.
        trials: the table of intervals of an .nwb file that are the trials.
        transpose: units lie down the rows.
        start: seconds before which all is left out.
        stop: seconds after which all is left out.
        units: names of the units to keep.
    """

    variable: str | None = None
    rate: float | None = None
    trials: str | None = None
    transpose: bool = False
    start: float | None = None
    stop: float | None = None
    units: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Source:
    """Files that were handed in, and how to read them.

    Args:
        files: name → content; empty for the recording that ships with hidviz.
        how: how to read them.
    """

    files: Mapping[str, bytes] = field(repr=False)
    how: How

    @property
    def is_ours(self) -> bool:
        """Whether it is the recording that ships with hidviz."""
        return not self.files

    @property
    def names(self) -> tuple[str, ...]:
        """Of the files, as on the command line."""
        return (OURS,) if self.is_ours else tuple(self.files)

    @property
    def title(self) -> str:
        """What to call it."""
        return _("hippocampus.mat (ours)") if self.is_ours else ", ".join(self.files)

    @property
    def digest(self) -> str:
        """SHA-256 of the content of all files, one after the other."""
        found = hashlib.sha256()
        for content in [_ours().read_bytes()] if self.is_ours else self.files.values():
            found.update(content)
        return found.hexdigest()


OUR_SOURCE = Source({}, How(stop=OURS_ENDS))


@dataclass(frozen=True, eq=False)
class Looked:
    """What was read, in bins.

    Args:
        source: where it is from.
        spikes: as read.
        bin: seconds; None for counts, whose bins are what they are.
        preview: of it.
        sample: (n, N) of ±1, the first bins of the first trial, all units.
    """

    source: Source
    spikes: Spikes
    bin: float | None
    preview: Preview
    sample: States


def read(source: Source) -> Spikes:
    """What the files hold.

    Raises:
        ValueError: they cannot be read; the message names the file and says what to do.
    """
    how = source.how
    options = {"variable": how.variable, "rate": how.rate, "trials": how.trials, "transpose": how.transpose}
    if source.is_ours:
        spikes = read_spikes(_ours(), **options)  # type: ignore[arg-type]
    else:
        with tempfile.TemporaryDirectory(prefix="hidviz-") as folder:
            try:
                spikes = read_spikes(_written(source.files, Path(folder)), **options)  # type: ignore[arg-type]
            except (ValueError, OSError) as error:
                raise ValueError(str(error).replace(f"{folder}/", "").replace(folder, "These files")) from error
    if how.start is not None or how.stop is not None:
        spikes = spikes.within(how.start, how.stop)
    if how.units:
        if absent := [name for name in how.units if name not in spikes.names]:
            raise ValueError(f"There is no unit {', '.join(absent)}; there are {', '.join(spikes.names)}.")
        spikes = spikes.only([spikes.names.index(name) for name in how.units])
    return spikes


def iter_look(source: Source, width: float, spikes: Spikes | None = None) -> Iterator[Looked]:
    """Read, unless that is done, and preview in bins of this width, in seconds: one item, for a Runner."""
    found = read(source) if spikes is None else spikes
    wide = width if found.are_times else None
    yield Looked(source, found, wide, found.preview(wide), _sample(found, wide))


def _sample(spikes: Spikes, width: float | None) -> States:
    if width is not None:
        begin = spikes.trials[0].start
        spikes = spikes.within(begin, begin + (SAMPLE + 0.5) * width)
    counts = spikes.binned(width)
    first = counts[0][:SAMPLE] if counts else np.empty((0, spikes.n_units))
    return np.where(first > 0, 1, -1).astype(np.int8)


def _written(files: Mapping[str, bytes], folder: Path) -> Path | list[Path]:
    paths = []
    for name, content in files.items():
        path = folder / re.sub(r"[^\w.()+ -]|^\.+", "_", name)[-120:]
        path.write_bytes(content)
        paths.append(path)
    return folder if set(files) >= KILOSORT else paths


def _ours() -> Path:
    return ASSETS.parent / OURS
