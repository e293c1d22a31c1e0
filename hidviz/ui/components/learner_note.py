"""What a learner assumes, what it maximises, what it costs, and when to stop it: to be read before pressing Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import param

from hidviz.experiments import Advice, Experiment, advice
from hidviz.learners import LEARNERS
from hidviz.ui.components.base import Component
from hidviz.ui.state.knobs import KNOB
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import _
from hidviz.units import duration


class LearnerNote(Component):
    """Two sentences about the learner, its predicted seconds a step, advice when to stop, and equations behind a fold.

    Args:
        on_advice: called with the knobs that were advised, when a user takes the advice.
    """

    summary = param.String(doc="What the learner assumes, maximises and costs.")
    advice = param.String(doc="When to stop, and why.")
    offer = param.String(doc="What taking the advice does; empty where it is taken already.")
    equations = param.List([], doc="Its equations in KaTeX, without delimiters.")
    learned = param.String(doc="The weights of a learned penalty at the step shown; empty without one.")
    active = param.List([], doc="Places of the equations in play.")

    def __init__(self, on_advice: Callable[..., None], **params: Any) -> None:
        super().__init__(**params)
        self._on_advice = on_advice
        self._advised: Advice | None = None

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("press") == "advice" and self._advised is not None:
            self._on_advice(**self._advised.knobs)

    def show(self, experiment: Experiment) -> None:
        """Describe the learner of an experiment."""
        self._advised = told = advice(experiment)
        taken = all(getattr(experiment, name) == value for name, value in told.knobs.items())
        method = LEARNERS[experiment.learner]
        time = evaluation_time(experiment.learner, experiment)
        self.put(
            summary=_(
                "{summary} Maximises the {objective}; about {time} per gradient evaluation.",
                summary=_(method.summary),
                objective=_(method.objective),
                time=time,
            ),
            advice=of_engine(told.reason),
            offer="" if taken else _("Set {limits}", limits=limits_in_words(told.knobs)),
            equations=list(method.equations),
        )


def evaluation_time(learner: str, experiment: Experiment) -> str:
    """About how long one evaluation by this learner takes at the settings of an experiment, in words."""
    size = experiment.n_visible, experiment.n_hidden_learned, experiment.n_steps - 1
    return duration(LEARNERS[learner].seconds(*size, experiment.hidden_hidden))


def limits_in_words(knobs: Mapping[str, float | str | None]) -> str:
    """The limits of a run, by the names of their knobs."""
    limits = [
        f"{_(KNOB[name].label)} {value if isinstance(value, str) else format(value, 'g')}"
        for name, value in knobs.items()
        if value
    ]
    return ", ".join(limits) or _("no limit and no penalty")
