"""One answer to how a number is written."""

import pytest

from hidviz.units import duration, raised, signed


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.0, "0 ms"),
        (0.00061, "0.61 ms"),
        (0.002, "2 ms"),
        (0.099, "99 ms"),
        (0.1, "0.1 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (99.4, "99 s"),
        (99.6, "1.7 min"),
        (110.0, "1.8 min"),
        (120.0, "2 min"),
        (5969.0, "99 min"),
        (6500.0, "1.8 h"),
        (7200.0, "2 h"),
        (4.0e6, "1,111 h"),
    ],
)
def test_a_span_of_time_has_one_name(seconds, words):
    assert duration(seconds) == words


def test_a_sign_stands_before_every_number_and_is_a_minus():
    assert [signed(value, 2) for value in (1.005, -1.5, 0.0, -0.001, 12345.6)] == [
        "+1.00", "−1.50", "+0.00", "+0.00", "+12,345.60",
    ]  # fmt: skip


def test_exponents_are_raised():
    assert raised(-12) == "⁻¹²"
