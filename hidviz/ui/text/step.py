"""One step in numbers: the phases of a learner's step, with the numbers of one coupling in its equation.

Back-propagation has a forward pass, errors and a backward pass, told for the first bins of the first trial, which no
state depends on from before; mean field and Monte Carlo EM have an E-step and an M-step; the others a slope.
"""

from __future__ import annotations

from math import ceil, log10
from typing import NamedTuple

import numpy as np

from hidviz.evaluation import Excerpt, excerpt_at
from hidviz.experiments import Frame
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS, CouplingStep, coupling_step
from hidviz.network import Couplings, Gauge, Recording, regauge
from hidviz.ui.text.language import _
from hidviz.units import MINUS

FEWEST, MOST = 4, 9  # digits after the point


class Followed(NamedTuple):
    """The coupling that is followed, counted from 0, and the gauge under which it is shown."""

    block: str
    receiver: int
    sender: int
    gauge: Gauge

    @property
    def symbol(self) -> str:
        """Its letter with its places below it, as `K_{2,1}`."""
        return f"{self.block}_{{{self.receiver + 1},{self.sender + 1}}}"

    @property
    def words(self) -> str:
        """Where it leads to and comes from."""
        return _("from {from_unit} to {to_unit}", from_unit=self.from_unit, to_unit=self.to_unit)

    @property
    def to_unit(self) -> str:
        """The receiver by name."""
        return _unit(self.receiver, hidden=self.block in "LM")

    @property
    def from_unit(self) -> str:
        """The sender by name."""
        return _unit(self.sender, hidden=self.block in "KM")


def _unit(unit: int, *, hidden: bool) -> str:
    return _("hidden {unit}", unit=unit + 1) if hidden else _("visible {unit}", unit=unit + 1)


class Phase(NamedTuple):
    """One phase of a step: its name, what happens in it, and whether it is the one just seen."""

    name: str
    says: str
    lit: bool = True


def step_in_numbers(frame: Frame, followed: Followed, *, halves: bool) -> list[Phase]:
    """The phases of the step that led to a frame; empty if none did.

    Args:
        frame: what is shown.
        followed: the coupling whose numbers are told.
        halves: whether steps are shown in two halves.
    """
    block, receiver, sender, gauge = followed
    n, snapshot = frame.setup.learner.n_transitions, frame.snapshot
    step = coupling_step(snapshot, n, block, receiver, sender, gauge)
    if step is None or snapshot.origin is None:
        return []
    method, digits = LEARNERS[frame.experiment.learner], _digits(step)
    moved, then = equation(followed, step), number(step.next_slope, digits)
    if method.phases:
        settled = _("states σ are sampled") if method.stochastic else _("⟨σ⟩ is updated")
        e_step = _("{settled} given the data, the couplings held fixed", settled=settled)
        half = snapshot.phase == "M"
        told = (
            _("Next: {e_step}. At the old ⟨σ⟩ the slope is now {then}.", e_step=e_step, then=then)
            if half
            else _("{e_step}; the slope is now {then}.", e_step=e_step, then=then)
        )
        return [Phase(_("M-step"), moved, half or not halves), Phase(_("E-step"), _sentence(told), not half)]
    slope = _("{data_slope} nats per bin", data_slope=number(step.data_slope, digits))
    if method.name == "backprop":
        before = regauge(snapshot.origin.couplings, gauge)
        passes = _passes(
            followed,
            before,
            frame.data.recording,
            _("the mean over all {n:,} transitions is the slope, {slope}", n=n, slope=slope),
        )
        return [*passes, Phase(_("Update"), moved)]
    return [
        Phase(
            _("Slope"),
            _(
                "The {objective} changes by {slope} for each unit of {symbol}.",
                objective=_(method.objective),
                slope=slope,
                symbol=followed.symbol,
            ),
        ),
        Phase(_("Update"), _("{moved} The slope is now {then}.", moved=moved, then=then)),
    ]


def equation(followed: Followed, step: CouplingStep) -> str:
    """Before + change = after, with the rate and the slope where they are the change."""
    digits = _digits(step)
    before, after, slope = (number(value, digits) for value in (step.before, step.after, step.slope))
    less = _(
        " (the data's {data_slope} less the penalty's {shrinkage})",
        data_slope=number(step.data_slope, digits),
        shrinkage=number(step.shrinkage, digits),
    )
    pulled = less if step.shrinkage else ""
    if step.optimiser != "gradient":
        sign, size = (MINUS, -step.change) if step.change < 0.0 else ("+", step.change)
        name = _(OPTIMISERS[step.optimiser].title).split(",")[0]
        return _("{symbol}: {before} {sign} {size} = {after}, the step that {name} took; the slope before it was "
                 "{slope}{pulled}.", symbol=followed.symbol, before=before, sign=sign, size=f"{size:.{digits}f}",
                 after=after, name=name, slope=slope, pulled=pulled)  # fmt: skip
    product = f"{before} + {step.rate:g} × {_factor(step.slope, digits)}"
    if abs(step.rate * step.slope - step.change) > 1e-9 * max(1.0, abs(step.change)):
        wanted = number(step.before + step.rate * step.slope, digits)
        return _(
            "{symbol}: {product} = {wanted} lies beyond the bound, which keeps it at {after}.",
            symbol=followed.symbol,
            product=product,
            wanted=wanted,
            after=after,
        )
    return _(
        "{symbol}: {product} = {after}: value + rate × slope{pulled}.",
        symbol=followed.symbol,
        product=product,
        after=after,
        pulled=pulled,
    )


def number(value: float, digits: int) -> str:
    """A number with so many digits after the point."""
    text = f"{abs(value):,.{digits}f}"
    return MINUS + text if value < 0.0 and text.strip("0.,") else text


def _factor(value: float, digits: int) -> str:
    text = number(value, digits)
    return f"({text})" if text.startswith(MINUS) else text


def _sentence(text: str) -> str:
    """With a capital, which keeps the others (unlike str.capitalize)."""
    return text[0].upper() + text[1:]


def _digits(step: CouplingStep) -> int:
    """As many that the change shows two of its own."""
    change = abs(step.change)
    return min(MOST, max(FEWEST, 1 + ceil(-log10(change)))) if change else FEWEST


def _passes(followed: Followed, couplings: Couplings, recording: Recording, mean: str) -> list[Phase]:
    """Forward, error and backward in the first bins, at the couplings before the step."""
    mean = _sentence(mean)
    states = recording.trials[0][:3]
    from_later = followed.block == "M" or (followed.block == "L" and couplings.M.any())
    if len(states) < 3 or from_later or recording.external_field is not None:
        return [
            Phase(_("Forward"), _("The states μ of the hidden units follow from the data, bin after bin.")),
            Phase(_("Error"), _("What each visible unit did, less what was expected of it.")),
            Phase(
                _("Backward"),
                _(
                    "The errors go back through K, tanh and M to what {symbol} acts on. {mean}.",
                    symbol=followed.symbol,
                    mean=mean,
                ),
            ),
        ]
    first = np.tanh(couplings.g + couplings.L @ states[0])
    seen = excerpt_at(couplings, recording, np.array([np.zeros_like(first), first]), 0, 1)
    return [*(_to_hidden if followed.block == "L" else _to_visible)(followed, seen, mean)]


def _to_visible(followed: Followed, seen: Excerpt, mean: str) -> list[Phase]:
    """The passes for a coupling to a visible unit."""
    to, since = followed.to_unit, followed.from_unit
    error, state = float(seen.eps[1, followed.receiver]), float(seen.s[2, followed.receiver])
    sent = float((seen.mu if followed.block == "K" else seen.s)[1, followed.sender])
    product = f"{number(error, 4)} × {_factor(sent, 4)} = {number(error * sent, 4)}"
    return [
        Phase(
            _("Forward"),
            _(
                "Bin 2: {since} is at {sent}. Bin 3: {to} is expected at {state}.",
                since=since,
                sent=number(sent, 4),
                to=to,
                state=number(state - error, 4),
            ),
        ),
        Phase(
            _("Error"),
            _(
                "Bin 3: {to} was at {state}, so its error is {error}.",
                to=to,
                state=number(state, 0),
                error=number(error, 4),
            ),
        ),
        Phase(_("Backward"), _("Error × sender: {product}. {mean}.", product=product, mean=mean)),
    ]


def _to_hidden(followed: Followed, seen: Excerpt, mean: str) -> list[Phase]:
    """The passes for a coupling from a visible to a hidden unit, where no hidden unit acts on another."""
    to, since = followed.to_unit, followed.from_unit
    state, slope = float(seen.mu[1, followed.receiver]), float(seen.X[1, followed.receiver])
    error, sent = float(seen.eps[1] @ seen.couplings.K[:, followed.receiver]), float(seen.s[0, followed.sender])
    product = f"{slope:.4f} × {_factor(error, 4)} × {_factor(sent, 0)} = {number(slope * error * sent, 4)}"
    return [
        Phase(
            _("Forward"),
            _(
                "Bin 1: {since} is at {sent}. Bin 2: {to} is at {state}; tanh slopes {slope:.4f}.",
                since=since,
                sent=number(sent, 0),
                to=to,
                state=number(state, 4),
                slope=slope,
            ),
        ),
        Phase(
            _("Error"),
            _(
                "Bin 3: the errors of all visible units, weighted by the K of {to}, sum to {error}.",
                to=to,
                error=number(error, 4),
            ),
        ),
        Phase(_("Backward"), _("Slope of tanh × errors × sender: {product}. {mean}.", product=product, mean=mean)),
    ]
