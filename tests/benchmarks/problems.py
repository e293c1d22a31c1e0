"""Problems: what the engine and its peers are timed on, and the answers they must agree about.

    W1 simulation    W2 back-propagation (model A)    W3 exact, M = 0    W4 exact, M ≠ 0    W5 mean field    W6 Gibbs

Truths are drawn with coupling variance 1, learned couplings are four fifths of the truth, data are simulated once. A
problem that takes a peer minutes is cut to its first `peer_bins` bins for the peers, and their time scaled: sums over
time cost the same in every bin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hidviz import Couplings, Recording, random_couplings, simulate

Array = NDArray[np.float64]
Kind = Literal["simulation", "backprop", "exact", "chain", "mean-field", "gaussian", "e-step", "gibbs"]


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    Args:
        name: W and a number, as in the list above, and a letter.
        what: the same in words.
        kind: which function answers it.
        n_visible: Nv.
        n_hidden: Nh.
        n_steps: T, bins.
        hidden_hidden: whether M ≠ 0.
        peer_bins: bins that the peers are timed on; all of them when None.
        goal: how many times faster than JAX it should be; None for no goal.
    """

    name: str
    what: str
    kind: Kind
    n_visible: int
    n_hidden: int
    n_steps: int
    hidden_hidden: bool = False
    peer_bins: int | None = None
    goal: float | None = None

    @property
    def size(self) -> str:
        """The size in words."""
        couplings = "" if self.kind == "simulation" else ", M ≠ 0" if self.hidden_hidden else ", M = 0"
        return f"{self.n_visible} + {self.n_hidden}, T = {self.n_steps:,}{couplings}"

    def quick(self) -> Workload:
        """The same with a hundredth of the data, to see that everything runs."""
        return replace(self, n_steps=max(self.n_steps // 100, 100), peer_bins=None)


WORKLOADS = (
    Workload("W1", "simulation", "simulation", 20, 0, 1_000_000, goal=1.0),
    Workload("W2a", "back-propagation", "backprop", 18, 2, 10_000, goal=4.0),
    Workload("W2b", "back-propagation", "backprop", 18, 2, 10_000, hidden_hidden=True, goal=3.0),
    Workload("W2c", "back-propagation", "backprop", 80, 20, 100_000, goal=1.7),
    Workload("W2d", "back-propagation", "backprop", 80, 20, 100_000, hidden_hidden=True, goal=1.7),
    Workload("W3a", "exact", "exact", 10, 10, 10_000, peer_bins=2_000, goal=80.0),
    Workload("W3b", "exact", "exact", 10, 10, 100_000, peer_bins=2_000, goal=80.0),
    Workload("W3c", "exact", "exact", 8, 8, 1_000_000, peer_bins=10_000, goal=80.0),
    Workload("W3d", "exact", "exact", 5, 5, 1_000_000, peer_bins=100_000, goal=80.0),
    Workload("W4a", "exact", "chain", 10, 4, 10_000, hidden_hidden=True, goal=10.0),
    Workload("W4b", "exact", "chain", 10, 6, 10_000, hidden_hidden=True, goal=10.0),
    Workload("W4c", "exact", "chain", 10, 8, 10_000, hidden_hidden=True, peer_bins=2_000, goal=8.0),
    Workload("W5a", "mean field at given mu, lowest order", "mean-field", 80, 20, 10_000, goal=1.4),
    Workload("W5b", "mean field at given mu, Gaussian", "gaussian", 80, 20, 10_000, goal=6.0),
    Workload("W5c", "mean field with its E-step, lowest order", "e-step", 80, 20, 10_000),
    Workload("W6a", "Gibbs, one sweep and slopes", "gibbs", 8, 8, 100_000),
    Workload("W6b", "Gibbs, one sweep and slopes", "gibbs", 80, 20, 10_000),
)


@dataclass(frozen=True, eq=False)
class Problem:
    """Couplings to evaluate, data to evaluate them on; plain arrays, for engine and peers alike.

    Args:
        J: (Nv, Nv). K: (Nv, Nh). L: (Nh, Nv). M: (Nh, Nh), zero where hidden units are not coupled.
        s: (T, Nv) of ±1.
        mu: (T - 1, Nh) magnetisations to evaluate mean field at.
    """

    J: Array
    K: Array
    L: Array
    M: Array
    s: NDArray[np.int8]
    mu: Array

    @property
    def couplings(self) -> Couplings:
        """The couplings as the engine takes them."""
        return Couplings(self.J, self.K, self.L, self.M)

    @property
    def recording(self) -> Recording:
        """The data as the engine takes them."""
        return Recording(self.s)

    def first(self, n_bins: int | None) -> Problem:
        """The problem on its first bins; the whole problem for None."""
        return self if n_bins is None else replace(self, s=self.s[:n_bins], mu=self.mu[: n_bins - 1])


@dataclass(frozen=True, eq=False)
class Answer:
    """What an evaluation found.

    Args:
        value: objective, nats; for a simulation the log likelihood of what was drawn.
        gradient: slope in each learned block.
        sample: what was drawn: (T, N) states of a simulation, (T - 1, Nh) hidden states of a sampler.
    """

    value: float
    gradient: Mapping[str, Array]
    sample: Array | None = None

    @property
    def norm(self) -> float:
        """Length of the whole gradient."""
        return float(np.sqrt(sum((block**2).sum() for block in self.gradient.values())))


Evaluate = Callable[[], Answer]


def problem(workload: Workload, *, seed: int = 1) -> Problem:
    """The problem behind a workload, the same for everybody."""
    truth_rng, data_rng = np.random.default_rng(seed).spawn(2)
    w = workload
    truth = random_couplings(w.n_visible, w.n_hidden, truth_rng, hidden_hidden=w.hidden_hidden)
    J, K, L, M = (0.8 * block for block in (truth.J, truth.K, truth.L, truth.M))
    if w.kind == "simulation":  # the data are what is asked for
        return Problem(truth.J, truth.K, truth.L, truth.M, np.ones((w.n_steps, w.n_visible), np.int8), np.zeros((0, 0)))
    hidden: Literal["continuous", "stochastic"] = "continuous" if w.kind == "backprop" else "stochastic"
    s = simulate(truth, w.n_steps, data_rng, hidden=hidden).recording.trials[0]
    mu = np.zeros((0, 0))
    if w.kind in ("mean-field", "gaussian", "e-step"):
        x = s.astype(np.float64)
        mu = 0.5 * (x[1:] - np.tanh(x[:-1] @ J.T)) @ K
        mu[1:] += x[:-2] @ L.T
        mu = 0.9 * np.tanh(mu)
    return Problem(J, K, L, M, s, mu)
