"""Contestants: who is timed, and the check that they all answer the same question.

Values and gradients must agree to `TOLERANCE`. What is drawn at random cannot be compared number by number: a
simulation is held against the probabilities it should have followed, a sampler's slopes against the plain formula at
its own sample, and its mean against that of the plain sampler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec

import numpy as np

from hidviz import Beliefs, prepare, simulate
from hidviz.learners.parts.mean_field_cases import cases_of
from hidviz.learners.parts.mean_field_objective import Theory, objective_and_slopes, wire
from hidviz.numerics.gaussian import LOWEST, gaussian
from tests.benchmarks.peers_numpy import NUMPY, complete
from tests.benchmarks.problems import Answer, Evaluate, Kind, Problem

OURS, PEERS = "hidviz", ("NumPy", "numba", "JAX")

TOLERANCE: Mapping[Kind, float] = {
    "backprop": 1e-10,
    "exact": 1e-10,
    "chain": 1e-10,
    "mean-field": 1e-10,
    "gaussian": 1e-5,  # two quadratures, each good to 1e-6 where fields spread by 1
    "e-step": 1e-6,  # each stops within 1e-8 of the fixed point, and slopes lean on that
    "gibbs": 1e-10,
}
FAR = 5.0  # standard errors; a fair draw passes this once in two million


class Disagreement(AssertionError):
    """Two contestants found different answers."""


def is_installed(peer: str) -> bool:
    """Whether a peer can be timed here."""
    return peer == "NumPy" or find_spec(peer.lower()) is not None


def functions(name: str) -> Mapping[str, Callable[[Problem], Evaluate]]:
    """What a contestant can do: kind of problem → function. Peers are imported when first asked for."""
    if name == OURS:
        return HIDVIZ
    if name == "NumPy":
        return NUMPY
    if name == "numba":
        from tests.benchmarks.peers_numba import NUMBA

        return NUMBA
    from tests.benchmarks.peers_jax import JAX

    return JAX


def compare(kind: Kind, problem: Problem, answers: Mapping[str, Answer]) -> None:
    """Hold all answers to one problem against each other.

    Raises:
        Disagreement: with the names, the numbers and the tolerance.
    """
    if kind == "simulation":
        for name, answer in answers.items():
            _fair(name, problem, answer)
        return
    if kind == "gibbs":
        for name, answer in answers.items():
            assert answer.sample is not None
            _alike(TOLERANCE[kind], {name: answer, "the formula": complete(problem, answer.sample)[1]})
        _same_mean(problem, answers)
        return
    _alike(TOLERANCE[kind], answers)


def _alike(tolerance: float, answers: Mapping[str, Answer]) -> None:
    """The same value and the same gradient, relative to their sizes."""
    (first, one), *others = answers.items()
    for name, other in others:
        apart = abs(other.value - one.value) / abs(one.value)
        if not apart <= tolerance:
            raise Disagreement(f"{first} found {one.value!r}, {name} {other.value!r}: {apart:.1e} apart.")
        gap = np.sqrt(sum(((other.gradient[block] - one.gradient[block]) ** 2).sum() for block in other.gradient))
        if not gap <= tolerance * one.norm:
            raise Disagreement(
                f"{first} found a gradient of length {one.norm!r}, {name} of {other.norm!r}: "
                f"{gap / one.norm:.1e} of it apart, {tolerance:g} allowed."
            )


def _fair(name: str, problem: Problem, answer: Answer) -> None:
    """Σ (x(t+1) - tanh H) H has mean 0 and a known variance if every state was drawn with its own probability."""
    assert answer.sample is not None
    x, surprise, variance = answer.sample, 0.0, 0.0
    for begin in range(0, len(x) - 1, 2**16):
        now = x[begin : begin + 2**16 + 1].astype(np.float64)
        H = now[:-1] @ problem.J.T
        t = np.tanh(H)
        surprise += float(((now[1:] - t) * H).sum())
        variance += float(((1.0 - t * t) * H * H).sum())
    if not abs(surprise) <= FAR * variance**0.5:
        raise Disagreement(f"{name} simulates {surprise / variance**0.5:.1f} standard errors away from the rule.")


def _same_mean(problem: Problem, answers: Mapping[str, Answer]) -> None:
    """After equally many sweeps all samplers have the same law, so their objectives differ by chance only."""
    (first, one), *others = answers.items()
    assert one.sample is not None
    by_bin, _ = complete(problem, one.sample)
    chance = (2.0 * len(by_bin)) ** 0.5 * float(by_bin.std())
    for name, other in others:
        if not abs(one.value - other.value) <= FAR * chance:
            raise Disagreement(
                f"{first} samples an objective of {one.value:.1f}, {name} of {other.value:.1f} nats after as many "
                f"sweeps: {abs(one.value - other.value) / chance:.1f} standard errors apart."
            )


# The engine


def _simulation(p: Problem) -> Evaluate:
    couplings, rng = p.couplings, np.random.default_rng(2)
    return lambda: Answer(0.0, {}, simulate(couplings, len(p.s), rng).recording.trials[0])


def _learner(name: str, **options: float) -> Callable[[Problem], Evaluate]:
    """A learner of the registry, prepared once, called from cold; a sampler goes on from its last sample."""

    def make(p: Problem) -> Evaluate:
        coupled = bool(p.M.any())
        learner = prepare(name, p.recording, n_hidden=p.K.shape[1], hidden_hidden=coupled, **options)
        couplings, beliefs = p.couplings, None

        def evaluate() -> Answer:
            nonlocal beliefs
            estimate = learner(couplings, beliefs)
            beliefs = estimate.beliefs if learner.stochastic else None
            gradient = {block: getattr(estimate.gradient, block) for block in learner.learned}
            sample = estimate.beliefs.hidden if learner.stochastic and isinstance(estimate.beliefs, Beliefs) else None
            return Answer(estimate.objective, gradient, sample)

        return evaluate

    return make


def _at_given_mu(theory: Theory) -> Callable[[Problem], Evaluate]:
    """The mean-field objective and its slopes, without the E-step."""

    def make(p: Problem) -> Evaluate:
        couplings, cases = p.couplings, cases_of(p.recording)

        def evaluate() -> Answer:
            value, slopes = objective_and_slopes(theory, wire(couplings, theory), cases, p.mu)
            return Answer(value, {"J": slopes.Jh[:, :-1], "K": slopes.K, "L": slopes.Lg[:, :-1]})

        return evaluate

    return make


HIDVIZ: Mapping[str, Callable[[Problem], Evaluate]] = {
    "simulation": _simulation,
    "backprop": _learner("backprop"),
    "exact": _learner("exact"),
    "chain": _learner("exact"),
    "mean-field": _at_given_mu(Theory(LOWEST)),
    "gaussian": _at_given_mu(Theory(gaussian())),
    "e-step": _learner("mean-field"),
    "gibbs": _learner("gibbs"),
}
