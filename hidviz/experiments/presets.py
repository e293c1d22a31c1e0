"""Presets: the paper's experiments as values, with what to look for in each."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hidviz.experiments.experiment import Experiment


class Preset(NamedTuple):
    """A named experiment: a short title for menus, a sentence on what to look for, and the knobs."""

    title: str
    look_for: str
    experiment: Experiment


_FIG4 = Experiment(n_visible=10, n_hidden=10, model="stochastic", learner="exact", patience=30)

ABOUT_PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "fig3": Preset(
            "Fig. 3: random start",
            "The cost falls smoothly, yet some hidden units may come out with the wrong sign or in another order: "
            "the errors of K and L stay large, the aligned ones are small.",
            Experiment(),
        ),
        "fig3-right-signed": Preset(
            "Fig. 3: right-signed start",
            "Started with the signs of the truth, learning ends at the true model, and at exactly the same cost.",
            Experiment(start="right-signed"),
        ),
        "fig4": Preset(
            "Fig. 4: exact, 10 + 10",
            "One point of Fig. 4: stochastic hidden units, exact likelihood. The training cost ends below the cost "
            "at the truth, the held-out cost above it.",
            _FIG4,
        ),
        "fig5": Preset(
            "Fig. 5: mean field, 80 + 20",
            "One point of Fig. 5: a network far beyond exact sums, learned by the paper's lowest-order mean field.",
            Experiment(n_visible=80, n_hidden=20, model="stochastic", learner="mean-field", patience=30),
        ),
        "fig6-exact": Preset(
            "Fig. 6: exact, 5 + 5",
            "One point of Fig. 6, dashed lines: with exact learning the errors go on falling as 1/T.",
            Experiment(n_visible=5, n_hidden=5, n_steps=100_000, model="stochastic", learner="exact"),
        ),
        "fig6-mean-field": Preset(
            "Fig. 6: mean field, 5 + 5",
            "One point of Fig. 6, solid lines: stopped at the best held-out cost, mean field is left with an error "
            "that more data do not remove.",
            Experiment(n_visible=5, n_hidden=5, n_steps=100_000, model="stochastic", learner="mean-field", patience=30),
        ),
        "recurrent": Preset(
            "Beyond the paper: hidden to hidden",
            "Hidden units that talk to each other, learned by back-propagation through time.",
            Experiment(n_visible=12, n_hidden=3, hidden_hidden=True),
        ),
    }
)

PRESETS: Mapping[str, Experiment] = MappingProxyType({name: about.experiment for name, about in ABOUT_PRESETS.items()})


def preset_of(experiment: Experiment) -> str:
    """The name of the preset with exactly these knobs; empty if there is none."""
    return next((name for name, preset in PRESETS.items() if preset == experiment), "")
