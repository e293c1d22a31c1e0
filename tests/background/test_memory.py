"""How much a process may use, and what is left of it."""

import numpy as np
import pytest

from hidviz.background import memory
from hidviz.background.memory import (
    PROCESS,
    RUN,
    asked_for,
    format_size,
    largest_number,
    machine_memory,
    memory_left,
    parse_size,
    process_limit,
    resident,
    run_limit,
)


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8G", 8e9),
        ("500 MB", 5e8),
        ("1.5gib", 1.5e9),
        ("2e9", 2e9),
        ("3145728.0", 3145728.0),
        ("1e+17", 1e17),
        ("7k", 7e3),
        ("0.5 TB", 5e11),
    ],
)
def test_sizes_are_read_as_people_write_them(text, size):
    assert parse_size(text) == size
    assert parse_size(str(size)) == size


@pytest.mark.parametrize("text", ["", "much", "0", "-3G", "8 X", "nan", "inf", "1e999", "1.2.3G", "8G 2G"])
def test_what_is_no_size_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="such as 8G or 500M"):
        parse_size(text)


def test_sizes_are_written_with_a_unit():
    assert [format_size(size) for size in (14.94e9, 1e9, 512e6)] == ["14.9 GB", "1 GB", "512 MB"]


def test_what_a_process_uses_grows_with_what_it_holds():
    before, held = resident(), np.ones(12_500_000)
    assert 0.9 * held.nbytes < resident() - before < 1.5 * held.nbytes


def test_the_variables_decide_and_a_run_never_has_more_than_its_process(monkeypatch):
    monkeypatch.setenv(PROCESS, "8G")
    monkeypatch.delenv(RUN, raising=False)
    assert (process_limit(), run_limit()) == (8e9, 4e9)
    monkeypatch.setenv(RUN, "1G")
    assert run_limit() == 1e9
    monkeypatch.setenv(RUN, "20G")
    assert run_limit() == 8e9
    for variable in (PROCESS, RUN):
        monkeypatch.setenv(variable, "")
    assert (process_limit(), run_limit()) == (0.75 * machine_memory(), 0.375 * machine_memory())
    monkeypatch.setenv(PROCESS, "plenty")
    with pytest.raises(ValueError, match=r"HIDVIZ_MEMORY cannot be used.*'plenty'"):
        process_limit()


def test_a_container_has_what_it_is_given_and_not_what_the_machine_has(monkeypatch, tmp_path):
    whole = machine_memory()
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_LIMITS", (str(limit), str(tmp_path / "none")))
    limit.write_text("104857600\n")
    assert machine_memory() == 104857600
    limit.write_text("max\n")
    assert machine_memory() <= 2 * whole
    monkeypatch.delenv(PROCESS, raising=False)
    limit.write_text("104857600\n")
    assert process_limit() == 0.75 * 104857600


def test_a_machine_has_its_pages_and_a_process_what_it_is_limited_to(monkeypatch):
    resource = pytest.importorskip("resource", reason="optional: a system without such limits")
    monkeypatch.setattr(memory, "_LIMITS", ())
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.get)
    for limits, size in (
        ((-1, -1), 4096e3),
        ((0, 5e6), 4096e3),
        ((1, 5e6), 1.0),
        ((3e6, 5e6), 3e6),
        ((5e6, 6e6), 4096e3),
    ):
        monkeypatch.setattr(resource, "getrlimit", lambda _, limits=limits: limits)
        assert machine_memory() == size


@pytest.mark.parametrize(
    ("content", "size"), [(None, 0.0), ("", 0.0), ("7", 0.0), ("7 x", 0.0), ("7 5 9\n", 5 * 4096.0)]
)
def test_what_a_process_uses_is_nothing_where_the_system_does_not_tell(monkeypatch, tmp_path, content, size):
    if content is not None:
        (tmp_path / "statm").write_text(content)
    monkeypatch.setattr(memory, "Path", lambda name: tmp_path / name.rpartition("/")[2])
    monkeypatch.setattr(memory.os, "sysconf", {"SC_PAGE_SIZE": 4096}.get)
    assert resident() == size


def test_what_is_used_and_what_is_asked_for_is_gone(monkeypatch):
    monkeypatch.setenv(PROCESS, "100G")
    before = memory_left()
    assert 0.0 < before < 100e9, "this process uses memory"
    with asked_for(30e9), asked_for(10e9):
        assert memory_left() == pytest.approx(before - 40e9, abs=5e8)
    with pytest.raises(KeyError), asked_for(30e9):
        raise KeyError
    assert memory_left() == pytest.approx(before, abs=5e8)


def test_the_largest_number_that_fits_is_found():
    def fits(n):
        tried.append(n)
        assert len(tried) <= 9, "halving 100 takes seven looks"
        return n <= bound

    for most in (0, 1, 7, 100):
        for bound in range(-1, most + 2):
            tried = []
            assert largest_number(fits, most) == max(0, min(bound, most))
