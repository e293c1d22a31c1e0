"""Sampler: an honest cost beside learning where sums over 2^Nh hidden states are out of reach.

Every so many steps the likelihood is estimated by importance sampling, bin by bin (`importance_sampling`), with the
mean-field posterior as proposal. A few sweeps of the E-step are enough for that: any proposal gives the same value, a
good one a smaller error. How often, depends on predicted seconds alone, so that the same run samples the same steps:
often enough to draw a curve, seldom enough to take less than a fifth of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from hidviz.evaluation.importance_sampling import predicted_seconds, sampled_log_likelihood
from hidviz.learners import LEARNERS, Learner, prepare
from hidviz.network import Couplings, Recording

N_SAMPLES = 100  # fewer make the logarithm of a mean visibly too small in networks of 80 + 20
SHARE = 0.15  # of the time that sampling may take, as predicted
LONGEST_SECONDS = 10.0  # that one estimate may keep the next step waiting
_SWEEPS, _TOLERANCE = 10, 1e-2  # of the E-step behind the proposal


@dataclass(frozen=True, eq=False)
class Sampler:
    """Estimates the cost of couplings on data, at one step in `every`.

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
        """The step, and for each recording the cost in nats per bin and its standard error, "…_error"."""
        row = {"step": float(step)}
        for k, (name, (recording, proposals)) in enumerate(self.data.items()):
            rng = np.random.default_rng([self.seed, step, k])
            beliefs = proposals(couplings).beliefs
            assert beliefs is not None
            value, error = sampled_log_likelihood(couplings, recording, beliefs.hidden, rng, n_samples=N_SAMPLES)
            n = recording.n_transitions
            row |= {name: -value / n, f"{name}_error": error / n}
        return row


def sampler(data: dict[str, Recording], *, n_hidden: int, seed: int, step_seconds: float) -> Sampler | None:
    """A sampler for these recordings, or None if one estimate would keep learning waiting for too long.

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
    return LEARNERS["mean-field"].seconds(*size, False) + predicted_seconds(*size, n_samples=N_SAMPLES)
