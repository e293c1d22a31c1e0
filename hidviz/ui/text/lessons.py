"""Lessons: what to do, what to predict, and when it has been done; data that `hidviz.ui.state.lesson_run` plays.

A step says what to do, with numbers of the run in braces, and names what is to be pressed as the page does. It is done
when its condition holds of what is seen. A step with options asks first and tells after.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

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
    """A lesson: its title, the knobs that it begins with, its steps, and the tab that it begins on."""

    title: str
    knobs: Experiment
    steps: tuple[Step, ...]
    tab: str = "learn"


def _ran(seen: Seen) -> bool:
    return seen.finished and seen.frame is not seen.entered


def _ran_by(learner: str) -> Callable[[Seen], bool]:
    return lambda seen: _ran(seen) and seen.frame.experiment.learner == learner


def _read_ours(seen: Seen) -> bool:
    return seen.own.ours and seen.own.read is not seen.entered_own.read


def _scanned(seen: Seen) -> bool:
    return seen.own.complete and seen.own.scan is not seen.entered_own.scan and not seen.own.working


def _hid_units(seen: Seen) -> bool:
    return bool(seen.own.hidden) and seen.own.hidden is not seen.entered_own.hidden and not seen.own.working


def _answered(seen: Seen) -> bool:
    return bool(seen.answer)


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
    found["flipped"] = _(" and ").join(map(str, sorted(gauge.order[gauge.signs < 0] + 1))) or "1"
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

_IMPOSSIBLE = Lesson(
    "What the paper calls impossible",
    Experiment(
        n_visible=12, n_hidden=3, n_steps=3_000, model="stochastic", hidden_hidden=True, learner="gibbs",
        penalty="learned", max_steps=250, n_held_out=0,
    ),
    (
        Step("Here three hidden units also act on each other, by the couplings M. So what they did in one bin depends "
             "on all bins before, and there are 8 · 8 · … · 8 hidden histories, with a factor for each of {T:,} bins. "
             "Of this case the paper says: “exact calculations are never possible, even for just one hidden unit”. "
             "Can M be inferred all the same?", _answered, ("Yes", "No"),
             "Let us see. Monte Carlo EM draws one hidden history at a time, as likely as the data and the couplings "
             "so far make it, and improves the couplings as if that had been recorded."),
        Step("Press **Run**, and watch the bold line of M among the errors. It ends after 250 steps.",
             _ran_by("gibbs")),
        Step("The aligned error of M is {AM:.3f}, and the true couplings have a typical size of {true_M:.2f}: M was "
             "found by sampling. Could a sum over all hidden histories be exact, and still come to an end?", _answered,
             ("Yes", "No"),
             "Yes, if it goes bin by bin: given one bin, the next does not depend on those before. Three hidden units "
             "have 8 states, so 8 · 8 = 64 passages from a bin to the next take the place of all histories."),
        Step("Set **Learner** to “Exact”, and press **Run**.", _ran_by("exact")),
        Step("Sampling: K {old_AK:.3f}, M {old_AM:.3f}. Exact: K {AK:.3f}, M {AM:.3f}. They agree; what either "
             "misses is what the data do not say. The exact sum takes four times as long for each further hidden unit "
             "and ends at ten; sampling goes on beyond."),
    ),
)  # fmt: skip

_SPIKES = Lesson(
    "Your own spikes",
    Experiment(),
    (
        Step("This tab takes recordings of real cells. Press **Try ours**: 16 units of a hippocampus, 998 s long.",
             _read_ours),
        Step("{n_units} units, in bins of {ms:g} ms. In the raster many of them fire together, in bursts. How many "
             "hidden units will it take to predict the next bin?", _answered, ("None", "One", "Two or more"),
             "Let the data say: a scan fits models with none, one, two, and judges each by bins that it has not "
             "seen."),
        Step("Press **Start scan**, and wait until all models are there.", _scanned),
        Step("The fewest that predict as well as the best: {chosen}, {gain} nats per bin better than lag 1. "
             "Is such a hidden unit a cell that was missed, or a state that all share?", _answered,
             ("A missed cell", "A shared state"),
             "There is a way to ask: hide a cell that was recorded, and see whether it is found again."),
        Step("Under **Units to hide in turn** leave one unit or more, press **Check model**, and wait for the end.",
             _hid_units),
        Step("{unit} was hidden and inferred from the others. What was inferred follows it with a correlation of "
             "{r:.2f}, the mere number of other units that fire with {r_count:.2f}; given that number, {partial:.2f} "
             "is left. {verdict} Now drop a file of your own."),
    ),
    tab="mydata",
)  # fmt: skip

LESSONS: Mapping[str, Lesson] = MappingProxyType({
    "hidden-twin": _TWIN,
    "why-the-error": _ALIGNED,
    "how-much-data": _LENGTH,
    "mean-field": _MEAN_FIELD,
    "impossible": _IMPOSSIBLE,
    "own-spikes": _SPIKES,
})  # fmt: skip
