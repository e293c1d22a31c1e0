"""Decimation: fewer points for a screen, the extremes kept, so that no jump of a curve is lost."""

from __future__ import annotations

import numpy as np

from hidviz.numerics import Array

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
    width = -(-(n - 2) // ((max_points - 2) // 2))
    inner = np.pad(y[1:-1], (0, -(n - 2) % width), mode="edge").reshape(-1, width)
    begins = 1 + width * np.arange(len(inner))
    extremes = np.concatenate([begins + inner.argmin(axis=1), begins + inner.argmax(axis=1)])
    index = np.unique(np.concatenate([[0, n - 1], np.minimum(extremes, n - 2)]))
    return x[index], y[index]
