"""Replica theory: how often hidden states are told wrongly in a network of infinitely many units.

Read through the true couplings, the visible data leave a share of wrong signs that depends, once units are many, on the
coupling variance g² and on the number of hidden units for each visible one alone. Two numbers say it all:

    q        the overlap <σ>² of a hidden unit's posterior magnetisation, an average over units
    q̂        the precision with which later data tell one hidden state: as a field on it that is N(q̂ σ, q̂)

The field on a receiver has a part that the data tell, ω, and a part that they do not, N(0, V). Of a visible unit, and
with M of a hidden one, ω is N(0, g²(1+q)) and V = g²(1-q); without M only visible units precede a hidden one, so that
its ω is N(0, g²) and V = 0. The receiver's state s' then has the probability P(s'|ω) = ∫Dz (1 + s' tanh(ω + z√V)) / 2,
and

    q̂ = g² Nv/Nh E[(∂ log P(s'|ω) / ∂ω)²]  +  g² E[(∂ log Z / ∂ω)²]  with M,    Z = Σ_σ' P(σ'|ω) exp(B'σ')
    q  = E[tanh² F]         F = B + ½ log P(+|ω)/P(-|ω)

E being over ω, the states given ω, and the fields B of the precision q̂ that later data put on these. The share of wrong
signs is the probability of σF < 0.

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
_FINE = 4001  # nodes where a sharp edge is averaged over
_REACH = 7.0  # outermost node
_VARIANCES = 1e-9, 100.0  # rounding below, more nodes than are affordable above
_RATIOS = 1e-6, 1e6
_CLOSE = 1e-9  # relative change of the overlap and of the precision at which the iteration ends
_LONGEST = 10_000  # steps; a hundred are many


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
        ValueError: the variance does not lie between 1e-9 and 100, or the ratio not between 1e-6 and 1e6.
    """
    for name, value, (low, high) in (("variance", variance, _VARIANCES), ("ratio Nh / Nv", ratio, _RATIOS)):
        if not low <= value <= high:
            raise ValueError(f"The {name} must lie between {low:g} and {high:g}, got {value:g}.")
    overlap, precision = _settled((0.5, 1.0), variance, ratio, hidden_hidden)
    return ReplicaTheory(overlap, _wrong_signs(overlap, precision, variance, hidden_hidden))


def _settled(state: tuple[float, float], variance: float, ratio: float, hidden_hidden: bool) -> tuple[float, float]:
    """The overlap and the precision that reproduce themselves; wherever one began, they have come out the same."""
    for _ in range(_LONGEST):
        last, state = state, _iterated(*state, variance, ratio, hidden_hidden)
        if all(abs(now - then) < _CLOSE * max(1.0, now) for then, now in zip(last, state, strict=True)):
            return state
    raise ArithmeticError(f"Replica theory has not settled in {_LONGEST} steps at g² = {variance}, Nh / Nv = {ratio}.")


def _iterated(
    overlap: float, precision: float, variance: float, ratio: float, hidden_hidden: bool
) -> tuple[float, float]:
    """The next overlap and precision, of those before."""
    nodes, weights = _normal(variance)
    visible = _receiver(nodes, overlap, variance, hidden_hidden=True)
    hidden = visible if hidden_hidden else _receiver(nodes, overlap, variance, hidden_hidden=False)
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


def _wrong_signs(overlap: float, precision: float, variance: float, hidden_hidden: bool) -> float:
    """The share: where what follows pulls to the other side by more than what precedes holds."""
    z = np.linspace(-_REACH, _REACH, _FINE)
    density = np.exp(-0.5 * z**2)
    hidden = _receiver(z, overlap, variance, hidden_hidden=hidden_hidden)
    against = hidden.plus * ndtr(-(precision + hidden.prior) / np.sqrt(precision))
    return 2.0 * float(against @ density / density.sum())  # as much of σ = -1


@dataclass(frozen=True, eq=False)
class _Receiver:
    """A unit that receives, at some known parts ω of its field.

    Args:
        plus, minus: probabilities of its two states.
        slope: of `plus` over ω.
    """

    plus: Array
    minus: Array
    slope: Array

    @property
    def prior(self) -> Array:
        """The field that would have these probabilities, were all of it known."""
        return np.asarray(0.5 * np.log(self.plus / self.minus), np.float64)


def _receiver(z: Array, overlap: float, variance: float, *, hidden_hidden: bool) -> _Receiver:
    """A receiver of visible units and, if so, of hidden ones, at ω of z standard deviations."""
    nodes, weights = _normal(variance)
    known, unknown = (1.0 + overlap, 1.0 - overlap) if hidden_hidden else (1.0, 0.0)
    field = 2.0 * np.sqrt(variance) * (np.sqrt(known) * z[:, None] + np.sqrt(unknown) * nodes)
    plus, minus = expit(field), expit(-field)
    return _Receiver(plus @ weights, minus @ weights, 2.0 * (plus * minus) @ weights)


@lru_cache(maxsize=16)
def _normal(variance: float) -> tuple[Array, Array]:
    """Nodes and weights of the average over a standard normal variable: the trapezoid rule."""
    least, more = _NODES
    nodes = np.linspace(-_REACH, _REACH, least + 2 * round(more / 2.0 * np.sqrt(variance)))
    weights = np.exp(-0.5 * nodes**2)
    weights /= weights.sum()
    nodes.flags.writeable = weights.flags.writeable = False
    return nodes, weights
