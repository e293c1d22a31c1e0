"""Links: the knobs of a run and the view of it, in a query string under 500 characters; never a matrix.

Whatever a link holds, an Experiment comes out: bad values are named in `notices` and defaults stand in for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from hidviz.experiments import CHOICES, OPTIONAL, PRESETS, Experiment
from hidviz.ui.state.knobs import KNOBS, quoted, read, spoken

VIEW_KEYS = ("tab", "step", "lesson", "hide")
TABS = ("learn", "data", "length", "restarts", "equivalent", "inspector", "compare", "scores")
HIDE = ("controls",)
LONGEST_STEP = 100_000


@dataclass(frozen=True)
class Link:
    """What a link asks for.

    Args:
        experiment: the knobs.
        preset: the name of the preset that the knobs started from; empty for none.
        step: run up to this step on opening; None to show the beginning.
        tab: the tab to open.
        hide_controls: whether to hide the controls, for a lecture.
        notices: a sentence for every value that could not be used.
    """

    experiment: Experiment
    preset: str = ""
    step: int | None = None
    tab: str = TABS[0]
    hide_controls: bool = False
    notices: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether nothing was asked for at all."""
        return self == Link(Experiment())


def read_link(arguments: Mapping[str, Sequence[bytes | str]]) -> Link:
    """Read the arguments of a request, as the server hands them over: key → list of values, the last one counts."""
    given = {key: _text(values[-1]) for key, values in arguments.items() if values}
    notices: list[str] = []
    preset = given.pop("preset", "")
    if preset and preset not in PRESETS:
        notices.append(f"preset: {quoted(preset)} is not one of {', '.join(PRESETS)}.")
        preset = ""
    experiment = PRESETS[preset] if preset else Experiment()
    for knob in KNOBS:
        if knob.key not in given:
            continue
        text = given.pop(knob.key)
        try:
            experiment = replace(experiment, **{knob.name: _value(knob.name, text)})
        except ValueError as error:
            notices.append(f"{knob.key}: {_reason(error, text)}")
    step = _whole(given.pop("step", None), "step", LONGEST_STEP, notices)
    tab = _one_of(given.pop("tab", None), "tab", TABS, notices) or TABS[0]
    hide = _one_of(given.pop("hide", None), "hide", HIDE, notices)
    given.pop("lesson", None)
    given.pop("theme", None)
    notices += [f"{quoted(key)} is not a key that this page knows." for key in given]
    return Link(experiment, preset, step, tab, hide == "controls", tuple(notices))


def write_link(experiment: Experiment, *, preset: str = "", step: int | None = None, tab: str = TABS[0]) -> str:
    """The query string that reads back to these knobs and this view; empty if all are at their defaults."""
    base = PRESETS[preset] if preset else Experiment()
    pairs = {"preset": preset} if base != Experiment() else {}
    for knob in KNOBS:
        value = getattr(experiment, knob.name)
        if value != getattr(base, knob.name):
            pairs[knob.key] = _written(value)
    if tab != TABS[0]:
        pairs["tab"] = tab
    if step is not None:
        pairs["step"] = str(step)
    return urlencode(pairs)


def _value(name: str, text: str) -> Any:
    """The value of a knob from its text.

    Raises:
        ValueError: it is not of the knob's kind.
    """
    if name in CHOICES:
        return text
    default = getattr(Experiment(), name)
    if isinstance(default, bool):
        if text.lower() in ("1", "true", "yes"):
            return True
        if text.lower() in ("0", "false", "no"):
            return False
        raise ValueError(f"must be 1 or 0, got {quoted(text)}.")
    if name in OPTIONAL and text == "":
        return None
    return read(name, text)


def _written(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _whole(text: str | None, key: str, high: int, notices: list[str]) -> int | None:
    if text is None:
        return None
    if text.isdecimal() and int(text[:12]) <= high:
        return int(text[:12])
    notices.append(f"{key}: must be a whole number from 0 to {high:,}, got {quoted(text)}.")
    return None


def _one_of(text: str | None, key: str, known: Sequence[str], notices: list[str]) -> str | None:
    if text is None or text in known:
        return text
    notices.append(f"{key}: {quoted(text)} is not one of {', '.join(known)}.")
    return None


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _reason(error: ValueError, text: str) -> str:
    reason = spoken(str(error))
    return reason if len(reason) < 300 else f"cannot be {quoted(text)}."
