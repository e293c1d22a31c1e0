"""What a learner assumes, what it climbs, what it costs, and when to stop it: to be read before pressing Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import param
from panel.custom import JSComponent

from hidviz.experiments import Advice, Experiment, advice
from hidviz.learners import LEARNERS
from hidviz.ui.state.knobs import KNOB

HERE = Path(__file__).parent


class LearnerNote(JSComponent):  # type: ignore[misc]  # panel has no types
    """Two sentences about the learner, its predicted seconds a step, advice when to stop, and equations behind a fold.

    Args:
        on_advice: called with the knobs that were advised, when a person takes the advice.
    """

    summary = param.String(doc="What the learner assumes, climbs and costs.")
    advice = param.String(doc="When to stop, and why.")
    offer = param.String(doc="What taking the advice does; empty where it is taken already.")
    equations = param.List([], doc="Its equations in KaTeX, without delimiters.")
    active = param.List([], doc="Places of the equations in play.")
    dark = param.Boolean(doc="Whether the page is dark.")

    _esm = (HERE / "learner_note.js").read_text(encoding="utf-8")
    _stylesheets = [(HERE / "learner_note.css").read_text(encoding="utf-8")]  # noqa: RUF012

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
        seconds = method.seconds(
            experiment.n_visible, experiment.n_hidden_learned, experiment.n_steps - 1, experiment.hidden_hidden
        )
        self.param.update(
            summary=f"{method.summary} Climbs the {method.objective}; about {duration(seconds)} an evaluation.",
            advice=told.reason,
            offer="" if taken else f"Set {limits_in_words(told.knobs)}",
            equations=list(method.equations),
        )


def limits_in_words(knobs: Mapping[str, float | None]) -> str:
    """The limits of a run, by the names of their knobs."""
    limits = [f"{KNOB[name].label} {value:g}" for name, value in knobs.items() if value]
    return ", ".join(limits) or "no limit and no penalty"


def duration(seconds: float) -> str:
    """A span of time in words."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.1g} ms" if seconds < 0.00095 else f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"
