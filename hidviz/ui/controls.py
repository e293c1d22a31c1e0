"""Controls: a form of all knobs, made from the settings, and what happens when a person turns one.

A value that cannot be used is answered at its field, in red, with a sentence; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import param

from hidviz.experiments import CHOICES, Experiment
from hidviz.learning import OPTIMISERS
from hidviz.ui.components.form import Form
from hidviz.ui.state.knobs import KNOB, Settings, meant, read, shown, spoken

GROUPS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Network", (("n_visible", "n_hidden"), ("variance", "hidden_hidden"), ("model",))),
    ("Data", (("n_steps", "seed"),)),
    ("Learner", (("learner",), ("optimiser", "rate"), ("start",), ("n_hidden_assumed",))),
    ("More knobs", (("penalty", "box"), ("patience", "max_steps"), ("bias", "start_scale"), ("n_held_out",))),
)


class Controls:
    """The knobs of one session: parameters, and the form that shows them.

    Args:
        experiment: what they show first.
        on_change: called with the knobs that were turned, as keyword arguments; raises ValueError to refuse.
    """

    def __init__(self, experiment: Experiment, on_change: Callable[..., None]) -> None:
        self.settings = Settings(**shown(experiment))
        self._on_change = on_change
        self._experiment = experiment
        self._accepted = shown(experiment)
        groups = [{"title": title, "folded": title == "More knobs", "rows": rows} for title, rows in GROUPS]
        names = [name for _, rows in GROUPS for row in rows for name in row]
        self.form = Form(
            self._typed,
            groups=groups,
            fields={name: _field(self.settings.param[name]) for name in names},
            sizing_mode="stretch_width",
            margin=(8, 4),
        )
        self.settings.param.watch(self._turned, list(KNOB))
        self.show(experiment)

    def show(self, experiment: Experiment) -> None:
        """Show the knobs of an experiment, without turning them."""
        self._experiment = experiment
        self._accepted = shown(experiment)
        with param.parameterized.discard_events(self.settings):
            self.settings.param.update(**self._accepted)
        needless = [] if OPTIMISERS[experiment.optimiser_used].uses_rate else ["rate"]
        values = {name: self._accepted[name] for name in self.form.fields}
        self.form.param.update(values=values, errors={}, disabled=needless)

    def _typed(self, name: str, text: str | bool) -> None:
        try:
            value = read(name, text)
            if value == getattr(self.settings, name):
                self.settings.param.trigger(name)  # typed again, it is judged again
            setattr(self.settings, name, value)
        except ValueError as error:
            self._refuse([name], str(error))

    def _turned(self, *events: param.parameterized.Event) -> None:
        for event in events:
            self._forgive(event.name)
        turned = {event.name: event.new for event in events if event.new != self._accepted[event.name]}
        if not turned:
            return
        try:
            self._on_change(**meant(self._experiment, turned))
        except ValueError as error:
            self._refuse(turned, spoken(str(error)))

    def _refuse(self, names: Iterable[str], why: str) -> None:
        self.form.errors = self.form.errors | dict.fromkeys(names, why)

    def _forgive(self, name: str) -> None:
        self.form.errors = {other: why for other, why in self.form.errors.items() if other != name}


def _field(parameter: param.Parameter) -> dict[str, Any]:
    """What the form must know of a knob."""
    field: dict[str, Any] = {"label": parameter.label, "help": parameter.doc}
    if parameter.name in CHOICES:
        return field | {"kind": "choice", "options": [[name, title] for title, name in parameter.objects.items()]}
    if isinstance(parameter, param.Boolean):
        return field | {"kind": "switch"}
    if isinstance(parameter, param.Integer):
        return field | {"kind": "integer", "step": 1}
    return field | {"kind": "number", "step": 0.1}
