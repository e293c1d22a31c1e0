"""Knobs: the fields of an Experiment as parameters, from which the form and links are made.

One table says everything about a knob: its name in an Experiment, its key in a link, its label, what it does and when.
A `Knobs` object holds what is shown, and is the only copy of a value beside the Experiment: set one of its parameters
as a user would, and whoever watches it turns the knob or refuses. Bounds are checked by the Experiment alone, so that a
value out of range is answered with a sentence, never clipped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any, Literal

import param

from hidviz.experiments import CHOICES, RANGES, Experiment
from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS, STARTS
from hidviz.ui.state.numbers import read_number, read_whole
from hidviz.ui.text.language import N_, _

Acts = Literal["data", "learning", "now"]

ACTS_IN_WORDS = {
    "data": N_("Makes a new network and new data."),
    "learning": N_("Starts learning again on the same data."),
    "now": N_("Acts at once, in the middle of a run."),
}

BADGES = {"data": N_("new data"), "learning": N_("restarts"), "now": N_("live")}
"""The same beside each setting."""


@dataclass(frozen=True)
class Knob:
    """One knob.

    Args:
        name: the field of Experiment that it sets.
        key: its key in a link.
        label: its accessible name.
        help: what it is, with its unit.
        acts: when it acts.
    """

    name: str
    key: str
    label: str
    help: str
    acts: Acts

    @property
    def description(self) -> str:
        """What it is, what values it may take, and when it acts."""
        low_high = RANGES.get(self.name)
        between = _(" From {low:,g} to {high:,g}.", low=low_high[0], high=low_high[1]) if low_high else ""
        return f"{_(self.help)}{between} {_(ACTS_IN_WORDS[self.acts])}"


KNOBS = (
    Knob("n_visible", "nv", "Visible units", "Number of recorded units, Nv.", "data"),
    Knob("n_hidden", "nh", "Hidden units", "Number of true units that are not recorded, Nh.", "data"),
    Knob("variance", "g2", "Coupling variance", "g²: J and L have variance g²/Nv, K and M g²/Nh.", "data"),
    Knob("model", "model", "Model", "How the true hidden units behave: continuous (A) or stochastic ±1 (B).", "data"),
    Knob("hidden_hidden", "m", "Hidden to hidden", "Whether hidden units are coupled to each other (M).", "data"),
    Knob("bias", "bias", "Bias", "Standard deviation of the biases of all units; they are learned too.", "data"),
    Knob("n_steps", "T", "Data length T", "Number of time bins recorded.", "data"),
    Knob("n_held_out", "out", "Held-out bins", "Length of the data that are kept for judging.", "data"),
    Knob("seed", "seed", "Seed", "The one source of all randomness.", "data"),
    Knob("learner", "learner", "Learner", "The method of inference.", "learning"),
    Knob("n_hidden_assumed", "nhfit", "Assumed hidden units", "How many hidden units the learner assumes.",
         "learning"),
    Knob("start", "start", "Start", "Where learning begins. Only the random start knows nothing of the truth.",
         "learning"),
    Knob("start_index", "draw", "Start number", "Which of the random starts.", "learning"),
    Knob("start_scale", "scale", "Start scale", "Standard deviation of the couplings at a small start.", "learning"),
    Knob("optimiser", "opt", "Optimiser", "How a step follows from the gradient.", "now"),
    Knob("rate", "rate", "Rate", "Step size per unit of gradient; L-BFGS needs none. 0: the default.", "now"),
    Knob("penalty", "pen", "Penalty", "Weight of the L2 penalty, ½ · weight · Σ θ² per bin over all couplings, not "
         "biases; or “learned”: a weight in each block that follows from the data.", "now"),
    Knob("box", "box", "Box", "Largest size a coupling may have; 0: no limit.", "now"),
    Knob("patience", "stop", "Held-out patience", "Stop when the held-out cost has not fallen for so many steps; "
         "0: go on to convergence.", "now"),
    Knob("max_steps", "max", "Maximum steps", "Stop after so many steps; 0: no limit.", "now"),
)  # fmt: skip

LIMITS = ("rate", "box", "patience", "max_steps")
"""Knobs for which 0 means: none, or the default."""

WORDS = {"penalty": ("learned",)}
"""Knobs that take a word in the place of a number."""

NATURAL_LEARNER = {"continuous": "backprop", "stochastic": "exact"}

KNOB = {knob.name: knob for knob in KNOBS}

TITLES: dict[str, dict[str, str]] = {
    "model": {"continuous": N_("A: continuous hidden units"), "stochastic": N_("B: stochastic hidden units")},
    "learner": {name: method.title for name, method in LEARNERS.items()},
    "optimiser": {name: optimiser.title for name, optimiser in OPTIMISERS.items()},
    "start": dict(STARTS),
}


def shown(experiment: Experiment) -> dict[str, Any]:
    """What every knob shows for an experiment: defaults spelled out, and 0 for a limit that is not set."""
    values = {knob.name: getattr(experiment, knob.name) for knob in KNOBS}
    values["optimiser"] = experiment.optimiser_used
    values["n_hidden_assumed"] = experiment.n_hidden_learned
    if experiment.rate is None:
        values["rate"] = OPTIMISERS[experiment.optimiser_used].default_rate
    return {name: 0 if value is None else value for name, value in values.items()}


def meant(experiment: Experiment, turned: dict[str, Any]) -> dict[str, Any]:
    """The changes that a user means who turned these knobs.

    Another optimiser brings its own rate. Another kind of true hidden unit brings the learner made for it, if the
    learner was the one made for the kind before.
    """
    changes: dict[str, Any] = {name: None if value == 0 and name in LIMITS else value for name, value in turned.items()}
    if changes.get("n_hidden_assumed") == experiment.n_hidden:
        changes["n_hidden_assumed"] = None
    if "optimiser" in changes or "learner" in changes:
        changes.setdefault("rate", None)
    if "model" in changes and NATURAL_LEARNER[experiment.model] == experiment.learner:
        changes["learner"] = NATURAL_LEARNER[changes["model"]]
    if "learner" in changes:
        changes["optimiser"] = None
    return changes


def read(name: str, text: str | bool) -> Any:
    """The value of a knob from what was typed in its field or in a link, chosen or switched.

    Raises:
        ValueError: it is not a number, or not a whole one where one is needed; the message names the knob.
    """
    parameter = Knobs.param[name]
    if isinstance(text, bool) or (text := str(text).strip()) in WORDS.get(name, ()):
        return text
    if not (isinstance(parameter, param.Number) or name in WORDS):
        return text
    try:
        return (read_whole if isinstance(parameter, param.Integer) else read_number)(str(text))
    except ValueError as error:
        raise ValueError(f"{_(parameter.label)} {error}") from None


def spoken(sentence: str) -> str:
    """A sentence of the engine with the knobs called by their labels."""
    for name, knob in KNOB.items():
        sentence = re.sub(rf"\b{name}\b", _(knob.label), sentence)
    return sentence


def _parameter(knob: Knob) -> param.Parameter:
    default = shown(Experiment())[knob.name]
    shared = {"default": default, "label": knob.label, "doc": knob.description, "allow_refs": False}
    if titles := TITLES.get(knob.name):
        return param.Selector(objects={titles[name]: name for name in CHOICES[knob.name]}, **shared)
    if isinstance(default, bool):
        return param.Boolean(**shared)
    if knob.name in WORDS:
        return param.ClassSelector(class_=(int, float, str), **shared)
    kinds = {field.name: str(field.type) for field in fields(Experiment)}
    return (param.Integer if "int" in kinds[knob.name] else param.Number)(**shared)


Knobs = param.parameterized_class("Knobs", {knob.name: _parameter(knob) for knob in KNOBS})
"""Every knob of an Experiment as a parameter with a label and a description: what the page shows of them."""
