"""Error paths: back-propagation taken apart, one error on its way back through the hidden units (the paper's Fig. 2).

The error of visible unit i at t+q+2 reaches hidden unit a at t+1 by every chain of hidden units c_q, …, c_1, c_0 = a
at t+q+1, …, t+1. Such a path contributes the product with X_c = 1 - mu_c², eqs. 12 (`dLresult`) and 13 (`dMresult`):

    eps_i(t+q+2) · K_i,c_q · X_c_q(t+q+1) · M_c_q,c_(q-1) · X_c_(q-1)(t+q) ··· M_c_1,a · X_a(t+1)

Summed over i, chains and q, this is del_a(t+1); dL_al = sum_t del_a(t+1) s_l(t), dM_ab = sum_t del_a(t+1) mu_b(t).
Printed with q up to t-1 and factors in reading order; here q runs up to T-3-t, and time decreases along the product.

There are Nv · Nh^q paths of delay q; with M = 0 only those of q = 0. This is for looking, one bin at a time: the
learner `backprop` sums all of them by a recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import prod

import numpy as np
from numpy.typing import NDArray

from hidviz.network import Couplings, Recording
from hidviz.numerics import Array, States


@dataclass(frozen=True, eq=False)
class Excerpt:
    """What back-propagation knows of an excerpt of a trial that begins at bin t: row k belongs to bin t + k.

    Args:
        couplings: the network.
        s: (n + 1, Nv) visible states.
        mu: (n, Nh) states of the continuous hidden units; those of the last bin predict nothing.
        eps: (n, Nv) errors: row k is eps(t + k + 1) = s(t + k + 1) - tanh H(t + k).
        X: (n, Nh) slopes 1 - mu².
    """

    couplings: Couplings
    s: Array
    mu: Array
    eps: Array
    X: Array

    @property
    def n_delays(self) -> int:
        """Number of delays q = 0, 1, … whose errors lie within the excerpt."""
        return max(0, len(self.mu) - 1)


@dataclass(frozen=True)
class Path:
    """One way of an error back to the receiving hidden unit.

    Args:
        source: the visible unit i whose error it is.
        units: hidden units on the way, from the future back; the last is the receiving one.
        factors: eps, K, X, then M, X for every further hidden unit; in the order of `units`.
    """

    source: int
    units: tuple[int, ...]
    factors: tuple[float, ...]

    @property
    def product(self) -> float:
        """What the path contributes to del_a(t+1), before the factor of the sender."""
        return prod(self.factors)


def excerpt(couplings: Couplings, states: States, mu: Array) -> Excerpt:
    """An excerpt of one trial.

    Args:
        couplings: the network.
        states: (n + 1, Nv) visible states of consecutive bins.
        mu: (n, Nh) hidden states of all these bins but the last; 0 at the first bin of a trial.
    """
    s = states.astype(np.float64)
    H = couplings.h + s[:-1] @ couplings.J.T + mu @ couplings.K.T
    return Excerpt(couplings, s, mu, s[1:] - np.tanh(H), 1.0 - mu**2)


def excerpt_at(couplings: Couplings, recording: Recording, hidden: Array, t: int, n_delays: int) -> Excerpt:
    """The excerpt that holds n_delays delays behind bin t of a recording, or as many as its trial has.

    Args:
        couplings: the network.
        recording: one or more trials.
        hidden: (n_transitions, Nh) mu at the start of each transition: the `Beliefs.hidden` of back-propagation.
        t: bin of the sender, counted through all trials; not the last of a trial.
        n_delays: number of delays wanted.
    """
    k = 0
    begin = t
    while begin >= len(recording.trials[k]):
        begin -= len(recording.trials[k])
        k += 1
    states = recording.trials[k][begin : begin + n_delays + 2]
    row = t - k  # each trial before this one has one transition less than bins
    return excerpt(couplings, states, hidden[row : row + len(states) - 1])


def by_delay(excerpt: Excerpt, receiver: int) -> Array:
    """For each delay q the sum of all paths to the receiving unit at t+1, (n_delays,); they add up to del_a(t+1)."""
    K, M = excerpt.couplings.K, excerpt.couplings.M
    shares = np.zeros(excerpt.n_delays)
    reached = np.zeros(len(M))  # how a change of B_a(t) shows in each hidden unit at t+q+1
    for q in range(excerpt.n_delays):
        reached = excerpt.X[q + 1] * (M @ reached if q else np.eye(len(M))[receiver])
        shares[q] = excerpt.eps[q + 1] @ K @ reached
    return shares


def n_paths(n_visible: int, n_hidden: int, q: int) -> int:
    """Number of paths of delay q to one receiving unit: Nv · Nh^q."""
    return int(n_visible * n_hidden**q)


def strongest_paths(excerpt: Excerpt, receiver: int, q: int, n: int) -> list[Path]:
    """The n paths of delay q with the largest products in size, strongest first; none whose product is 0.

    Best partial paths extend to best paths, since sizes multiply: n of them are kept at each hidden unit and bin.
    """
    eps, K, M, X = excerpt.eps, excerpt.couplings.K, excerpt.couplings.M, excerpt.X
    sizes = np.abs(eps[q + 1][:, None] * K).T * X[q + 1][:, None]  # (Nh, Nv): at each hidden unit, from each source
    best, origins = _largest(sizes, n)
    steps = []
    for k in range(q, 0, -1):
        sizes = np.abs(M.T)[:, :, None] * best[None] * X[k][:, None, None]  # (to, from, kept there)
        kept = best.shape[1]
        best, places = _largest(sizes.reshape(len(M), -1), n)
        steps.append((places // kept, places % kept))
    paths = []
    for rank in range(best.shape[1]):
        if best[receiver, rank] > 0.0:
            units, place = [receiver], rank
            for before, kept_there in reversed(steps):
                unit = units[-1]
                units.append(int(before[unit, place]))
                place = int(kept_there[unit, place])
            source = int(origins[units[-1], place])
            paths.append(_path(excerpt, source, units[::-1]))
    return paths


def _largest(sizes: Array, n: int) -> tuple[Array, NDArray[np.intp]]:
    """The n largest entries of each row in order, and their places."""
    places = np.argsort(-sizes, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(sizes, places, axis=1), places


def _path(excerpt: Excerpt, source: int, units: list[int]) -> Path:
    q = len(units) - 1
    factors = [excerpt.eps[q + 1, source], excerpt.couplings.K[source, units[0]], excerpt.X[q + 1, units[0]]]
    for k, (later, earlier) in enumerate(pairwise(units)):
        factors += [excerpt.couplings.M[later, earlier], excerpt.X[q - k, earlier]]
    return Path(source, tuple(units), tuple(float(factor) for factor in factors))
