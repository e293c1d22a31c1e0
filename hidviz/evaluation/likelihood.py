"""Likelihood: the exact log likelihood of visible data, for both models and any hidden-to-hidden couplings.

Only the visible units are given: continuous hidden units follow from them, stochastic ones are summed over.
"""

from __future__ import annotations

from typing import Literal, overload

from hidviz.learners import BACKPROP, LEARNERS, Beliefs, Infeasible, Learner, exact, prepare, smoothing
from hidviz.network import Couplings, Recording, learned_blocks

LONGEST_LIKELIHOOD = 20.0  # seconds that a likelihood which is needed once may take


def log_likelihood(
    couplings: Couplings, recording: Recording, *, hidden: Literal["continuous", "stochastic"] = "stochastic"
) -> float:
    """Natural log of the probability of s(1 … T-1) given s(0), in nats, summed over all transitions and trials.

    Args:
        couplings: of a network with as many visible units as the recording.
        recording: the visible history.
        hidden: how the hidden units behave: "continuous" (model A), eq. 5 (`LL`), or "stochastic" (model B),
            eq. 18 (`vislikelihood`).

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


def likelihood_for(
    learner: str, recording: Recording | None, n_hidden: int, *, hidden_hidden: bool, bias: bool, longest: float
) -> Learner | None:
    """What a learner is judged by: one whose objective is the log likelihood of a recording of the same hidden units.

    None without a recording, or if one evaluation takes too long. This is the one rule of what is affordable.

    Args:
        learner: a name in LEARNERS; `Method.judge` says what judges it.
        recording: the data to judge by.
        n_hidden: number of hidden units of the couplings to judge.
        hidden_hidden: whether they have M.
        bias: whether they have h and g.
        longest: seconds that one evaluation may be predicted to take.
    """
    if recording is None:
        return None
    name = LEARNERS[learner].judge
    seconds = LEARNERS[name].seconds(recording.n_visible, n_hidden, recording.n_transitions, hidden_hidden)
    if seconds > longest:
        return None
    try:
        return prepare(name, recording, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=bias)
    except Infeasible:
        return None


@overload
def cost_per_bin(learner: Learner, couplings: Couplings, beliefs: Beliefs | None = None) -> float: ...


@overload
def cost_per_bin(learner: Learner | None, couplings: Couplings, beliefs: Beliefs | None = None) -> float | None: ...


def cost_per_bin(learner: Learner | None, couplings: Couplings, beliefs: Beliefs | None = None) -> float | None:
    """Cost of couplings in nats per bin, as a learner sees them; None without one.

    Args:
        learner: whose objective it is; a judge that is not affordable is None.
        couplings: any for as many units.
        beliefs: where the learner's beliefs about the hidden units start.
    """
    return None if learner is None else learner.per_bin(learner(couplings, beliefs))
