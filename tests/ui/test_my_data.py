"""My data: files are read or refused with a sentence, the data before them stay, and binning follows the slider."""

import io
import json
import threading
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from hidviz import Spikes, divide, random_couplings, scan, simulate
from hidviz.background import Runner
from hidviz.cli.main import _parser
from hidviz.evaluation.paired import Difference, paired
from hidviz.experiments.scan_table import Scan, ScanRow
from hidviz.network.preview import preview_of
from hidviz.ui.components.run_file import Files
from hidviz.ui.export.own_results import packed
from hidviz.ui.plots.gains import Gains
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_files import LARGEST, OUR_SOURCE, How, Source, iter_look, read
from hidviz.ui.state.own_scan import Plan, Scanned
from hidviz.ui.tabs.my_data import MyDataTab
from hidviz.ui.tabs.my_data_file import FileSection
from hidviz.ui.tabs.my_data_scan import ScanSection
from hidviz.ui.text.my_data import command_words, head_in_words, on_the_page, remarks_html, units_table
from hidviz.ui.text.own_scan import answer, end_in_words, rows_table
from tests.recordings import hippocampus, write_cells, write_events, write_nwb


@pytest.fixture(scope="module")
def trains():
    return hippocampus(stop=20.0)


@pytest.fixture
def data():
    found = MyData()
    yield found
    found.close()


def waited_for(data, seconds=60):
    deadline = time.monotonic() + seconds
    while data.reading:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def settled(data):
    waited_for(data)
    data.poll()
    return data


@pytest.fixture
def in_hand(data):
    """The same with ours read, and from now on reading only when `read_on` is called."""
    data.try_ours()
    settled(data)
    data._reader = Runner(threads=False)
    data.poll()
    return data


def read_on(data):
    data._reader.pump(60.0)
    assert not data.reading
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
    assert "such as 30000 in “Ticks a second”" in on_the_page(settled(data).problem)
    data.read_as(How(rate=30_000.0))
    assert not settled(data).problem
    assert data.looked.spikes.n_units == 16


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("session.csv", b"a,b\n0,1\n1,x\n", 'session.csv, line 3, column "b"'),
        ("session.csv", b"", "session.csv is empty"),
        ("session.xlsx", b"PK", "session.xlsx is packed, or a workbook: unpack it, or save the sheet as .csv"),
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


@pytest.mark.parametrize(
    "refuse",
    [lambda data: data.refuse("too large"), lambda data: data.open({"bad.csv": b""})],
    ids=["large", "bad"],
)
def test_what_is_refused_is_said_each_time_and_stays_put_away(data, refuse):
    section = FileSection(data)
    for _ in range(2):
        refuse(data)
        settled(data)
        section.show()
        assert data.problem in section.notice.text != ""
        section.notice._handle_msg({"press": "away"})
        before = data.version
        data.poll()
        section.show()
        assert section.notice.text == ""
        assert data.version == before


def test_a_file_that_is_bad_is_said_to_be_so_though_another_was_refused_meanwhile(in_hand):
    in_hand.open({"bad.csv": b""})
    in_hand.refuse("too large")
    read_on(in_hand).poll()
    assert "bad.csv is empty" in in_hand.problem


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


def test_bins_asked_for_while_others_are_being_made_are_those_that_come(in_hand):
    in_hand.bin_by(0.05)
    in_hand.bin_by(0.02)
    read_on(in_hand).poll()
    assert (in_hand.looked.bin, in_hand.width) == (0.02, 0.02)
    in_hand.bin_by(0.05)
    read_on(in_hand).bin_by(0.02)
    assert in_hand.looked.bin == 0.05, "they were there, and nobody had looked"
    read_on(in_hand).poll()
    assert (in_hand.looked.bin, in_hand.width) == (0.02, 0.02)


def test_a_file_that_is_being_read_comes_in_the_bins_asked_for_meanwhile(in_hand, tmp_path, trains):
    ours = in_hand.looked
    in_hand.open(contents(write_events(tmp_path / "b.csv", trains)))
    in_hand.bin_by(0.05)
    assert in_hand.looked is ours
    read_on(in_hand).poll()
    assert (in_hand.looked.source.title, in_hand.looked.bin) == ("b.csv", 0.05)


def test_bins_of_what_is_shown_do_not_read_a_refused_file_again(in_hand):
    in_hand.open({"bad.csv": b""})
    read_on(in_hand).poll()
    assert in_hand.problem
    for width in (0.05, 0.1):
        in_hand.bin_by(width)
    read_on(in_hand).poll()
    assert (in_hand.looked.source, in_hand.looked.bin, in_hand.problem) == (OUR_SOURCE, 0.1, "")


def test_what_looks_wrong_is_said_in_the_words_of_the_page(trains):
    silent = [np.empty(0), *trains[:3]]
    found = next(iter_look(OUR_SOURCE, 0.02, read(OUR_SOURCE)))
    preview = preview_of(Spikes.of(silent), 0.02)
    assert "u1 never fires in" in remarks_html(preview.remarks)
    assert "--" not in remarks_html(preview.remarks)
    assert on_the_page("3 × 300: 300 units in 3 bins? If time runs across, add --transpose.").endswith(
        "switch “Transpose” on."
    )
    assert on_the_page("if these are milliseconds, say so with --rate 1000.").endswith("with 1000 in “Ticks a second”.")
    assert on_the_page("nothing outside is read; --trials none reads all.").endswith("; none in “Trials” reads all.")
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


def test_what_is_read_while_the_tab_looks_is_drawn_at_the_next_look(data, monkeypatch):
    tab = MyDataTab(data)
    poll = data.poll

    def polling():
        poll()
        waited_for(data)

    monkeypatch.setattr(data, "poll", polling)
    data.try_ours()
    deadline = time.monotonic() + 60
    while tab.stirred or not tab.preview.layout.visible:
        assert time.monotonic() < deadline
        if tab.stirred:  # drawings keep a distance in time
            tab.look()
    tab.close()


def test_the_tab_shows_something_before_anything_is_chosen_and_ends_its_work():
    tab = MyDataTab(MyData())
    deadline = time.monotonic() + 60
    while not tab.preview.raster_title.object:
        assert time.monotonic() < deadline
        tab.look()
        time.sleep(0.02)
    assert "Try ours" in tab.preview.raster_title.object
    assert not tab.preview.layout.visible
    tab.data.try_ours()
    settled(tab.data)
    while not tab.preview.layout.visible:  # drawings keep a distance in time
        assert time.monotonic() < deadline
        tab.look()
    marks, sample = tab.preview.raster._source.data, tab.data.looked.sample
    assert len(marks["x"]) == (sample > 0).sum()  # none is lost, however narrow the page
    tab.file._typed("to", "abc")
    assert "To, s must be a number" in tab.file.form.errors["to"]
    tab.file._typed("rate", "-1")
    tab.file._typed("to", "100")
    assert list(tab.file.form.errors) == ["rate"]  # each field is answered for itself
    tab.close()
    assert not tab.data.reading


def small(tmp_path, seed=3, n_hidden=1, n_bins=3000):
    """The content of a file of a simulated recording."""
    truth = random_couplings(4, n_hidden, np.random.default_rng(seed), bias=0.2, variance=2.0)
    recording = simulate(truth, n_bins, np.random.default_rng(seed), hidden="stochastic").recording
    np.save(tmp_path / "small.npy", recording.trials[0])
    return contents(tmp_path / "small.npy")


def scanned(data, plan, seconds=120, until=lambda data: not data.scanning):
    settled(data)
    data.scan(plan)
    deadline = time.monotonic() + seconds
    while not until(data):
        assert time.monotonic() < deadline
        data.poll()
        time.sleep(0.01)
    data.poll()
    assert not data.scan_problem
    return data.scanned


def test_a_scan_on_the_page_is_the_scan_of_the_engine(data, tmp_path):
    data.open(small(tmp_path))
    plan = Plan(most=1, coupled="no", starts=1, steps=40)
    found = scanned(data, plan)
    recording = data.looked.spikes.recording()
    expected = list(scan(divide(recording), hidden=range(2), hidden_hidden=(False,), starts=1, max_steps=40))[-1]
    assert found.complete
    assert [row.gain for row in found.table.rows] == [row.gain for row in expected.rows]
    assert found.table.chosen.n_hidden == expected.chosen.n_hidden == 1
    assert f"One hidden unit: {expected.chosen.gain.in_words()}" in answer(found.table, complete=True)
    assert rows_table(found.table).count("<tr") == 1 + 2 + 1
    assert 'class="best"' in rows_table(found.table)


def test_a_sparse_scan_on_the_page_is_that_of_the_engine_and_is_handed_out_with_its_command(data, tmp_path):
    data.open(small(tmp_path))
    section = ScanSection(data)
    section._turned("sparse", True)
    assert section.form.values["sparse"] is True
    section._turned("most", "1")
    section._turned("coupled", "no")
    section._turned("starts", "1")
    found = scanned(data, section._plan)
    recording = data.looked.spikes.recording()
    *_, expected = scan(
        divide(recording), hidden=range(2), hidden_hidden=(False,), starts=1, max_steps=250, l1="chosen"
    )
    row = found.table.rows[1]
    assert row.couplings == expected.rows[1].couplings
    assert row.path.weight > 0.0
    assert "couplings kept" in rows_table(found.table)
    assert f"<td>{row.kept}</td>" in rows_table(found.table)
    assert " --l1 " in command_words(*found.command)
    assert _parser().parse_args(list(found.command)).l1 == "chosen"
    with zipfile.ZipFile(io.BytesIO(packed(found, row, None))) as archive:
        settings = json.loads(archive.read("settings.json"))
        assert archive.read("couplings.csv").decode().splitlines()[0] == "block,to,from,value,outlives"
    assert settings["settings"]["sparse"] is True
    assert settings["exported"]["l1"] == row.path.plain()
    assert " --l1 " in settings["command"]


def test_a_stopped_scan_keeps_its_rows_and_says_so(data, tmp_path):
    data.open(small(tmp_path, n_bins=20_000))
    found = scanned(data, Plan(most=6, starts=8), until=lambda d: d.scanned and len(d.scanned.table.rows) > 1)
    assert data.scanning
    data.stop_scan()
    assert not data.scanning
    data.poll()
    assert len(data.scanned.table.rows) >= len(found.table.rows) > 1
    assert not data.scanned.complete
    assert answer(data.scanned.table, complete=False).startswith("<b>So far: ")
    assert "Cancelled: " in end_in_words(data.scanned.table, stopped=True)


@pytest.mark.parametrize(("place", "n_rows"), [("lag 2, L1 penalty", 1), ("2 hidden units with M, L1 penalty", 4)])
def test_a_scan_that_is_stopped_on_an_l1_path_keeps_the_rows_before_it(data, tmp_path, place, n_rows):
    data.open(small(tmp_path, n_bins=5_000))
    plan = Plan(most=8, starts=1, steps=30, sparse=True)
    found = scanned(data, plan, until=lambda d: d.scanned and d.scanned.table.doing.startswith(place))
    workers = [each for each in threading.enumerate() if each.name == "hidviz-runner"]
    data.stop_scan()
    assert not data.scanning
    for worker in workers:  # the rest of the scan would take minutes
        worker.join(20.0)
        assert not worker.is_alive()
    data.poll()
    rows = data.scanned.table.rows
    assert len(rows) == len(found.table.rows) == n_rows
    assert rows[-1] is found.table.rows[-1]
    assert f"Cancelled: {n_rows} of 17 models are there" in end_in_words(data.scanned.table, stopped=True)
    assert (rows[0].kept == "") == (n_rows == 1)  # its path has ended, or not yet
    assert all(row.kept for row in rows[1:])


def test_a_recording_that_is_too_short_ends_the_scan_with_a_sentence(data, tmp_path):
    np.save(tmp_path / "short.npy", np.random.default_rng(1).poisson(0.5, (40, 3)))
    data.open(contents(tmp_path / "short.npy"))
    settled(data)
    data.scan(Plan(1))
    while data.scanning:
        time.sleep(0.01)
    data.poll()
    assert "A recording must hold 5 blocks of at least 10 bins" in data.scan_problem
    assert data.scanned is None


def test_the_answer_needs_no_hidden_unit_where_none_gains_more_than_its_error():
    judged = np.array([1.0, 1.2, 0.9, 1.1])
    rows = (
        ScanRow(0, False, None, 1, judged=judged, gain=paired(judged, judged)),
        ScanRow(1, False, None, 2, judged=judged - [0.01, -0.01, 0.01, 0.0],
                gain=paired(judged, judged - [0.01, -0.01, 0.01, 0.0])),
        ScanRow(9, True, None, 0, note="too <many>"),
    )  # fmt: skip
    table = Scan(rows, Difference(0.05, 0.01), 0.0, "how", 3, "", 0.0)
    assert answer(table, complete=True).startswith("<b>No hidden unit is needed.</b>")
    assert "a second lag of the recorded units alone gains 50 ± 10" in answer(table, complete=True)
    assert "too &lt;many&gt;" in rows_table(table)
    plot = Gains()
    plot.show(table, 9)
    assert list(plot._points.data["gain"]) == pytest.approx([0.0, 2.5])


def test_the_command_does_what_the_page_did(data):
    data.try_ours()
    found = Scanned(settled(data).looked, Plan(), None, None, None)
    assert command_words(*found.command) == (
        "hidviz fit assets/recordings/hippocampus.mat --bin 20ms --to 998 --hidden 0-2 --hidden-hidden both "
        "--starts 2 --steps 250 --out fit.npz"
    )
    how = How(variable="a b", rate=30_000.0, trials="none", transpose=True, start=1.5, units=("u1", "u2"))
    looked = replace(found.looked, source=Source({"my file.mat": b""}, how), bin=0.005)
    given = _parser().parse_args(list(replace(found, looked=looked).command))
    assert (given.files, given.variable, given.rate, given.trials) == (["my file.mat"], "a b", 30_000.0, "none")
    assert (given.transpose, given.start, given.stop, given.units) == (True, 1.5, None, "u1,u2")
    assert (given.bin, given.hidden, given.hidden_hidden) == (0.005, (0, 1, 2), "both")
