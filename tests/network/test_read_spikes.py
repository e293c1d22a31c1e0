"""Files: every format gives the same spikes, or a sentence that names file, line and column and says what to do."""

import zipfile

import numpy as np
import pytest

from hidviz.network.read_spikes import read_spikes
from tests.recordings import hippocampus, write_cells, write_events, write_nwb, write_v73

COUNTS = np.random.default_rng(1).poisson(0.3, (50, 4))


@pytest.fixture(scope="module")
def trains():
    return hippocampus()


@pytest.fixture(scope="module")
def expected(trains):
    return np.stack([np.bincount(np.floor(t / 0.02 + 1e-6).astype(int), minlength=5000) for t in trains], axis=1)


def counted(path, **options):
    return np.concatenate(read_spikes(path, **options).within(0.0, 100.0).binned(0.02))


def test_spike_times_read_alike_from_every_format(tmp_path, trains, expected):
    for path in (
        write_events(tmp_path / "a.csv", trains),
        write_cells(tmp_path / "a.mat", trains),
        write_nwb(tmp_path / "a.nwb", trains),
        write_v73(tmp_path / "b.mat", trains=trains),
    ):
        np.testing.assert_array_equal(counted(path), expected)
    np.savez(tmp_path / "a.npz", **{f"unit{k}": train for k, train in enumerate(trains)})
    np.testing.assert_array_equal(counted(tmp_path / "a.npz"), expected)


def test_kilosorts_pair_is_read_with_its_rate(tmp_path, trains):
    samples = np.concatenate([np.round(train * 30_000).astype(np.uint64) for train in trains])
    clusters = np.repeat(np.arange(16, dtype=np.int32), [len(train) for train in trains])
    order = np.argsort(samples, kind="stable")
    np.save(tmp_path / "spike_times.npy", samples[order][:, None])
    np.save(tmp_path / "spike_clusters.npy", clusters[order])
    with pytest.raises(ValueError, match="--rate 30000"):
        read_spikes(tmp_path / "spike_times.npy")
    found = read_spikes(tmp_path / "spike_times.npy", rate=30_000.0)
    assert found.names == tuple(map(str, range(16)))
    (tmp_path / "params.py").write_text("dat_path = 'x'\nsample_rate = 30000.\n")
    for one, other in zip(
        found.trials[0].trains, read_spikes(tmp_path / "spike_times.npy").trials[0].trains, strict=True
    ):
        np.testing.assert_array_equal(one, other)
    assert np.abs(found.trials[0].trains[3] - trains[3]).max() <= 0.5 / 30_000 + 1e-12


def test_trials_and_names_of_nwb_are_kept(tmp_path, trains):
    path = write_nwb(tmp_path / "a.nwb", trains, names=[f"ca{k}" for k in range(16)])
    found = read_spikes(path)
    assert [(trial.start, trial.stop) for trial in found.trials] == [(0.0, 50.0), (50.0, 100.0)]
    assert found.names[3] == "ca3"
    assert len(read_spikes(path, trials="none").trials) == 1
    with pytest.raises(ValueError, match="no table of intervals sleep; it has trials"):
        read_spikes(path, trials="sleep")


@pytest.mark.parametrize(
    "text",
    [
        "{body}",
        "a,b,c,d\n{body}",
        "# saved today\n{body}",
        ",0,1,2,3\n{numbered}",
        "time,1,2,3,4\n{numbered}",
        "1,2,3,4\n{body}",
        '\ufeff"a","b","c","d"\n{body}',
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_bins_down_units_across_read_alike_from_every_text(tmp_path, text, delimiter):
    body = "\n".join(",".join(map(str, row)) for row in COUNTS)
    numbered = "\n".join(f"{k}," + ",".join(map(str, row)) for k, row in enumerate(COUNTS))
    path = tmp_path / "A.CSV"
    path.write_text(text.format(body=body, numbered=numbered).replace(",", delimiter) + "\n", encoding="utf-8")
    found = read_spikes(path)
    np.testing.assert_array_equal(found.counts[0], COUNTS)
    assert len(found.remarks) == ("numbered" in text)


def test_other_encodings_words_and_spaces_are_read(tmp_path):
    words = "\n".join(" ".join(str(bool(value)) for value in row) for row in COUNTS > 0)
    (tmp_path / "a.txt").write_text("grün b c d\n" + words, encoding="utf-16")
    (tmp_path / "b.txt").write_text("grün b c d\n" + words, encoding="cp1252")
    for name in ("a.txt", "b.txt"):
        found = read_spikes(tmp_path / name)
        assert found.names == ("grün", "b", "c", "d")
        np.testing.assert_array_equal(found.counts[0], COUNTS > 0)


def test_arrays_read_alike_from_every_format(tmp_path):
    np.save(tmp_path / "a.npy", COUNTS)
    np.save(tmp_path / "trials.npy", COUNTS.reshape(2, 25, 4))
    np.savez(tmp_path / "a.npz", COUNTS[:25], COUNTS[25:])
    write_v73(tmp_path / "a.mat", matrix=COUNTS)
    np.testing.assert_array_equal(read_spikes(tmp_path / "a.npy").counts[0], COUNTS)
    np.testing.assert_array_equal(read_spikes(tmp_path / "a.mat").counts[0], COUNTS)
    for name in ("trials.npy", "a.npz"):
        found = read_spikes(tmp_path / name)
        assert len(found.counts) == 2
        np.testing.assert_array_equal(np.concatenate(found.counts), COUNTS)
    np.save(tmp_path / "turned.npy", COUNTS.T)
    np.testing.assert_array_equal(read_spikes(tmp_path / "turned.npy", transpose=True).counts[0], COUNTS)
    assert len(read_spikes([tmp_path / "a.npy", tmp_path / "a.npy"]).counts) == 2


def test_matlab_files_with_two_candidates_ask_which(tmp_path, trains):
    path = write_cells(tmp_path / "a.mat", trains, S=COUNTS, J=np.eye(3) * 0.5)
    with pytest.raises(ValueError, match="has unit_t and S: say which, such as --variable unit_t"):
        read_spikes(path)
    np.testing.assert_array_equal(read_spikes(path, variable="S").counts[0], COUNTS)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "bad.csv is empty"),
        ("a,b\n0,1\n1,x\n", 'bad.csv, line 3, column "b": "x" is no number'),
        ("0,x\n1,1\n0,0\n", 'bad.csv, line 1, column 2: "x" is no number'),
        ("0,\n1,1\n0,0\n", "line 1, column 2: is blank"),
        ("a,b\n0,1\n\n1,2,3\n", "line 4: 3 cells, but 2"),
        ("a,b\n0,1\n1,-1\n0,0\n", 'line 3, column "b": -1 among 0 and 1'),
        ("a,b\n0,1\n\n1,0.5\n0,0\n", 'line 4, column "b": .* got 0.5'),
        ("index,a,b\n0,0,1\n1,1,7.5\n2,0,0\n", 'line 3, column "b": .* got 7.5'),
        ("a,a\n0,1\n1,1\n0,0\n", 'two columns have the name "a"'),
        ("time,unit\n0.1,3\nx,4\n", 'line 3, column "time": "x" is no time'),
        ("time,unit\n0.1,\n", 'line 2, column "unit": is blank'),
        ("time,unit\n", "no events"),
    ],
)
def test_a_bad_text_is_told_with_line_and_column(tmp_path, text, sentence):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_spikes(path)


def header(shape, dtype="<f8"):
    """The head of a .npy file that claims to hold this much, and nothing after it."""
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    text += " " * (118 - len(text) - 1) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


def test_files_that_lie_are_refused_without_being_loaded(tmp_path):
    (tmp_path / "huge.npy").write_bytes(header((10**12, 4)) + b"\x00" * 64)
    (tmp_path / "objects.npy").write_bytes(header((3,), "|O") + b"\x80\x04N.")
    (tmp_path / "text.npz").write_text("time,unit\n")
    (tmp_path / "pickle.npz").write_bytes(b"\x80\x04\x95\x00\x00N.")
    (tmp_path / "text.mat").write_text("x" * 600)
    (tmp_path / "text.nwb").write_text("x" * 600)
    (tmp_path / "zeros.csv").write_bytes(b"\x00" * 100)
    (tmp_path / "a.xlsx").write_text("x")
    with (
        zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a.npy", "w") as file,
    ):
        file.write(header((900_000_000,), "|i1"))
        for _ in range(900):
            file.write(b"\x00" * 1_000_000)
    for name, sentence in (
        ("huge.npy", "says that it holds 32,000,000 MB"),
        ("objects.npy", "Python objects, which are never loaded"),
        ("text.npz", "begins like text"),
        ("pickle.npz", "a pickle, which is never loaded"),
        ("bomb.npz", "would unpack to 900 MB"),
        ("text.mat", "no MATLAB file"),
        ("text.nwb", "no HDF5 file"),
        ("zeros.csv", "no text"),
        ("a.xlsx", "must end in one of .csv"),
        ("absent.csv", "is no file"),
    ):
        with pytest.raises(ValueError, match=f"{name} .*{sentence}"):
            read_spikes(tmp_path / name)


def test_files_of_other_units_are_no_trials_of_one_recording(tmp_path):
    np.save(tmp_path / "a.npy", COUNTS)
    np.save(tmp_path / "b.npy", COUNTS[:, :3])
    with pytest.raises(ValueError, match=r"b.npy must hold the same units as .*a.npy"):
        read_spikes([tmp_path / "a.npy", tmp_path / "b.npy"])
