"""Controls: a form of all knobs, and what happens when a user turns one.

A value that cannot be used is answered at its field, in red, with a sentence; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import param

from hidviz.experiments import CHOICES, Experiment
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS
from hidviz.ui.components.form import Form
from hidviz.ui.components.learner_note import evaluation_time
from hidviz.ui.state.knobs import BADGES, KNOB, Knobs, meant, read, shown, spoken
from hidviz.ui.text.language import N_, _

GROUPS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    (N_("Network"), (("n_visible", "n_hidden"), ("variance", "hidden_hidden"), ("model",))),
    (N_("Data"), (("n_steps", "seed"),)),
    (N_("Learner"), (("learner",), ("optimiser", "rate"), ("start",), ("n_hidden_assumed",))),
    (N_("More knobs"), (("penalty", "box"), ("patience", "max_steps"), ("bias", "start_scale"), ("n_held_out",))),
)


class Controls:
    """The knobs of one session, and the form that shows them.

    Args:
        wanted: gives the experiment that the knobs stand for.
        on_change: called with the knobs that were turned, as keyword arguments; raises ValueError to refuse.
    """

    def __init__(self, wanted: Callable[[], Experiment], on_change: Callable[..., None]) -> None:
        self._wanted, self._on_change = wanted, on_change
        self.knobs = Knobs(**shown(wanted()))
        groups = [{"title": _(title), "folded": title == "More knobs", "rows": rows} for title, rows in GROUPS]
        names = [name for _, rows in GROUPS for row in rows for name in row]
        self.form = Form(
            self._typed,
            groups=groups,
            fields={name: _field(self.knobs.param[name]) for name in names},
            sizing_mode="stretch_width",
            margin=(8, 4),
        )
        self.knobs.param.watch(self._turned, list(KNOB))
        self.show()

    def show(self) -> None:
        """Show the knobs as they stand; whatever was refused is forgotten."""
        experiment = self._wanted()
        self.knobs.param.update(**shown(experiment))
        needless = [] if OPTIMISERS[experiment.optimiser_used].uses_rate else ["rate"]
        values = {name: getattr(self.knobs, name) for name in self.form.fields}
        asides = {"learner": {name: learner_aside(name, experiment) for name in LEARNERS}}
        self.form.param.update(values=values, errors={}, disabled=needless, asides=asides)

    def _typed(self, name: str, text: str | bool) -> None:
        """Set the knob to what its field says; typed as it stands, it only takes back what was refused."""
        try:
            value = read(name, text)
            self.form.answer([name], "")
            setattr(self.knobs, name, value)
        except ValueError as error:
            self.form.answer([name], str(error))

    def _turned(self, *events: param.parameterized.Event) -> None:
        """Turn what now differs from the experiment; a value that it refuses is put back, and told at its field."""
        experiment = self._wanted()
        stands = shown(experiment)
        turned = {event.name: event.new for event in events if event.new != stands[event.name]}
        if not turned:
            return
        try:
            self._on_change(**meant(experiment, turned))
        except ValueError as error:
            self.knobs.param.update(**{name: stands[name] for name in turned})
            self.form.answer(turned, spoken(str(error)))


def learner_aside(name: str, experiment: Experiment) -> str:
    """What stands beside a learner in the menu: what a step costs at these settings, or that it is for comparison."""
    return (
        _("for comparison") if LEARNERS[name].runs_away else _("{time} a step", time=evaluation_time(name, experiment))
    )


def _field(parameter: param.Parameter) -> dict[str, Any]:
    """What the form must know of a knob."""
    knob = KNOB[parameter.name]
    field: dict[str, Any] = {"label": _(knob.label), "help": knob.description, "acts": _(BADGES[knob.acts])}
    if parameter.name in CHOICES:
        return field | {"kind": "choice", "options": [[name, _(title)] for title, name in parameter.objects.items()]}
    if isinstance(parameter, param.Boolean):
        return field | {"kind": "switch"}
    if isinstance(parameter, param.Integer):
        return field | {"kind": "integer", "step": 1}
    return field | {"kind": "number", "step": 0.1}
