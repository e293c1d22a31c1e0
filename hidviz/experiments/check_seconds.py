"""How long the checks of a model will take on this machine: from what its fit took, and from short trials of the rest.

A halves check fits the model to both halves of the learned part from two starts, hiding a unit fits it to the others
from two starts, by the learner and in as many steps as the scan, and along an L1 path if that had one; the free run and
the posterior of the hidden units are tried for a fifth of their length.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hidviz.evaluation import FREE_BINS
from hidviz.experiments.scan_speed import L1_STARTS
from hidviz.experiments.scan_table import ScanRow
from hidviz.learners import Infeasible, hidden_posterior
from hidviz.network import Couplings, Parts, simulate

REFITS = 2  # starts of whatever is fitted again
TRIED = 5  # part of a free run that is tried


class CheckSeconds(NamedTuple):
    """Predicted seconds.

    Args:
        free_run: the model and lag 1 left to themselves.
        posterior: what the hidden units do in the recording.
        halves: both halves of the recording.
        hide: each unit that is hidden.
    """

    free_run: float
    posterior: float
    halves: float
    hide: float


def predict_checks(row: ScanRow, parts: Parts, lag1: ScanRow) -> CheckSeconds:
    """Predict what the checks of a model of a scan will take.

    Args:
        row: the model.
        parts: what the scan learned from.
        lag1: the first row of the same scan.
    """
    free = _simulated(row) + (_simulated(lag1) if row.n_hidden else 0.0)
    learn, stop, judge = (part.n_transitions for part in parts[:3])
    posterior = _posterior(row.couplings, parts) * (learn + stop + judge) / stop if row.couplings is not None else 0.0
    path = L1_STARTS if row.l1 else 0.0
    fit = (REFITS + path) * row.seconds / (max(len(row.stop), 1) + path)
    n_visible = parts.learn.n_visible
    stopping = 0 if row.sampled else stop  # which sampling does not look at while it learns
    return CheckSeconds(
        free_run=TRIED * free,
        posterior=posterior,
        halves=2.0 * fit * (0.5 * learn + stopping) / (learn + stopping),
        hide=fit * (n_visible - 1) / n_visible + posterior,
    )


def _simulated(row: ScanRow) -> float:
    if (couplings := row.couplings) is None:
        return 0.0
    return _taken(lambda: simulate(couplings, FREE_BINS // TRIED, np.random.default_rng(0)))


def _posterior(couplings: Couplings, parts: Parts) -> float:
    try:
        return _taken(lambda: hidden_posterior(couplings, parts.stop))
    except Infeasible:
        return 0.0


def _taken(act: Callable[[], object]) -> float:
    began = time.monotonic()
    act()
    return time.monotonic() - began
