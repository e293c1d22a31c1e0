"""Links: the knobs of a run and the view of it, in a query string under 500 characters; never a matrix.

Whatever a link holds, an Experiment comes out: bad values are named in `notices` and defaults stand in for them. What
belongs to the view stays in the address through every change of the knobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any
from urllib.parse import parse_qs, urlencode

from hidviz.experiments import CHOICES, OPTIONAL, PRESETS, Experiment, preset_of
from hidviz.ui.state.knobs import KNOBS, read, spoken
from hidviz.ui.state.numbers import quoted, read_whole
from hidviz.ui.state.speeds import SPEEDS
from hidviz.ui.text.language import ENGLISH, LANGUAGES, N_, _, _n
from hidviz.ui.text.lessons import LESSONS

FRONT_TABS = ("learn", "equivalent", "data", "inspector", "mydata")
TABS = (*FRONT_TABS, "restarts", "length", "compare", "scores")
CHOSEN: Mapping[str, tuple[str, ...]] = {
    "tab": TABS, "theme": ("light", "dark"), "speed": tuple(SPEEDS), "lesson": tuple(LESSONS), "mode": ("lecture",),
    "language": tuple(LANGUAGES),
}  # fmt: skip
SWITCHES = ("align", "log", "lock")
HIDEABLE: Mapping[str, str] = {
    "settings": N_("Hide the settings and presets"),
    "tabs": N_("Hide the other tabs"),
    "transport": N_("Hide all buttons of the run but Run"),
}
SETTINGS_OF_OLD = "controls"  # what links call the settings that were made before there were groups
LONGEST_STEP = 100_000
NAMED = 3  # unknown keys; of more a notice gives the number


@dataclass(frozen=True)
class View:
    """How a run is looked at. An empty text stands for the default.

    Args:
        tab: the tab in front.
        theme: "light" or "dark".
        hide: groups of controls that are hidden, names of `HIDEABLE` with commas between; Run always stays.
        lock: whether they cannot be brought back on the page.
        speed: how fast a run goes on.
        align: whether the couplings are shown aligned to the truth.
        log: whether the cost is shown on a logarithmic axis.
        mode: "lecture" for a page that is read from the back row.
        lesson: the lesson under way.
        language: of the texts, a key of LANGUAGES.
        students: what a lecturer has prepared the link of the class to hide, and "lock", with commas between.
    """

    tab: str = TABS[0]
    theme: str = ""
    hide: str = ""
    speed: str = ""
    align: bool = False
    log: bool = False
    mode: str = ""
    lesson: str = ""
    language: str = ""
    lock: bool = False
    students: str = ""

    def hides(self, group: str) -> bool:
        """Whether a group of controls is hidden."""
        given = self.hide.split(",")
        return group in given or (group == "settings" and SETTINGS_OF_OLD in given)


@dataclass(frozen=True)
class Link:
    """What a link asks for.

    Args:
        experiment: the knobs.
        step: run up to this step on opening; None to show the beginning.
        view: how to look at it.
        notices: a sentence for every value that could not be used.
    """

    experiment: Experiment
    step: int | None = None
    view: View = View()
    notices: tuple[str, ...] = ()


def read_query(query: str) -> Link:
    """Read the query string of an address, with or without its question mark."""
    return read_link(parse_qs(query.removeprefix("?"), keep_blank_values=True))


def read_link(arguments: Mapping[str, Sequence[bytes | str]]) -> Link:
    """Read the arguments of a request, as the server hands them over: key → list of values, the last one counts."""
    given = {key: _text(values[-1]) for key, values in arguments.items() if values}
    notices: list[str] = []
    preset = given.pop("preset", "")
    if preset and preset not in PRESETS:
        notices.append(_not_among("preset", preset, PRESETS))
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
    step = _step(given.pop("step", None), notices)
    view = _view(given, notices)
    if given:
        notices.append(_unknown(list(given)))
    return Link(experiment, step, view, tuple(notices))


def language_of(arguments: Mapping[str, Sequence[bytes | str]]) -> str:
    """The language that a link asks for, a key of LANGUAGES; English unless it asks for another."""
    asked = [_text(value) for value in arguments.get("language", ())][-1:]
    return asked[0] if asked and asked[0] in LANGUAGES else ENGLISH


def write_link(experiment: Experiment, *, step: int | None = None, view: View = View()) -> str:
    """The query string that reads back to these knobs and this view; empty if all are at their defaults.

    Args:
        experiment: the knobs; those of a preset are given by its name.
        step: to run up to.
        view: how to look at it.
    """
    preset = preset_of(experiment)
    base = PRESETS[preset] if preset else Experiment()
    pairs = {"preset": preset} if base != Experiment() else {}
    for knob in KNOBS:
        value = getattr(experiment, knob.name)
        if value != getattr(base, knob.name):
            pairs[knob.key] = _written(value)
    pairs |= {
        field.name: _written(getattr(view, field.name))
        for field in fields(View)
        if getattr(view, field.name) != field.default
    }
    if step is not None:
        pairs["step"] = str(step)
    return urlencode(pairs, safe=",")


def _view(given: dict[str, str], notices: list[str]) -> View:
    """Take out of the arguments what belongs to the view."""
    found: dict[str, str | bool] = {}
    for key, known in CHOSEN.items():
        if (text := given.pop(key, "")) in known:
            found[key] = text
        elif text:
            notices.append(_not_among(key, text, known))
    for key in SWITCHES:
        if (text := given.pop(key, "")) in ("0", "1"):
            found[key] = text == "1"
        elif text:
            notices.append(_("{key}: must be 1 or 0, got {text}.", key=key, text=quoted(text)))
    for key, more in (("hide", SETTINGS_OF_OLD), ("students", "lock")):
        groups = [group for group in given.pop(key, "").split(",") if group]
        if unknown := [group for group in groups if group not in (*HIDEABLE, more)]:
            notices.append(_not_among(key, unknown[0], HIDEABLE))
        elif groups:
            found[key] = ",".join(dict.fromkeys(groups))
    if found.get("language") == ENGLISH:
        del found["language"]
    return View(**found)  # type: ignore[arg-type]


def _not_among(key: str, text: str, known: Iterable[str]) -> str:
    """One sentence about a value that is none of those known."""
    return _("{key}: {text} is not one of {known}.", key=key, text=quoted(text), known=", ".join(known))


def _unknown(keys: list[str]) -> str:
    """One sentence about keys that mean nothing."""
    if len(keys) == 1:
        return _("{keys} is not a key that this page knows.", keys=quoted(keys[0]))
    others = len(keys) - NAMED
    more = _n(" and {n:,} other", " and {n:,} others", others) if others > 0 else ""
    return _("{keys}{more} are not keys that this page knows.", keys=", ".join(map(quoted, keys[:NAMED])), more=more)


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
        raise ValueError(_("must be 1 or 0, got {text}.", text=quoted(text)))
    if name in OPTIONAL and text == "":
        return None
    return read(name, text)


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(int(value))
    return repr(value) if isinstance(value, float) else str(value)


def _step(text: str | None, notices: list[str]) -> int | None:
    try:
        step = None if text is None else read_whole(text)
    except ValueError:
        step = -1
    if step is None or 0 <= step <= LONGEST_STEP:
        return step
    wanted = _("step: must be a whole number from 0 to {most:,}, got {text}.", most=LONGEST_STEP, text=quoted(text))
    notices.append(wanted)
    return None


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _reason(error: ValueError, text: str) -> str:
    reason = spoken(str(error))
    return reason if len(reason) < 300 else _("cannot be {text}.", text=quoted(text))
