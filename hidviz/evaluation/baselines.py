"""Baselines: what data can be foretold without any hidden unit, to be read beside every held-out cost.

Logistic regression on the visible state of one bin ago, and of two: without hidden-to-hidden couplings, two bins are
all that hidden units remember. Both are convex, so their optimum is found once, by Newton's method. Hidden units are
worth what they gain on these.
"""

from __future__ import annotations

from typing import NamedTuple

from hidviz.learners import logistic_fit, prepare
from hidviz.network import Recording

TINY = 1e-5  # penalty per bin, so that units which can be foretold perfectly keep finite couplings


class Baselines(NamedTuple):
    """Held-out costs of the models without hidden units, nats per bin; None where the fit finds no optimum.

    Args:
        lag1: each unit answers the visible state one bin ago.
        lag2: and that two bins ago.
    """

    lag1: float | None
    lag2: float | None


def baselines(recording: Recording, held_out: Recording, *, bias: bool = False) -> Baselines:
    """Fit both to a recording, and judge them on another.

    Args:
        recording: the visible history to learn from.
        held_out: the visible history to judge by.
        bias: whether each unit has a bias.
    """
    n_visible = recording.n_visible

    def cost(name: str, lags: int) -> float | None:
        try:
            couplings = logistic_fit(recording, lags=lags, bias=bias, penalty=TINY)  # type: ignore[arg-type]  # 1 or 2
        except ValueError:
            return None
        judge = prepare(name, held_out, n_hidden=n_visible * (lags - 1), bias=bias)
        return -judge(couplings).objective / judge.n_transitions

    return Baselines(cost("visible", 1), cost("visible-lag2", 2))


def baseline_seconds(n_visible: int, n_transitions: int) -> float:
    """Predicted seconds for `baselines`."""
    return 2e-3 + n_visible * (1.5e-7 * n_transitions + 4e-9 * n_visible * n_transitions + 1e-8 * n_visible**3)
