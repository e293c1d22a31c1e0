"""Sampled log likelihood, without sums over 2^Nh hidden states: importance sampling with its error, at M = 0.

The weights w of a bin's samples (see `importance_weights`) have the mean p_t, and log P[s] = Σ_t log p_t:

    log p_t ≈ log mean w + ½ v,    v = var(w) / (n p_t²) = 1 / ess - 1 / n,    ess = (Σ w)² / Σ w²

v is the variance, and ½ v what the logarithm of a mean falls short by, which over many bins would drown the sampling
error. Both hold where weights are even. Where they are not, a few large ones may have been missed, and no formula can
tell. Hence a pilot decides for each bin how it is sampled, by the first of the `ROUNDS` that gives it `ENOUGH`
effective samples; what is reported is drawn anew, since a draw that was chosen for looking even would be too low.

What is left of unevenness is stated: the smallest effective sample size of any bin, and the share of the variance that
comes from bins with fewer than `FEWEST`. Where such bins decide the error, the value is refused.

Better magnetisations make the error smaller, and any give the same value: unlike A of mean field, eq. 27 (`PMF`), it
can be compared between models. It is not a bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

import numpy as np

from hidviz.background import checkpoint
from hidviz.evaluation.importance_weights import PORTIONS, Bins, annealed_weights, bins_of, mixture_weights
from hidviz.learners import LEARNERS, Learner, prepare
from hidviz.network import Couplings, Recording
from hidviz.numerics import Array, Index

BLOCK = 2**17  # numbers in a block, which stays in cache


class Round(NamedTuple):
    """How the bins that are still left are sampled: from the mixture without temperatures, else annealed."""

    n_pilot: int
    n_samples: int
    n_temperatures: int


ROUNDS = (Round(60, 120, 0), Round(480, 1440, 0), Round(60, 120, 16), Round(0, 240, 128))
ENOUGH = 50.0  # effective samples of a bin that its pilot must promise
FEWEST = 8.0  # effective samples below which a bin's own error means little
MOST_UNEVEN = 0.25  # share of the variance that may come from such bins

SHARE = 0.15  # of the time that sampling beside learning may take, as predicted
LONGEST_SECONDS = 10.0  # that one estimate may keep the next step waiting
_SWEEPS, _TOLERANCE = 10, 1e-2  # of the E-step behind the proposal


class Sampled(NamedTuple):
    """A log likelihood estimated by importance sampling.

    Args:
        log_likelihood: log P[s], nats, summed over transitions.
        standard_error: of it, nats.
        fewest: the smallest effective sample size of any bin; infinite without bins.
        uneven: share of the variance from bins with fewer than `FEWEST` effective samples.
    """

    log_likelihood: float
    standard_error: float
    fewest: float
    uneven: float

    @property
    def refusal(self) -> str:
        """Why the standard error cannot be trusted, in a sentence; empty if it can."""
        if self.uneven <= MOST_UNEVEN:
            return ""
        return (
            f"The sampled likelihood needs bins with fewer than {FEWEST:g} effective samples to make at most "
            f"{100 * MOST_UNEVEN:.0f} % of its variance, got {100 * self.uneven:.0f} %, and {self.fewest:.1f} in the "
            "worst bin: the hidden states are too uncertain for sampling at such strong couplings. Use fewer hidden "
            "units, so that the exact sum is affordable."
        )


def sampled_log_likelihood(
    couplings: Couplings, recording: Recording, magnetisations: Array, rng: np.random.Generator
) -> Sampled:
    """Estimate log P[s] of stochastic hidden units without hidden-to-hidden couplings.

    Args:
        couplings: with M = 0.
        recording: the visible history.
        magnetisations: (n_transitions, Nh) in [-1, 1], the mean hidden state that each proposal is built from; those
            beyond ±0.99 are moved there.
        rng: source of randomness.

    Raises:
        ValueError: M is not zero, or the magnetisations have the wrong shape.
    """
    n, Nh = recording.n_transitions, couplings.n_hidden
    if couplings.M.any():
        raise ValueError(
            f"Importance sampling bin by bin needs M = 0, got M with {np.count_nonzero(couplings.M)} couplings: they "
            "tie all bins together. Use the exact log likelihood at small Nh, or compare held-out predictions."
        )
    if magnetisations.shape != (n, Nh):
        raise ValueError(f"Magnetisations must have shape {(n, Nh)}, one row a transition, got {magnetisations.shape}.")
    bins = bins_of(couplings, recording, magnetisations)
    found = np.empty((3, n))  # log p_t, its variance, effective samples
    left: Index = np.arange(n)
    for each in ROUNDS:
        size = max(BLOCK // (each.n_samples * max(couplings.n_visible, Nh)), 1)
        needed = ENOUGH * each.n_pilot / each.n_samples
        kept = np.zeros(n, bool)
        for begin in range(0, len(left), size):
            part = left[begin : begin + size]
            if each.n_pilot:
                part = part[_drawn(bins.of(part), rng, each.n_pilot, each.n_temperatures)[2] >= needed]
            if len(part):
                found[:, part] = _drawn(bins.of(part), rng, each.n_samples, each.n_temperatures)
                kept[part] = True
        left = left[~kept[left]]
    values, variances, effective = found
    variance = float(variances.sum())
    uneven = float(variances[effective < FEWEST].sum()) / variance if variance > 0.0 else 0.0
    return Sampled(float(values.sum()), variance**0.5, float(effective.min(initial=np.inf)), uneven)


def predicted_seconds(n_visible: int, n_hidden: int, n_transitions: int) -> float:
    """A rough guess at the seconds that `sampled_log_likelihood` takes, a tenth of the bins being sampled at length."""
    n_samples = sum(share * (each.n_pilot + each.n_samples) for share, each in zip((1.0, 0.1), ROUNDS, strict=False))
    return 1e-9 * n_transitions * n_samples * (100.0 + n_visible * (12.0 + 0.15 * n_hidden) + 20.0 * n_hidden)


def _drawn(bins: Bins, rng: np.random.Generator, n: int, n_temperatures: int) -> tuple[Array, Array, Array]:
    """For each bin its log mean weight, the bias of the logarithm corrected; the variance; effective samples.

    How many samples come from each part of a mixture is no chance: only what varies within them makes an error.
    """
    checkpoint()
    if n_temperatures:
        n_parts, logs = 1, annealed_weights(bins, rng, n, n_temperatures)
    else:
        n_parts, logs = len(PORTIONS), mixture_weights(bins, rng, n)
    largest = logs.max(axis=0)
    weights = np.exp(logs - largest)
    mean = weights.mean(axis=0)
    within = np.sum([weights[k::n_parts].var(axis=0, ddof=1) for k in range(n_parts)], axis=0) / n_parts
    variance = within / (n * mean**2)
    return largest + np.log(mean) + 0.5 * variance, variance, n / (1.0 + weights.var(axis=0, ddof=1) / mean**2)


# Beside learning


@dataclass(frozen=True, eq=False)
class Sampler:
    """Estimates the cost of couplings on data beside learning, at one step in `every`.

    A few sweeps of the E-step are enough for the proposal: any gives the same value, a good one a smaller error.

    Args:
        data: column name → the recording and its mean-field proposals.
        every: number of steps from one estimate to the next.
        seed: with the step, decides every random number.
    """

    data: dict[str, tuple[Recording, Learner]]
    every: int
    seed: int

    def is_due(self, step: int, *, ended: bool) -> bool:
        """Whether this step is one to be estimated; the last one is, and the start, which must not wait, is not."""
        return step > 0 and (ended or step % self.every == 0)

    def row(self, couplings: Couplings, step: int) -> dict[str, float]:
        """The step, and for each recording the cost in nats per bin, its standard error, and its fewest samples.

        Column names end in "", "_error" and "_fewest". Where the error cannot be trusted, cost and error are not a
        number.
        """
        row = {"step": float(step)}
        for k, (name, (recording, proposals)) in enumerate(self.data.items()):
            rng = np.random.default_rng([self.seed, step, k])
            beliefs = proposals(couplings).beliefs
            assert beliefs is not None
            found = sampled_log_likelihood(couplings, recording, beliefs.hidden, rng)
            per_bin = (np.nan if found.refusal else 1.0) / recording.n_transitions
            row |= {name: -found.log_likelihood * per_bin, f"{name}_error": found.standard_error * per_bin}
            row |= {f"{name}_fewest": found.fewest}
        return row


def sampler(data: dict[str, Recording], *, n_hidden: int, seed: int, step_seconds: float) -> Sampler | None:
    """A sampler for these recordings, or None if one estimate would keep learning waiting for too long.

    How often it samples depends on predicted seconds alone, so that the same run samples the same steps: often enough
    to draw a curve, seldom enough to take less than a fifth of the time.

    Args:
        data: column name → recording.
        n_hidden: number of hidden units assumed; without couplings among themselves.
        seed: source of randomness.
        step_seconds: predicted seconds of one step of learning.
    """
    seconds = sum(_seconds(each, n_hidden) for each in data.values())
    if not data or seconds > LONGEST_SECONDS:
        return None
    prepared = {}
    for name, each in data.items():
        proposals = prepare("mean-field", each, n_hidden=n_hidden, tolerance=_TOLERANCE, max_sweeps=_SWEEPS)
        prepared[name] = each, proposals
    return Sampler(prepared, ceil(seconds * (1.0 / SHARE - 1.0) / step_seconds), seed)


def _seconds(recording: Recording, n_hidden: int) -> float:
    size = (recording.n_visible, n_hidden, recording.n_transitions)
    return LEARNERS["mean-field"].seconds(*size, False) + predicted_seconds(*size)
