"""The same-time term: hidden units that speak to one visible unit become correlated, beyond the factorised ansatz.

Given s(t+1), two hidden units of the same bin interact through every visible unit that hears both. To second order
in that interaction the objective A gains, with V_a = 1-mu_a²,

    ¼ Σ_{a≠b} W_ab² V_a V_b        W_ab = Σ_i K_ia K_ib <1-tanh²H_i>

a term of the order of those the paper keeps when Nv is of the order of Nh. It sharpens a fit that is nearly right and
has no bound far away, so a random start must not use it. It is the paper's closing remark carried out, for the visible
receivers alone: interactions through the hidden units of the next bin (M ≠ 0) are not in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hidviz.numerics import Array, Curvature


class SameTime(NamedTuple):
    """The term and what it adds to each derivative; n bins.

    Args:
        value: (n,) the term, in nats.
        error: (n, Nv) its derivative with respect to the field H.
        chi: (n, Nv) what it adds to chi, -2 times its derivative with respect to the variance of H.
        spread: (n, Nh) twice its derivative with respect to V.
        pairs: (n, Nh·Nh) twice its derivative with respect to W, a pair (a, b) in each column.
    """

    value: Array
    error: Array
    chi: Array
    spread: Array
    pairs: Array


def pair_products(K: Array) -> Array:
    """K_ia K_ib, (Nv, Nh·Nh), a pair (a, b) in each column; zero for a = b."""
    n_visible, n_hidden = K.shape
    products = K[:, :, None] * K[:, None, :]
    products[:, np.arange(n_hidden), np.arange(n_hidden)] = 0.0
    return products.reshape(n_visible, n_hidden * n_hidden)


def same_time(products: Array, curvature: Curvature, V: Array) -> SameTime:
    """The same-time term of n bins, from the pair products of K, <1-tanh²H> and V (n, Nh)."""
    n_bins, n_hidden = V.shape
    W = (curvature.value @ products).reshape(n_bins, n_hidden, n_hidden)
    square = W * W
    spread = np.matmul(square, V[:, :, None])[:, :, 0]
    pairs = (W * (V[:, :, None] * V[:, None, :])).reshape(n_bins, n_hidden * n_hidden)
    by_chi = 0.5 * pairs @ products.T
    return SameTime(
        value=0.25 * (spread * V).sum(axis=1),
        error=by_chi * curvature.by_field,
        chi=-2.0 * by_chi * curvature.by_variance,
        spread=spread,
        pairs=pairs,
    )


def slope_in_K(K: Array, chi: Array, pairs: Array) -> Array:
    """Derivative of the term with respect to K at fixed H, variance and V, summed over bins: (Nv, Nh)."""
    n_visible, n_hidden = K.shape
    together = (chi.T @ pairs).reshape(n_visible, n_hidden, n_hidden)
    return np.asarray((together * K[:, None, :]).sum(axis=2))
