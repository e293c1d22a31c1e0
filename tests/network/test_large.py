"""Large recordings: what a hundred units in a million bins would take, measured at a fiftieth of that."""

import tracemalloc

import numpy as np
import pytest

from hidviz import read_spikes
from hidviz.network import preview
from hidviz.network.formats import at_one_go
from tests.recordings import write_events

SCALE = 50
MOST = 1_000_000_000 // SCALE  # bytes
N_UNITS, N_BINS, BIN = 100, 1_000_000 // SCALE, 0.02
SEEN = np.random.default_rng(1).random((N_BINS, N_UNITS)) < 0.04


def trains():
    """A spike in the middle of every bin that has one."""
    return [(np.flatnonzero(column) + 0.5) * BIN for column in SEEN.T]


def as_npz(path):
    np.savez(path, **{f"u{k:03d}": train for k, train in enumerate(trains())})


def as_npy(path):
    np.save(path, SEEN.astype(np.int8))


def as_csv(path):
    np.savetxt(path, SEEN, fmt="%d", delimiter=",")


def as_events(path):
    write_events(path, trains(), names=[f"u{k:03d}" for k in range(N_UNITS)])


@pytest.mark.parametrize(
    ("name", "write"), [("a.npz", as_npz), ("a.npy", as_npy), ("a.csv", as_csv), ("events.csv", as_events)]
)
def test_a_hundred_units_and_a_million_bins_would_fit_into_a_gigabyte(tmp_path, monkeypatch, name, write):
    for module, bound in ((preview, "SAMPLE"), (preview, "SAMPLE_NUMBERS"), (at_one_go, "_STRETCH")):
        monkeypatch.setattr(module, bound, getattr(module, bound) // SCALE)
    write(tmp_path / name)
    read_spikes(tmp_path / name).only([0])  # what is imported on the way is not counted
    tracemalloc.start()
    spikes = read_spikes(tmp_path / name)
    width = BIN if spikes.are_times else None
    recording, seen = spikes.recording(width), spikes.preview(width)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(recording.trials[0] > 0, SEEN[: recording.n_bins])
    assert seen.n_spikes.sum() == SEEN.sum()
    assert peak <= MOST
