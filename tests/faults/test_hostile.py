"""Files made to do harm end in one sentence, and take no more memory than a good one."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hidviz.experiments import load_bundle
from tests.faults.hostile import BUNDLES, RECORDINGS, beside, good_bundle, look
from tests.loops import run_aside

ROOT = Path(__file__).parents[2]
READ = {
    "utf16.csv",
    "paths-upward.npz",
    "twice-the-same-name.npz",
    "index-beyond.nwb",
}  # odd, but their numbers are what they seem
LARGE = {
    "gigabytes-of-zeros.npz",
    "gigabytes-of-zeros.mat",
    "lies-about-its-size.npz",
    "ten-thousand-members.npz",
    "as-many-units-as-bins.npy",
    "thirteen bombs of 64 MB",
}  # seconds each


@pytest.fixture(scope="module")
def good():
    return good_bundle()


def is_a_sentence(text):
    no_python = not re.search(r"Traceback|0x[0-9a-f]{6}|<hidviz", text)
    return 10 < len(text) < 700 and text.endswith((".", "?")) and no_python


def test_there_are_as_many_as_were_promised():
    assert len(RECORDINGS) >= 45
    assert len(BUNDLES) >= 38


@pytest.mark.parametrize("name", [name for name in RECORDINGS if name not in LARGE])
def test_a_hostile_recording_ends_in_a_sentence(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(RECORDINGS[name]())
    if name in READ:
        look(path)
        return
    with pytest.raises(ValueError, match=r".") as refused:
        look(path)
    assert is_a_sentence(str(refused.value)), str(refused.value)
    assert not Path("/tmp/hidviz-was-here").exists()


@pytest.mark.parametrize("name", [name for name in BUNDLES if name not in LARGE])
def test_a_hostile_bundle_ends_in_a_sentence(name, good, tmp_path):
    path = tmp_path / "run.zip"
    path.write_bytes(BUNDLES[name](good))
    with pytest.raises(ValueError, match="This file is not a bundle that can be opened: ") as refused:
        load_bundle(path)
    assert is_a_sentence(str(refused.value)), str(refused.value)


def test_a_loop_that_is_held_is_told_from_one_that_waits():
    def holding():
        began = time.process_time()
        yield sum(range(20_000_000))  # one call of C, which lets no other thread in
        took.append(time.process_time() - began)

    def waiting():
        yield time.sleep(0.5)

    took = []
    failure, held = run_aside(beside(holding()))
    assert failure is None
    assert 0.5 * took[0] < held <= took[0] + 0.1
    assert run_aside(beside(waiting()))[1] < 0.25


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="optional: the peak of a process is read from Linux")
def test_none_of_them_takes_300_megabytes():
    command = [sys.executable, "-m", "tests.faults.hostile", "--json"]  # a process without threads, which may be forked
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = dict(map(json.loads, told.splitlines()))
    assert len(found) == len(RECORDINGS) + len(BUNDLES)
    assert {name: told for name, told in found.items() if not 0 <= told["megabytes"] < 300} == {}
    read = {name for name, told in found.items() if told["what"] == "opened"}
    assert read <= READ
    assert all(told["what"].startswith("ValueError: ") for name, told in found.items() if name not in read)
