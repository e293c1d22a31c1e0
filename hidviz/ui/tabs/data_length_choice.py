"""What is chosen on the Data length tab: a figure of the paper, or learners and lengths of your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import panel as pn
import panel_material_ui as pmui

from hidviz.experiments import Experiment
from hidviz.learners import LEARNERS
from hidviz.sweeps import FIGURES, Figure, FigureKind, Sweep, grid
from hidviz.ui.components.number_fields import NumberField, NumberFields
from hidviz.ui.state.numbers import read_whole
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.sweep import name_of, own_look_for, own_rules

OWN = "own"
ALL = -1
MOST_EXPERIMENTS = 200
SCALES = {N_("Log–log"): "log-log", N_("T logarithmic"): "log", N_("Linear"): "linear"}
SCALES_OF: Mapping[str, tuple[str, ...]] = {
    "costs": ("T logarithmic", "Linear"),
    "traces": ("Linear",),
    "phase": ("Linear",),
}
"""Those that make sense for a kind of figure; all of them for the others."""


class Choice:
    """The widgets that say which experiments are meant, and how they are drawn.

    Args:
        session: whose knobs a sweep of your own starts from.
        on_change: called when anything was changed.
    """

    def __init__(self, session: Session, on_change: Callable[[], None]) -> None:
        self._session, self._on_change = session, on_change
        self._select = pmui.Select(
            label=_("Figure"),
            options={_(f.title): number for number, f in FIGURES.items()} | {_("A sweep of my own"): OWN},
            value="4", width=340, size="small", margin=(4, 0),
        )  # fmt: skip
        self._quick = pmui.Switch(
            label=_("Quick version"), value=False, margin=(4, 0),
            description=_("Only those of its experiments that take a minute or two together, where all take hours."),
        )  # fmt: skip
        self._scale = pmui.Select(
            label=_("Scale"),
            options={_(name): scale for name, scale in SCALES.items()},
            value="log-log",
            width=150,
            size="small",
            margin=(4, 0),
        )
        self._points = pmui.Select(
            label=_("Points to compute"), options={_("All"): ALL}, value=ALL, width=250, size="small", margin=(4, 0)
        )
        self._learners = pmui.MultiChoice(
            label=_("Learners"), options={_(m.title): name for name, m in LEARNERS.items()},
            value=[session.wanted.learner], sizing_mode="stretch_width", max_width=380, margin=(4, 0),
        )  # fmt: skip
        self._lengths = pmui.TextInput(
            label=_("Data lengths"), value="300 1000 3000", width=240, size="small", margin=(4, 0),
            description=_("Numbers of time bins, apart by spaces; from 10 to 10,000,000."),
        )  # fmt: skip
        about = _("How many networks: seeds from that of the knobs on. From 1 to 20.")
        self._seeds = NumberFields({"n": NumberField(_("Seeds"), about, 1, bounds=(1, 20))}, on_change, width=110)
        self._own = pn.FlexBox(
            self._learners, self._lengths, self._seeds.form, gap="16px", sizing_mode="stretch_width",
            margin=(12, 0, 0, 0),
        )  # fmt: skip
        for widget in (self._select, self._quick):
            widget.param.watch(self._another, "value")
        for widget in (self._points, self._scale, self._learners, self._lengths):
            widget.param.watch(lambda _: on_change(), "value")
        top = pn.FlexBox(
            self._select, self._quick, self._points, self._scale, align_items="center", gap="16px",
            sizing_mode="stretch_width",
        )  # fmt: skip
        self.layout = pn.Column(top, self._own, sizing_mode="stretch_width", margin=0)
        self._show_what_matters()

    @property
    def figure(self) -> Figure | None:
        """The figure of the paper; None for a sweep of your own."""
        return None if self._select.value == OWN else FIGURES[self._select.value]

    @property
    def name(self) -> str:
        """A name for files."""
        return self.figure.name if self.figure else "sweep"

    @property
    def title(self) -> str:
        """A title for a page."""
        return self.figure.title if self.figure else _("A sweep over the data length")

    @property
    def kind(self) -> FigureKind | Literal["own"]:
        """What is drawn."""
        return self.figure.kind if self.figure else "own"

    @property
    def scale(self) -> Any:
        """The scale of the axes."""
        return self._scale.value

    @property
    def words(self) -> tuple[str, str]:
        """What to look for, and the rules."""
        if self.figure:
            return _(self.figure.look_for), _("How: ") + _(self.figure.rules)
        return own_look_for(self._session.wanted), own_rules(self._session.wanted)

    def sweep(self) -> Sweep | None:
        """All experiments chosen; None, with a sentence at its field, if there is something wrong with them."""
        if self.figure:
            return self.figure.sweep(quick=self._quick.value)
        if self._seeds.refused:
            return None
        try:
            found = own_sweep(self._session.wanted, self._learners.value, self._lengths.value, self._seeds["n"])
        except ValueError as error:
            self._lengths.param.update(error_state=True, helper_text=str(error))
            return None
        if self._lengths.error_state:
            self._lengths.param.update(error_state=False, helper_text="")
        return found

    def to_run(self) -> Sweep | None:
        """Those of them that Run sweep computes."""
        sweep = self.sweep()
        if sweep is None or not self.figure or self._points.value == ALL:
            return sweep
        return replace(sweep, experiments=(sweep.experiments[self._points.value],))

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._seeds.restyle(dark)

    def _another(self, *_: Any) -> None:
        self._show_what_matters()
        self._on_change()

    def _show_what_matters(self) -> None:
        self._own.visible = self.figure is None
        self._quick.visible = self._points.visible = self.figure is not None
        scales = {_(name): SCALES[name] for name in SCALES_OF.get(self.kind, SCALES)}
        if self._scale.options != scales:  # another kind of figure begins on its own scale
            self._scale.param.update(options=scales, value=next(iter(scales.values())))
        sweep = self.sweep() if self.figure else None
        names = [name_of(experiment) for experiment in sweep.experiments] if sweep else []
        self._points.param.update(options={_("All"): ALL} | {name: k for k, name in enumerate(names)}, value=ALL)


def own_sweep(base: Experiment, learners: Sequence[str], lengths: str, n_seeds: int) -> Sweep:
    """A sweep of your own: these learners and lengths, the other knobs as they are.

    Args:
        base: the knobs.
        learners: names in LEARNERS.
        lengths: numbers of bins, apart by spaces or commas; a comma may also group thousands, as in 10,000.
        n_seeds: how many seeds, from that of the base on.

    Raises:
        ValueError: something is out of range; the message says what must hold.
    """
    steps = [n for word in lengths.replace(";", " ").split() for n in _lengths_in(word.rstrip(","))]
    if not learners or not steps:
        raise ValueError(_("Choose at least one learner and one data length."))
    if not 1 <= n_seeds <= 20:
        raise ValueError(_("The number of seeds must lie between 1 and 20, got {n_seeds}.", n_seeds=n_seeds))
    plain = replace(base, optimiser=None, rate=None)
    experiments = grid(plain, learner=learners, n_steps=sorted(set(steps)), seed=range(base.seed, base.seed + n_seeds))
    if len(experiments) > MOST_EXPERIMENTS:
        raise ValueError(
            _(
                "A sweep on the page may hold {most_experiments} experiments, got {n}.",
                most_experiments=MOST_EXPERIMENTS,
                n=len(experiments),
            )
        )
    return Sweep("sweep", experiments)


def _lengths_in(word: str) -> list[int]:
    """The numbers of a word without spaces: one, with thousands grouped or not, or several apart by commas."""
    try:
        return [read_whole(word)]
    except ValueError as error:
        parts = word.split(",")
        if len(parts) > 1 and all(part.isascii() and part.isdigit() for part in parts):
            return [read_whole(part) for part in parts]
        raise ValueError(_("Data lengths {error}", error=error)) from None
