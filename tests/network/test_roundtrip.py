"""A recording written in every format and read again is the same recording: counts equal, costs to 1e-9."""

import numpy as np
import pytest
from scipy.io import savemat

from hidviz import Spikes, divide, read_spikes
from hidviz.evaluation.paired import block_costs
from hidviz.learners import logistic_fit
from tests.recordings import hippocampus, write_cells, write_events, write_nwb, write_v73

BIN, STOP, N = 0.02, 100.0, 5000


@pytest.fixture(scope="module")
def trains():
    return hippocampus(STOP)


@pytest.fixture(scope="module")
def expected(trains):
    """Counts by another way than the reader's."""
    return np.stack([np.bincount(np.floor(t / BIN + 1e-6).astype(int), minlength=N) for t in trains], axis=1)


def costs(recording):
    """Costs of both baselines on the judging blocks, nats per bin."""
    parts = divide(recording)
    return [
        block_costs(logistic_fit(parts.learn, lags=lags, bias=True, penalty=1e-4).couplings, parts.judge, name)
        for lags, name in ((1, "visible"), (2, "visible-lag2"))
    ]


@pytest.fixture(scope="module")
def wanted(expected):
    return costs(Spikes.of(expected, bin=BIN).recording())


def times_csv(folder, trains):
    return write_events(folder / "a.csv", trains)


def times_tsv(folder, trains):
    path = write_events(folder / "a.csv", trains)
    (folder / "b.tsv").write_text(path.read_text().replace(",", "\t"))
    return folder / "b.tsv"


def times_npz(folder, trains):
    np.savez(folder / "a.npz", **{f"unit{k:02d}": train for k, train in enumerate(trains)})
    return folder / "a.npz"


def times_kilosort(folder, trains):
    samples = np.concatenate([np.round(train * 1e6).astype(np.uint64) for train in trains])
    np.save(folder / "spike_times.npy", samples)
    np.save(folder / "spike_clusters.npy", np.repeat(np.arange(16), [len(train) for train in trains]))
    (folder / "params.py").write_text("sample_rate = 1000000.\n")
    return folder


TIMES = {
    ".csv": times_csv,
    ".tsv": times_tsv,
    ".npz": times_npz,
    "kilosort": times_kilosort,
    ".mat": lambda folder, trains: write_cells(folder / "a.mat", trains),
    ".mat v7.3": lambda folder, trains: write_v73(folder / "b.mat", trains=trains),
    ".nwb": lambda folder, trains: write_nwb(folder / "a.nwb", trains, trials=((0.0, STOP),)),
}


@pytest.mark.parametrize("kind", TIMES)
def test_spike_times_come_back(tmp_path, trains, expected, wanted, kind):
    found = read_spikes(TIMES[kind](tmp_path, trains)).within(0.0, STOP)
    np.testing.assert_array_equal(np.concatenate(found.binned(BIN)), expected)
    for one, other in zip(costs(found.recording(BIN)), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


def counts_text(folder, counts):
    np.savetxt(folder / "a.csv", counts, fmt="%d", delimiter=";", header=";".join("abcdefghijklmnop"), comments="")
    return folder / "a.csv"


def counts_npy(folder, counts):
    np.save(folder / "a.npy", counts)
    return folder / "a.npy"


def states_npy(folder, counts):
    np.save(folder / "a.npy", np.where(counts > 0, 1, -1).astype(np.int8))
    return folder / "a.npy"


def counts_npz(folder, counts):
    np.savez(folder / "a.npz", trial=counts)
    return folder / "a.npz"


def counts_mat(folder, counts):
    savemat(folder / "a.mat", {"x": counts})
    return folder / "a.mat"


COUNTS = {
    ".csv": counts_text,
    ".npy": counts_npy,
    ".npy of ±1": states_npy,
    ".npz": counts_npz,
    ".mat": counts_mat,
    ".mat v7.3": lambda folder, counts: write_v73(folder / "b.mat", matrix=counts),
}


@pytest.mark.parametrize("kind", COUNTS)
def test_counts_come_back(tmp_path, expected, wanted, kind):
    found = read_spikes(COUNTS[kind](tmp_path, expected))
    read = np.concatenate(found.binned())
    np.testing.assert_array_equal(read, np.minimum(expected, 1) if "±" in kind else expected)
    for one, other in zip(costs(found.recording()), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-9)


def test_spike_times_at_the_middle_of_their_bins_give_the_counts_they_are_of(expected):
    times = [np.repeat((np.arange(N) + 0.5) * BIN, column) for column in expected.T]
    found = np.concatenate(Spikes.of(times).within(0.0, STOP).binned(BIN))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "given",
    [
        lambda masked: masked,
        lambda masked: [masked, masked],
        lambda masked: np.ma.stack([masked, masked]),
        lambda masked: {"a": masked[:, 0], "b": masked[:, 1]},
        lambda masked: [masked[:, 0], masked[:, 1]],
    ],
)
def test_what_is_masked_is_not_taken_for_silence(given):
    masked = np.ma.masked_array(np.ones((20, 2), int), mask=np.arange(40).reshape(20, 2) == 6)
    with pytest.raises(ValueError, match=r"entries are masked, the first at .*: missing is not silent"):
        Spikes.of(given(masked))
    assert Spikes.of(given(np.ma.masked_array(np.ones((20, 2), int)))).n_units == 2
