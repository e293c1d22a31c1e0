"""The E-step equations: what field each magnetisation must answer to, and the objective of one bin.

Every unit that hears mu(t) reports back: the visible units of t+1, and with M ≠ 0 the hidden units of t+1 too. Stack
them as receivers r with couplings R = [K; M], targets s(t+1) and mu(t+1), fields H of variance D² = Σ_b R_rb² V_b,
where V = 1-mu²:

    atanh mu_a(t) = B_a(t-1) + Σ_r {target_r - <tanh H_r>} R_ra + mu_a(t) Σ_r <1-tanh²H_r> R_ra²     (eq. `MFmu`)

with <·> as the closure says. The second-order theory, beyond the paper, subtracts mu_a Σ_b M_ab² V_b(t-1) and
mu_a Σ_b V_b(t+1) M_ba². Where a trial starts the past is silent, and its last hidden state is heard by nobody among
the hidden units, which the print leaves open.

Not here: how the equations are solved (`settling`), nor the slopes in the couplings (`meanfield`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.learners.parts.distinct_transitions import Cases
from hidviz.learners.parts.same_time import pair_products, same_time
from hidviz.network import Couplings
from hidviz.numerics import Array, Averages, Closure, entropy

Rows = NDArray[np.intp]


class Theory(NamedTuple):
    """Which mean-field theory: how to average, and which terms beyond the factorised ansatz to add."""

    closure: Closure
    second_order: bool = False
    same_time: bool = False


class Wiring(NamedTuple):
    """The couplings as the mean-field equations want them; J1 = [J h] and L1 = [L g] take the constant unit too."""

    J1: Array
    K: Array
    L1: Array
    M: Array
    R: Array
    coupled: bool
    products: Array


def wire(couplings: Couplings, theory: Theory) -> Wiring:
    """Stack the couplings by receiver; without hidden-to-hidden couplings the only receivers are visible."""
    coupled = bool(couplings.M.any())
    return Wiring(
        J1=np.hstack([couplings.J, couplings.h[:, None]]),
        K=couplings.K,
        L1=np.hstack([couplings.L, couplings.g[:, None]]),
        M=couplings.M,
        R=np.vstack([couplings.K, couplings.M]) if coupled else couplings.K,
        coupled=coupled,
        products=pair_products(couplings.K) if theory.same_time else np.zeros((couplings.n_visible, 0)),
    )


class Stretch(NamedTuple):
    """Consecutive rows, with everything in their equations that does not depend on mu.

    Args:
        first: the row of the recording at which it begins.
        fields: (n, Nr) field on each receiver from the data alone.
        prior: (n, Nh) field on the hidden units from the bin before, from the data alone.
        target: (n, Nv) s(t+1).
        has_past: (n, 1); has_next: (n, 1), as in `Cases`.
    """

    theory: Theory
    wiring: Wiring
    first: int
    fields: Array
    prior: Array
    target: Array
    has_past: Array
    has_next: Array


def stretch(theory: Theory, wiring: Wiring, cases: Cases, first: int, last: int) -> Stretch:
    """The rows from first to last, last excluded."""
    part = slice(first, last)
    present = cases.present[part].astype(np.float64)
    fields = present @ wiring.J1.T
    if wiring.coupled:
        fields = np.hstack([fields, present @ wiring.L1.T])
    prior = cases.previous[part].astype(np.float64) @ wiring.L1.T
    target = cases.following[part].astype(np.float64)
    return Stretch(theory, wiring, first, fields, prior, target, cases.has_past[part], cases.has_next[part])


def guess(s: Stretch) -> Array:
    """A start for mu: the prior field, and half the error that the visible units see without hidden ones."""
    K = s.wiring.K
    return np.tanh(s.prior + 0.5 * (s.target - np.tanh(s.fields[:, : len(K)])) @ K)


def field(s: Stretch, mu: Array, rows: Rows) -> Array:
    """The right-hand side of the E-step equations for these rows of the stretch, (n, Nh); mu covers every row."""
    return _equations(s, mu, rows, value=False)[0]


def objective(s: Stretch, mu: Array, rows: Rows) -> tuple[Array, Array]:
    """The field, and all that A owes to the mu of each of these rows with its neighbours held, (n,), in nats."""
    return _equations(s, mu, rows, value=True)


def _equations(s: Stretch, mu: Array, rows: Rows, *, value: bool) -> tuple[Array, Array]:
    wiring, closure = s.wiring, s.theory.closure
    R, M, n_visible = wiring.R, wiring.M, len(wiring.K)
    present = mu[s.first + rows]
    V = 1.0 - present * present
    fields, variance = s.fields[rows] + present @ R.T, V @ (R * R).T
    F, tanh, chi = closure.averages(fields, variance) if value else Averages(fields, *closure.slopes(fields, variance))
    prior, target, spread = s.prior[rows], s.target[rows], np.zeros_like(V)
    if wiring.coupled:
        has_past, has_next = s.has_past[rows], s.has_next[rows]
        past, future = mu[s.first + rows - 1] * has_past, mu[(s.first + rows + 1) % len(mu)] * has_next
        prior = prior + past @ M.T
        target = np.hstack([target, future])
        if s.theory.second_order:
            spread += (has_past - past * past) @ (M * M).T + (has_next - future * future) @ (M * M)
    error = target - tanh
    total = target * fields - F if value else error
    if wiring.coupled:
        for silent in (error, chi, total):
            silent[:, n_visible:] *= has_next
    own = total.sum(axis=1) + (present * prior).sum(axis=1) + entropy(present).sum(axis=1) if value else total
    if value:
        own += 0.5 * (V * spread).sum(axis=1)
    if s.theory.same_time:
        curvature = closure.curvature(fields[:, :n_visible], variance[:, :n_visible])
        extra = same_time(wiring.products, curvature, V)
        error[:, :n_visible] += extra.error
        chi[:, :n_visible] += extra.chi
        spread += extra.spread
        if value:
            own += extra.value
    return prior + error @ R + present * (chi @ (R * R) - spread), own
