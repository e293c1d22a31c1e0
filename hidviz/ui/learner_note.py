"""What a learner assumes, what it climbs, what it costs: to be read before pressing Run."""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui

from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS


class LearnerNote:
    """Two sentences about the learner, its predicted seconds a step, and its equations behind a fold."""

    def __init__(self) -> None:
        self._shown: str | None = None
        self.summary = pmui.Typography("", sx={"fontSize": 14, "lineHeight": 1.35}, margin=(0, 4))
        self.equations = pn.pane.LaTeX("", renderer="katex", styles={"font-size": "13px"}, margin=0)
        self.layout = pmui.Column(
            self.summary,
            pmui.Accordion(
                ("Equations", pmui.Column(self.equations, margin=0, scroll="x")),
                active=[], disable_gutters=True, title_variant="body2", elevation=0,
                sizing_mode="stretch_width", margin=0,
            ),
            sizing_mode="stretch_width",
            margin=0,
        )  # fmt: skip

    def show(self, experiment: Experiment) -> None:
        """Describe the learner of an experiment."""
        method = LEARNERS[experiment.learner]
        seconds = method.seconds(
            experiment.n_visible, experiment.n_hidden_learned, experiment.n_steps - 1, experiment.hidden_hidden
        )
        self.summary.object = (
            f"{method.summary} Climbs the {method.objective}; about {duration(seconds)} an evaluation."
        )
        if self._shown != experiment.learner:
            self._shown = experiment.learner
            self.equations.object = "\n\n".join(f"$${equation}$$" for equation in method.equations)


def duration(seconds: float) -> str:
    """A span of time in words."""
    if seconds < 0.0995:
        return f"{1000 * seconds:.1g} ms" if seconds < 0.00095 else f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:,.0f} h"
