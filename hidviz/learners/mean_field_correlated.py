"""Correlated mean field: hidden units of one bin that move together, given the data (EM, beyond the paper).

Hidden units that speak to the same visible unit become dependent once its state is seen. The paper's mean field,
eqs. 22 (`Efull`) and 27 (`PMF`), treats them as independent. So the slope of K loses Σ_c <1-tanh²H_i> K_ic C_cb, with C
the covariance within a bin, as large as what it keeps wherever Nv is of the order of Nh; more data do not make it
smaller. Here fields vary with the full covariance, and correlations cost what they cost normal variables. That removes
most of the bias of the slopes at the true couplings; a random start may still end far from them. With R = [K; M],
D² = diag(R C Rᵀ), and mu and C of each bin found by `parts.correlated_e_step`:

    A    = Σ_t { s(t+1)·H - ΣF(H, D²) + mu·B(t-1) - ΣF(B(t-1), D²) + S[mu] + ½ log det C - ½ Σ log(1-mu²) }
    dJ   = Σ e s(t)ᵀ         dK_ib = Σ { e_i mu_b - chi_i (K C)_ib }        F = <log 2cosh>, Gaussian closure
    dL   = Σ f s(t-1)ᵀ       dM_ab = Σ { f_a mu_b(t-1) - chi_a (M C(t-1))_ab }

With C diagonal these are eqs. 43 (`dJMF`) to 46 (`dMMF`). They are the total derivatives of A at a solution of the
E-step. At the same mu A lies between the Gaussian and the naive objective: C may be diagonal, it costs, F is convex.
Unlike the same-time term, which is the leading term of what C adds, it has an upper bound. It is neither the likelihood
nor a bound on that. The theory is ours; correlations from bin to bin (M ≠ 0) are left out.

Not the belief propagation of Battistin, Hertz, Tyrcha & Roudi (J. Stat. Mech. 2015, P05021), whose spins, one replica
for each visible unit, leave the pair correlations to a second round of messages; here they enter the objective itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.learners.parts.budget import distinct_memory
from hidviz.learners.parts.correlated_e_step import Bins, Solution, ascent, pair_products, settle
from hidviz.learners.parts.mean_field_cases import WIDEST, Cases, cases_of, distinct_cases, expected_cases
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method
from hidviz.network import Couplings, Recording, as_gradient, learned_blocks, with_bias
from hidviz.numerics import Array, gaussian, log_2cosh

_TOLERANCE, _MAX_SWEEPS = 1e-7, 300  # worth 1e-14 nats a bin in A, which is stationary, and 1e-7 in its slopes
_PASSES, _SWEEPS_A_PASS = 40, 30  # of even and odd bins in turn, with hidden-to-hidden couplings
_CACHED = 60_000  # numbers in the arrays of a block of bins
_CLOSURE = gaussian()

Rows = NDArray[np.intp]


def prepare(
    recording: Recording,
    *,
    n_hidden: int,
    hidden_hidden: bool = False,
    bias: bool = False,
    tolerance: float = _TOLERANCE,
    max_sweeps: int = _MAX_SWEEPS,
) -> Learner:
    """Prepare correlated mean field for a recording; beliefs hold magnetisations and responses.

    Args:
        recording: the visible history.
        n_hidden: number of hidden units assumed.
        hidden_hidden: learn M too.
        bias: learn h and g too.
        tolerance: largest violation that counts as a solved E-step equation.
        max_sweeps: sweeps of the E-step before a bin is left unconverged.

    Raises:
        ValueError: an option is out of range.
    """
    if not tolerance > 0.0 or max_sweeps < 1:
        raise ValueError(f"The E-step needs tolerance > 0 and max_sweeps >= 1, got {tolerance} and {max_sweeps}.")
    everything = cases_of(recording)
    distinct = None if hidden_hidden else distinct_cases(recording, everything)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:
        once = None if couplings.M.any() else distinct
        network = _Network(couplings, everything if once is None else once.cases)
        start = network.guess() if beliefs is None else beliefs
        if beliefs is not None and once is not None:
            start = _beliefs_at(beliefs, once.first)
        objective, slopes, found, gaps = _climb(network, start, tolerance, max_sweeps)
        return Estimate(
            objective=objective,
            gradient=as_gradient(*slopes, learned),
            beliefs=found if once is None else _beliefs_at(found, once.inverse),
            residual=float(gaps.max()),
            unconverged=int(network.cases.counts[gaps > tolerance].sum()),
        )

    return Learner(
        evaluate=evaluate,
        n_visible=recording.n_visible,
        n_hidden=n_hidden,
        n_transitions=recording.n_transitions,
        learned=learned,
    )


class _Network:
    """Couplings and data as the equations want them: receivers stacked, the constant unit among the senders."""

    def __init__(self, couplings: Couplings, cases: Cases) -> None:
        self.cases, self.coupled = cases, bool(couplings.M.any())
        self.J1, self.L1 = with_bias(couplings.J, couplings.h), with_bias(couplings.L, couplings.g)
        self.M = couplings.M
        self.R = np.vstack([couplings.K, couplings.M]) if self.coupled else couplings.K
        self.from_visible = np.vstack([self.J1, self.L1]) if self.coupled else self.J1
        self.products = pair_products(self.R)

    def blocks(self, rows: Rows) -> Iterator[Rows]:
        """These rows, as many at a time as stay in cache."""
        n_receivers, n_hidden = self.R.shape
        size = int(np.clip(_CACHED // (n_hidden**2 + 8 * n_receivers), 8, 512))
        for begin in range(0, len(rows), size):
            checkpoint()
            yield rows[begin : begin + size]

    def bins(self, rows: Rows, mu: Array) -> Bins:
        """These bins, with the magnetisations of their neighbours as they are."""
        cases = self.cases
        target = cases.following[rows].astype(np.float64)
        prior, heard = cases.previous[rows] @ self.L1.T, np.ones_like(target)
        if self.coupled:
            prior = prior + (mu[rows - 1] * cases.has_past[rows]) @ self.M.T
            target = np.hstack([target, mu[(rows + 1) % len(mu)]])
            heard = np.hstack([heard, np.broadcast_to(cases.has_next[rows], prior.shape)])
        fields = cases.present[rows] @ self.from_visible.T
        if cases.field is not None:
            fields[:, : len(self.J1)] += cases.field[rows]
        return Bins(self.R, self.products, fields, prior, target, heard)

    def guess(self) -> Beliefs:
        """A start: the prior field, and half the error that the visible units see without hidden ones."""
        cases = self.cases
        fields = cases.present @ self.J1.T
        error = cases.following - np.tanh(fields if cases.field is None else fields + cases.field)
        return Beliefs(np.tanh(cases.previous @ self.L1.T + 0.5 * error @ self.R[: len(self.J1)]))


def _beliefs_at(beliefs: Beliefs, rows: Rows) -> Beliefs:
    response = None if beliefs.response is None else beliefs.response[rows]
    return replace(beliefs, hidden=beliefs.hidden[rows], response=response)


def _solved(
    network: _Network, start: Beliefs, tolerance: float, max_sweeps: int
) -> Iterator[tuple[Rows, Bins, Solution]]:
    """Every bin with its solution, in blocks; with hidden-to-hidden couplings even and odd bins in turn, to rest."""
    mu, everything = start.hidden.copy(), np.arange(len(start.hidden))
    if not network.coupled:
        for rows in network.blocks(everything):
            bins, known = network.bins(rows, mu), None if start.response is None else start.response[rows]
            yield rows, bins, settle(bins, _CLOSURE, mu[rows], known, tolerance, max_sweeps)
        return
    response = np.zeros_like(mu) if start.response is None else start.response.copy()
    spread, gaps = (1.0 - mu * mu) @ (network.R * network.R).T, np.zeros(len(mu))

    def solve(turn: Rows, sweeps: int) -> float:
        """Put in place what some bins come to while the others are at rest; the largest change of mu."""
        largest = 0.0
        for rows in network.blocks(turn):
            found = settle(network.bins(rows, mu), _CLOSURE, mu[rows], response[rows], tolerance, sweeps, spread[rows])
            largest = max(largest, float(np.abs(found.mu - mu[rows]).max(initial=0.0)))
            mu[rows], response[rows], spread[rows], gaps[rows] = found
        return largest

    for _ in range(_PASSES):
        solve(everything[::2], min(_SWEEPS_A_PASS, max_sweeps))
        solve(everything[1::2], min(_SWEEPS_A_PASS, max_sweeps))
        if gaps.max() <= tolerance and solve(everything, 1) <= tolerance and gaps.max() <= tolerance:
            break
    else:
        solve(everything, 1)
    for rows in network.blocks(everything):
        yield rows, network.bins(rows, mu), Solution(mu[rows], response[rows], spread[rows], gaps[rows])


def _climb(
    network: _Network, start: Beliefs, tolerance: float, max_sweeps: int
) -> tuple[float, tuple[Array, Array, Array, Array], Beliefs, Array]:
    """A, its slopes in J with h, K, L with g and M, the beliefs, and by how much each bin is unsolved."""
    cases, R, n_visible = network.cases, network.R, len(network.J1)
    mu, response = np.empty_like(start.hidden), np.empty_like(start.hidden)
    gaps = np.empty(len(mu))
    total, d_visible, dR = 0.0, np.zeros_like(network.from_visible), np.zeros_like(R)
    dL1 = np.zeros_like(network.L1)
    pairs = np.zeros_like(network.products)
    for rows, bins, solution in _solved(network, start, tolerance, max_sweeps):
        mu[rows], response[rows], gaps[rows] = solution.mu, solution.response, solution.gap
        weight, present = cases.counts[rows], cases.present[rows]
        if network.coupled:  # the fields on hidden units are heard a bin earlier, those of the first bin are flat
            A = -np.log(2.0) * R.shape[1] * (1.0 - cases.has_past[rows, 0])
            bins = bins._replace(prior=np.zeros_like(bins.prior))
        else:
            A = -log_2cosh(bins.prior).sum(axis=1)
            dL1 += (weight * (solution.mu - np.tanh(bins.prior))).T @ cases.previous[rows]
        gained = ascent(bins, _CLOSURE, solution)
        gaps[rows[~gained.sound]] = np.maximum(gaps[rows[~gained.sound]], 1.0)
        total += float((A + gained.value) @ weight[:, 0])
        error = weight * gained.error
        d_visible += error.T @ present
        dR += error.T @ solution.mu
        pairs += (weight * gained.chi).T @ gained.covariance
    dR -= (pairs.reshape(*R.shape, R.shape[1]) * R[:, :, None]).sum(axis=1)
    if network.coupled:
        dL1 = d_visible[n_visible:]
    dM = dR[n_visible:] if network.coupled else _slope_at_no_M(network, mu)
    return total, (d_visible[:n_visible], dR[:n_visible], dL1, dM), Beliefs(mu, response=response), gaps


def _slope_at_no_M(network: _Network, mu: Array) -> Array:
    """The slope in M where M = 0, of bins in order of time; those that are not are taken where M is not learned."""
    error = (mu - np.tanh(network.cases.previous @ network.L1.T)) * network.cases.has_past
    slope: Array = error[1:].T @ mu[:-1]
    return slope


def _seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """Twelve sweeps of averages, sums over pairs and an inverse; with M five times as many."""
    receivers = n_visible + hidden_hidden * n_hidden
    sweep = 1e-7 * receivers + 2.5e-10 * receivers * n_hidden**2 + 2e-6 + 1e-8 * n_hidden**2
    return 1.5e-3 + 12.0 * (1 + 4 * hidden_hidden) * expected_cases(n_visible, n_transitions, hidden_hidden) * sweep


def _memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """As mean field, with the responses beside the magnetisations."""
    counting = 0.0 if hidden_hidden or n_visible > WIDEST else distinct_memory(n_visible, 0, n_transitions)
    spread = 8.0 * (n_visible + n_hidden) * hidden_hidden
    return n_transitions * (5.0 * n_visible + 30.0 + spread) + max(counting, n_transitions * (56.0 * n_hidden + 30.0))


_E_STEP = (
    r"\tanh^{-1}\mu_a(t) = B_a(t-1) + \sum_r\{x_r - \langle\tanh H_r\rangle\}R_{ra} + "
    r"\mu_a\{(1-\mu_a^2)^{-1}-\Lambda_a\}, \quad R = [K; M],\; x = [s(t+1); \mu(t+1)]"
)

MEAN_FIELD_CORRELATED = Method(
    name="mean-field-correlated",
    family="mean-field",
    title="Mean field, correlated",
    prepare=prepare,
    hidden="stochastic",
    objective="correlated mean-field objective A, neither the likelihood nor a bound on it",
    likelihood=False,
    summary=(
        "Lets hidden units of one bin move together, as normal variables would: beyond the paper, with a third of mean "
        "field's bias at the true couplings of 8 + 8 units. Each bin takes the inverse of a matrix of the hidden units."
    ),
    equations=(
        r"C = (\Lambda + R^{\mathsf T}\mathrm{diag}(\langle 1-\tanh^2 H\rangle)R)^{-1}, \quad C_{aa} = 1-\mu_a^2",
        _E_STEP,
        r"\langle f(H_r)\rangle = \int Dx\, f(H_r + \Delta_r x), \quad \Delta_r^2 = \sum_{ab}R_{ra}C_{ab}R_{rb}",
        r"\Delta J_{ij} \propto \sum_t e_i(t+1)\,s_j(t), \quad e_i(t+1) = s_i(t+1)-\langle\tanh H_i(t)\rangle",
        r"\Delta K_{ib} \propto \sum_t\{e_i(t+1)\,\mu_b - \langle 1-\tanh^2 H_i\rangle\sum_c K_{ic}C_{cb}\}",
        r"\Delta L_{aj} \propto \sum_t f_a(t+1)\,s_j(t), \quad f_a(t+1) = \mu_a(t+1)-\langle\tanh B_a(t)\rangle",
        r"\Delta M_{ab} \propto \sum_t\{f_a(t+1)\,\mu_b - \langle 1-\tanh^2 B_a\rangle\sum_c M_{ac}C_{cb}\}",
    ),
    seconds=_seconds,
    memory=_memory,
)
