"""Special functions of ±1 units, stable for fields of any size."""

from __future__ import annotations

import numpy as np

from hidviz.couplings import Array


def log_2cosh(field: Array) -> Array:
    """Give log 2cosh x, the log normaliser of a ±1 unit in the field x, elementwise; never overflows."""
    size = np.abs(field)
    return size + np.log1p(np.exp(-2.0 * size))


def entropy(mu: Array) -> Array:
    """Entropy in nats of ±1 units with magnetisations mu, elementwise (eq. `entropy`); 0 at mu = ±1."""
    up, down = 0.5 * (1.0 + mu), 0.5 * (1.0 - mu)
    return -(_x_log_x(up) + _x_log_x(down))


def _x_log_x(x: Array) -> Array:
    return x * np.log(np.where(x > 0.0, x, 1.0))
