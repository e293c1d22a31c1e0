"""Lesson: what lessons are made of, what their steps may look at, and what they say of it.

A step says what to do, with numbers of the run in braces, and names what is to be pressed, between pairs of asterisks,
as the page does. It is done when its condition holds of what is seen. A step with options asks first and tells after.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from hidviz.experiments import Experiment, Frame, HiddenUnit, Scan
from hidviz.ui.text.language import _
from hidviz.ui.text.own_checks import hidden_verdict
from hidviz.ui.text.own_scan import called


@dataclass(frozen=True, eq=False)
class Own:
    """What is known of the recording on the tab My data, nothing at first.

    Args:
        n_units: that were recorded.
        bin: seconds.
        read: stands for one reading of files; another one is another object.
        ours: whether it is the recording that ships with hidviz.
        scan: the models fitted to that reading so far.
        complete: whether the scan has come to its end.
        hidden: units that were hidden in turn, in checks that have come to their end.
        working: whether anything is under way.
    """

    n_units: int = 0
    bin: float = 0.0
    read: object = None
    ours: bool = False
    scan: Scan | None = None
    complete: bool = False
    hidden: tuple[HiddenUnit, ...] = ()
    working: bool = False


NOTHING = Own()


@dataclass(frozen=True)
class Seen:
    """What a condition and the numbers of a text may look at.

    Args:
        frame: what the page shows.
        entered: what it showed when the step began.
        earlier: what it showed when the step before began; the same as `entered` in the first.
        finished: whether the run shown has come to its end.
        aligned: whether the maps are aligned to the truth.
        answer: what was answered; empty so far.
        own: what is known of the recording on the tab My data.
        entered_own: what was known of it when the step began.
    """

    frame: Frame
    entered: Frame
    earlier: Frame
    finished: bool = False
    aligned: bool = False
    answer: str = ""
    own: Own = NOTHING
    entered_own: Own = NOTHING


@dataclass(frozen=True)
class Step:
    """One step of a lesson.

    Args:
        say: what to do, or what has been found.
        done: whether it has been done; reading it is enough unless given.
        ask: a question.
        options: answers to choose from.
        reveal: what is said instead of `say` after an answer.
        right: the answer that is borne out; empty if none is, or all are.
        look: headings of the pictures that it speaks of, what matters most first.
        then: those that `reveal` speaks of; the same ones if empty.
        sets: knobs that it asks for, with their values.
    """

    say: str
    done: Callable[[Seen], bool] = lambda _: True
    ask: str = ""
    options: tuple[str, ...] = ()
    reveal: str = ""
    right: str = ""
    look: tuple[str, ...] = ()
    then: tuple[str, ...] = ()
    sets: Mapping[str, int | str] = field(default_factory=dict)

    def words(self, seen: Seen) -> str:
        """What it says now."""
        told = (self.ask, self.reveal) if seen.answer else (self.say, self.ask)
        return " ".join(_(text).format(**numbers(seen)) for text in told if text)

    @property
    def longest(self) -> str:
        """The longest that it may say, numbers as they come."""
        asked = _(self.ask) if self.ask else ""
        said = max(_(self.say), _(self.reveal) if self.reveal else "", key=len)
        return re.sub(r"\{[^}]*\}", "0.000", f"{said} {asked}".replace("**", ""))


@dataclass(frozen=True)
class Lesson:
    """A lesson: its title, its knobs, its steps, the tab that it begins on, and whether with a run yet to be made."""

    title: str
    knobs: Experiment
    steps: tuple[Step, ...]
    tab: str = "learn"
    at_step_0: bool = False

    @property
    def longest(self) -> str:
        """The longest text of its steps."""
        return max((step.longest for step in self.steps), key=len)


def _error(frame: Frame, column: str) -> float:
    return float(frame.trace[column][-1])


def numbers(seen: Seen) -> Mapping[str, float | str]:
    """What the braces of a text stand for: costs in nats per bin, errors as found (J, K, L, M) and aligned (AJ, AK …).

    Those that begin with `was_` are of the frame on which the step began, with `old_` of that of the step before.
    """
    found: dict[str, float | str] = {}
    for prefix, frame in (("", seen.frame), ("was_", seen.entered), ("old_", seen.earlier)):
        found[f"{prefix}cost"] = frame.snapshot.cost
        found[f"{prefix}T"] = frame.experiment.n_steps
        for block in "JKLM":
            found[prefix + block] = _error(frame, f"rms_{block}")
            found[f"{prefix}A{block}"] = _error(frame, f"aligned_{block}")
    gauge = seen.entered.gauge  # what a step asks for stays what it asked for
    mirrored = sorted(gauge.order[gauge.signs < 0] + 1) or [1]
    found["flips"] = _(" and ").join(f"**{_('Flip hidden unit {unit}', unit=unit)}**" for unit in mirrored)
    found["jump"] = seen.entered.snapshot.cost - seen.earlier.snapshot.cost
    found["true_M"] = float(np.sqrt(np.mean(np.square(seen.frame.data.truth.M))))
    return found | _own_numbers(seen.own)


def _own_numbers(own: Own) -> dict[str, float | str]:
    """The same of a recording: nothing, and 0, for what is not yet known."""
    row = None if own.scan is None else own.scan.chosen
    hidden = own.hidden[0] if own.hidden else None
    return {
        "n_units": own.n_units,
        "ms": 1000 * own.bin,
        "chosen": "" if row is None else called(row).lower().replace("(m)", "(M)"),
        "gain": "" if row is None or row.gain is None else row.gain.in_words(),
        "unit": "" if hidden is None else hidden.name,
        "r": 0.0 if hidden is None else hidden.r,
        "r_count": 0.0 if hidden is None else hidden.r_count,
        "partial": 0.0 if hidden is None else hidden.partial,
        "verdict": "" if hidden is None else hidden_verdict((hidden,)),
    }
