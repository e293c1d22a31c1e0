"""Replica theory: how often hidden states are told wrongly in a network of infinitely many units.

Read through the true couplings, the visible data leave a share of wrong signs that depends, once units are many, on the
coupling variance g² and on the number of hidden units for each visible one alone. Two numbers say it all:

    q        the overlap <σ>² of a hidden unit's posterior magnetisation, an average over units
    q̂        the precision with which later data tell one hidden state: as a field on it that is N(q̂ σ, q̂)

A receiver's field has a part that the data tell, N(0, g²(1+q)), and a part that they do not, N(0, V), V = g²(1-q), so
that its state s' has probability P = ∫Dz (1 + s' tanh(ω + z√V)) / 2 at the known part ω. Then

    q̂ = g² Nv/Nh  E[(∂ log P / ∂ω)²]  +  g² E[(∂ log Z / ∂ω)²]  with M, where Z = Σ_σ' P(σ'|ω) exp(B'σ')
    q  = E[tanh²(B + ½ log P+/P-)]    B ~ N(q̂ σ, q̂),  P± of σ itself from what precedes it

and the share of wrong signs is that of σ (B + ½ log P+/P-) < 0. Without M only visible units precede σ: V = 0 there.

Source: Bachschmid-Romano & Opper, J. Stat. Mech. 2014, P06013 (arXiv 1405.4164), who take one variance for all
couplings; here that of J and L is g²/Nv and that of K and M g²/Nh, as in the paper. Biases are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, ndtr

from hidviz.numerics import Array

_NODES = 61, 20.0  # of the averages, and how many more for each unit of g: right to 1e-5 of the share of wrong signs
_MOST = 100.0  # variance for which that is affordable
_FINE = 4001  # nodes where a sharp edge is averaged over
_REACH = 7.0  # outermost node
_SURE = 300.0  # twice the field beyond which a state is certain
_CLOSE = 1e-9  # change of the overlap and of the precision at which the iteration ends
_LONGEST = 10_000  # steps


@dataclass(frozen=True)
class ReplicaTheory:
    """What replica theory says of a large network.

    Args:
        overlap: q, the mean square of the posterior magnetisations: 0 if the data tell nothing, 1 if they tell all.
        wrong_signs: share of hidden states whose sign the posterior tells wrongly, from 0 to a half.
    """

    overlap: float
    wrong_signs: float


@lru_cache(maxsize=1024)
def replica_theory(variance: float, ratio: float, *, hidden_hidden: bool = False) -> ReplicaTheory:
    """How well the visible data tell the hidden states of a large network of random couplings, which are known.

    Args:
        variance: g², times 1/Nv that of J and L, times 1/Nh that of K and M.
        ratio: Nh / Nv, hidden units for each visible one.
        hidden_hidden: whether hidden units act on each other, through M.

    Raises:
        ValueError: the ratio is not a positive number, or the variance not one up to 100.
    """
    if not 0.0 < variance <= _MOST:
        raise ValueError(f"The variance must be a positive number up to {_MOST:g}, got {variance}.")
    if not (ratio > 0.0 and np.isfinite(ratio)):
        raise ValueError(f"The ratio of hidden to visible units must be a positive number, got {ratio}.")
    overlap, precision = _settled((0.5, 1.0), variance, ratio, hidden_hidden)
    return ReplicaTheory(overlap, _wrong_signs(_preceding(overlap, variance, hidden_hidden), precision))


def _settled(state: tuple[float, float], variance: float, ratio: float, hidden_hidden: bool) -> tuple[float, float]:
    """The overlap and the precision that reproduce themselves; from where one begins does not matter."""
    for _ in range(_LONGEST):
        last, state = state, _iterated(*state, variance, ratio, hidden_hidden)
        if max(abs(one - other) for one, other in zip(last, state, strict=True)) < _CLOSE:
            break
    return state


def _iterated(
    overlap: float, precision: float, variance: float, ratio: float, hidden_hidden: bool
) -> tuple[float, float]:
    """The next overlap and precision, of those before."""
    nodes, weights = _normal(variance)
    visible = _preceding(overlap, variance, hidden_hidden=True)
    hidden = _preceding(overlap, variance, hidden_hidden)
    later = variance / ratio * float(weights @ (visible.slope**2 / (visible.plus * visible.minus)))
    found = 0.0
    for sign, probability in ((1.0, hidden.plus), (-1.0, hidden.minus)):
        field = precision * sign + np.sqrt(precision) * nodes
        whole = np.abs(hidden.prior[:, None] + field)
        weight = np.outer(weights * probability, weights)
        found += float(np.sum(weight * np.tanh(whole) ** 2))
        if hidden_hidden:
            scale = (hidden.slope / np.sqrt(hidden.plus * hidden.minus))[:, None]
            score = scale * np.exp(np.abs(field) - whole) * np.expm1(-2.0 * np.abs(field))
            later += variance * float(np.sum(weight * (score / (1.0 + np.exp(-2.0 * whole))) ** 2))
    return min(found, 1.0), later


def _wrong_signs(hidden: _Receiver, precision: float) -> float:
    """The share: where what follows pulls to the other side by more than what precedes holds."""
    z = np.linspace(-_REACH, _REACH, _FINE)
    prior = np.interp(z, hidden.z, hidden.prior)
    density = np.exp(-0.5 * z**2)
    against = expit(2.0 * prior) * ndtr(-(precision + prior) / np.sqrt(precision))
    return 2.0 * float(against @ density / density.sum())  # as much of σ = -1


@dataclass(frozen=True, eq=False)
class _Receiver:
    """A unit that receives, at each z of the known part of its field, N(0, 1) once divided by its deviation.

    Args:
        z: the nodes.
        plus, minus: probabilities of its two states.
        slope: of `plus` over the field.
    """

    z: Array
    plus: Array
    minus: Array
    slope: Array

    @property
    def prior(self) -> Array:
        """The field that would have these probabilities, were all of it known."""
        return np.asarray(0.5 * np.log(self.plus / self.minus), np.float64)


@lru_cache(maxsize=8)
def _preceding(overlap: float, variance: float, hidden_hidden: bool) -> _Receiver:
    """A receiver of visible units and, if so, of hidden ones, which are known in part."""
    nodes, weights = _normal(variance)
    known, unknown = (1.0 + overlap, 1.0 - overlap) if hidden_hidden else (1.0, 0.0)
    field = 2.0 * np.sqrt(variance) * (np.sqrt(known) * nodes[:, None] + np.sqrt(unknown) * nodes)
    field = np.clip(field, -_SURE, _SURE)
    plus, minus = expit(field), expit(-field)
    return _Receiver(nodes, plus @ weights, minus @ weights, 2.0 * (plus * minus) @ weights)


@lru_cache(maxsize=16)
def _normal(variance: float) -> tuple[Array, Array]:
    """Nodes and weights of the average over a standard normal variable: the trapezoid rule."""
    least, more = _NODES
    nodes = np.linspace(-_REACH, _REACH, least + 2 * round(more / 2.0 * np.sqrt(variance)))
    weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()
