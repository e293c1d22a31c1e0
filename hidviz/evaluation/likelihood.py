"""Likelihood: the exact log likelihood of visible data, for both models and any hidden-to-hidden couplings.

Only the visible units are given: continuous hidden units follow from them, stochastic ones are summed over.
"""

from __future__ import annotations

from typing import Literal

from hidviz.learners import BACKPROP, exact, smoothing
from hidviz.network import Couplings, Recording, learned_blocks


def log_likelihood(
    couplings: Couplings, recording: Recording, *, hidden: Literal["continuous", "stochastic"] = "stochastic"
) -> float:
    """Natural log of the probability of s(1 … T-1) given s(0), in nats, summed over all transitions and trials.

    Args:
        couplings: of a network with as many visible units as the recording.
        recording: the visible history.
        hidden: how the hidden units behave: "continuous" (model A, eq. `LL`) or "stochastic" (model B,
            eq. `vislikelihood`).

    Raises:
        ValueError: `hidden` is neither, or the numbers of visible units differ.
        Infeasible: there are too many stochastic hidden units to sum over; the message gives the number.
    """
    if couplings.n_visible != recording.n_visible:
        raise ValueError(
            f"The couplings are for {couplings.n_visible} visible units, the data have {recording.n_visible}."
        )
    if hidden == "stochastic":
        summed = smoothing.log_likelihood if couplings.M.any() else exact.log_likelihood
        return summed(couplings, recording)
    if hidden != "continuous":
        raise ValueError(f"hidden must be 'continuous' or 'stochastic', got {hidden!r}.")
    blocks = learned_blocks(couplings.n_hidden, hidden_hidden=bool(couplings.M.any()), bias=True)
    learner = BACKPROP(recording, n_hidden=couplings.n_hidden, hidden_hidden="M" in blocks, bias=True)
    return learner(couplings).objective
