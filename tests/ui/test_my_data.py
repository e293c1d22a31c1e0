"""My data: files are read or refused with a sentence, the data before them stay, and binning follows the slider."""

import time

import numpy as np
import pytest

from hidviz.network.preview import preview_of
from hidviz.ui.components.run_file import Files
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_files import LARGEST, OUR_SOURCE, How, Source, iter_look, read
from hidviz.ui.tabs.my_data import MyDataTab
from hidviz.ui.text.my_data import head_in_words, on_the_page, remarks_html, units_table
from tests.recordings import hippocampus, write_cells, write_events, write_nwb


@pytest.fixture(scope="module")
def trains():
    return hippocampus(stop=20.0)


@pytest.fixture
def data():
    found = MyData()
    yield found
    found.close()


def settled(data, seconds=60):
    deadline = time.monotonic() + seconds
    while data.reading:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    data.poll()
    return data


def contents(*paths):
    return {path.name: path.read_bytes() for path in paths}


def test_ours_is_what_the_command_line_reads_to_998_seconds(data):
    data.try_ours()
    found = settled(data).looked
    assert not data.problem
    assert (sum(found.preview.n_bins), int(found.preview.n_spikes.sum())) == (49_900, 35_086)
    assert found.preview.lost.sum() / 35_086 == pytest.approx(0.2295, abs=1e-4)
    assert found.sample.shape == (500, 16)
    assert found.source.names == ("assets/recordings/hippocampus.mat",)
    said = head_in_words(found.source.title, found.spikes, found.preview)
    assert "16 units" in said
    assert "49,900 bins of 20 ms" in said


def test_a_file_is_read_alike_from_every_format(data, tmp_path, trains):
    expected = None
    for path in (
        write_events(tmp_path / "a.csv", trains),
        write_cells(tmp_path / "a.mat", trains),
        write_nwb(tmp_path / "a.nwb", trains, trials=((0.0, 20.0),)),
    ):
        data.open(contents(path))
        assert not settled(data).problem
        sample = data.looked.sample
        expected = sample if expected is None else expected
        np.testing.assert_array_equal(sample, expected)


def test_kilosorts_files_belong_together_and_want_a_rate(data, tmp_path, trains):
    samples = np.concatenate([np.round(train * 30_000).astype(np.uint64) for train in trains])
    np.save(tmp_path / "spike_times.npy", samples)
    np.save(tmp_path / "spike_clusters.npy", np.repeat(np.arange(16), [len(train) for train in trains]))
    data.open(contents(tmp_path / "spike_clusters.npy", tmp_path / "spike_times.npy"))
    assert "“Ticks a second” 30000" in on_the_page(settled(data).problem)
    data.read_as(How(rate=30_000.0))
    assert not settled(data).problem
    assert data.looked.spikes.n_units == 16


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("session.csv", b"a,b\n0,1\n1,x\n", 'session.csv, line 3, column "b"'),
        ("session.csv", b"", "session.csv is empty"),
        ("session.xlsx", b"PK", "session.xlsx must end in one of"),
        ("session.mat", b"MATLAB 5.0 MAT-file, cut", "session.mat"),
        ("session.npy", b"\x80\x04K\x01.", "session.npy is no NumPy array"),
        ("../../../etc/a.csv", b"a,b\n0,1\n1,x\n", "line 3"),
        ("..", b"", "must end in one of"),
    ],
)
def test_a_bad_file_is_refused_by_its_name_and_what_was_there_stays(data, name, content, said):
    data.try_ours()
    before = settled(data).looked
    data.open({name: content})
    assert said in settled(data).problem
    assert "/tmp" not in data.problem
    assert data.looked is before
    data.bin_by(0.05)
    assert settled(data).looked.source is OUR_SOURCE
    assert not data.problem


def test_units_and_times_are_left_out_as_asked(tmp_path, trains):
    path = write_events(tmp_path / "a.csv", trains, names=[f"u{k:02d}" for k in range(16)])
    found = read(Source(contents(path), How(start=5.0, stop=15.0, units=("u03", "u05"))))
    assert found.names == ("u03", "u05")
    assert found.binned(0.02)[0].shape == (500, 2)
    with pytest.raises(ValueError, match="no unit x; there are u00"):
        read(Source(contents(path), How(units=("x",))))


def test_counts_keep_their_bins_whatever_the_slider_says(data, tmp_path):
    np.save(tmp_path / "counts.npy", np.random.default_rng(1).poisson(0.3, (300, 4)))
    data.open(contents(tmp_path / "counts.npy"))
    found = settled(data).looked
    assert found.bin is None
    data.bin_by(0.1)
    assert settled(data).looked is found
    assert "300 bins" in head_in_words(found.source.title, found.spikes, found.preview)


def test_what_looks_wrong_is_said_in_the_words_of_the_page(trains):
    silent = [np.empty(0), *trains[:3]]
    found = next(iter_look(OUR_SOURCE, 0.02, read(OUR_SOURCE)))
    from hidviz import Spikes

    preview = preview_of(Spikes.of(silent), 0.02)
    assert "u1 never fires in" in remarks_html(preview.remarks)
    assert "--" not in remarks_html(preview.remarks)
    assert on_the_page("3 × 300: 300 units in 3 bins? If time runs across, add --transpose.").endswith(
        "switch “Transpose” on."
    )
    assert units_table(found.preview).index("u11") < units_table(found.preview).index("u05")


def test_names_are_shown_as_they_are_and_never_as_markup(tmp_path, trains):
    path = write_events(tmp_path / "a.csv", trains[:2], names=["<b>x</b>", "y"])
    found = next(iter_look(Source(contents(path), How()), 0.02))
    assert "<b>x" not in units_table(found.preview)
    assert "<b>x" not in head_in_words("<b>x</b>.csv", found.spikes, found.preview)


def test_files_are_counted_as_they_arrive_and_refused_once():
    taken, refused = [], []
    files = Files(taken.append, refused.append, 100)
    files._handle_msg({"status": "initializing"})
    for chunk in range(1, 4):
        files._handle_msg(
            {"status": "upload_event", "name": "a.csv", "chunk": chunk, "total_chunks": 3, "mime_type": "text/csv",
             "data": bytes(60)}
        )  # fmt: skip
    assert refused == ["This file was not opened: it may have at most 0 MB."]
    assert not taken
    assert LARGEST == 50 * 2**20
    for name in ("a.csv", "b.csv"):
        files._handle_msg({"status": "initializing"}) if name == "a.csv" else None
        files._handle_msg(
            {"status": "upload_event", "name": name, "chunk": 1, "total_chunks": 1, "mime_type": "text/csv",
             "data": name.encode()}
        )  # fmt: skip
    files._handle_msg({"status": "finished"})
    assert taken == [{"a.csv": b"a.csv", "b.csv": b"b.csv"}]


def test_the_tab_shows_something_before_anything_is_chosen_and_ends_its_work():
    tab = MyDataTab()
    deadline = time.monotonic() + 60
    while not tab.preview.raster_title.object:
        assert time.monotonic() < deadline
        tab.look()
        time.sleep(0.02)
    assert "Try ours" in tab.preview.raster_title.object
    assert not tab.preview.layout.visible
    tab.data.try_ours()
    settled(tab.data)
    tab.look()
    assert tab.preview.layout.visible
    tab.file._typed("to", "abc")
    assert "To, s must be a number" in tab.file.form.errors["to"]
    tab.file._typed("to", "100")
    tab.close()
    assert not tab.data.reading
