"""Files: every format gives the same spikes, or a sentence that names file, line and column and says what to do."""

import zipfile

import numpy as np
import pytest
import scipy.sparse
from scipy.io import savemat

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


@pytest.mark.slow
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
        ("a.xlsx", "packed, or a workbook: unpack it, or save the sheet as .csv"),
        ("a.json", "must end in one of .csv"),
        ("absent.csv", "is no file"),
    ):
        with pytest.raises(ValueError, match=f"{name} .*{sentence}"):
            read_spikes(tmp_path / name)


def test_files_of_other_units_are_no_trials_of_one_recording(tmp_path):
    np.save(tmp_path / "a.npy", COUNTS)
    np.save(tmp_path / "b.npy", COUNTS[:, :3])
    with pytest.raises(ValueError, match=r"b.npy must hold the same units as .*a.npy"):
        read_spikes([tmp_path / "a.npy", tmp_path / "b.npy"])


@pytest.mark.parametrize(
    "text",
    [
        "unit,time\n3,0.10\n4,0.20\n3,0.30\n",
        "Spike Time (s);Unit\n0,10;3\n0,20;4\n0,30;3\n",
        "time (ms),unit\n100,3\n200,4\n300,3\n",
        "time_ms\tcluster\tamplitude\tchannel\tdepth\n100\t3\t-7.5\t1\t2\n200\t4\t-8\t1\t2\n300\t3\t-9\t1\t2\n",
        "index,time,unit\r\n0,0.1,3.0\r\n1,0.2,4.0\r\n2,0.3,3.0\r\n\r\n",
    ],
)
def test_lists_of_events_are_known_however_they_are_headed(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    found = read_spikes(path)
    assert found.names == ("3", "4")
    np.testing.assert_allclose(found.trials[0].trains[0], [0.1, 0.3], rtol=1e-12)


def test_events_without_a_heading_are_told_to_have_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("0.0123,3\n0.0456,4\n")
    with pytest.raises(ValueError, match="let line 1 name the columns: time,unit"):
        read_spikes(path)


def test_events_of_several_trials_count_from_the_start_of_each(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("trial,time,unit\n1,0.1,a\n1,0.5,b\n2,0.2,a\n2,0.95,b\n")
    first, second = read_spikes(path).binned(0.1)
    assert (first.sum(), second.sum()) == (2, 1)  # the last spike ends both trials, and fills no bin
    assert first[1].tolist() == [1, 0]


def test_decimals_that_are_counts_are_read(tmp_path):
    np.savetxt(tmp_path / "a.txt", COUNTS)
    np.testing.assert_array_equal(read_spikes(tmp_path / "a.txt").counts[0], COUNTS)


def test_what_else_lies_in_an_npz_is_left_out_and_told(tmp_path, trains):
    np.savez(tmp_path / "a.npz", fs=30_000.0, note="today", **{f"u{k}": train for k, train in enumerate(trains)})
    found = read_spikes(tmp_path / "a.npz")
    assert found.n_units == 16
    assert "fs, note of the file" in found.remarks[0]
    np.savez(tmp_path / "b.npz", fs=30_000.0)
    with pytest.raises(ValueError, match="no lists and no matrices"):
        read_spikes(tmp_path / "b.npz")
    np.savez(
        tmp_path / "group.npz", t=np.concatenate(trains), index=np.repeat(np.arange(16.0), [len(t) for t in trains]),
        start=[0.0], end=[100.0], type="TsGroup",
    )  # fmt: skip
    assert read_spikes(tmp_path / "group.npz").names == tuple(map(str, range(16)))


def test_fields_of_structs_and_cells_of_matrices_are_found(tmp_path, trains, expected):
    cells = np.empty((1, 16), dtype=object)
    trials = np.empty((2, 1), dtype=object)
    for k, train in enumerate(trains):
        cells[0, k] = train[None, :]
    trials[0, 0], trials[1, 0] = COUNTS[:20], COUNTS[20:]
    savemat(tmp_path / "a.mat", {"session": {"spikes": {"times": cells}, "rate": 30_000.0}})
    np.testing.assert_array_equal(counted(tmp_path / "a.mat"), expected)
    savemat(tmp_path / "b.mat", {"raster": trials})
    np.testing.assert_array_equal(np.concatenate(read_spikes(tmp_path / "b.mat").counts), COUNTS)
    savemat(tmp_path / "c.mat", {"raster": scipy.sparse.csc_matrix(COUNTS.astype(float))})
    np.testing.assert_array_equal(read_spikes(tmp_path / "c.mat").counts[0], COUNTS)
    savemat(tmp_path / "d.mat", {"units": [{"ts": train} for train in trains]})
    np.testing.assert_array_equal(counted(tmp_path / "d.mat"), expected)


def test_a_folder_of_kilosort_may_be_named_itself(tmp_path):
    np.save(tmp_path / "spike_times.npy", np.array([10, 20, 40], np.uint64))
    np.save(tmp_path / "spike_clusters.npy", np.array([7, 9, 7], np.int32))
    assert read_spikes(tmp_path, rate=100.0).names == ("7", "9")


def test_a_file_that_is_cut_off_anywhere_has_a_sentence(tmp_path, trains):
    """Every prefix of every kind of file: read in part, or refused in words; never an error of a library."""
    np.savez_compressed(tmp_path / "a.npz", **{f"u{k}": train for k, train in enumerate(trains)})
    np.save(tmp_path / "a.npy", COUNTS)
    write_cells(tmp_path / "a.mat", trains)
    write_nwb(tmp_path / "a.nwb", trains)
    write_events(tmp_path / "a.csv", trains)
    rng = np.random.default_rng(1)
    for name in ("a.npz", "a.npy", "a.mat", "a.nwb", "a.csv"):
        whole = (tmp_path / name).read_bytes()
        damaged = tmp_path / f"cut{name}"
        for k in range(12):
            content = bytearray(whole[: int(rng.integers(len(whole)))] if k % 2 else whole)
            if k % 2 == 0:
                content[int(rng.integers(min(len(content), 4000)))] ^= 1 << int(rng.integers(8))
            damaged.write_bytes(bytes(content))
            try:
                read_spikes(damaged)
            except ValueError as error:
                assert str(error).startswith(str(damaged))  # noqa: PT017 - either outcome is right
