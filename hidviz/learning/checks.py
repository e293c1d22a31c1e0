"""Checks: what the settings of `learn` must be, said in sentences before anything is computed."""

from __future__ import annotations

import numpy as np

from hidviz.learners import Learner
from hidviz.learning.optimisers import OPTIMISERS
from hidviz.learning.regularisation import Choice


def check_settings(
    learner: Learner,
    optimiser: str,
    rate: float | None,
    penalty: Choice,
    box: float | None,
    held_out: Learner | None,
    patience: int | None,
    tolerance: float,
    max_steps: int | None,
) -> None:
    """Refuse settings of `learn` that are out of range.

    Raises:
        ValueError: one is; the message says what must hold.
    """
    if optimiser not in OPTIMISERS:
        raise ValueError(f"optimiser must be one of {', '.join(OPTIMISERS)}, got {optimiser!r}.")
    if learner.stochastic and optimiser == "l-bfgs":
        raise ValueError("L-BFGS needs exact gradients and this learner's are sampled: use optimiser='adam'.")
    for name, value in (("rate", rate), ("box", box)):
        if value is not None and not 0.0 < value < np.inf:
            raise ValueError(f"{name} must be a positive number, got {value}.")
    if isinstance(penalty, str) and penalty != "learned":
        raise ValueError(f"penalty must be a number not below 0, or 'learned', got {penalty!r}.")
    for name, value in (("penalty", 0.0 if isinstance(penalty, str) else penalty), ("tolerance", tolerance)):
        if not 0.0 <= value < np.inf:
            raise ValueError(f"{name} must be a number not below 0, got {value}.")
    for name, value, least in (("patience", patience, 1), ("max_steps", max_steps, 0)):
        if value is not None and not value >= least:
            raise ValueError(f"{name} must be {least} or more, got {value}.")
    if patience is not None and held_out is None:
        raise ValueError("patience waits for the held-out cost: give held_out, or leave patience out.")
