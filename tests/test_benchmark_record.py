"""The record of the benchmarks: a loss of a fifth is seen, and only what can be compared is."""

import json

import pytest

from tests.benchmarks import all as record_of
from tests.benchmarks.all import Number, Record, row

RECORD = Record("a machine", "a processor", "abc", {"opening": 2.0, "frames": 20.0, "times NumPy's": 10.0})


@pytest.mark.parametrize(
    ("number", "lost"),
    [
        (Number("opening", 2.3, "s"), False),
        (Number("opening", 2.5, "s"), True),
        (Number("frames", 17.0, "a second", less_is_better=False), False),
        (Number("frames", 16.0, "a second", less_is_better=False), True),
        (Number("frames", 40.0, "a second", less_is_better=False), False),
        (Number("times NumPy's", 8.0, less_is_better=False), True),
    ],
)
def test_a_loss_of_a_fifth_is_seen(number, lost):
    text, seen = row(number, RECORD, "a processor")
    assert seen is lost
    assert ("**" in text) is lost


def test_seconds_of_another_processor_are_not_compared_but_ratios_are():
    assert row(Number("opening", 9.0, "s"), RECORD, "another") == ("| opening | 9 s | – |  |", False)
    assert row(Number("times NumPy's", 5.0, less_is_better=False), RECORD, "another")[1]


def test_what_is_kept_is_compared_with_next_and_the_command_says_what_is_lost(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(record_of, "RECORD", tmp_path / "record.json")
    seconds = iter([1.0, 2.0])
    monkeypatch.setattr(record_of, "PARTS", {"page": lambda **_: iter([Number("opening", next(seconds), "s")])})
    assert record_of.main(["--quick", "--keep"]) == 0
    assert json.loads((tmp_path / "record.json").read_text())["numbers"] == {"opening": 1.0}
    assert record_of.main(["--quick"]) == 1
    assert "A fifth or more is lost: opening." in capsys.readouterr().out
