"""Mean field for stochastic hidden units: independent magnetisations mu, settled, then slopes in the couplings (EM).

The objective is A = S[mu] - E_s[mu] - Nh log 2 (eqs. `PMF`, `Efull`), the last term for the unknown first hidden
state of each trial. With F = <log 2cosh>, e = s(t+1) - <tanh H> and f = mu(t) - <tanh B(t-1)>:

    A     = Σ_t { s(t+1)·H - ΣF(H, D²) + mu·B(t-1) - ΣF(B(t-1), G²) + S[mu] }       D² = K²V, G² = M²V(t-1), V = 1-mu²
    dJ    = Σ e s(t)ᵀ             dK_ib = Σ { e_i mu_b - <1-tanh²H_i> K_ib V_b }                   (eqs. `dJMF`, `dKMF`)
    dL    = Σ f s(t-1)ᵀ           dM_ab = Σ { f_a mu_b(t-1) - <1-tanh²B_a> M_ab V_b(t-1) }         (eqs. `dLMF`, `dMMF`)

At a solution of the E-step they are the total derivatives of A. The four theories differ in <·>; the second order
also adds ½ Σ V_a(t) M_ab² V_b(t-1) to A and its slope to dM. Printed in `dJMFT` to `dMMFT` with Δ and Γ in the place of
their squares, and in `energy` with E_s = log P; E_s = -log P is meant.

A is neither the likelihood nor a bound on it. Without hidden-to-hidden couplings a bin's mu depends only on
(s(t-1), s(t), s(t+1)), so each distinct triple is settled once.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hidviz.background import checkpoint
from hidviz.learners.parts.distinct_transitions import Cases, cases_of, distinct_cases
from hidviz.learners.parts.e_step import Theory, Wiring, wire
from hidviz.learners.parts.e_step_solver import settle
from hidviz.learners.parts.same_time import same_time, slope_in_K
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method, Prepare
from hidviz.network import BLOCKS, Couplings, Recording, block_shapes, learned_blocks
from hidviz.numerics import LOWEST, NAIVE, Array, entropy, gaussian

_TOLERANCE, _MAX_SWEEPS = 1e-8, 500


def _learner(
    recording: Recording,
    theory: Theory,
    n_hidden: int,
    hidden_hidden: bool,
    bias: bool,
    tolerance: float,
    max_sweeps: int,
) -> Learner:
    everything = cases_of(recording)
    distinct = None if hidden_hidden else distinct_cases(everything)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def estimate(couplings: Couplings, beliefs: Beliefs | None, sweeps: int) -> Estimate:
        wiring = wire(couplings, theory)
        start = None if beliefs is None else beliefs.hidden
        if distinct is None or wiring.coupled:
            cases, known = everything, start
        else:
            cases, known = distinct.cases, None if start is None else start[distinct.first]
        mu, gaps = settle(theory, wiring, cases, known, tolerance, sweeps)
        value, slopes = ascent(theory, wiring, cases, mu)
        shapes = block_shapes(couplings.n_visible, couplings.n_hidden)
        gradient = Couplings(**{name: slopes[name] if name in learned else np.zeros(shapes[name]) for name in BLOCKS})
        hidden = mu if cases is everything or distinct is None else mu[distinct.inverse]
        return Estimate(
            objective=value,
            gradient=gradient,
            beliefs=Beliefs(hidden=hidden),
            residual=float(gaps.max()),
            unconverged=int(cases.counts[gaps > tolerance].sum()),
        )

    def evaluate(couplings: Couplings, beliefs: Beliefs | None) -> Estimate:
        return estimate(couplings, beliefs, max_sweeps)

    def held(couplings: Couplings, beliefs: Beliefs) -> Estimate:
        return estimate(couplings, beliefs, 0)

    return Learner(
        evaluate=evaluate,
        n_visible=recording.n_visible,
        n_hidden=n_hidden,
        n_transitions=recording.n_transitions,
        learned=learned,
        held=held,
    )


def ascent(theory: Theory, wiring: Wiring, cases: Cases, mu: Array) -> tuple[float, dict[str, Array]]:
    """A at these magnetisations, in nats, and its slope in every block of couplings."""
    K, M = wiring.K, wiring.M
    hidden = theory.closure if wiring.coupled else NAIVE  # without M nothing fluctuates in B, and all closures agree
    total = 0.0
    dJ1, dL1, dK, dM = np.zeros_like(wiring.J1), np.zeros_like(wiring.L1), np.zeros_like(K), np.zeros_like(M)
    size = max(32, 12_000 // (len(K) + wiring.products.shape[1]))
    for begin in range(0, len(mu), size):
        checkpoint()
        rows = slice(begin, begin + size)
        s = cases.present[rows].astype(np.float64)
        earlier = cases.previous[rows].astype(np.float64)
        later = cases.following[rows].astype(np.float64)
        weight, has_past, present = cases.counts[rows], cases.has_past[rows], mu[rows]
        past = mu[np.arange(begin, begin + len(s)) - 1] * has_past
        V, V_past = 1.0 - present * present, has_past - past * past

        H, variance = s @ wiring.J1.T + present @ K.T, V @ (K * K).T
        F, tanh, chi = theory.closure.averages(H, variance)
        B = earlier @ wiring.L1.T + past @ M.T
        F_hidden, tanh_hidden, chi_hidden = hidden.averages(B, V_past @ (M * M).T)
        value = (later * H - F).sum(axis=1) + (present * B - F_hidden + entropy(present)).sum(axis=1)
        error = later - tanh
        if theory.same_time:
            curvature = theory.closure.curvature(H, variance)
            extra = same_time(wiring.products, curvature, V)
            value += extra.value
            error += extra.error
            chi = chi + extra.chi
            dK += slope_in_K(K, weight * curvature.value, extra.pairs)
        if theory.second_order and wiring.coupled:
            both = (weight * V).T @ V_past
            total += 0.5 * float((both * M * M).sum())
            dM += both * M

        total += float(value @ weight[:, 0])
        error *= weight
        error_hidden = weight * (present - tanh_hidden)
        dJ1 += error.T @ s
        dK += error.T @ present - (chi.T @ (weight * V)) * K
        dL1 += error_hidden.T @ earlier
        dM += error_hidden.T @ past - (chi_hidden.T @ (weight * V_past)) * M
    return total, {"J": dJ1[:, :-1], "K": dK, "L": dL1[:, :-1], "M": dM, "h": dJ1[:, -1], "g": dL1[:, -1]}


def _prepare_with(theory: Theory) -> Prepare:
    def prepare(
        recording: Recording,
        *,
        n_hidden: int,
        hidden_hidden: bool = False,
        bias: bool = False,
        same_time: bool = False,
        tolerance: float = _TOLERANCE,
        max_sweeps: int = _MAX_SWEEPS,
    ) -> Learner:
        """Prepare this mean-field theory for a recording.

        Args:
            recording: the visible history.
            n_hidden: number of hidden units assumed.
            hidden_hidden: learn M too.
            bias: learn h and g too.
            same_time: add the same-time term; unbounded far from the truth, so use it inside a box.
            tolerance: largest |tanh(field) - mu| that counts as a solved E-step equation.
            max_sweeps: sweeps of the E-step before a bin is left unconverged.

        Raises:
            ValueError: an option is out of range.
        """
        if not tolerance > 0.0 or max_sweeps < 1:
            raise ValueError(f"The E-step needs tolerance > 0 and max_sweeps >= 1, got {tolerance} and {max_sweeps}.")
        chosen = theory._replace(same_time=same_time or theory.same_time)
        return _learner(recording, chosen, n_hidden, hidden_hidden, bias, tolerance, max_sweeps)

    return prepare


def _seconds(field: float, pair: float = 0.0) -> Callable[[int, int, int, bool], float]:
    """A guess at one evaluation, ten sweeps of a warm E-step, when averaging over one field takes this many seconds.

    The same-time term takes `pair` for each visible unit and pair of hidden ones. Each sweep also solves a small system
    a bin, for the mixing. Near a runaway many more sweeps are needed.
    """

    def seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
        receivers = n_visible + hidden_hidden * n_hidden
        averaging = (1 + 3 * hidden_hidden) * receivers * (field + 4e-10 * n_hidden)
        return 10.0 * n_transitions * (averaging + pair * n_visible * n_hidden**2 + 1.5e-6)

    return seconds


_E_STEP = r"\tanh^{-1}\mu_a(t) = \sum_j L_{aj}s_j(t-1) + \sum_b M_{ab}\mu_b(t-1) + "
_NAIVE_E_STEP = _E_STEP + r"\sum_i\{s_i(t+1)-\tanh H_i\}K_{ia} + \sum_b\{\mu_b(t+1)-\tanh B_b\}M_{ba}"
_FULL_E_STEP = (
    _E_STEP + r"\sum_i\{s_i(t+1)-\langle\tanh H_i\rangle\}K_{ia} + \mu_a\sum_i\langle 1-\tanh^2 H_i\rangle K_{ia}^2"
    r" + \sum_b\{\mu_b(t+1)-\langle\tanh B_b\rangle\}M_{ba} + \mu_a\sum_b\langle 1-\tanh^2 B_b\rangle M_{ba}^2"
)
_NAIVE_M_STEP = (
    r"\Delta J_{ij} \propto \sum_t e_i(t+1)\,s_j(t), \quad e_i(t+1) = s_i(t+1)-\tanh H_i(t)",
    r"\Delta K_{ib} \propto \sum_t e_i(t+1)\,\mu_b(t)",
    r"\Delta L_{aj} \propto \sum_t f_a(t+1)\,s_j(t), \quad f_a(t+1) = \mu_a(t+1)-\tanh B_a(t)",
    r"\Delta M_{ab} \propto \sum_t f_a(t+1)\,\mu_b(t)",
)
_M_STEP = (
    r"\Delta J_{ij} \propto \sum_t e_i(t+1)\,s_j(t), \quad e_i(t+1) = s_i(t+1)-\langle\tanh H_i(t)\rangle",
    r"\Delta K_{ib} \propto \sum_t\{e_i(t+1)\,\mu_b - \langle 1-\tanh^2 H_i\rangle K_{ib}(1-\mu_b^2)\}",
    r"\Delta L_{aj} \propto \sum_t f_a(t+1)\,s_j(t), \quad f_a(t+1) = \mu_a(t+1)-\langle\tanh B_a(t)\rangle",
    r"\Delta M_{ab} \propto \sum_t\{f_a(t+1)\,\mu_b - \langle 1-\tanh^2 B_a\rangle M_{ab}(1-\mu_b^2)\}",
)
_M_PHASES = ("M",) * 4
_LOWEST_AVERAGE = (
    r"\langle\tanh H_i\rangle = \tanh H_i\,[1-(1-\tanh^2 H_i)\Delta_i^2], \quad \Delta_i^2 = \sum_b K_{ib}^2(1-\mu_b^2)"
)
_OBJECTIVE = "mean-field objective A, neither the likelihood nor a bound on it"

MEAN_FIELD = Method(
    title="Mean field, lowest order",
    prepare=_prepare_with(Theory(LOWEST)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Treats the hidden units as independent and corrects for the fluctuations of the fields to lowest order: the "
        "theory of the paper's figures, for any number of hidden units. Small networks with much data run away: stop "
        "on held-out cost."
    ),
    equations=(_FULL_E_STEP, _LOWEST_AVERAGE, *_M_STEP),
    phases=("E", "EM", *_M_PHASES),
    seconds=_seconds(1.2e-8),
)
MEAN_FIELD_NAIVE = Method(
    title="Mean field, naive",
    prepare=_prepare_with(Theory(NAIVE)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Puts magnetisations in the place of the hidden states and forgets that they fluctuate. "
        "A lesson, not a tool: its couplings run away."
    ),
    equations=(_NAIVE_E_STEP, *_NAIVE_M_STEP),
    phases=("E", *_M_PHASES),
    seconds=_seconds(1.2e-8),
)
MEAN_FIELD_GAUSSIAN = Method(
    title="Mean field, Gaussian",
    prepare=_prepare_with(Theory(gaussian())),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Averages over the full normal distribution of every field: the paper's complete theory, exact within the "
        "factorised ansatz for many weak couplings. Its quadrature is good to 5e-7 while fields spread by at most 1, "
        "to 5e-4 at 2."
    ),
    equations=(_FULL_E_STEP, r"\langle f(H_i)\rangle = \int Dx\, f(H_i + \Delta_i x)", *_M_STEP),
    phases=("E", "EM", *_M_PHASES),
    seconds=_seconds(9e-8),
)
MEAN_FIELD_SECOND_ORDER = Method(
    title="Mean field, second order",
    prepare=_prepare_with(Theory(LOWEST, second_order=True)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Lowest order with the correlations between hidden units of successive bins added (Plefka, TAP): beyond the "
        "paper. It differs from lowest order only with hidden-to-hidden couplings; there it is right to one order more."
    ),
    equations=(
        r"A \to A + \tfrac12\sum_{tab}(1-\mu_a^2(t+1))\,M_{ab}^2\,(1-\mu_b^2(t))",
        _FULL_E_STEP + r" - \mu_a\sum_b M_{ab}^2V_b(t-1) - \mu_a\sum_b V_b(t+1)M_{ba}^2",
        _LOWEST_AVERAGE,
        *_M_STEP[:-1],
        _M_STEP[-1] + r" + \sum_t(1-\mu_a^2(t+1))\,M_{ab}\,(1-\mu_b^2(t))",
    ),
    phases=("EM", "E", "EM", *_M_PHASES),
    seconds=_seconds(1.2e-8),
)
MEAN_FIELD_SAME_TIME = Method(
    title="Mean field, same-time term",
    prepare=_prepare_with(Theory(LOWEST, same_time=True)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Lowest order with the correlations between hidden units of one bin added: beyond the paper, and of the order "
        "of what it keeps where Nv is near Nh. A lesson, not a tool: its objective has no bound, and at coupling "
        "variance 1 it leaves even the true couplings."
    ),
    equations=(
        r"A \to A + \tfrac14\sum_{t,a\neq b}W_{ab}^2V_aV_b",
        r"W_{ab} = \sum_i K_{ia}K_{ib}\langle 1-\tanh^2 H_i\rangle",
        _FULL_E_STEP + r" - \mu_a\sum_{b\neq a}W_{ab}^2V_b + \dots",
        _LOWEST_AVERAGE,
        *_M_STEP[:1],
        _M_STEP[1] + r" + \dots",
        *_M_STEP[2:],
    ),
    phases=("EM", "EM", "E", "EM", *_M_PHASES),
    seconds=_seconds(1.2e-8, 8e-10),
)
