"""How numbers are written for people, on the page and in a terminal alike: spans of time, signs, powers of ten."""

from __future__ import annotations

MINUS = "−"

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_SPANS = ((0.0995, 1e-3, "ms"), (99.5, 1.0, "s"), (5970.0, 60.0, "min"))  # below so many seconds: in these units


def duration(seconds: float) -> str:
    """A span of time in words, to two figures below ten: "0.6 ms", "12 s", "1.8 min", "1.8 h", "120 h"."""
    size, name = next(((size, name) for below, size, name in _SPANS if seconds < below), (3600.0, "h"))
    number = seconds / size
    return f"{number:.2g} {name}" if number < 9.95 else f"{number:,.0f} {name}"


def signed(value: float, digits: int) -> str:
    """A number with its sign and so many digits after the point; nothing at all is +0."""
    text = f"{abs(value):,.{digits}f}"
    negative = value < 0.0 and any(digit in "123456789" for digit in text)
    return (MINUS if negative else "+") + text


def raised(number: int) -> str:
    """A whole number as an exponent."""
    return str(number).translate(_RAISED)
