"""Special functions of ±1 units, stable for fields of any size."""

from __future__ import annotations

import numpy as np

from hidviz.numerics.arrays import Array


def tanh(field: Array, out: Array | None = None) -> Array:
    """Give tanh x, elementwise, to an absolute 4e-16, from one exponential: 1 - 2 / (1 + exp 2x).

    NumPy's own is right to the last digit near 0 as well, which no magnetisation needs; where the processor has no
    AVX-512 it takes twice as long (13 against 7 ns an element).
    """
    result: Array = np.minimum(field, 300.0, out=out)  # beyond, it is 1 to all digits
    result *= 2.0
    np.exp(result, out=result)
    result += 1.0
    np.divide(2.0, result, out=result)
    return np.subtract(1.0, result, out=result)


def log_2cosh(field: Array) -> Array:
    """Give log 2cosh x, the log normaliser of a ±1 unit in the field x, elementwise; never overflows."""
    size = np.abs(field)
    return size + np.log1p(np.exp(-2.0 * size))


def entropy(mu: Array) -> Array:
    """Entropy in nats of ±1 units with magnetisations mu, elementwise, eq. 28 (`entropy`); 0 at ±1."""
    up, down = 0.5 * (1.0 + mu), 0.5 * (1.0 - mu)
    return -(_x_log_x(up) + _x_log_x(down))


def _x_log_x(x: Array) -> Array:
    return x * np.log(np.where(x > 0.0, x, 1.0))
