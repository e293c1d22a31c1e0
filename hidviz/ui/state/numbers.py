"""Numbers as people write them, in a field or in a link.

    10000   1e4   10,000   10 000   2.5   2,5   1.234,5

A comma groups thousands where it stands as it would there, else it is a decimal comma, never dropped. What could be
read in two ways, and what is no number in plain digits, is refused with the number as it was understood.
"""

from __future__ import annotations

import math
import re

from hidviz.ui.text.language import _

LONGEST = 40  # characters: no number that a knob can take needs more
_SPACES = str.maketrans({"\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u2212": "-"})
_PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?|[+-]?[1-9][0-9]{0,2}( [0-9]{3})+([.,][0-9]*)?")
_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+([eE][+-]?[0-9]+)?|[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+")
_POINTS = re.compile(r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+")


def read_number(text: str) -> float:
    """A number from its text.

    Raises:
        ValueError: it is none; the message says what must hold, without naming the number's place.
    """
    typed = text.translate(_SPACES).strip()
    if len(typed) > LONGEST:
        raise ValueError(_("must be a number such as 0.5, got {text}.", text=quoted(text)))
    if _PLAIN.fullmatch(typed):
        plain = typed
    elif grouped := _GROUPED.fullmatch(typed):
        plain = typed.replace(" ", "").replace(",", ".") if grouped[3] else typed.replace(",", "")
    elif _COMMA.fullmatch(typed):
        plain = typed.replace(".", "").replace(",", ".")
    else:
        raise ValueError(_("must be a number such as 0.5, got {text}.", text=quoted(text)))
    value = float(plain)
    if not math.isfinite(value):
        raise ValueError(_("must be a number such as 0.5, got {text}.", text=quoted(text)))
    return value


def read_whole(text: str) -> int:
    """A whole number from its text.

    Raises:
        ValueError: it is none; the message says how it was understood.
    """
    try:
        value = read_number(text)
    except ValueError:
        raise ValueError(_("must be a whole number such as 10,000, got {text}.", text=quoted(text))) from None
    typed = text.translate(_SPACES).strip()
    if value != int(value) or ("," in typed and not _GROUPED.fullmatch(typed)):
        raise ValueError(
            _("must be a whole number such as 10,000, got {text}, which is {value:g}.", text=quoted(text), value=value)
        )
    if _POINTS.fullmatch(typed):
        larger = int(typed.replace(".", ""))
        raise ValueError(
            _(
                "must be a whole number, got {text}: write {value:,} or {larger:,}.",
                text=quoted(text),
                value=int(value),
                larger=larger,
            )
        )
    return int(value)


def quoted(text: object) -> str:
    """What somebody typed, short enough to show."""
    typed = str(text)
    return f"“{typed[:40]}…”" if len(typed) > 40 else f"“{typed}”"
