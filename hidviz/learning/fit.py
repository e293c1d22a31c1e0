"""Fit: learning as one call, the batch face of `learn`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hidviz.learners import Learner
from hidviz.learning.loop import learn
from hidviz.learning.snapshot import Snapshot, result
from hidviz.network import Couplings
from hidviz.numerics import Array


@dataclass(frozen=True)
class Fit:
    """The result of `fit`.

    Args:
        couplings: the estimate: the best on held-out data if there was any, the average of the last fifth of a
            stochastic run, else the last.
        last: the last snapshot; its `state` and `message` say how learning ended.
        cost: training cost of every snapshot, nats per bin.
        held_out: held-out cost of every snapshot, nats per bin; empty without held-out data.
    """

    couplings: Couplings
    last: Snapshot
    cost: Array
    held_out: Array


def fit(learner: Learner, start: Couplings, *, max_steps: int = 2000, **settings: Any) -> Fit:
    """Learn until the end, and keep the best: the batch face of `learn`, which explains the settings.

    Args:
        learner: a prepared learner.
        start: couplings to start from.
        max_steps: end after this many steps.
        **settings: any further keyword of `learn`. With `held_out`, patience is 30 steps unless given.

    Raises:
        ValueError: a setting is out of range.
    """
    if settings.get("held_out") is not None:
        settings.setdefault("patience", 30)
    snapshots = list(learn(learner, start, max_steps=max_steps, **settings))
    last = snapshots[-1]
    return Fit(
        couplings=result(last),
        last=last,
        cost=np.array([snapshot.cost for snapshot in snapshots]),
        held_out=np.array([snapshot.held_out for snapshot in snapshots if snapshot.held_out is not None]),
    )
