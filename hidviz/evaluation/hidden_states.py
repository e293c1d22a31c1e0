"""Hidden states: how often the data, read through some couplings, tell the hidden units' signs wrongly.

Given the visible data, the guess that is least often wrong about a unit is the sign of its posterior magnetisation. The
share of wrong signs needs no scale: 0 where the data tell all, ½ where they tell nothing. With the true couplings it is
the error that no method can go below on average; replica theory predicts it for large networks (Bachschmid-Romano &
Opper, J. Stat. Mech. 2014, arXiv 1405.4164). With learned couplings, brought into the best gauge first, what is above
that is the price of not knowing them.

The posterior is the exact one where its sum over hidden states is affordable, else the average of Gibbs samples after
some that are left out, of more where a sweep costs little; then ties and rare turns of the chain add a little. The last
bin of a trial, whose hidden state acts on nothing that was seen, is left out.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from hidviz.background import mapped, return_value
from hidviz.evaluation.likelihood import likelihood_for
from hidviz.learners import LEARNERS, prepare
from hidviz.learners.backprop import hidden_states as continuous_states
from hidviz.network import Couplings, Recording, aligned
from hidviz.numerics import Array

_MOST_NUMBERS = 2**20  # magnetisations that the exact learner hands out
_LONGEST = 20.0  # seconds that the exact posterior may take, or more samples than the fewest
_ROUNDING = 1e-12  # of a state about which the couplings say nothing
_SKIPPED, _FEWEST, _MOST = 30, 100, 600  # sweeps


def hidden_magnetisations(couplings: Couplings, recording: Recording, *, seed: int = 0) -> Array:
    """Posterior magnetisations <sigma_a(t)> of stochastic hidden units, (n_transitions, Nh), trial after trial.

    Args:
        couplings: the network, with or without M.
        recording: the visible history.
        seed: of the samples, where the exact posterior is not affordable.

    Raises:
        ValueError: the numbers of visible units differ.
    """
    return return_value(iter_hidden_magnetisations(couplings, recording, seed=seed))


def iter_hidden_magnetisations(
    couplings: Couplings, recording: Recording, *, seed: int = 0
) -> Generator[float, None, Array]:
    """The same bit by bit: the fraction done after each sweep of the samples, and at last returned what is wanted."""
    if couplings.n_visible != recording.n_visible:
        raise ValueError(
            f"The couplings are for {couplings.n_visible} visible units, the data have {recording.n_visible}."
        )
    n_hidden, recurrent = couplings.n_hidden, bool(couplings.M.any())
    if n_hidden * recording.n_transitions <= _MOST_NUMBERS:
        exact = likelihood_for("exact", recording, n_hidden, hidden_hidden=recurrent, bias=True, longest=_LONGEST)
        beliefs = None if exact is None else exact(couplings).beliefs
        if beliefs is not None:
            return beliefs.hidden
    sweep = LEARNERS["gibbs"].seconds(recording.n_visible, n_hidden, recording.n_transitions, recurrent)
    kept = int(np.clip(_LONGEST / sweep, _FEWEST, _MOST))
    chain = prepare("gibbs", recording, n_hidden=n_hidden, hidden_hidden=recurrent, bias=True, seed=seed)
    beliefs, total = None, np.zeros((recording.n_transitions, n_hidden))
    for done in range(_SKIPPED + kept):
        yield done / (_SKIPPED + kept)
        beliefs = chain(couplings, beliefs).beliefs
        if beliefs is not None and done >= _SKIPPED:
            total += beliefs.hidden
    return total / kept


def wrong_signs(magnetisations: Array, hidden: ArrayLike) -> float:
    """Share of hidden states whose sign the magnetisations tell wrongly; a magnetisation of 0 is half wrong.

    Args:
        magnetisations: (n, Nh).
        hidden: (n, Nh) of ±1, the true states of the same bins.

    Raises:
        ValueError: the shapes differ, or there is nothing to compare.
    """
    true = np.asarray(hidden, dtype=np.float64)
    if magnetisations.shape != true.shape or not true.size:
        raise ValueError(
            f"Magnetisations and hidden states must have one shape that is not empty, got {magnetisations.shape} and "
            f"{true.shape}: leave out the last bin of a trial."
        )
    return float(0.5 - 0.5 * np.mean(np.sign(magnetisations) * true))


def hidden_state_error(
    couplings: Couplings, truth: Couplings, recording: Recording, hidden: ArrayLike, *, seed: int = 0
) -> float:
    """Share of wrong signs of hidden states told by some couplings, in the gauge nearest to the truth.

    Args:
        couplings: the truth itself, or learned ones with as many hidden units.
        truth: the true couplings.
        recording: one trial of T bins.
        hidden: (T, Nh) its true hidden states, ±1, or those of the T - 1 bins that act on the data.
        seed: of the samples, where the exact posterior is not affordable.

    Raises:
        ValueError: the numbers of units or bins do not fit together.
    """
    true = np.asarray(hidden)[: recording.n_transitions]
    return wrong_signs(hidden_magnetisations(aligned(couplings, truth), recording, seed=seed), true)


@dataclass(frozen=True, eq=False)
class ToldStates:
    """Hidden states as the data tell them through some couplings, beside the true ones.

    Args:
        states: (n_transitions, Nh) in [-1, 1], for each true hidden unit, in the gauge nearest to the truth: what a
            stochastic unit was on the average, given all the data, or what a continuous one was.
        rms: root mean square of their differences from the true states.
        wrong: share of wrong signs; None where the true states are no signs.
        wrong_at_truth: the same of the true couplings, less than which no method can reach on average; None likewise.
    """

    states: Array
    rms: float
    wrong: float | None
    wrong_at_truth: float | None


def told_states(
    couplings: Couplings,
    truth: Couplings,
    recording: Recording,
    hidden: ArrayLike,
    *,
    kind: Literal["stochastic", "continuous"],
    seed: int = 0,
) -> ToldStates:
    """What the data tell of the hidden states, through couplings that were learned and through the true ones.

    Args:
        couplings: learned ones; units that they lack tell nothing, units that the truth lacks are left out.
        truth: the true couplings.
        recording: one trial of T bins.
        hidden: (T, Nh) its true hidden states.
        kind: of the hidden units that `couplings` were learned for.
        seed: of the samples, where the exact posterior is not affordable.

    Raises:
        ValueError: the numbers of units or bins do not fit together.
    """
    return return_value(iter_told_states(couplings, truth, recording, hidden, kind=kind, seed=seed))


def iter_told_states(
    couplings: Couplings,
    truth: Couplings,
    recording: Recording,
    hidden: ArrayLike,
    *,
    kind: Literal["stochastic", "continuous"],
    seed: int = 0,
) -> Generator[float, None, ToldStates]:
    """The same bit by bit: the fraction done now and then, and at last returned what is wanted."""
    true = np.asarray(hidden, dtype=np.float64)[: recording.n_transitions]
    are_signs = bool(np.all(np.abs(true) == 1.0))
    brought = aligned(couplings, truth)
    if kind == "continuous":
        found = continuous_states(brought, recording)
    else:
        found = yield from mapped(iter_hidden_magnetisations(brought, recording, seed=seed), lambda done: done / 2)
    found = np.where(np.abs(found) > _ROUNDING, found, 0.0)[:, : truth.n_hidden]
    rms = float(np.sqrt(np.mean((found - true) ** 2)))
    if not are_signs:
        return ToldStates(found, rms, None, None)
    best = yield from mapped(iter_hidden_magnetisations(truth, recording, seed=seed), lambda done: 0.5 + done / 2)
    return ToldStates(found, rms, wrong_signs(found, true), wrong_signs(best, true))
