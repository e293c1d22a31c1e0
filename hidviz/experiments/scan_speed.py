"""Which learner fits a model of a scan, and how long a step of it takes on this machine as it is now.

Sums over hidden states are exact, and stopped on the stopping part; so a model is fitted by them wherever a start is
predicted to take less than a minute. Else it is fitted by sampling (Monte Carlo EM), if that is quicker; never by a
mean field, whose bias no amount of data removes. What judges is the exact likelihood in either case.
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from hidviz.evaluation import LONGEST_LIKELIHOOD, likelihood_for
from hidviz.experiments.fit_parts import starting_point
from hidviz.learners import LEARNERS, Infeasible, prepare
from hidviz.network import Parts

STEPS = 120  # of a start, for the first prediction; then as many as the models before took
LONGEST_FIT = 60.0  # seconds of one start
L1_STARTS = 10.0  # an L1 path takes as long as so many starts of `STEPS`: measured on the hippocampus, 9 to 11

Name = Literal["exact", "gibbs"]


def learner_for(parts: Parts, n_hidden: int, hidden_hidden: bool, max_steps: int) -> Name:
    """Exact where a start is predicted to take less than a minute, or no longer than sampling; else gibbs.

    Args:
        parts: what is learned from and stopped by.
        n_hidden: number of hidden units.
        hidden_hidden: whether with M.
        max_steps: most steps of a start; sampling takes all of them.
    """
    learn, stop = parts.learn, parts.stop

    def seconds(name: Name, n_transitions: int) -> float:
        return LEARNERS[name].seconds(learn.n_visible, n_hidden, n_transitions, hidden_hidden)

    summed = min(STEPS, max_steps) * (seconds("exact", learn.n_transitions) + seconds("exact", stop.n_transitions))
    sampled = max_steps * seconds("gibbs", learn.n_transitions)
    return "exact" if summed < max(LONGEST_FIT, sampled) else "gibbs"


def check_exact(name: Name, n_hidden: int) -> None:
    """Refuse an L1 penalty for a model that would be sampled.

    Raises:
        Infeasible: it would.
    """
    if name != "exact":
        raise Infeasible(
            f"An L1 penalty needs exact gradients, and {n_hidden} hidden units would be sampled, as a start of theirs "
            f"takes more than {LONGEST_FIT:g} s: scan fewer hidden units, or without the penalty."
        )


def check_judged(parts: Parts, n_hidden: int, hidden_hidden: bool) -> None:
    """Refuse a model that the judging part could not judge.

    Raises:
        Infeasible: its likelihood would take too long.
    """
    prepare("exact", parts.judge, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=True)
    if (
        likelihood_for(
            "exact", parts.judge, n_hidden, hidden_hidden=hidden_hidden, bias=True, longest=LONGEST_LIKELIHOOD
        )
        is None
    ):
        raise Infeasible(
            f"{n_hidden} hidden units cannot be judged: their likelihood takes more than {LONGEST_LIKELIHOOD:g} s."
        )


def seconds_a_step(parts: Parts, n_hidden: int, hidden_hidden: bool, name: Name) -> float:
    """Seconds of one step on this machine as it is now: measured, as its speed and its other work vary.

    Args:
        parts: what is learned from and stopped by.
        n_hidden: number of hidden units.
        hidden_hidden: whether with M.
        name: of the learner; sampling is not stopped by anything.
    """
    seen = parts[:2] if name == "exact" else parts[:1]
    try:
        check_judged(parts, n_hidden, hidden_hidden)
        learners = [prepare(name, part, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=True) for part in seen]
    except Infeasible:
        return 0.0
    start = starting_point(parts.learn, learners[0], np.random.default_rng(0))
    taken = []
    for _ in range(3):
        began = time.monotonic()
        for learner in learners:
            learner(start)
        taken.append(time.monotonic() - began)
    return float(np.median(taken))
