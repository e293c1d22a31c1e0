"""Ranges: what each knob of an experiment may be, for whoever checks it or offers it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from hidviz.learners import LEARNERS
from hidviz.learning import OPTIMISERS, STARTS


def plain_number(what: str, value: object, low: float, high: float) -> int | float:
    """A number of Python's or of NumPy's as Python's own, so that it can be stored and compared.

    Args:
        what: what it is, as the beginning of a sentence.
        value: the number; a whole one where `low` is.
        low: the least allowed.
        high: the largest allowed.

    Raises:
        ValueError: it is no such number, or out of range.
    """
    whole = isinstance(low, int)
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        raise ValueError(f"{what} must be a {'whole ' if whole else ''}number, got {value!r}.")
    if not low <= value <= high:
        raise ValueError(f"{what} must lie between {low:g} and {high:g}, got {value}.")
    return value


RANGES: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "n_visible": (1, 200),
        "n_hidden": (0, 200),
        "n_steps": (10, 10_000_000),
        "variance": (0.0, 25.0),
        "bias": (0.0, 5.0),
        "n_hidden_assumed": (0, 200),
        "rate": (1e-6, 1e3),
        "penalty": (0.0, 10.0),
        "box": (1e-3, 100.0),
        "start_index": (1, 1_000_000),
        "start_scale": (1e-6, 10.0),
        "patience": (1, 1_000_000),
        "max_steps": (0, 10_000_000),
        "n_held_out": (0, 10_000_000),
        "seed": (0, 2**31 - 1),
    }
)

OPTIONAL = ("n_hidden_assumed", "optimiser", "rate", "box", "patience", "max_steps")

CHOICES: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "model": ("continuous", "stochastic"),
        "learner": LEARNERS,
        "optimiser": OPTIMISERS,
        "start": STARTS,
    }
)
