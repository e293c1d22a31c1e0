"""Tiny learners, each a few plain lines, to test learning itself with; and whether two snapshots are the same."""

from dataclasses import fields, is_dataclass

import numpy as np

from hidviz.learners.protocol import Beliefs, Estimate, Learner
from hidviz.network.couplings import Couplings, learned_blocks, random_couplings
from hidviz.network.recording import Recording


def history(n_visible=5, n_hidden=2, n_bins=400, seed=1):
    """A true network of model A, always the same, and a recording of it, made bin by bin."""
    truth, rng = random_couplings(n_visible, n_hidden, np.random.default_rng(0)), np.random.default_rng(seed)
    s, mu = [np.where(rng.random(n_visible) < 0.5, -1.0, 1.0)], np.zeros(n_hidden)
    for _ in range(n_bins - 1):
        field = truth.J @ s[-1] + truth.K @ mu
        mu = np.tanh(truth.L @ s[-1])
        s.append(np.where(rng.random(n_visible) < 0.5 + 0.5 * np.tanh(field), 1.0, -1.0))
    return truth, Recording(np.array(s))


def backprop(recording, n_hidden):
    """Model A without M: matrix products over time."""
    past, present, following, _ = (each.astype(float) for each in recording.transitions())

    def evaluate(couplings, beliefs):  # noqa: ARG001
        mu = np.tanh(past @ couplings.L.T)
        H = present @ couplings.J.T + mu @ couplings.K.T
        error, size = following - np.tanh(H), np.abs(H)
        back = (error @ couplings.K) * (1.0 - mu**2)
        gradient = Couplings(error.T @ present, error.T @ mu, back.T @ past)
        return Estimate(float((following * H - size - np.log1p(np.exp(-2.0 * size))).sum()), gradient)

    return Learner(evaluate, recording.n_visible, n_hidden, recording.n_transitions, learned_blocks(n_hidden))


def noisy(recording, n_hidden):
    """The same with a gradient that is off by a little noise, drawn from the number of sweeps so far."""
    exact = backprop(recording, n_hidden)

    def evaluate(couplings, beliefs):
        sweeps = 0 if beliefs is None else beliefs.sweeps
        estimate = exact(couplings)
        noise = np.random.default_rng(sweeps).normal(0.0, 2.0, estimate.gradient.vector(exact.learned).size)
        gradient = estimate.gradient.with_vector(estimate.gradient.vector(exact.learned) + noise, exact.learned)
        hidden = np.zeros((recording.n_transitions, n_hidden))
        return Estimate(estimate.objective, gradient, Beliefs(hidden, sweeps + 1))

    return Learner(evaluate, recording.n_visible, n_hidden, recording.n_transitions, exact.learned, stochastic=True)


def assert_same(one, other):
    """Equal bit by bit, all the way down."""
    assert type(one) is type(other)
    if is_dataclass(one):
        for field in fields(one):
            assert_same(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert one.tobytes() == other.tobytes()
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    else:
        assert one == other
