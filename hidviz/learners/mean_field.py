"""Mean field for stochastic hidden units: independent magnetisations mu, settled, then slopes in the couplings (EM).

The E-step solves for the magnetisations that make A = S[mu] - E_s[mu] - Nh log 2 stationary, eq. 42 (`MFmu`); the last
term stands for the unknown first hidden state of each trial. The M-step moves the couplings along the slopes of A at
these magnetisations, eqs. 43 (`dJMF`) to 46 (`dMMF`), which are its total derivatives there. Both are made in
`parts/mean_field_objective`. The theories differ in how functions of a fluctuating field are averaged, and in the terms
that they add beyond the paper.

Printed in eqs. 48 (`dJMFT`) to 51 (`dMMFT`) with Δ and Γ in the place of their squares, and in eq. 20 (`energy`) with
E_s = log P; E_s = -log P is meant. A is neither the likelihood nor a bound on it, whatever the text at eq. 27 (`PMF`).
"""

from __future__ import annotations

from collections.abc import Callable

from hidviz.learners.parts.budget import distinct_memory
from hidviz.learners.parts.e_step_solver import settle
from hidviz.learners.parts.mean_field_cases import WIDEST, cases_of, distinct_cases, expected_cases
from hidviz.learners.parts.mean_field_objective import Theory, objective_and_slopes, wire
from hidviz.learners.protocol import Beliefs, Estimate, Learner, Method, Prepare
from hidviz.network import Couplings, Recording, as_gradient, learned_blocks
from hidviz.numerics import LOWEST, NAIVE, gaussian

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
    distinct = None if hidden_hidden else distinct_cases(recording, everything)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)

    def estimate(couplings: Couplings, beliefs: Beliefs | None, sweeps: int) -> Estimate:
        wiring = wire(couplings, theory)
        start = None if beliefs is None else beliefs.hidden
        if distinct is None or wiring.coupled:
            cases, known = everything, start
        else:
            cases, known = distinct.cases, None if start is None else start[distinct.first]
        mu, gaps, _ = settle(theory, wiring, cases, known, tolerance, sweeps)
        value, slopes = objective_and_slopes(theory, wiring, cases, mu)
        hidden = mu if cases is everything or distinct is None else mu[distinct.inverse]
        return Estimate(
            objective=value,
            gradient=as_gradient(*slopes, learned),
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


def _seconds(field: float, pair: float = 0.0, sweeps: float = 10.0) -> Callable[[int, int, int, bool], float]:
    """A guess at one evaluation, so many sweeps of each case, when averaging over one field takes this many seconds.

    The same-time term takes `pair` for each visible unit and pair of hidden ones. Each sweep also solves a small system
    for each case, for the mixing. With M sweeps are four times as many; near a runaway many more.
    """

    def seconds(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
        receivers = n_visible + hidden_hidden * n_hidden
        sweep = receivers * (field + 4e-10 * n_hidden) + pair * n_visible * n_hidden**2 + min(1.5e-7 * n_hidden, 1.2e-6)
        swept = sweeps * (1 + 3 * hidden_hidden) * expected_cases(n_visible, n_transitions, hidden_hidden)
        return 1.5e-3 + swept * sweep

    return seconds


def _memory(n_visible: int, n_hidden: int, n_transitions: int, hidden_hidden: bool) -> float:
    """The transitions; to count them where few units make them come back, or the magnetisations of some steps."""
    counting = 0.0 if hidden_hidden or n_visible > WIDEST else distinct_memory(n_visible, 0, n_transitions)
    return n_transitions * (5.0 * n_visible + 30.0) + max(counting, n_transitions * (36.0 * n_hidden + 30.0))


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
    name="mean-field",
    family="mean-field",
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
    memory=_memory,
    seconds=_seconds(1.2e-8),
)
MEAN_FIELD_NAIVE = Method(
    name="mean-field-naive",
    family="mean-field",
    runs_away=True,
    title="Mean field, naive",
    prepare=_prepare_with(Theory(NAIVE)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Puts magnetisations in the place of the hidden states and forgets that they fluctuate. "
        "Shown for comparison: its couplings diverge."
    ),
    equations=(_NAIVE_E_STEP, *_NAIVE_M_STEP),
    phases=("E", *_M_PHASES),
    memory=_memory,
    seconds=_seconds(1.2e-8, sweeps=50.0),  # on its way to a runaway from the start
)
MEAN_FIELD_GAUSSIAN = Method(
    name="mean-field-gaussian",
    family="mean-field",
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
    memory=_memory,
    seconds=_seconds(4.5e-8),
)
MEAN_FIELD_SECOND_ORDER = Method(
    name="mean-field-second-order",
    family="mean-field",
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
    memory=_memory,
    seconds=_seconds(1.2e-8),
)
MEAN_FIELD_SAME_TIME = Method(
    name="mean-field-same-time",
    family="mean-field",
    runs_away=True,
    title="Mean field, same-time term",
    prepare=_prepare_with(Theory(LOWEST, same_time=True)),
    hidden="stochastic",
    objective=_OBJECTIVE,
    likelihood=False,
    summary=(
        "Lowest order with the correlations between hidden units of one bin added: beyond the paper, and of the order "
        "of what it keeps where Nv is near Nh. Shown for comparison: its objective has no bound, and at coupling "
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
    memory=_memory,
    seconds=_seconds(1.2e-8, 8e-10),
)
