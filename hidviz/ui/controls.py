"""Controls: one widget per knob, made from the settings, and what happens when a person turns it.

A value that cannot be used is answered at the widget, in red, with the Experiment's sentence; nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import panel_material_ui as pmui
import param

from hidviz.experiments import CHOICES, Experiment
from hidviz.optimisers import OPTIMISERS
from hidviz.ui.settings import KNOB, Settings, meant, shown, spoken

GROUPS: tuple[tuple[str, tuple[tuple[str, ...], ...]], ...] = (
    ("Network", (("n_visible", "n_hidden"), ("variance", "hidden_hidden"), ("model",))),
    ("Data", (("n_steps", "seed"),)),
    ("Learner", (("learner",), ("optimiser", "rate"), ("start",), ("n_hidden_assumed",))),
)
MORE = (("penalty", "box"), ("patience", "max_steps"), ("bias", "start_scale"), ("n_held_out",))


class Controls:
    """The knobs of one session as widgets.

    Args:
        experiment: what they show first.
        on_change: called with the knobs that were turned, as keyword arguments; raises ValueError to refuse.
    """

    def __init__(self, experiment: Experiment, on_change: Callable[..., None]) -> None:
        self.settings = Settings(**shown(experiment))
        self.widgets = {name: _widget(self.settings, name) for name in KNOB}
        self._on_change = on_change
        self._experiment = experiment
        self._accepted = shown(experiment)
        self.settings.param.watch(self._turned, list(KNOB))
        self.layout = pmui.Column(*self._groups(), sizing_mode="stretch_width", margin=0)

    def show(self, experiment: Experiment) -> None:
        """Show the knobs of an experiment, without turning them."""
        self._experiment = experiment
        self._accepted = shown(experiment)
        with param.parameterized.discard_events(self.settings):
            self.settings.param.update(**self._accepted)
        self.widgets["rate"].disabled = not OPTIMISERS[experiment.optimiser_used].uses_rate
        for name, value in self._accepted.items():
            self._unmark(name)
            if self.widgets[name].value != value:
                self.widgets[name].value = value

    def _turned(self, *events: param.parameterized.Event) -> None:
        turned = {event.name: event.new for event in events if event.new != self._accepted[event.name]}
        for event in events:
            self._unmark(event.name)
        if not turned:
            return
        try:
            self._on_change(**meant(self._experiment, turned))
        except ValueError as error:
            for name in turned:
                if name in {event.name for event in events}:
                    self.widgets[name].error_state = True
                    self.widgets[name].helper_text = spoken(str(error))

    def _unmark(self, name: str) -> None:
        widget = self.widgets[name]
        if getattr(widget, "error_state", False):
            widget.param.update(error_state=False, helper_text="")

    def _groups(self) -> list[Any]:
        groups = [
            pmui.Column(
                pmui.Typography(title, variant="overline", sx={"lineHeight": 2, "fontSize": 13}, margin=0),
                *[self._row(row) for row in rows],
                sizing_mode="stretch_width",
                margin=0,
            )
            for title, rows in GROUPS
        ]
        more = pmui.Accordion(
            ("More knobs", pmui.Column(*[self._row(row) for row in MORE], sizing_mode="stretch_width", margin=0)),
            active=[],
            sizing_mode="stretch_width",
            margin=(8, 0),
            disable_gutters=True,
            title_variant="body1",
            elevation=0,
        )
        return [*groups, more]

    def _row(self, names: tuple[str, ...]) -> Any:
        return pmui.Row(*[self.widgets[name] for name in names], sizing_mode="stretch_width", margin=0)


def _widget(settings: param.Parameterized, name: str) -> Any:
    parameter = settings.param[name]
    shared = {"sizing_mode": "stretch_width", "margin": (6, 4), "description": KNOB[name].description, "size": "small"}
    if name in CHOICES:
        return pmui.Select.from_param(parameter, **shared)
    if isinstance(parameter, param.Boolean):
        return pmui.Switch.from_param(parameter, **shared)
    if isinstance(parameter, param.Integer):
        return pmui.IntInput.from_param(parameter, format="0,0" if name in LARGE else "0", **shared)
    return pmui.FloatInput.from_param(parameter, step=0.1, **shared)


LARGE = ("n_steps", "n_held_out")
