"""Telling: what the couplings that are shown tell of the hidden states, worked out in the background on request.

It belongs to one frame. It is worked out where a run rests; while the run goes on, what is known stays, with the step
that it is of. Flips and new labels of hidden units need nothing anew: the states are told in the gauge of the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from hidviz.background import Runner
from hidviz.evaluation import ToldStates, iter_told_states, replica_theory
from hidviz.experiments import Experiment, Frame
from hidviz.learners import LEARNERS
from hidviz.ui.state.error_bar_worker import equivalent
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import _


def telling(frame: Frame) -> Iterator[float | ToldStates]:
    """The fraction done, and at last what the couplings of a frame tell of its hidden states."""
    kind: Literal["stochastic", "continuous"]
    kind = "continuous" if LEARNERS[frame.experiment.learner].hidden == "continuous" else "stochastic"
    data, seed = frame.data, frame.experiment.seed
    found = frame.snapshot.couplings
    yield (yield from iter_told_states(found, data.truth, data.recording, data.hidden, kind=kind, seed=seed))


class Telling:
    """The hidden states as whatever is shown tells them, as far as that is known and wanted."""

    def __init__(self) -> None:
        self._runner: Runner[float | ToldStates] = Runner()
        self._asked: Frame | None = None

    @property
    def version(self) -> int:
        """Grows with everything that has been worked out."""
        return self._runner.version

    @property
    def told(self) -> ToldStates | None:
        """What is known."""
        latest = self._runner.latest
        return latest if isinstance(latest, ToldStates) else None

    def follow(self, frame: Frame, *, running: bool, wanted: bool) -> None:
        """Begin anew where the run rests, and give up what belongs to other data or is wanted no more.

        Args:
            frame: what is shown.
            running: whether the run goes on.
            wanted: whether anybody looks.
        """
        asked = self._asked
        if asked is not None and (asked.data is not frame.data or not wanted):
            self._runner.start(iter(()))
            self._asked = asked = None
        if not wanted or running or not frame.data.truth.n_hidden or not _tells(frame):
            return
        if asked is None or asked.experiment.learner != frame.experiment.learner or not equivalent(asked, frame):
            self._asked = frame
            self._runner.start(telling(frame))

    def stop(self) -> None:
        """Give up what is being worked out."""
        self._runner.stop()

    def in_words(self, frame: Frame, *, running: bool) -> str:
        """What is known of the hidden states, and whose it is; or why nothing is known."""
        if not frame.data.truth.n_hidden:
            return _("This network has no hidden units.")
        if not _tells(frame):
            return _("This learner has no hidden units, so it tells nothing of them.")
        if failure := self._runner.failure:
            return _("The hidden states could not be told: {failure}", failure=of_engine(str(failure)))
        if self.told is None:
            if running and self._asked is None:
                return _("What the data tell of the hidden states is worked out where the run rests.")
            done = self._runner.latest if isinstance(self._runner.latest, float) else 0.0
            return _("Working out what the data tell of the hidden states, {done:.0f} % …", done=100 * done)
        step = frame.snapshot.step if self._asked is None else self._asked.snapshot.step
        whose = _("Told by the couplings of step {step:,}: ", step=step)
        return whose + _found(self.told) + _endless(frame.experiment, self.told)


def _found(told: ToldStates) -> str:
    if told.wrong is None:
        return _("the states found differ from the true ones by {rms:.3f} (rms).", rms=told.rms)
    return _(
        "{wrong:.1%} of the hidden states have the wrong sign, marked; with the true couplings {least:.1%}, the least "
        "that any method can reach on average.",
        wrong=told.wrong,
        least=told.wrong_at_truth,
    )


def _endless(experiment: Experiment, told: ToldStates) -> str:
    """What replica theory says of infinitely many such units, where it says something."""
    if told.wrong is None or experiment.bias or not experiment.variance:
        return ""
    ratio = experiment.n_hidden / experiment.n_visible
    expected = replica_theory(experiment.variance, ratio, hidden_hidden=experiment.hidden_hidden).wrong_signs
    return " " + _(
        "Replica theory gives {endless:.1%} with the true couplings of infinitely many units of this coupling variance "
        "and ratio of hidden to visible; a network this small can differ much.",
        endless=expected,
    )


def _tells(frame: Frame) -> bool:
    return LEARNERS[frame.experiment.learner].hidden != "none" and frame.snapshot.couplings.n_hidden > 0
