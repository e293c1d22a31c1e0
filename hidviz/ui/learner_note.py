"""What a learner assumes, what it climbs, what it costs: to be read before pressing Run."""

from __future__ import annotations

from pathlib import Path

import param
from panel.custom import JSComponent

from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS

HERE = Path(__file__).parent


class LearnerNote(JSComponent):  # type: ignore[misc]  # panel has no types
    """Two sentences about the learner, its predicted seconds a step, and its equations behind a fold."""

    summary = param.String(doc="What the learner assumes, climbs and costs.")
    equations = param.List([], doc="Its equations in KaTeX, without delimiters.")
    active = param.List([], doc="Places of the equations in play.")
    dark = param.Boolean(doc="Whether the page is dark.")

    _esm = (HERE / "learner_note.js").read_text(encoding="utf-8")
    _stylesheets = [(HERE / "learner_note.css").read_text(encoding="utf-8")]  # noqa: RUF012

    def show(self, experiment: Experiment) -> None:
        """Describe the learner of an experiment."""
        method = LEARNERS[experiment.learner]
        seconds = method.seconds(
            experiment.n_visible, experiment.n_hidden_learned, experiment.n_steps - 1, experiment.hidden_hidden
        )
        self.param.update(
            summary=f"{method.summary} Climbs the {method.objective}; about {duration(seconds)} an evaluation.",
            equations=list(method.equations),
        )


def duration(seconds: float) -> str:
    """A span of time in words."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.1g} ms" if seconds < 0.00095 else f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"
