"""Reading: from a file of a hundred units in a million bins to what can be learned from, and to its preview.

    python -m tests.benchmarks.reading [--quick]

The same spikes in every format, two a second in bins of 20 ms, each read in a process of its own: seconds to read the
file, to put it into bins, and to preview it, and the peak of that process's memory, libraries included. The goal for
each row is 10 s and 1,000 MB in all.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from hidviz import read_spikes
from tests.benchmarks.table import head, heading, line
from tests.recordings import write_cells, write_events, write_nwb

BIN = 0.02
RATE = 2.0  # spikes a second
ROOT = Path(__file__).parent.parent.parent
Trains = list[np.ndarray]
FORMATS: Mapping[str, tuple[str, Callable[[Path, Trains, np.ndarray], object]]] = {
    "spike times": (".npz", lambda path, trains, _: np.savez(path, *trains)),
    "spike times, NWB": (".nwb", lambda path, trains, seen: write_nwb(path, trains, trials=[(0.0, len(seen) * BIN)])),
    "spike times, MATLAB": (".mat", lambda path, trains, _: write_cells(path, trains)),
    "events": (".csv", lambda path, trains, _: write_events(path, trains)),
    "bins": (".npy", lambda path, _, seen: np.save(path, seen.astype(np.int8))),
    "bins as text": (".csv", lambda path, _, seen: write_bins(path, seen)),
}


def write_bins(path: Path, seen: np.ndarray) -> None:
    """0 and 1 with commas between them."""
    text = np.full((seen.shape[0], 2 * seen.shape[1]), ord(","), np.uint8)
    text[:, ::2] = ord("0") + seen
    text[:, -1] = ord("\n")
    text.tofile(path)


def measured(path: Path) -> dict[str, float]:
    """Seconds of each part, and the peak of memory in MB, in this process."""
    began = time.perf_counter()
    spikes = read_spikes(path)
    read = time.perf_counter()
    width = BIN if spikes.are_times else None
    spikes.recording(width)
    binned = time.perf_counter()
    spikes.preview(width)
    done = time.perf_counter()
    status = Path("/proc/self/status").read_text(encoding="ascii").splitlines()  # getrusage tells a parent's peak too
    peak = int(next(entry for entry in status if entry.startswith("VmHWM")).split()[1]) / 1000.0
    return {"read": read - began, "bin": binned - read, "preview": done - binned, "all": done - began, "MB": peak}


def elsewhere(path: Path) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.reading", "--file", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.reading", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a hundredth of the bins")
    parser.add_argument("--file", type=Path, help="measure this file alone, in this process")
    options = parser.parse_args(arguments)
    if options.file is not None:
        print(json.dumps(measured(options.file)))
        return 0
    n_units, n_bins = 100, 10_000 if options.quick else 1_000_000
    seen = np.random.default_rng(1).random((n_bins, n_units)) < RATE * BIN
    trains = [(np.flatnonzero(column) + 0.5) * BIN for column in seen.T]
    print(f"{heading()}; {n_units} units, {n_bins:,} bins\n")
    print(head(["a file of", "MB", "read, s", "into bins", "preview", "in all", "peak MB"]))
    with tempfile.TemporaryDirectory() as folder:
        for name, (ending, write) in FORMATS.items():
            path = Path(folder) / f"session{ending}"
            write(path, trains, seen)
            found = elsewhere(path)
            numbers = [f"{found[part]:.2f}" for part in ("read", "bin", "preview", "all")]
            size = path.stat().st_size / 1e6
            print(line([f"{name} ({ending})", f"{size:.0f}", *numbers, f"{found['MB']:.0f}"]), flush=True)
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
