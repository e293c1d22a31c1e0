"""The mean-field objective A, its field in the magnetisations, and its slopes in the couplings, from one set of terms.

Every unit that receives mu(t) reports back: the visible units of t+1, and with M ≠ 0 the hidden units of t+1 too. Stack
them as receivers r with couplings R = [K; M] and [J; L], targets s(t+1) and mu(t+1), and fields H of mean H_r(t) and
variance D² = Σ_b R_rb² V_b, V = 1-mu². With F = <log 2cosh>, all of it follows from the receivers of each bin:

    A     = Σ_t { Σ_r [target_r H_r - F(H_r, D_r²)] + S[mu(t)] } - Nh log 2 a trial     eqs. 27 (`PMF`), 40 (`Eefffull`)
    atanh mu_a(t) = B_a(t-1) + Σ_r e_r R_ra + mu_a(t) Σ_r <1-tanh²H_r> R_ra²            eq. 42 (`MFmu`)
    d[J; L] = Σ e s(t)ᵀ      dR_rb = Σ { e_r mu_b - <1-tanh²H_r> R_rb V_b }             eqs. 43 (`dJMF`) to 46 (`dMMF`)

where e = target - <tanh H>, and <·> is as the closure says. Without M nothing fluctuates in B(t-1), whose part of A is
mu(t)·B(t-1) - Σ log 2cosh B(t-1): then a bin depends on (s(t-1), s(t), s(t+1)) alone, in whatever order bins come.

The second-order theory, beyond the paper, adds ½ Σ V_a(t+1) M_ab² V_b(t) to A, and its slopes. A trial's first bin has
no past, and its last hidden state acts on no hidden unit, which the print leaves open.

Not here: how the equations of the E-step are solved, see `e_step_solver`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import in_order
from hidviz.learners.parts.mean_field_cases import Cases
from hidviz.learners.parts.same_time import SameTime, pair_products, same_time, slope_in_K
from hidviz.network import Couplings, with_bias
from hidviz.numerics import Array, Averages, Closure, Curvature, entropy, log_2cosh, tanh

Rows = NDArray[np.intp]

_CACHED = 12_000  # numbers in one array of a chunk, so that its handful of arrays stays in the cache
_LONG, _SHARED = 2**19, 100_000  # from so many in all, and then in a chunk: enough for cores to work side by side


class Theory(NamedTuple):
    """Which mean-field theory: how to average, and which terms beyond the factorised ansatz to add."""

    closure: Closure
    second_order: bool = False
    same_time: bool = False


class Wiring(NamedTuple):
    """The couplings by receiver; without hidden-to-hidden couplings the only receivers are visible.

    Args:
        W: (Nr, Nv + 1) what the receivers get from the visible units and the constant one: [J h], then [L g].
        R: (Nr, Nh) what they get from the hidden units: K, then M.
        Lg: (Nh, Nv + 1) L with g as its last column.
        M: (Nh, Nh).
        n_visible: number of visible receivers.
        coupled: whether there are hidden-to-hidden couplings.
        products: (Nv, Nh·Nh) pair products of K, for the same-time term; no columns without it.
    """

    W: Array
    R: Array
    Lg: Array
    M: Array
    n_visible: int
    coupled: bool
    products: Array


def wire(couplings: Couplings, theory: Theory) -> Wiring:
    """Stack the couplings by receiver."""
    coupled = bool(couplings.M.any())
    Jh, Lg = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g)
    return Wiring(
        W=np.vstack([Jh, Lg]) if coupled else Jh,
        R=np.vstack([couplings.K, couplings.M]) if coupled else couplings.K,
        Lg=Lg,
        M=couplings.M,
        n_visible=couplings.n_visible,
        coupled=coupled,
        products=pair_products(couplings.K) if theory.same_time else np.zeros((couplings.n_visible, 0)),
    )


class Chunk(NamedTuple):
    """Consecutive rows, with everything in their equations that does not depend on mu.

    Args:
        first: the row of the recording at which it begins.
        present: (n, Nv + 1) s(t) and 1.
        fields: (n, Nr) field on each receiver from the data alone, the external field included.
        previous: (n, Nv + 1) s(t-1) and 1; zeros where a trial starts. Empty where it is not wanted.
        prior: (n, Nh) field on the hidden units from the bin before, from the data alone. Empty likewise.
        target: (n, Nv) s(t+1).
        has_past: (n, 1); has_next: (n, 1), as in `Cases`.
    """

    theory: Theory
    wiring: Wiring
    first: int
    present: Array
    fields: Array
    previous: Array
    prior: Array
    target: Array
    has_past: Array
    has_next: Array


def chunk(theory: Theory, wiring: Wiring, cases: Cases, first: int, last: int, *, with_previous: bool = True) -> Chunk:
    """The rows from first to last, last excluded."""
    part = slice(first, last)
    present = cases.present[part].astype(np.float64)
    fields = present @ wiring.W.T
    if cases.field is not None:
        fields[:, : wiring.n_visible] += cases.field[part]
    previous = cases.previous[part if with_previous else slice(0)].astype(np.float64)
    return Chunk(
        theory,
        wiring,
        first,
        present=present,
        fields=fields,
        previous=previous,
        prior=previous @ wiring.Lg.T,
        target=cases.following[part].astype(np.float64),
        has_past=cases.has_past[part],
        has_next=cases.has_next[part],
    )


def guess(c: Chunk) -> Array:
    """A start for mu: the prior field, and half the error that the visible units see without hidden ones."""
    n_visible = c.wiring.n_visible
    return np.tanh(c.prior + 0.5 * (c.target - np.tanh(c.fields[:, :n_visible])) @ c.wiring.R[:n_visible])


class _Terms(NamedTuple):
    """What the receivers of n rows report, and what else A owes to the mu of these rows.

    Args:
        mu: (n, Nh) of these rows; V: 1 - mu².
        past: (n, Nh) mu of the row before, future: of the row after; zeros where there is none. Empty without M.
        error: (n, Nr) slope of A in the mean of each field.
        chi: (n, Nr) -2 times its slope in the variance.
        extra: the same-time term and what it adds to the slopes, with the curvature it is made from; None without.
        value: (n,) Σ_r [target H - F], in nats; empty unless wanted.
    """

    mu: Array
    V: Array
    past: Array
    future: Array
    error: Array
    chi: Array
    extra: tuple[SameTime, Curvature] | None
    value: Array


_NOTHING: Array = np.empty(0)


def _terms(c: Chunk, mu: Array, rows: Rows, *, value: bool) -> _Terms:
    wiring, closure = c.wiring, c.theory.closure
    R, n_visible = wiring.R, wiring.n_visible
    now = mu[c.first + rows]
    V = 1.0 - now * now
    fields, variance = c.fields[rows] + now @ R.T, V @ (R * R).T
    F, mean_tanh, chi = (
        closure.averages(fields, variance) if value else Averages(fields, *closure.slopes(fields, variance))
    )
    target, past, future = c.target[rows], _NOTHING, _NOTHING
    if wiring.coupled:
        has_next = c.has_next[rows]
        past, future = mu[c.first + rows - 1] * c.has_past[rows], mu[(c.first + rows + 1) % len(mu)] * has_next
        target = np.hstack([target, future])
    error = target - mean_tanh
    gain = target * fields - F if value else error
    if wiring.coupled:
        for unheard in (error, chi, gain):
            unheard[:, n_visible:] *= has_next
    extra = None
    if c.theory.same_time:
        curvature = closure.curvature(fields[:, :n_visible], variance[:, :n_visible])
        extra = same_time(wiring.products, curvature, V), curvature
        error[:, :n_visible] += extra[0].error
        chi[:, :n_visible] += extra[0].chi
    return _Terms(now, V, past, future, error, chi, extra, gain.sum(axis=1) if value else _NOTHING)


def field(c: Chunk, mu: Array, rows: Rows) -> Array:
    """The right-hand side of the E-step equations for these rows of the chunk, (n, Nh); mu covers every row."""
    return _field(c, _terms(c, mu, rows, value=False), rows)[0]


def field_and_value(c: Chunk, mu: Array, rows: Rows) -> tuple[Array, Array]:
    """The field, and all that A owes to the mu of each of these rows with its neighbours held, (n,), in nats."""
    terms = _terms(c, mu, rows, value=True)
    fields, prior, spread = _field(c, terms, rows)
    own = terms.value + (terms.mu * prior).sum(axis=1) + entropy(terms.mu).sum(axis=1)
    own += 0.5 * (terms.V * spread).sum(axis=1)
    return fields, own if terms.extra is None else own + terms.extra[0].value


def _field(c: Chunk, terms: _Terms, rows: Rows) -> tuple[Array, Array, Array]:
    """The field; the part of it from the bin before; and twice the slope in V of the second order."""
    R, M = c.wiring.R, c.wiring.M
    prior, spread = c.prior[rows], np.zeros_like(terms.V)
    if c.wiring.coupled:
        prior = prior + terms.past @ M.T
        if c.theory.second_order:
            V_past, V_future = c.has_past[rows] - terms.past**2, c.has_next[rows] - terms.future**2
            spread += V_past @ (M * M).T + V_future @ (M * M)
    all_spread = spread if terms.extra is None else spread + terms.extra[0].spread
    return prior + terms.error @ R + terms.mu * (terms.chi @ (R * R) - all_spread), prior, spread


class Slopes(NamedTuple):
    """Slopes of A in the couplings; those in J and L have the slope in the bias as a last column."""

    Jh: Array
    K: Array
    Lg: Array
    M: Array


def objective_and_slopes(theory: Theory, wiring: Wiring, cases: Cases, mu: Array) -> tuple[float, Slopes]:
    """A at these magnetisations, in nats, and its slopes in the couplings: all that the M-step needs.

    Args:
        theory: the mean-field theory.
        wiring: the couplings.
        cases: the data.
        mu: (n, Nh) magnetisations of every row.
    """
    n_visible, width = wiring.n_visible, wiring.n_visible + wiring.products.shape[1]
    size = max(32, (_CACHED if len(mu) * width < _LONG else _SHARED) // width)

    def part(first: int) -> tuple[float, Array, Array, Array, Array]:
        last = min(first + size, len(mu))
        c = chunk(theory, wiring, cases, first, last, with_previous=not wiring.coupled)
        return _part(c, cases.counts[first:last], mu)

    total, slopes = 0.0, [np.zeros_like(each) for each in (wiring.W, wiring.R, wiring.Lg, wiring.M)]
    for value, *parts in in_order(part, range(0, len(mu), size)):
        total += value
        for slope, own in zip(slopes, parts, strict=True):
            slope += own
    W_slope, R_slope, L_slope, M_slope = slopes
    if wiring.coupled:
        return total, Slopes(W_slope[:n_visible], R_slope[:n_visible], W_slope[n_visible:], R_slope[n_visible:])
    return total, Slopes(W_slope, R_slope, L_slope, M_slope)


def _part(c: Chunk, weight: Array, mu: Array) -> tuple[float, Array, Array, Array, Array]:
    """What the rows of a chunk, (n, 1) of each, add to A and to its slopes: in W and R, and without M in L and M."""
    wiring, R, M = c.wiring, c.wiring.R, c.wiring.M
    total, L_slope, M_slope = 0.0, np.zeros_like(wiring.Lg), np.zeros_like(M)
    terms = _terms(c, mu, np.arange(len(c.present)), value=True)
    value = terms.value + entropy(terms.mu).sum(axis=1)
    if wiring.coupled:  # the receivers of the bin before have told of all bins but the first of a trial
        value -= (1.0 - c.has_past[:, 0]) * (len(M) * np.log(2.0))
    else:
        value += (terms.mu * c.prior - log_2cosh(c.prior)).sum(axis=1)
        error = weight * (terms.mu - tanh(c.prior))
        L_slope += error.T @ c.previous
        M_slope += error.T @ (mu[np.arange(c.first, c.first + len(error)) - 1] * c.has_past)
    error = terms.error * weight
    R_slope = error.T @ terms.mu - (terms.chi.T @ (weight * terms.V)) * R
    if terms.extra is not None:
        extra, curvature = terms.extra
        value += extra.value
        R_slope[: wiring.n_visible] += slope_in_K(R[: wiring.n_visible], weight * curvature.value, extra.pairs)
    if wiring.coupled and c.theory.second_order:
        both = (c.has_next - terms.future**2).T @ terms.V
        total += 0.5 * float((both * M * M).sum())
        R_slope[wiring.n_visible :] += both * M
    return total + float(value @ weight[:, 0]), error.T @ c.present, R_slope, L_slope, M_slope
