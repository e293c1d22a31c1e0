"""A number is what it looks like to whoever wrote it, or it is refused with the number as it was understood."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz import Experiment
from hidviz.ui.state.numbers import read_number, read_whole
from hidviz.ui.tabs.data_length_choice import own_sweep


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0,5", 0.5), ("1,5", 1.5), (",25", 0.25), ("0,500", 0.5), ("1234,567", 1234.567), ("1,5e-3", 0.0015),
        ("10,000", 10_000.0), ("1,234,567.5", 1_234_567.5), ("1.234,5", 1234.5), ("10 000", 10_000.0),
        ("10\u202f000,5", 10_000.5), (" 2.5 ", 2.5), ("−3", -3.0), ("1e4", 10_000.0), (".5", 0.5),
    ],
)  # fmt: skip
def test_a_number_is_read_as_what_it_looks_like(text, value):
    assert read_number(text) == value


@pytest.mark.parametrize(
    "text", ["", "ten", "nan", "inf", "1e999", "1_000", "１２", "٣", "1,2,3", "1,00,000", "1 0", "0x10", "9" * 5000]
)
def test_what_is_no_number_in_plain_digits_is_refused(text):
    for read in (read_number, read_whole):
        with pytest.raises(ValueError, match=r"^must be a (whole )?number such as .*, got “") as caught:
            read(text)
        assert len(str(caught.value)) < 120


@pytest.mark.parametrize(("text", "understood"), [("0,5", "0.5"), ("1,5", "1.5"), ("2.5", "2.5"), ("10,0", "10")])
def test_what_is_not_whole_is_refused_as_it_was_understood(text, understood):
    with pytest.raises(ValueError, match=f"got “{re.escape(text)}”, which is {re.escape(understood)}\\.$"):
        read_whole(text)


def test_a_point_that_may_group_thousands_is_asked_about():
    with pytest.raises(ValueError, match=re.escape("got “10.000”: write 10 or 10,000.")):
        read_whole("10.000")
    assert read_number("10.000") == 10.0


@settings(derandomize=True, deadline=None)
@given(n=st.integers(-(10**9), 10**9), x=st.floats(-1e9, 1e9))
def test_what_python_writes_is_read_back(n, x):
    assert read_whole(str(n)) == read_whole(f"{n:,}") == n
    assert read_number(repr(x)) == read_number(f"{x:,}") == x
    assert read_number(f"{x:f}".replace(".", ",")) == float(f"{x:f}")


@pytest.mark.parametrize(
    ("typed", "lengths"),
    [
        ("300 1000 3000", [300, 1000, 3000]),
        ("300, 1000, 3000", [300, 1000, 3000]),
        ("300,1000,3000", [300, 1000, 3000]),
        ("10,500 300", [300, 10_500]),
        ("1,000; 10,000", [1000, 10_000]),
    ],
)
def test_data_lengths_are_the_numbers_that_were_typed(typed, lengths):
    sweep = own_sweep(Experiment(), ["exact"], typed, 1)
    assert [experiment.n_steps for experiment in sweep.experiments] == lengths


@pytest.mark.parametrize("typed", ["300 1.5", "3_000", "300 ١٠٠", "10.000"])
def test_other_data_lengths_are_refused(typed):
    with pytest.raises(ValueError, match=r"^Data lengths must be "):
        own_sweep(Experiment(), ["exact"], typed, 1)
