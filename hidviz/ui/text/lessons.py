"""Lessons: what to do, what to predict, and when it has been done; data that `hidviz.ui.state.lesson_run` plays.

A step says what to do, with numbers of the run in braces, and names what is to be pressed as the page does. It is done
when its condition holds of what is seen. A step with options asks first and tells after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from hidviz.experiments import Experiment, Frame


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
    """

    frame: Frame
    entered: Frame
    earlier: Frame
    finished: bool = False
    aligned: bool = False
    answer: str = ""


@dataclass(frozen=True)
class Step:
    """One step of a lesson.

    Args:
        say: what to do or to think about.
        done: whether it has been done; reading it is enough unless given.
        options: answers to choose from.
        reveal: what is said after an answer.
    """

    say: str
    done: Callable[[Seen], bool] = lambda _: True
    options: tuple[str, ...] = ()
    reveal: str = ""


@dataclass(frozen=True)
class Lesson:
    """A lesson: its title, the knobs that it begins with, and its steps."""

    title: str
    knobs: Experiment
    steps: tuple[Step, ...]


def _ran(seen: Seen) -> bool:
    return seen.finished and seen.frame is not seen.entered


def _answered(seen: Seen) -> bool:
    return bool(seen.answer)


def _error(frame: Frame, column: str) -> float:
    return float(frame.trace[column][-1])


def numbers(seen: Seen) -> Mapping[str, float | str]:
    """What the braces of a text stand for: costs in nats per bin, errors as found (J, K, L) and aligned (AJ, AK, AL).

    Those that begin with `was_` are of the frame on which the step began, with `old_` of that of the step before.
    """
    found: dict[str, float | str] = {}
    for prefix, frame in (("", seen.frame), ("was_", seen.entered), ("old_", seen.earlier)):
        found[f"{prefix}cost"] = frame.snapshot.cost
        found[f"{prefix}T"] = frame.experiment.n_steps
        for block in "JKL":
            found[prefix + block] = _error(frame, f"rms_{block}")
            found[f"{prefix}A{block}"] = _error(frame, f"aligned_{block}")
    flipped = sorted(seen.frame.gauge.order[seen.frame.gauge.signs < 0] + 1)
    found["flipped"] = " and ".join(map(str, flipped)) or "1"
    found["jump"] = seen.entered.snapshot.cost - seen.earlier.snapshot.cost
    return found


_TWIN = Lesson(
    "The hidden twin",
    Experiment(),
    (
        Step("Of twenty units two are hidden. From the activity of the other eighteen alone, all the wiring is "
             "inferred. Press **Run**, and watch the cost fall.", _ran),
        Step("The error of J, between units that were seen, ended at {J:.3f}. Those of K and L as found, the thin "
             "lines, ended at {K:.2f} and {L:.2f}. Was this a good inference?", _answered, ("Yes", "No"),
             "Both can be said. In the map of the differences one row and one column stand out, and each is wrong by "
             "twice its value: a hidden unit came out as its own mirror image."),
        Step("Press **Flip** on hidden unit {flipped}, and watch the maps, the errors and the cost.",
             lambda seen: seen.frame.gauge.signs.min() > 0),
        Step("A row and a column changed their signs, the error of K fell to {K:.3f}, and the cost stayed at "
             "{cost:.5f}. Would more data tell the two networks apart?", _answered, ("Yes", "No"),
             "No. Both make every recording equally likely, however long it is: they are twins."),
        Step("Is every change of sign free? Below the curves, press **Flip K only**.",
             lambda seen: seen.frame.snapshot.cost > seen.entered.snapshot.cost + 0.01),
        Step("The cost rose by {jump:.3f} nats per bin: half a flip makes another model, and a worse one. "
             "Press **Undo**.", lambda seen: seen.frame.snapshot.cost < seen.entered.snapshot.cost - 0.01),
        Step("Two hidden units have 2² = 4 choices of sign and 2! = 2 orders: eight twins. The tab **Symmetry** shows "
             "them all."),
    ),
)  # fmt: skip

_ALIGNED = Lesson(
    "Why the error looks bad",
    Experiment(),
    (
        Step("Hidden units have no names of their own. Thin lines are the errors of the couplings as found; bold ones "
             "are those of the same couplings, their labels and signs matched to the truth. "
             "Switch on **Align to truth**.", lambda seen: seen.aligned),
        Step("The differences are nearly gone. Have the inferred couplings become better?", _answered, ("Yes", "No"),
             "No: only the picture changed. Alignment needs the truth, so it can judge a method, and cannot help it."),
        Step("Switch **Align to truth** off, and press **New start**: another random start on the same data.",
             lambda seen: not seen.aligned and _ran(seen)
             and seen.frame.experiment.start_index != seen.entered.experiment.start_index),
        Step("The first start came to {old_cost:.5f} nats per bin, this one to {cost:.5f}. As found, the error of K "
             "was {old_K:.3f} and is {K:.3f}; aligned it was {old_AK:.3f} and is {AK:.3f}. Which signs and labels come "
             "out is chance. The tab **Restarts** makes eight starts."),
    ),
)  # fmt: skip

_LENGTH = Lesson(
    "How much data",
    Experiment(n_steps=2_000),
    (
        Step("This network is recorded for {T:,} bins. Press **Run**, and wait for the end.", _ran),
        Step("The aligned error of J, the bold line, is {AJ:.4f}. What will it be with four times as many bins?",
             _answered, ("The same", "About half", "About a quarter"),
             "About half: an error falls as one over the root of T, its square as one over T."),
        Step("Set **Data length T** to 8,000, and press **Run**.",
             lambda seen: _ran(seen) and seen.frame.experiment.n_steps == 8_000),
        Step("The aligned error of J was {old_AJ:.4f} with {old_T:,} bins, and is {AJ:.4f} with {T:,}. "
             "The tab **Data length** follows the errors over decades."),
    ),
)  # fmt: skip

_MEAN_FIELD = Lesson(
    "Mean field against exact",
    Experiment(n_visible=5, n_hidden=5, n_steps=3_000, model="stochastic", learner="exact", penalty=0.05, patience=30),
    (
        Step("Here hidden units are stochastic. Five of them have 2⁵ = 32 states, and the exact learner sums over all. "
             "Press **Run**, and wait for the end.", _ran),
        Step("The aligned error of K is {AK:.3f}. Mean field treats the hidden units as independent of each other. "
             "With one visible unit for each hidden one, will its error be larger?", _answered, ("Yes", "No"),
             "Let us see: what is neglected are correlations that the data cannot average away when so few units are "
             "visible."),
        Step("Set **Learner** to “Mean field, lowest order”, and press **Run**.",
             lambda seen: _ran(seen) and seen.frame.experiment.learner == "mean-field"),
        Step("Exact: K {old_AK:.3f}, L {old_AL:.3f}. Mean field: K {AK:.3f}, L {AL:.3f}. With more data the exact "
             "errors go on falling, those of mean field do not; with four visible units for each hidden one they "
             "nearly agree. The tab **Data length** shows both in Fig. 6."),
    ),
)  # fmt: skip

LESSONS: Mapping[str, Lesson] = MappingProxyType(
    {"hidden-twin": _TWIN, "why-the-error": _ALIGNED, "how-much-data": _LENGTH, "mean-field": _MEAN_FIELD}
)
