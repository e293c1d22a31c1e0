"""Averages of functions of a field that fluctuates: three ways to close the mean-field equations.

Under the factorised ansatz the field on a unit is H on average and varies about it with variance V. The energy needs
F = <log 2cosh>, the E- and M-steps its slopes, and both follow from F by one rule, whatever the approximation:

    tanh = dF/dH        <tanh>  in the paper's equations
    chi  = 2 dF/dV      <1-tanh²> there

| closure    | F                                                | source                        |
| NAIVE      | log 2cosh H                                      | eq. 29 (`nMF`)                |
| LOWEST     | log 2cosh H + ½(1-tanh²H) V                      | eq. 33 (`correctedEH`)        |
| gaussian() | ∫Dx log 2cosh(H + sqrt(V) x), by quadrature      | eq. 38 (`result`)             |

The quadrature is the trapezoid rule, which converges exponentially here. Its nodes come in pairs ±x: with
q = exp(-2|H|), E = exp(2 sqrt(V) step), P = q E^k, N = q E^-k and d = 1 + q² + P + N,

    ½ Σ± log 2cosh(H ± k step sqrt(V)) = |H| + ½ log d
    ½ Σ± tanh = sign(H) (1-q²)/d        ½ (tanh+ - tanh-) = (P-N)/d

so two exponentials and one divide a pair give every slope, and nothing overflows. 21 nodes are right to 5e-7 for
sqrt(V) <= 1, 5e-5 at 1.5, 5e-4 at 2; 41 nodes to 5e-7 at 2. More do not help much beyond: the poles of tanh move in.

Not here: any time, any coupling; fields and variances come in, averages go out, elementwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hidviz.numerics.arrays import Array
from hidviz.numerics.special import log_2cosh, tanh

_REACH = 5.4  # outermost node: the Gaussian weight beyond it is 7e-8
_SMALLEST, _LARGEST = 1e-6, 50.0  # standard deviations the quadrature tells apart: rounding below, overflow above
_CHUNK = 8192


class Averages(NamedTuple):
    """F = <log 2cosh> and its slopes tanh = dF/dH and chi = 2 dF/dV, each of the shape of the field."""

    log_2cosh: Array
    tanh: Array
    chi: Array


class Slopes(NamedTuple):
    """The slopes alone: all that the E-step needs."""

    tanh: Array
    chi: Array


class Curvature(NamedTuple):
    """<1-tanh²> itself and its derivatives with respect to the field H and to the variance V."""

    value: Array
    by_field: Array
    by_variance: Array


class Closure(NamedTuple):
    """How functions of a fluctuating field are averaged: three functions of its mean and variance.

    Args:
        slopes: (H, V) → Slopes.
        averages: (H, V) → Averages, with the same slopes.
        curvature: (H, V) → Curvature, for the same-time term only.
    """

    slopes: Callable[[Array, Array], Slopes]
    averages: Callable[[Array, Array], Averages]
    curvature: Callable[[Array, Array], Curvature]


def gaussian(nodes: int = 21) -> Closure:
    """The average over a normal distribution of the field, by the trapezoid rule: eq. 38 (`result`).

    Its chi is ∫Dx x tanh(H + sqrt(V) x)/sqrt(V), the slope of the quadrature, not ∫Dx (1-tanh²), which equals it only
    in the limit of many nodes: so objective and gradient agree to rounding however few the nodes.

    Args:
        nodes: how many points, an odd number.
    """
    pairs = nodes // 2
    place: Array = np.linspace(0.0, _REACH, pairs + 1)
    weight: Array = np.asarray(np.exp(-0.5 * place**2), dtype=np.float64)
    weight /= weight[0] + 2.0 * weight[1:].sum()
    place /= (2.0 * (weight * place**2).sum()) ** 0.5  # unit variance: the limit V → 0 is exact

    def slopes(H: Array, V: Array) -> Slopes:
        return _trapezoid(H, V, weight, place, None)

    def averages(H: Array, V: Array) -> Averages:
        F = np.ascontiguousarray(np.abs(H))
        return Averages(F, *_trapezoid(H, V, weight, place, F))

    def curvature(H: Array, V: Array) -> Curvature:
        return _mean_curvature(H, V, weight, place)

    return Closure(slopes, averages, curvature)


def _trapezoid(H: Array, V: Array, weight: Array, place: Array, F: Array | None) -> Slopes:
    """The slopes; adds to F, when given, what lies beyond |H| of <log 2cosh>. In chunks that stay in cache."""
    tanh, chi = np.empty(H.size), np.empty(H.size)
    field, variance = H.reshape(-1), V.reshape(-1)
    excess = None if F is None else F.reshape(-1)
    pairs = len(weight) - 1
    stack = np.empty((3, pairs, min(_CHUNK, H.size)))
    for begin in range(0, H.size, _CHUNK):
        part = slice(begin, begin + _CHUNK)
        h = field[part]
        sd = np.clip(np.sqrt(variance[part]), _SMALLEST, _LARGEST)
        q = np.exp(-2.0 * np.abs(h))
        up = np.exp((2.0 * place[1]) * sd)
        down = 1.0 / up
        P, N, d = stack[:, :, : len(h)]
        np.multiply(q, up, out=P[0])
        np.multiply(q, down, out=N[0])
        for k in range(1, pairs):
            np.multiply(P[k - 1], up, out=P[k])
            np.multiply(N[k - 1], down, out=N[k])
        squares = 1.0 + q * q
        np.add(P, N, out=d)
        d += squares
        P -= N
        inverse = np.divide(1.0, d, out=N)
        P *= inverse
        centre = squares + 2.0 * q
        tanh[part] = np.copysign((2.0 * weight[1:] @ inverse + weight[0] / centre) * (2.0 - squares), h)
        chi[part] = (2.0 * weight[1:] * place[1:]) @ P / sd
        if excess is not None:
            excess[part] += weight[1:] @ np.log(d, out=d) + 0.5 * weight[0] * np.log(centre)
    return Slopes(tanh.reshape(H.shape), chi.reshape(H.shape))


def _mean_curvature(H: Array, V: Array, weight: Array, place: Array) -> Curvature:
    sd = np.clip(np.sqrt(V), _SMALLEST, _LARGEST)
    total = [np.zeros_like(H) for _ in range(3)]
    for w, x in zip(weight, place, strict=True):
        for side in (x, -x) if x else (0.0,):
            t = np.tanh(H + side * sd)
            c = 1.0 - t * t
            total[0] += w * c
            t *= -2.0 * w * c
            total[1] += t
            total[2] += (0.5 * side) * t
    return Curvature(total[0], total[1], total[2] / sd)


def _naive_slopes(H: Array, V: Array) -> Slopes:  # noqa: ARG001  # one signature for all closures
    return Slopes(tanh(H), np.zeros_like(H))


def _naive_averages(H: Array, V: Array) -> Averages:
    return Averages(log_2cosh(H), *_naive_slopes(H, V))


def _lowest_slopes(H: Array, V: Array) -> Slopes:
    t = tanh(H)
    chi = 1.0 - t * t
    return Slopes(t - t * chi * V, chi)


def _lowest_averages(H: Array, V: Array) -> Averages:
    size = np.abs(H)
    q = np.exp(-2.0 * size)
    above = 1.0 + q
    t = np.copysign((1.0 - q) / above, H)
    chi = 1.0 - t * t
    correction = chi * V
    size += np.log(above, out=above)
    size += 0.5 * correction
    correction *= t
    return Averages(size, t - correction, chi)


def _curvature_at_mean(H: Array, V: Array) -> Curvature:  # noqa: ARG001
    t = tanh(H)
    chi = 1.0 - t * t
    return Curvature(chi, -2.0 * t * chi, np.zeros_like(H))


NAIVE = Closure(_naive_slopes, _naive_averages, _curvature_at_mean)
LOWEST = Closure(_lowest_slopes, _lowest_averages, _curvature_at_mean)
