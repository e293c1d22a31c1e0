"""Recordings as they come from laboratories, odd ones: read for what they are, or refused by cell, unit and remedy."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from scipy.io import savemat

from hidviz import Spikes, read_spikes
from tests.recordings import write_cells, write_events, write_nwb, write_v73

RNG = np.random.default_rng(1)
COUNTS = RNG.poisson(0.3, (50, 4))
TRAINS = [np.sort(RNG.uniform(0.0, 60.0, 100)).round(4) for _ in range(4)]
EVENTS = sorted((time, unit) for unit, train in enumerate(TRAINS) for time in train.tolist())


def lines(rows, delimiter=",", end="\n"):
    return "".join(delimiter.join(map(str, row)) + end for row in rows)


def events(delimiter=",", time=repr, heading="time,unit"):
    return heading.replace(",", delimiter) + "\n" + lines(((time(t), k) for t, k in EVENTS), delimiter)


def cells(*shape):
    made = np.empty(shape, dtype=object)
    for k, place in enumerate(np.ndindex(*shape)):
        made[place] = TRAINS[k % 4]
    return made


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trailing.csv", "a,b,c,d,\r\n" + lines(COUNTS, end=",\r\n")),
        ("trailing-bare.csv", lines(COUNTS, end=",\n")),
        ("mark.csv", "\ufeffa,b,c,d\r\n" + lines(COUNTS, end="\r\n")),
        ("carriage-returns.csv", lines(COUNTS, end="\r")),
        ("quotes.csv", lines(COUNTS).replace("0", '"0"')),
        ("spaces.csv", " a , b , c , d \n" + lines(COUNTS, " , ")),
        ("unmarked-utf16.csv", ("a,b,c,d\n" + lines(COUNTS)).encode("utf-16-le")),
        ("decimal-commas.csv", "a;b;c;d\n" + lines(COUNTS, ";").replace("0", "0,0")),
    ],
)
def test_counts_are_read_from_odd_texts(tmp_path, name, content):
    found = read_spikes(write(tmp_path / name, content))
    np.testing.assert_array_equal(found.counts[0], COUNTS)
    assert found.names in (("a", "b", "c", "d"), ("u1", "u2", "u3", "u4"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("decimal-commas.csv", events(";", lambda t: f"{t:.4f}".replace(".", ","))),
        ("trailing.csv", events().replace("\n", ",\n")),
        ("microseconds.csv", events(time=lambda t: f"{1e6 * t:.0f}", heading="time (µs),unit")),
        ("marks.csv", events().replace("\n", ".0\n").replace("unit.0", "unit")),
        ("unsorted.csv", "time,unit\n" + lines(RNG.permutation(np.array(EVENTS)))),
        ("utf16.csv", events().encode("utf-16")),
        ("utf16-unmarked.csv", events().encode("utf-16-le")),
        ("more-columns.csv", "time,cluster,amplitude\n" + lines((t, k, ("7", "-", "", "x y")[k]) for t, k in EVENTS)),
    ],
)  # fmt: skip
def test_events_are_read_from_odd_texts(tmp_path, name, content):
    found = read_spikes(write(tmp_path / name, content))
    assert found.names == ("0", "1", "2", "3")
    for train, expected in zip(found.trials[0].trains, TRAINS, strict=True):
        np.testing.assert_allclose(train, expected, atol=1e-9)


def test_units_are_called_as_the_file_calls_them(tmp_path):
    names = ["ca#1", "ca 1 b", "007", "NA"]
    found = read_spikes(write_events(tmp_path / "a.csv", TRAINS, names=names))
    assert sorted(found.names) == sorted(names)


def test_events_read_at_one_go_are_those_read_line_by_line(tmp_path):
    text = events(heading="time,unit,trial").replace("\n", ",1\n").replace("trial,1", "trial")
    quick = read_spikes(write(tmp_path / "a.csv", text))
    slow = read_spikes(write(tmp_path / "b.csv", text + "# the end\n"))  # which pandas does not know for a remark
    assert quick.names == slow.names
    for one, other in zip(quick.trials[0].trains, slow.trials[0].trains, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_column_that_says_the_trial_divides_bins_into_trials(tmp_path):
    which = np.repeat([1, 2, 5], [20, 10, 20])
    table = pd.DataFrame(COUNTS, columns=list("abcd")).assign(trial=which)
    table.to_csv(tmp_path / "a.csv", index=False)
    indexed = table.set_index("trial", append=True)
    for found in (read_spikes(tmp_path / "a.csv"), Spikes.of(table), Spikes.of(indexed)):
        assert found.names == ("a", "b", "c", "d")
        assert [len(counts) for counts in found.counts] == [20, 10, 20]
        np.testing.assert_array_equal(np.concatenate(found.counts), COUNTS)
    table.loc[25, "c"] = -3
    table.to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(ValueError, match=r'b.csv, line 27, column "c": .* got -3'):
        read_spikes(tmp_path / "b.csv")


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array])
def test_a_sparse_matrix_in_a_file_is_one_of_counts(tmp_path, make):
    scipy.sparse.save_npz(tmp_path / "a.npz", make(COUNTS))
    np.testing.assert_array_equal(read_spikes(tmp_path / "a.npz").counts[0], COUNTS)
    scipy.sparse.save_npz(tmp_path / "b.npz", make(COUNTS.T))
    np.testing.assert_array_equal(read_spikes(tmp_path / "b.npz", transpose=True).counts[0], COUNTS)


def test_times_and_units_in_two_arrays_are_events_and_not_two_units(tmp_path):
    times, units = np.array(EVENTS).T
    np.savez(tmp_path / "a.npz", spike_times=times, spike_clusters=units.astype(int))
    savemat(tmp_path / "a.mat", {"times": times[:, None], "cluster": units[:, None]})
    savemat(tmp_path / "b.mat", {"spikes": {"time": 1000.0 * times, "unit": units}})
    for name, rate in (("a.npz", None), ("a.mat", None), ("b.mat", 1000.0)):
        found = read_spikes(tmp_path / name, rate=rate)
        assert found.names == ("0", "1", "2", "3")
        for train, expected in zip(found.trials[0].trains, TRAINS, strict=True):
            np.testing.assert_allclose(train, expected, rtol=1e-12)


def test_structs_empty_cells_and_words_of_matlab_7_3_are_what_they_are(tmp_path):
    import h5py

    write_v73(tmp_path / "a.mat", trains=TRAINS)
    with h5py.File(tmp_path / "a.mat", "a") as file:
        file["session/fs"] = 30_000.0
        file.move("unit_t", "session/spikes")  # a struct
        file["#refs#/empty"] = np.array([0, 0], np.uint64)  # of an empty array, MATLAB keeps the lengths
        file["#refs#/empty"].attrs["MATLAB_empty"] = np.uint8(1)
        file["session/spikes"][0, 2] = file["#refs#/empty"].ref
        names = file.create_dataset("names", (1, 4), dtype=h5py.ref_dtype)
        for k in range(4):
            file[f"#refs#/n{k}"] = np.array([[97 + k], [98]], np.uint16)
            file[f"#refs#/n{k}"].attrs["MATLAB_class"] = np.bytes_("char")
            names[0, k] = file[f"#refs#/n{k}"].ref
    found = read_spikes(tmp_path / "a.mat")
    assert [len(train) for train in found.trials[0].trains] == [100, 100, 0, 100]
    with h5py.File(tmp_path / "a.mat", "a") as file:
        file["session/spikes"][0, 2] = h5py.Reference()
    with pytest.raises(ValueError, match=r"has session.spikes, a cell of which points to nothing"):
        read_spikes(tmp_path / "a.mat")


def test_trials_that_are_none_or_overlap_are_told(tmp_path):
    def remarks(trials):
        return " ".join(read_spikes(write_nwb(tmp_path / "a.nwb", TRAINS, trials=trials)).remarks)

    assert "2 of 3 intervals of the table trials do not end after they start: left out." in remarks(
        [(0.0, 0.0), (5.0, 20.0), (40.0, 30.0)]
    )
    assert "left out, so that the whole recording is read" in remarks([(20.0, 10.0), (np.nan, 30.0)])
    told = remarks([(10.0, 30.0), (0.0, 20.0), (30.0, 40.0)])
    assert "1 of the 3 intervals of the table trials begin before another has ended" in told
    assert "learned from and judged by" in told
    assert "begin before" not in remarks([(0.0, 10.0), (10.0, 20.0)])
    assert "Names of the column unit_name are given twice" in " ".join(
        read_spikes(write_nwb(tmp_path / "b.nwb", TRAINS, names=["a", "a", "b", "c"])).remarks
    )


def test_milliseconds_that_pass_for_seconds_are_asked_about(tmp_path):
    slow = write_nwb(tmp_path / "a.nwb", [1000.0 * train for train in TRAINS], trials=[(0.0, 60_000.0)])
    found = read_spikes(slow)
    assert any("say so with --rate 1000" in remark for remark in found.preview(0.02).remarks)
    mended = read_spikes(slow, rate=1000.0, trials="none")
    for train, expected in zip(mended.trials[0].trains, TRAINS, strict=True):
        np.testing.assert_allclose(train, expected, rtol=1e-12)
    assert not any("--rate" in remark for remark in mended.preview(0.02).remarks)


def test_a_column_of_something_else_is_asked_about():
    frame = pd.DataFrame(COUNTS, columns=list("abcd")).assign(depth=RNG.permutation(50) * 20)
    told = [remark for remark in Spikes.of(frame).preview().remarks if "is it a unit?" in remark]
    assert told == ["depth has 980 spikes in one bin: is it a unit? If not, leave it out with --units."]


def damaged_nwb(path):
    import h5py

    write_nwb(path, TRAINS)
    with h5py.File(path, "a") as file:
        del file["units/id"]
        file["units/id"] = np.arange(2)


def cells_of_cells():
    trials = np.empty((1, 2), dtype=object)
    trials[0, 0], trials[0, 1] = cells(1, 2), cells(1, 3)
    return trials


def comma(time):
    return f"{time:.4f}".replace(".", ",")


WITHOUT_NUMBER = [TRAINS[0], np.r_[TRAINS[1], np.nan]]
TEXTS = {
    "mixed": (lines(COUNTS[:30]) + lines(COUNTS[30:], ";"), "line 31: 1 cell, but 4 in line 1, where commas divide"),
    "comma-comma": (events(time=comma), r"line 2: 3 cells, but 2 names .* Decimal commas\? Let semicolons divide"),
    "tab-comma": (events("\t", comma), 'line 2, column "time": .* with a point'),
    "two-headings": (
        "ca1,ca3\na,b\n0,1\n",
        'line 2, column "ca1": "a" is no number. If this is a second line of names',
    ),
    "units-of-time": ("time,unit\ns,#\n0.5,1\n", 'line 2, column "time": "s" is no time. If this is a second'),
    "per-cent": ("a,b\n10%,20%\n", 'line 2, column "a": "10%" is no number.$'),
    "zeit": (events(heading="Zeit,Zelle"), r'line 2, column "Zeit": .* Are these spike times\? Then save them in two'),
    "a-line-a-unit": (lines(np.array(TRAINS), " "), "holds decimals. Are these spike times"),
    "more-cells": (events().replace("\n", ",7\n").replace("unit,7", "unit"), "line 2: 3 cells, but 2 names"),
    "infinite": ("time,unit\n0.1,1\ninf,2\n", 'line 3, column "time": "inf" is no time.$'),
    "end-of-time": ("time,unit\n0.1,1\n1e300,2\n", r"unit 2 must be in seconds, got 1e\+300: leave it out"),
    "packed": (gzip.compress(lines(COUNTS).encode()), "is compressed by gzip, whatever its name says: unpack it"),
    "workbook": (b"PK\x03\x04" + bytes(99), "a zip archive or an Excel workbook"),
}
FILES = {
    "no-number.npz": (
        lambda path: np.savez(path, *WITHOUT_NUMBER),
        "unit arr_1 must be finite .* NaN at place 101: leave",
    ),
    "beside.npz": (lambda path: np.savez(path, a=TRAINS[0], b=COUNTS), r"a of .* beside b of \(50, 4\): .* --variable"),
    "widths.npz": (lambda path: np.savez(path, a=COUNTS, b=COUNTS[:, 1:]), "choose one with --variable"),
    "none.npz": (lambda path: np.savez(path, a=np.empty(0)), "at least one spike, got none of 1 unit"),
    "table.mat": (lambda path: savemat(path, {"spikes": cells(4, 6)}), "a cell array of 4 × 6: is a row a unit"),
    "cells.mat": (
        lambda path: savemat(path, {"trials": cells_of_cells()}),
        "but trials, cells of other things: save a",
    ),
    "words.mat": (lambda path: savemat(path, {"s": "hello"}), "but s .* save a cell array"),
    "no-number.mat": (lambda path: write_cells(path, WITHOUT_NUMBER), r"unit 2 \(cell 2 of unit_t\) must be .* NaN"),
    "no-number.nwb": (lambda path: write_nwb(path, WITHOUT_NUMBER), "unit 1 must be finite numbers, got NaN"),
    "elsewhere.nwb": (
        lambda path: write_nwb(path, TRAINS, trials=[(1000.0, 1020.0)]),
        "spikes from .* and none in its trials, 1000 to 1020 s: .* --trials none",
    ),
    "two-of-four.nwb": (damaged_nwb, "has 2 names or numbers of units, and 4 spike trains: it is damaged"),
    "packed.csv.gz": (lambda path: write(path, b"-"), "is packed, or a workbook: unpack it"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_that_cannot_be_read_says_where_and_what_to_do(tmp_path, name):
    content, sentence = TEXTS[name]
    path = write(tmp_path / f"{name}.csv", content)
    with pytest.raises(ValueError, match=f"^{path}.*{sentence}"):
        read_spikes(path)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_cannot_be_read_says_where_and_what_to_do(tmp_path, name):
    make, sentence = FILES[name]
    make(tmp_path / name)
    with pytest.raises(ValueError, match=f"^{tmp_path / name}.*{sentence}"):
        read_spikes(tmp_path / name)


def test_a_folder_that_is_no_kilosort_says_so(tmp_path):
    np.save(tmp_path / "spike_times.npy", np.arange(9))
    with pytest.raises(ValueError, match=r"is a folder without both spike_times.npy and spike_clusters.npy"):
        read_spikes(tmp_path)


@pytest.mark.parametrize(
    "given",
    [
        scipy.sparse.dok_array(COUNTS),
        COUNTS.astype(object),
        COUNTS.astype(np.float16),
        pd.DataFrame(COUNTS, index=pd.date_range("2024", periods=50, freq="20ms")),
    ],
)
def test_other_holders_of_counts_are_read(given):
    np.testing.assert_array_equal(Spikes.of(given).counts[0], COUNTS)


def test_names_in_two_levels_are_joined():
    frame = pd.DataFrame(COUNTS, columns=pd.MultiIndex.from_product([["ca1", "ca3"], ["a", "b"]]))
    assert Spikes.of(frame).names == ("ca1 a", "ca1 b", "ca3 a", "ca3 b")


def test_dates_durations_and_series_of_lists_are_times():
    times, units = np.array(EVENTS).T
    passed = pd.to_timedelta(np.round(times, 4), unit="s")
    series = pd.Series({str(k): train for k, train in enumerate(TRAINS)})
    ragged = np.empty(4, dtype=object)
    ragged[:] = TRAINS
    for given, begin in (
        (pd.DataFrame({"time": passed, "unit": units}), 0.0),
        (pd.DataFrame({"time": pd.Timestamp("2024-02-03") + passed, "unit": units}), times[0]),
        (series, 0.0),
        (ragged, 0.0),
    ):
        for train, expected in zip(Spikes.of(given).trials[0].trains, TRAINS, strict=True):
            np.testing.assert_allclose(train, expected - begin, atol=1e-9)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("session.nwb", "got str: to read a file, call read_spikes"),
        (None, "got NoneType"),
        (COUNTS[:, 0], r"one unit alone is a column, x\[:, None\]"),
        ({"a": [], "b": []}, "at least one spike, got none of 2 units"),
        ({"a": [[0.1, 0.2], [0.3]]}, "unit a must be one list of numbers, got lists within it"),
        ({"a": [0.1, 1e300]}, r"unit a must be in seconds, got 1e\+300"),
        ({"a": ["0.1", "x"]}, "unit a must be a list of numbers"),
        ([[TRAINS[0], TRAINS[1]], [TRAINS[2], TRAINS[3]]], "got decimals, such as"),
        (pd.DataFrame({"a": [0, 1, pd.NA], "b": [0, 1, 1]}), 'Column "a" must hold numbers, got <NA> in row 3'),
        (
            pd.DataFrame({"a": pd.array([0, 1, None], "Int64")}),
            r"row 3, column 1 \(a\): it must hold finite numbers, got NaN",
        ),
        (np.array([[127, -128], [1, 1]], np.int8), r"row 1, column 2 \(u2\): .* got -128"),
    ],
)
def test_what_is_no_spikes_says_what_to_do(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Spikes.of(given)


def test_trials_come_in_their_order_and_whole_sessions_are_known_by_their_times(tmp_path):
    rows = [(0.5, "b", 10), (0.1, "a", 2), (0.3, "b", 1), (0.2, "a", 10), (0.9, "a", 1), (0.4, "b", 2)]
    (tmp_path / "a.csv").write_text("time,unit,trial\n" + lines(rows))
    table = pd.DataFrame(rows, columns=["time", "unit", "trial"])
    for found in (read_spikes(tmp_path / "a.csv"), Spikes.of(table), Spikes.of(table.astype({"trial": str}))):
        assert [[train.tolist() for train in trial.trains] for trial in found.trials] == [
            [[0.9], [0.3]], [[0.1], [0.4]], [[0.2], [0.5]],
        ]  # fmt: skip
        assert {(trial.start, trial.n_bins(0.1)) for trial in found.trials} == {(0.0, 9)}
    whole = table.assign(time=table["time"] + 10.0 * table["trial"])
    found = Spikes.of(whole)
    assert [trial.start for trial in found.trials] == pytest.approx([10.3, 20.1, 100.2])
    assert [trial.n_bins(0.1) for trial in found.trials] == [6, 3, 3]
    assert "times of the whole session" in found.remarks[0]
