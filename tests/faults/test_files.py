"""A file is whole or as it was: on a full disk, in a folder that cannot be written, with two writers, after a kill."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hidviz.background.files import append_line, check_writable, replacing, write
from tests.faults.disks import names, small_disk

ROOT = Path(__file__).parents[2]


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", 64) as mounted:
        yield mounted


def test_a_file_takes_the_place_of_the_old_one_whole(tmp_path):
    path = tmp_path / "very" / "deep" / "result.txt"
    write(path, "one ±1")
    write(path, b"two")
    assert path.read_bytes() == b"two"
    assert names(path.parent) == ["result.txt"]


def test_a_block_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "result.txt"
    write(path, "old")
    with pytest.raises(RuntimeError), replacing(path) as file:  # noqa: PT012 - the write is part of what fails
        file.write(b"half of the ne")
        raise RuntimeError
    assert path.read_text() == "old"
    assert names(tmp_path) == ["result.txt"]


def test_what_failed_is_told_and_not_what_came_of_it(tmp_path):
    with pytest.raises(RuntimeError, match="the reason"), replacing(tmp_path / "result.txt"):  # noqa: PT012 - as above
        (beside,) = tmp_path.iterdir()
        beside.unlink()
        raise RuntimeError("the reason")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write(tmp_path / "folder", "content")
    assert names(tmp_path) == ["folder"]


def test_the_new_name_is_given_only_after_the_bytes_are_on_the_disk(tmp_path):
    """What the system is asked for, in order: the bytes, then fsync, then the name, then fsync of the folder."""
    *calls, tried = subprocess.run(
        [sys.executable, "-c", ORDER, str(tmp_path / "result.txt")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert calls == ["fsync-7-bytes", "rename", "fsync-folder", "fsync-4-bytes", "fsync-folder", "fsync-8-bytes"]
    assert tried == "fsync-100-bytes"


ORDER = """
import os, stat, sys
def told(event, arguments):
    if event == "os.rename":
        print("rename")
sys.addaudithook(told)
fsync = os.fsync
def seen(handle):
    about = os.fstat(handle)
    print("fsync-folder" if stat.S_ISDIR(about.st_mode) else f"fsync-{about.st_size}-bytes")
    fsync(handle)
os.fsync = seen
from hidviz.background.files import append_line, check_writable, write
write(sys.argv[1], "content")
append_line(sys.argv[1] + "l", "one")
append_line(sys.argv[1] + "l", "two")
check_writable(sys.argv[1], 100)
"""


def test_a_name_may_be_as_long_as_the_system_allows(tmp_path):
    path = tmp_path / ("ä" * 127)  # 254 bytes of 255
    check_writable(path)
    write(path, "content")
    assert names(tmp_path) == [path.name]


@pytest.mark.parametrize(("mask", "mode"), [(0, 0o666), (0o027, 0o640)])
def test_who_may_read_a_file_is_for_the_mask_to_say(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        write(tmp_path / "file", "content")
        append_line(tmp_path / "lines", "line")
    finally:
        os.umask(before)
    for name in names(tmp_path):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode


def test_the_lock_is_let_go_though_a_child_has_inherited_the_file(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl", reason="optional: a system without such locks")
    inherited = []
    monkeypatch.setattr(os, "fsync", lambda handle: inherited.append(os.dup(handle)))
    append_line(tmp_path / "store.jsonl", "first")
    with (tmp_path / "store.jsonl").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for handle in inherited:
        os.close(handle)


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    write(tmp_path / "real" / "a.txt", "old")
    (tmp_path / "a.txt").symlink_to(tmp_path / "real" / "a.txt")
    write(tmp_path / "a.txt", "new")
    assert (tmp_path / "a.txt").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "new"


def test_a_full_disk_leaves_the_old_file_whole(disk):
    path = disk.folder / "result.bin"
    write(path, b"old" * 1000)
    with pytest.raises(OSError, match="No space left"):
        write(path, bytes(2**17))
    assert path.read_bytes() == b"old" * 1000
    assert names(disk.folder) == ["result.bin"]


def test_a_line_that_does_not_fit_is_not_there_at_all(disk):
    path = disk.folder / "store.jsonl"
    append_line(path, "first")
    with pytest.raises(OSError, match="No space left"):
        append_line(path, "x" * 2**17)
    assert path.read_text() == "first\n"
    append_line(path, "second")
    assert path.read_text() == "first\nsecond\n"


def test_a_torn_line_is_ended_before_the_next(tmp_path):
    path = tmp_path / "store.jsonl"
    path.write_text('first\n{"torn')
    append_line(path, "second")
    assert path.read_text() == 'first\n{"torn\nsecond\n'


def test_what_cannot_be_written_is_known_before(tmp_path, disk):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "file" / "a.npz", Path("/proc/a.npz"), Path("/dev/null")):
        with pytest.raises(OSError):  # noqa: PT011 - the system's own words, which differ
            check_writable(path)
    with pytest.raises(OSError, match="No space left"):
        check_writable(disk.folder / "a.npz", 2**17)
    check_writable(disk.folder / "a.npz")  # just fits
    (disk.folder / "something").write_bytes(b"else")
    with pytest.raises(OSError, match="No space left"):
        check_writable(disk.folder / "a.npz")
    (disk.folder / "something").unlink()
    check_writable(tmp_path / "new" / "a.npz")
    assert names(tmp_path / "new") == names(disk.folder) == []


WRITER = """
import sys
from hidviz.background.files import append_line
for k in range(200):
    append_line(sys.argv[1], sys.argv[2] * 9000)
"""


def test_two_writers_lose_and_tear_no_line(tmp_path):
    path = tmp_path / "store.jsonl"
    with ThreadPoolExecutor(2) as pool:
        done = list(
            pool.map(lambda letter: subprocess.run([sys.executable, "-c", WRITER, str(path), letter], cwd=ROOT), "ab")
        )
    assert [each.returncode for each in done] == [0, 0]
    lines = path.read_text().splitlines()
    assert sorted(line[0] for line in lines) == ["a"] * 200 + ["b"] * 200
    assert all(line in ("a" * 9000, "b" * 9000) for line in lines)


KILLED = """
import sys
from hidviz.background.files import write
while True:
    for letter in (b"a", b"b"):
        write(sys.argv[1], letter * 1_000_000)
        print(flush=True)
"""


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path):
    path = tmp_path / "result.bin"
    rng = np.random.default_rng(1)
    for _ in range(3):
        program = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, stdout=subprocess.PIPE)
        for _ in range(int(rng.integers(3, 30))):
            program.stdout.readline()
        program.kill()
        program.wait()
        program.stdout.close()
        assert set(path.read_bytes()) in ({97}, {98})
        assert path.stat().st_size == 1_000_000
