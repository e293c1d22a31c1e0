"""The types of the arrays that pass between modules, and the check of where random ones come from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
States = NDArray[np.int8]  # ±1 over (time, unit); 0 where there is no state
Index = NDArray[np.intp]
Flags = NDArray[np.bool_]


def check_generator(rng: object) -> None:
    """Refuse anything that is no source of random numbers.

    Raises:
        ValueError: rng is not a Generator.
    """
    if not isinstance(rng, np.random.Generator):
        got = " ".join(repr(rng).split())[:60]
        raise ValueError(
            f"rng must be a numpy.random.Generator, got {got}: make one with np.random.default_rng(seed) and "
            "hand the same one on, so that no two draws are the same."
        )
