"""The E-step of correlated mean field: the magnetisations and the covariance of the hidden units of each bin.

Given its neighbours in time, the posterior of one bin is that of Nh spins which act on Nr receivers: the visible units
of t+1 and, with M ≠ 0, the hidden ones. With R = [K; M], fields H = H0 + R mu, F = <log 2cosh> over a normal field of
variance D², V = 1-mu² and S[mu] the entropy of independent spins, the objective of a bin is

    A = prior·mu + target·H - ΣF(H_r, D_r²) + S[mu] + ½ log det C - ½ Σ log V_a        D_r² = Σ_ab R_ra C_ab R_rb

with C the covariance of the spins, diag C = V. The last two terms are minus the mutual information of normal variables
with that covariance. With C diagonal they vanish, and A is that of eqs. 22 (`Efull`) and 27 (`PMF`). Stationary in C
and mu, with multipliers Lambda for the diagonal, chi = 2 dF/dD² and e = target - dF/dH, it has

    C = (Lambda + Rᵀ chi R)⁻¹,  diag C = V              atanh mu = prior + Rᵀe + mu∘response,  response = 1/V - Lambda

The response is how far a unit's own field comes back to it: Σ_r chi_r R_ra² where correlations are left out, as in
eq. 42 (`MFmu`). This is ours, after the cavity idea of adaptive TAP: Gaussian fields, spins that answer linearly.

Solved by Newton's steps: at given response and D² the Jacobian of the equations for mu is C⁻¹. What that leaves, in the
response and D² too, is taken by Anderson's mixing, bin by bin, and by smaller plain steps where mixing does not end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.numerics import Array, Closure, Slopes, entropy

LIMIT = 17.0  # largest |atanh mu|: 1 - tanh(17) = 3e-15 keeps mu strictly inside (-1, 1)
_EDGE = float(np.tanh(LIMIT))
_LONGEST_MOVE = 2.0  # of atanh mu in one sweep
_LEAST = 1e-9  # of 1 - mu², below which a unit is settled and its response is hardly moved
_DEPTH, _PATIENT = 3, 60  # moves that are mixed; sweeps of mixing, after which plain steps are halved in turn
_LOST, _CROWDED = 3.0, 0.75  # a gap so many times the best one begins anew; share of open bins that fills a block


class Bins(NamedTuple):
    """Bins whose neighbours in time are held, with all that does not depend on their own hidden units.

    Args:
        R: (Nr, Nh) couplings to the receivers.
        products: (Nr, Nh·Nh) R_ra R_rb.
        fields: (n, Nr) H0, from the visible data.
        prior: (n, Nh) the field on the hidden units from the bin before.
        target: (n, Nr) the receivers' states or magnetisations.
        heard: (n, Nr) 1, or 0 where nothing of this receiver is in the data.
    """

    R: Array
    products: Array
    fields: Array
    prior: Array
    target: Array
    heard: Array


class Solution(NamedTuple):
    """What the E-step finds; n bins.

    Args:
        mu: (n, Nh) magnetisations, strictly inside (-1, 1).
        response: (n, Nh).
        spread: (n, Nr) D².
        gap: (n,) the largest violation of the equations of mu, diag C and D².
    """

    mu: Array
    response: Array
    spread: Array
    gap: Array


class Covariance(NamedTuple):
    """C of each bin, scaled by sqrt(V) from both sides, and what follows from it.

    Args:
        scaled: (n, Nh, Nh) C_ab / sqrt(V_a V_b).
        diagonal: (n, Nh) its diagonal, 1 at a solution.
        spread: (n, Nr) D².
    """

    scaled: Array
    diagonal: Array
    spread: Array


def pair_products(R: Array) -> Array:
    """R_ra R_rb, (Nr, Nh·Nh)."""
    return np.asarray((R[:, :, None] * R[:, None, :]).reshape(len(R), R.shape[1] ** 2))


def precision(bins: Bins, mu: Array, response: Array, chi: Array) -> Array:
    """C⁻¹ of each bin scaled by sqrt(V) from both sides, (n, Nh, Nh)."""
    n, n_hidden = mu.shape
    V = 1.0 - mu * mu
    root = np.sqrt(V)
    scaled = (chi @ bins.products).reshape(n, n_hidden, n_hidden)
    scaled *= root[:, :, None]
    scaled *= root[:, None, :]
    scaled[:, np.arange(n_hidden), np.arange(n_hidden)] += 1.0 - V * response
    return scaled


def covariance(bins: Bins, mu: Array, response: Array, chi: Array) -> Covariance:
    """C of each bin; of an indefinite C⁻¹ a diagonal or a spread is negative as a rule."""
    scaled = np.asarray(np.linalg.inv(precision(bins, mu, response, chi)), dtype=np.float64)
    root = np.sqrt(1.0 - mu * mu)
    full = scaled * root[:, :, None]
    full *= root[:, None, :]
    spread = full.reshape(len(mu), mu.shape[1] ** 2) @ bins.products.T
    return Covariance(scaled, np.diagonal(scaled, axis1=1, axis2=2), spread)


def slopes(bins: Bins, closure: Closure, mu: Array, spread: Array) -> Slopes:
    """<tanh H> and chi of every receiver that is heard."""
    found = closure.slopes(bins.fields + mu @ bins.R.T, spread)
    return Slopes(found.tanh * bins.heard, found.chi * bins.heard)


def settle(
    bins: Bins,
    closure: Closure,
    start: Array,
    response: Array | None,
    tolerance: float,
    max_sweeps: int,
    spread: Array | None = None,
) -> Solution:
    """Solve the E-step of each bin.

    Args:
        bins: the data.
        closure: how functions of a normal field are averaged.
        start: (n, Nh) magnetisations to start from.
        response: (n, Nh) to start from; None for 0, which makes C⁻¹ positive whatever the couplings.
        tolerance: largest violation that counts as none.
        max_sweeps: after which a bin is left as it is.
        spread: (n, Nr) D² to start from; None for that of independent units.
    """
    n, n_hidden = start.shape
    if n_hidden == 0:
        return Solution(start, start, np.zeros_like(bins.fields), np.zeros(n))
    theta = np.arctanh(np.clip(start, -_EDGE, _EDGE))
    mu = _magnetised(theta)
    spread = (1.0 - mu * mu) @ (bins.R * bins.R).T if spread is None else spread
    x = np.concatenate([theta, np.zeros_like(mu) if response is None else response, spread], axis=1)
    found, gaps = x.copy(), np.full(n, np.inf)
    rows, history = (
        np.arange(n),
        _History(np.zeros((n, _DEPTH, x.shape[1])), np.zeros((n, _DEPTH, x.shape[1])), None, 0),
    )
    for sweep in range(max_sweeps):
        checkpoint()
        pull, gap, sound = _pull(bins, closure, x)
        better = gap < gaps[rows]
        found[rows[better]], gaps[rows[better]] = x[better], gap[better]
        still = gap > tolerance
        if not still.any():
            break
        history = history.seen(x, pull, sound & (gap < _LOST * gaps[rows]))
        if still.mean() < _CROWDED:
            bins, rows = _at(bins, still), rows[still]
            x, pull, history = x[still], pull[still], history.of_rows(still)
            still = still[still]
        move = history.mixed(pull) if sweep < _PATIENT else 0.5 ** (sweep // _PATIENT) * pull
        move *= _shorter(move[:, :n_hidden])
        x = np.where(still[:, None], x + move, x)
        np.clip(x[:, :n_hidden], -LIMIT, LIMIT, out=x[:, :n_hidden])
        np.maximum(x[:, 2 * n_hidden :], 0.0, out=x[:, 2 * n_hidden :])
    theta, response, spread = np.split(found, (n_hidden, 2 * n_hidden), axis=1)
    return Solution(_magnetised(theta), response, spread, gaps)


def _magnetised(theta: Array) -> Array:
    return np.clip(np.tanh(theta), -_EDGE, _EDGE)


def _shorter(move: Array) -> Array:
    """By how much a move of atanh mu must be shortened, (n, 1)."""
    longest = np.maximum(np.abs(move).max(axis=1, keepdims=True), _LONGEST_MOVE)
    return np.asarray(_LONGEST_MOVE / longest)


def _at(bins: Bins, rows: NDArray[np.bool_]) -> Bins:
    return Bins(bins.R, bins.products, *(part[rows] for part in bins[2:]))


def _pull(bins: Bins, closure: Closure, x: Array) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Where x = (atanh mu, response, D²) wants to go, how far it is off, and whether C⁻¹ is positive, bin by bin.

    Where it is not, the response is too large: it is halved, and the bin counts as unsolved.
    """
    n_hidden = bins.R.shape[1]
    theta, response, spread = np.split(x, (n_hidden, 2 * n_hidden), axis=1)
    mu = _magnetised(theta)
    V = 1.0 - mu * mu
    tanh, chi = slopes(bins, closure, mu, spread)
    C = covariance(bins, mu, response, chi)
    sound = (C.diagonal.min(axis=1) > 0.0) & (C.spread.min(axis=1) >= 0.0)
    diagonal = np.where(sound[:, None], C.diagonal, 1.0)
    more = (1.0 / diagonal - 1.0) / np.maximum(V, _LEAST)
    fields = bins.prior + (bins.target * bins.heard - tanh) @ bins.R + mu * (response + more)
    ahead = np.clip(fields, -LIMIT, LIMIT) - theta
    gap = np.abs(np.tanh(theta + ahead) - mu).max(axis=1)
    gap = np.maximum(gap, (np.abs(1.0 - diagonal) * V).max(axis=1))
    gap = np.maximum(gap, (np.abs(C.spread - spread) * bins.heard).max(axis=1))
    root = np.sqrt(V)
    newton = (C.scaled @ (root * ahead)[:, :, None])[:, :, 0] / root
    newton *= _shorter(newton)
    pull = np.concatenate([newton, more, C.spread - spread], axis=1)
    pull[~sound] = np.concatenate([0.0 * theta, -0.5 * response, 0.0 * spread], axis=1)[~sound]
    return pull, np.where(sound, gap, np.maximum(gap, 1.0)), sound


class _History(NamedTuple):
    """The last moves of each bin and how its pull changed with them, for Anderson's mixing.

    Args:
        moves: (n, depth, size).
        changes: (n, depth, size).
        last: the last x and pull; None before the first.
        n_seen: how many moves have been seen.
    """

    moves: Array
    changes: Array
    last: tuple[Array, Array] | None
    n_seen: int

    def of_rows(self, rows: NDArray[np.bool_]) -> _History:
        last = self.last and (self.last[0][rows], self.last[1][rows])
        return _History(self.moves[rows], self.changes[rows], last, self.n_seen)

    def seen(self, x: Array, pull: Array, trusted: NDArray[np.bool_]) -> _History:
        """With the newest x and pull; the history of a bin that is not trusted begins anew."""
        if self.last is not None:
            k = self.n_seen % _DEPTH
            self.moves[:, k] = x - self.last[0]
            self.changes[:, k] = pull - self.last[1]
            self.moves[~trusted], self.changes[~trusted] = 0.0, 0.0
        return _History(self.moves, self.changes, (x, pull), self.n_seen + (self.last is not None))

    def mixed(self, pull: Array) -> Array:
        """The move that a combination of past ones would have made best."""
        gram, load = self.changes @ self.changes.transpose(0, 2, 1), self.changes @ pull[:, :, None]
        size = np.maximum(np.trace(gram, axis1=1, axis2=2), 1e-280)[:, None, None]
        mix = np.linalg.solve(gram / size + 1e-12 * np.eye(_DEPTH), load / size).transpose(0, 2, 1)
        return np.asarray(pull - (mix @ self.moves)[:, 0] - (mix @ self.changes)[:, 0])


class Ascent(NamedTuple):
    """The objective of each bin and what its slopes in the couplings are made of.

    Args:
        value: (n,) A, in nats.
        error: (n, Nr) e, the slope in H.
        chi: (n, Nr) twice minus the slope in D².
        covariance: (n, Nh·Nh) C, a pair (a, b) in each column.
        sound: (n,) whether C⁻¹ is positive.
    """

    value: Array
    error: Array
    chi: Array
    covariance: Array
    sound: NDArray[np.bool_]


def ascent(bins: Bins, closure: Closure, at: Solution) -> Ascent:
    """A of each bin and its slopes.

    A has the multipliers' term ½ Σ Lambda_a (V_a - C_aa), which vanishes at a solution and makes A stationary there in
    mu, C and Lambda: an E-step solved to a gap is worth gap² in A.
    """
    n, n_hidden = at.mu.shape
    V = 1.0 - at.mu * at.mu
    chi = slopes(bins, closure, at.mu, at.spread).chi
    log_det, sound = _log_determinant(precision(bins, at.mu, at.response, chi))
    C = covariance(bins, at.mu, at.response, chi)
    fields, root = bins.fields + at.mu @ bins.R.T, np.sqrt(V)
    F, tanh, chi = closure.averages(fields, np.maximum(C.spread, 0.0))
    value = (bins.prior * at.mu + entropy(at.mu)).sum(axis=1) + (bins.heard * (bins.target * fields - F)).sum(axis=1)
    value -= 0.5 * log_det
    value += 0.5 * ((1.0 - V * at.response) * (1.0 - C.diagonal)).sum(axis=1)
    full = C.scaled * root[:, :, None] * root[:, None, :]
    return Ascent(value, bins.heard * (bins.target - tanh), bins.heard * chi, full.reshape(n, n_hidden**2), sound)


def _log_determinant(scaled: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Log |det| of each matrix, and whether it is positive."""
    try:
        factors = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return np.linalg.slogdet(scaled)[1], np.asarray(np.linalg.eigvalsh(scaled)[:, 0] > 0.0)
    log_det: Array = 2.0 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
    return log_det, np.ones(len(scaled), dtype=np.bool_)
