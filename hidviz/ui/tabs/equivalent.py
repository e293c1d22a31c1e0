"""Tab "Symmetry": all models that the data cannot tell apart, what is no symmetry, and what nearly is one.

Costs are evaluated in the background for the frame shown when the tab is opened, when a run pauses at another one, or
when Update is pressed; a run that goes on is not followed. Moving to an equivalent model needs nothing anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np
import panel as pn
import panel_material_ui as pmui
from panel.io import hold

from hidviz.background import Runner
from hidviz.evaluation import Equivalent, cost_per_bin, flip_half, iter_equivalents, rescale
from hidviz.experiments import Frame
from hidviz.learners import Beliefs, Learner, regauge_beliefs
from hidviz.network import Gauge, best_gauge, flip, n_equivalent_models, regauge
from hidviz.numerics import Array
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.components.model_gallery import ModelGallery, tiles_of
from hidviz.ui.layout import heading, line, offer, row, sentence, titling
from hidviz.ui.plots.scale_valley import FACTORS, LEVEL, Valley, flat_stretch
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.session import Session
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.status import equivalents_in_words
from hidviz.units import signed

SAME = 1e-9  # nats per bin: more than rounding leaves of a sum over the data
NOISE = N_("the iterations or samples of the learner")
NOTHING = N_("This learner infers no hidden units, so there is nothing to flip, relabel or rescale.")


class Probe(NamedTuple):
    """What is asked of one hidden unit: the cost as found, flipped whole, flipped in one block, and rescale."""

    here: float
    flipped: float
    broken: float
    valley: Array


def measure_of(frame: Frame) -> tuple[Learner, Beliefs | None]:
    """What evaluates costs here, and its beliefs: the exact likelihood if it is affordable, else the learner."""
    exact = frame.setup.exact
    return (exact, None) if exact else (frame.setup.learner, frame.snapshot.estimate.beliefs)


def surveying(frame: Frame) -> Iterator[tuple[Equivalent, ...]]:
    """The equivalent models of a frame, one more each time."""
    measure, beliefs = measure_of(frame)
    models: tuple[Equivalent, ...] = ()
    for model in iter_equivalents(measure, frame.snapshot.couplings, beliefs):
        models = (*models, model)
        yield models


def probing(frame: Frame, unit: int, block: Literal["K", "L"], scaled: int | None) -> Iterator[Probe]:
    """Flip a unit, break its flip, and walk along the valley of a unit or of all (None)."""
    measure, beliefs = measure_of(frame)
    found = frame.snapshot.couplings
    whole = flip(found.n_hidden, unit)
    here = cost_per_bin(measure, found, beliefs)
    flipped = cost_per_bin(measure, regauge(found, whole), beliefs and regauge_beliefs(beliefs, whole))
    broken = cost_per_bin(measure, flip_half(found, unit, block), beliefs)
    valley = np.empty(0)
    for factor in FACTORS:
        valley = np.append(valley, cost_per_bin(measure, rescale(found, float(factor), scaled), beliefs))
        yield Probe(here, flipped, broken, valley)


class EquivalentTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose estimate is looked at.
        on_gauge: called with the gauge that leads from the estimate shown to the model chosen.
    """

    key = "equivalent"
    title = N_("Symmetry")

    def __init__(self, session: Session, on_gauge: Callable[[Gauge], None]) -> None:
        self._session, self._on_gauge = session, on_gauge
        self._base: Frame | None = None
        self._rested: Frame | None = None  # the frame at which the run rested when it was last seen to
        self._models: tuple[Equivalent, ...] = ()
        self._survey: Runner[tuple[Equivalent, ...]] = Runner()
        self._probe: Runner[Probe] = Runner()
        self._changes = Changes()
        self.pictures = ModelGallery(self._load, sizing_mode="stretch_width", margin=0)
        self.valley = Valley()
        self._build()

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether the page shows another frame, the run goes on or rests now, or more has been evaluated."""
        return self._session.frame is not None and self._changes.stirred(*self._seen)

    @property
    def _seen(self) -> tuple[object, ...]:
        return self._session.frame, self._survey.version, self._probe.version, self._session.running

    def look(self) -> bool:
        """Take in what has been evaluated, and where the page now stands among the models."""
        frame = self._session.frame
        if frame is None:
            return False
        running = self._session.running
        moved = not running and frame is not self._rested
        if self._base is None or (moved and self._gauge_to(frame) is None):
            self.update()
        if not running:
            self._rested = frame
        changed = self._changes.due(*self._seen)
        if changed is None:
            return False
        with hold():
            if changed[1]:
                self._draw_models()
            if changed[2]:
                self._draw_probe()
            self._draw_place(frame)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.valley.restyle(dark)
        self.pictures.restyle(dark)
        self.buttons.dark = dark

    def close(self) -> None:
        """Give up whatever is being evaluated."""
        self._survey.stop()
        self._probe.stop()

    # Building, once

    def _build(self) -> None:
        self.buttons = Buttons(
            Button(_("Update"), "rewind", _("Evaluate all costs for the estimate that the page shows now"),
                   self.update),
            columns=0, margin=0,
        )  # fmt: skip
        self.count, self.verdict, self.place = heading(""), sentence(), sentence()
        self.jump, self.flat = sentence(), sentence()
        wide = {"sizing_mode": "stretch_width", "size": "small", "margin": (6, 4)}
        self.unit = pmui.Select(label=_("Hidden unit to break"), options={"1": 0}, value=0, **wide)
        self.block = pmui.Select(label=_("Block flipped alone"), options=["K", "L"], value="K", **wide)
        self.scaled = pmui.Select(label=_("Hidden units to scale"), options={_("all"): -1}, value=-1, **wide)
        for choice in (self.unit, self.block, self.scaled):
            choice.param.watch(lambda _: self._start_probe(), "value")
        broken = pmui.Column(
            heading(_("Flipping only K (or L) is not a symmetry")),
            pmui.Row(self.unit, self.block, sizing_mode="stretch_width"),
            self.jump, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        scale = pmui.Column(
            heading(_("Rescaling K → cK, L → L/c is a soft direction")), self.scaled,
            pn.pane.Bokeh(self.valley.figure, sizing_mode="stretch_width", margin=0),
            self.flat, sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        head = line(self.count, self.buttons, styles={"justify-content": "space-between"})
        self.layout = pmui.Column(
            head, self.verdict, self.place, self.pictures,
            pn.Spacer(height=16), row(broken, scale, basis=360),
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip

    # Acting

    def update(self) -> None:
        """Evaluate everything for the estimate that the page shows now."""
        frame = self._session.frame
        if frame is None:
            return
        self._base, self._models = frame, ()
        self._survey.start(surveying(frame) if self._n_hidden else iter(()))
        units = {str(unit + 1): unit for unit in range(self._n_hidden)}
        offer(self.unit, units or {"–": 0})
        offer(self.scaled, {_("all"): -1} | units)
        self._start_probe()

    def _start_probe(self) -> None:
        if self._base is not None and self._n_hidden:
            scaled = None if self.scaled.value < 0 else self.scaled.value
            self._probe.start(probing(self._base, self.unit.value, self.block.value, scaled))
        else:
            self._probe.start(iter(()))

    def _load(self, k: int) -> None:
        """Go from wherever the page is to the k-th model."""
        frame = self._session.frame
        if frame is None or k >= len(self._models) or frame.snapshot.couplings.n_hidden != self._n_hidden:
            return
        here = best_gauge(self._models[0].couplings, frame.snapshot.couplings)
        self._on_gauge(here.inverse().then(self._models[k].gauge))

    # Drawing

    @property
    def _n_hidden(self) -> int:
        """The number of hidden units that were inferred in the frame that was surveyed."""
        inferred = self._base is not None and "L" in self._base.setup.learner.learned
        return self._base.snapshot.couplings.n_hidden if self._base and inferred else 0

    def _gauge_to(self, frame: Frame) -> Gauge | None:
        """The gauge from the surveyed estimate to this frame's, if that is all that lies between them."""
        assert self._base is not None
        base, now = self._base.snapshot.couplings, frame.snapshot.couplings
        if (base.n_visible, base.n_hidden) != (now.n_visible, now.n_hidden):
            return None
        gauge = best_gauge(base, now)
        return gauge if regauge(base, gauge) == now else None

    def _draw_models(self) -> None:
        assert self._base is not None
        self._models = self._survey.latest or ()
        total = n_equivalent_models(self._n_hidden)
        complete = len(self._models) == total
        self.pictures.tiles = tiles_of(self._models, self._base.data.truth, complete=complete)
        self.count.object = titling(equivalents_in_words(self._n_hidden))
        if self._survey.failure:
            self.verdict.object = str(self._survey.failure)
        elif not self._n_hidden:
            self.verdict.object = _(NOTHING)
        elif not complete:
            self.verdict.object = _("{n} of {total} evaluated …", n=len(self._models), total=total)
        else:
            self.verdict.object = verdict([model.cost for model in self._models], exact=bool(self._base.setup.exact))

    def _draw_probe(self) -> None:
        probe = self._probe.latest
        if self._base is None or probe is None:
            self.jump.object = self.flat.object = str(self._probe.failure or "")
            self.valley.show(np.empty(0))
            return
        n_visible = self._base.snapshot.couplings.n_visible
        self.jump.object = jump_in_words(probe, self.unit.value, self.block.value, n_visible)
        self.valley.show(probe.valley)
        if measure_of(self._base)[0].stochastic:
            self.flat.object = _(
                "The costs of this learner are sampled: only differences above their noise mean anything."
            )
        elif len(probe.valley) == len(FACTORS):
            low, high = flat_stretch(probe.valley)
            self.flat.object = _(
                "Within {level:g} nats per bin of the lowest for c from {low:.2f} to {high:.2f}.",
                level=LEVEL,
                low=low,
                high=high,
            )

    def _draw_place(self, frame: Frame) -> None:
        """Mark the model that the page shows, or say that the page has moved on."""
        assert self._base is not None
        gauge = self._gauge_to(frame)
        places = [k for k, model in enumerate(self._models) if model.gauge == gauge]
        self.pictures.shown = places[0] if places else -1
        step, now = self._base.snapshot.step, frame.snapshot.step
        gone = "" if gauge is not None else _(" The page has gone on to step {now:,}: press Update.", now=now)
        self.place.object = _(
            "Evaluated at step {step:,}: each model with its cost, and its rms errors of K and L before "
            "alignment.{gone}",
            step=step,
            gone=gone,
        )


def verdict(costs: list[float], *, exact: bool) -> str:
    """What the costs of all equivalent models say."""
    spread = max(costs) - min(costs)
    kind = _("exact cost") if exact else _("cost")
    to = _(", up to rounding ({spread:.0e})", spread=spread) if spread else _(" to the last digit")
    if spread < SAME:
        return _(
            "All have the same {kind}, {cost:.6f} nats per bin{to}: data cannot select one.",
            kind=kind,
            cost=costs[0],
            to=to,
        )
    return _("Their costs differ by {spread:.1g} nats per bin, as {noise} do.", spread=spread, noise=_(NOISE))


def jump_in_words(probe: Probe, unit: int, block: str, n_visible: int) -> str:
    """What a whole flip and half a flip cost."""
    whole, half = probe.flipped - probe.here, probe.broken - probe.here
    nothing, noise = (
        ("±0", "") if abs(whole) < SAME else (signed(whole, 4), _(" as far as {noise} tell", noise=_(NOISE)))
    )
    parts = (
        _("As found, the cost is {cost:.6f} nats per bin.", cost=probe.here),
        _("Flip hidden unit {unit} in K and L: {change} nats per bin, a symmetry{noise}.", unit=unit + 1,
          change=nothing, noise=noise),
        _("Flip it in {block} only: **{each} nats per unit and bin** ({change} per bin), **not a symmetry**.",
          block=block, each=signed(half / n_visible, 4), change=signed(half, 4)),
    )  # fmt: skip
    return "  \n".join(parts)
