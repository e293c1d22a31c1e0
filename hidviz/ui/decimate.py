"""Decimation: fewer points for a screen, the extremes kept, so that no jump of a curve is lost."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from hidviz.couplings import Array

MAX_POINTS = 1500  # more than a plot has pixels across


def decimated(x: Array, y: Array, max_points: int = MAX_POINTS) -> tuple[Array, Array]:
    """At most max_points of a curve, in order: first, last, and the least and greatest y of each stretch.

    Args:
        x: (n,) abscissae in order.
        y: (n,) ordinates.
        max_points: at least 4.
    """
    n = len(y)
    if n <= max_points:
        return x, y
    stretches = (max_points - 2) // 2
    edges = np.linspace(1, n - 1, stretches + 1).astype(np.intp)
    kept = [0, n - 1]
    for begin, end in pairwise(edges):
        part = y[begin:end]
        kept += [begin + int(np.argmin(part)), begin + int(np.argmax(part))]
    index = np.unique(kept)
    return x[index], y[index]
