"""Baselines: what data can be predicted without any hidden unit, to be read beside every held-out cost.

Logistic regression on the visible state of one bin ago, and of two: without hidden-to-hidden couplings, two bins are
all that hidden units remember. Both are concave, so their optimum is found once, by Newton's method; a tiny penalty
keeps it finite where a unit can be predicted perfectly. Hidden units are worth what they gain on these.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from hidviz.evaluation.likelihood import cost_per_bin
from hidviz.learners import LEARNERS, logistic_fit, prepare
from hidviz.network import Recording

TINY = 1e-5  # penalty per bin, so that units which can be predicted perfectly keep finite couplings


class Baselines(NamedTuple):
    """Held-out costs of the models without hidden units, nats per bin.

    Args:
        lag1: each unit answers the visible state one bin ago.
        lag2: and that two bins ago.
        remarks: a sentence for each unit that the penalty alone keeps finite.
    """

    lag1: float
    lag2: float
    remarks: tuple[str, ...] = ()


def baselines(recording: Recording, held_out: Recording, *, bias: bool = False, penalty: float = TINY) -> Baselines:
    """Fit both to a recording, and judge them on another.

    Args:
        recording: the visible history to learn from.
        held_out: the visible history to judge by.
        bias: whether each unit has a bias.
        penalty: weight of the L2 penalty per bin; never less than a tiny one.
    """
    n_visible, weight = recording.n_visible, max(penalty, TINY)
    costs: list[float] = []
    held: dict[int, int] = {}
    lags: Literal[1, 2]
    for lags, name in ((1, "visible"), (2, "visible-lag2")):
        found = logistic_fit(recording, lags=lags, bias=bias, penalty=weight)
        judge = prepare(name, held_out, n_hidden=LEARNERS[name].units(n_visible, 0), bias=bias)
        costs.append(cost_per_bin(judge, found.couplings))
        for unit in found.held:
            held.setdefault(unit, lags)
    remarks = tuple(
        f"Some states of {recording.name_of(unit)} can be predicted perfectly from lag {lags}: the penalty of "
        f"{weight:g} alone keeps its couplings finite."
        for unit, lags in sorted(held.items())
    )
    return Baselines(costs[0], costs[1], remarks)


def baseline_seconds(n_visible: int, n_transitions: int) -> float:
    """Predicted seconds for `baselines`: a few curvatures of every unit, at either lag."""
    return 2e-3 + n_visible * n_transitions * (2.5e-7 + 1e-8 * n_visible + 1e-9 * n_visible**2)


def baseline_memory(n_visible: int, n_transitions: int) -> float:
    """Predicted bytes for `baselines`: two states for each bin to sort, and what follows them as numbers."""
    return n_transitions * (14.0 * n_visible + 50.0)
