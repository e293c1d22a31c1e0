"""My data in a real Chromium: from Try ours to the chart and the export, and a bad file that harms nothing."""

import json
import re
import zipfile

import numpy as np
import pytest

from tests.pages import press, until

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def take(tab, *paths):
    """Choose files, as the dialogue of the browser would."""
    tab.locator("input[type=file]").last.set_input_files([str(path) for path in paths])


def test_ours_goes_from_the_first_press_to_the_chart_the_checks_and_the_export(open_page, tmp_path):
    tab = open_page("?tab=mydata", width=800, height=640)
    tab.get_by_text("the first 10 s").wait_for()  # something to look at before anything is pressed
    press(tab, "Try ours")
    tab.get_by_text("49,900 bins of 20 ms").wait_for()
    tab.get_by_text("5 ms would lose 5.5 %").wait_for()
    assert not tab.get_by_text("undefined").count()
    assert tab.get_by_text("Next: Start scan, below").is_visible()  # and not Run, above
    tab.get_by_label("Most hidden units").select_option("1")
    tab.get_by_label("Memory (M)").select_option("yes")
    tab.get_by_label("Starts", exact=True).select_option("1")
    press(tab, "Start scan")
    tab.get_by_text("1 of 2 models").wait_for()
    tab.get_by_text("All 2 models are there").wait_for(timeout=180_000)
    tab.get_by_text(re.compile(r"One hidden unit with memory \(M\): 2\d\d ± \d\d thousandths")).wait_for()
    table, after = (tab.get_by_text(text).bounding_box() for text in ("lag 2, no hidden unit", "Can it be relied on"))
    assert table["y"] + table["height"] <= after["y"]  # what is longer than the window lies over nothing
    press(tab, "Check model")
    tab.get_by_text("is a shared state that is up in").wait_for(timeout=120_000)
    press(tab, "Cancel checks")
    tab.get_by_text("Cancelled: ").wait_for()
    with tab.expect_download(timeout=90_000) as download:
        press(tab, "Export results")
    download.value.save_as(tmp_path / "results.zip")
    with zipfile.ZipFile(tmp_path / "results.zip") as archive:
        settings = json.loads(archive.read("settings.json"))
        assert {"model.npz", "couplings.csv", "scan.csv"} <= set(archive.namelist())
    assert settings["command"].startswith("hidviz fit assets/recordings/hippocampus.mat --bin 20ms --to 998")
    assert 1000 * settings["scan"][1]["gain"] == pytest.approx(278, abs=33)  # of what several starts found
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_bad_file_is_told_and_the_data_before_it_stay(open_page, tmp_path):
    tab = open_page("?tab=mydata&theme=dark")
    counts = np.random.default_rng(1).poisson(0.3, (400, 4))
    np.savetxt(tmp_path / "good.csv", counts, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    (tmp_path / "bad.csv").write_text("a,b\n0,1\n1,x\n")
    take(tab, tmp_path / "good.csv")
    tab.get_by_text("4 units, counts; 400 bins").wait_for()
    take(tab, tmp_path / "bad.csv")
    tab.get_by_text('bad.csv, line 3, column "b"').wait_for()
    assert tab.get_by_text("4 units, counts; 400 bins").is_visible()
    take(tab, tmp_path / "good.csv")
    until(tab, lambda: not tab.get_by_text("bad.csv, line 3").is_visible(), "the refusal to go")


def test_files_of_almost_the_size_that_is_said_are_taken_one_and_several(open_page, tmp_path):
    tab = open_page("?tab=mydata")
    tab.get_by_text("at most 50 MB").wait_for()
    counts = (np.random.default_rng(1).random((460_000, 100)) < 0.02).astype(np.uint8)
    np.save(tmp_path / "all.npy", counts)
    take(tab, tmp_path / "all.npy")
    tab.get_by_text("100 units, counts; 460,000 bins").wait_for(timeout=120_000)
    parts = [tmp_path / f"part{k}.npy" for k in range(4)]
    for path, part in zip(parts, np.array_split(counts[:440_000], 4), strict=True):
        np.save(path, part)
    take(tab, *parts)
    tab.get_by_text(re.compile("4 trials")).wait_for(timeout=120_000)


def test_a_scan_is_sparse_at_a_switch_and_says_so_in_its_table_and_its_command(open_page, tmp_path):
    tab = open_page("?tab=mydata", width=800)
    np.save(tmp_path / "counts.npy", np.random.default_rng(1).poisson(0.6, (1500, 4)))
    take(tab, tmp_path / "counts.npy")
    tab.get_by_text("4 units, counts; 1,500 bins").wait_for()
    tab.get_by_label("Most hidden units").select_option("1")
    tab.get_by_role("switch", name=re.compile("Sparse couplings")).check()
    press(tab, "Start scan")
    tab.get_by_text("All 3 models are there").wait_for(timeout=120_000)
    assert tab.get_by_role("columnheader", name="couplings kept").is_visible()
    assert " --l1 " in tab.locator("code").filter(has_text="hidviz fit").inner_text()
    assert tab.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
