"""Regularisation: the L2 penalty of each block of couplings, fixed or learned from the data by evidence; an L1 penalty.

A penalty is a normal prior centred at 0: with n transitions the weight w_b of block b, in ½ w_b Σ θ² per bin, is the
precision α_b = n w_b. The data themselves say how precise. With H = -∂² log P[s] / ∂θ∂θᵀ at the present couplings and
Σ = (H + diag α)⁻¹, the evidence ∫ P[s|θ] P[θ|α] dθ in Laplace's approximation is stationary where (MacKay 1992)

    α_b = γ_b / |θ_b|²,    γ_b = N_b - α_b tr Σ_bb       how many of the N_b couplings the data determine

With little data one block trades its scale for another's (K → cK, L → L/c), which the evidence of single blocks hardly
sees; all blocks of the usual ensembles have one g², variance g² / senders, and J tells it best. Each block is
therefore lent as many couplings of that g² as it has itself, and its variance stays within a factor of 4 of it, so
that a mean field that runs away cannot take its penalty along:

    g² = senders |J|² / γ_J         α_b = (γ_b + N_b) / (|θ_b|² + N_b g² / senders_b)

A maximum is not a mean. Continuous hidden units saturate where couplings are strong, and their L is shortened as a
block by priors that change each of its couplings hardly: even with the truth's own variances it ends further from the
truth than without a penalty, where the data determine all of it, while J gains, and K with it. For such units blocks
other than J are therefore held as far as they need it:

    w_b = α_b min(1, u_b / .05) / n        u_b = α_b tr Σ_bb / N_b        the share that the data leave undetermined

One coupling that runs away makes u_b large and so is held. Where data are plentiful α_b no longer matters: it stays of
order senders / g² while H grows as n. Biases are free.

tr Σ_bb = <z_b · Σ z>  over random signs z; Σ z is solved for by conjugate gradients, whose products H v are differences
of the learner's gradient. A learner that samples has no such differences: there H is taken to be a number in each
block, the curvature of the complete-data likelihood less the variance of its slope over samples (Louis' identity).

Not a likelihood penalty for mean field: its objective is none, and what is called evidence here is only as good.

An L1 penalty Σ w_k |θ_k| beside it sets couplings to exactly zero. Its weights, one of each coupling, are fixed; they
follow the hidden units through relabellings, and flips leave them as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from hidviz.learners import BIAS_PENALTY, Estimate, Learner
from hidviz.network import Couplings, Gauge, block_shapes, regauge
from hidviz.numerics import Array

LENT = 1.0  # couplings of J's g² lent to a block, for each of its own
FARTHEST = 4.0  # factor that a block's variance may be from J's, for as many senders
NEEDED, LEAST = 0.05, 0.02  # undetermined share of a block from which its weight is whole; what is kept at least
LARGEST_CHANGE = 2.0  # factor by which one update may change a weight
SETTLED = 0.05  # an update that changes no weight by more than this share is the last
MOST_UPDATES = 12
NEAR, AT_LATEST = 1e-4, 60  # slope, nats per bin, from which the weights are updated; else after so many steps
FEWEST = 0.02  # share of its couplings that a block counts as determined at least
LOST = 0.01  # share of bins without a solved E-step, above which the weights stay
ENTRIES = 100  # of all random signs together, so that small networks average over several
MOST_PRODUCTS, RESIDUAL = 20, 2e-2  # of conjugate gradients, for each vector of signs
DIFFERENCE = 1e-4  # root mean square change of the couplings behind a difference of gradients
SAMPLES, SAMPLED_UPDATES = 10, 16  # sweeps behind an update of a sampling learner, and updates in its horizon

Choice = float | Literal["learned"]


@dataclass(frozen=True)
class Penalty:
    """The weight of the L2 penalty in each block, and how it came to be.

    Args:
        weights: block → w in ½ w Σ θ², nats per bin.
        determined: block → how many of its couplings the data determine, γ; empty if the weights are fixed.
        learned: whether the weights follow the data.
        settled: whether they are final.
        updates: how often they were updated.
        since: the step of the last update.
        l1: the weight of |θ| of each coupling, nats per bin; None for no L1 penalty.
    """

    weights: Mapping[str, float]
    determined: Mapping[str, float] = field(default_factory=dict)
    learned: bool = False
    settled: bool = True
    updates: int = 0
    since: int = 0
    l1: Couplings | None = None

    def vector(self, couplings: Couplings, blocks: tuple[str, ...]) -> Array:
        """The weight of every entry of `couplings.vector(blocks)`."""
        return np.concatenate([np.full(getattr(couplings, name).size, self.weights.get(name, 0.0)) for name in blocks])

    def l1_vector(self, blocks: tuple[str, ...]) -> Array | None:
        """The L1 weight of every entry of `couplings.vector(blocks)`."""
        return None if self.l1 is None else self.l1.vector(blocks)

    def regauged(self, gauge: Gauge) -> Penalty:
        """The penalty after hidden units were relabelled and flipped."""
        if self.l1 is None:
            return self
        moved = regauge(self.l1, gauge)
        return replace(self, l1=moved.with_vector(np.abs(moved.vector())))

    def is_due(self, step: int, largest_gradient: float, horizon: int | None) -> bool:
        """Whether the weights are to be updated here.

        Args:
            step: of learning.
            largest_gradient: largest free entry of the gradient of the penalised cost per bin.
            horizon: steps of a sampling learner, of which the last fifth is averaged at fixed weights; else None.
        """
        if not self.learned or self.settled or step <= self.since:
            return False
        if horizon is not None:
            return step % max(horizon // SAMPLED_UPDATES, 1) == 0 and step <= 0.8 * horizon
        return largest_gradient <= NEAR or step >= self.since + AT_LATEST


def first_penalty(choice: Choice, learner: Learner, l1: Couplings | None = None) -> Penalty:
    """The penalty that learning begins with: the fixed one, or that of the block with most senders at g² = 1.

    A fixed one leaves biases free, as a learned one does: they hold rates, which a penalty would move. What they keep
    of it, `BIAS_PENALTY` at most, gives a unit that never fires a finite bias.

    Weights that begin large and fall let hidden units find what they share before each can fit noise of its own.
    """
    senders = _senders(learner)
    if choice != "learned":
        free = min(choice, BIAS_PENALTY)
        return Penalty({name: choice if name in senders else free for name in learner.learned}, l1=l1)
    begin = max(senders.values()) / learner.n_transitions
    weights = {name: begin for name in learner.learned if name in senders}
    return Penalty(weights, learned=True, settled=not weights, l1=l1)


def updated(
    penalty: Penalty, learner: Learner, couplings: Couplings, estimate: Estimate, step: int
) -> tuple[Penalty, int]:
    """The penalty with its weights moved towards more evidence, and the number of evaluations that took.

    Args:
        penalty: a learned one; its weights stay where the penalised cost has no curvature of a minimum yet.
        learner: what is being learned with.
        couplings: at which the evidence is approximated; near the optimum of the penalised cost.
        estimate: of the learner there.
        step: of learning.
    """
    updates, evaluations = penalty.updates + 1, 0
    found = None
    if estimate.unconverged <= LOST * learner.n_transitions:  # else there is no slope to take differences of
        traces = _sampled_traces if learner.stochastic else _traces
        found, evaluations = traces(penalty, learner, couplings, estimate)
    if found is None:
        return replace(penalty, updates=updates, since=step, settled=updates >= MOST_UPDATES), evaluations
    n, senders = learner.n_transitions, _senders(learner)
    squares = {name: float(np.sum(getattr(couplings, name) ** 2)) for name in penalty.weights}
    sizes = {name: getattr(couplings, name).size for name in penalty.weights}
    determined = {
        name: float(np.clip(size - n * penalty.weights[name] * found[name], FEWEST * size, size))
        for name, size in sizes.items()
    }
    common = max(senders["J"] * squares["J"] / determined["J"], 1e-9)
    weights = {}
    for name, size in sizes.items():
        usual = common / senders[name]
        variance = (squares[name] + LENT * size * usual) / (determined[name] + LENT * size)
        wanted = 1.0 / (n * np.clip(variance, usual / FARTHEST, usual * FARTHEST))
        if learner.continuous and name != "J":
            wanted *= _needed(n * wanted * found[name] / size)
        now = penalty.weights[name]
        weights[name] = float(np.clip(wanted, now / LARGEST_CHANGE, now * LARGEST_CHANGE))
    change = max(abs(float(np.log(weights[name] / penalty.weights[name]))) for name in weights)
    last = updates >= MOST_UPDATES or (change < SETTLED and not learner.stochastic)
    return Penalty(weights, determined, True, last, updates, step, penalty.l1), evaluations


def _needed(undetermined: float) -> float:
    """How much of its weight a block keeps, of which so large a share is undetermined."""
    return float(np.clip(undetermined / NEEDED, LEAST, 1.0))


def changed_pairs(pairs: tuple[Array, ...], change: Array) -> tuple[Array, ...]:
    """The memory of L-BFGS after the weight of every entry changed by so much: steps, and differences of gradients.

    The penalty is quadratic, so a difference of gradients y over a step x changes by exactly `change` · x. Pairs along
    which the cost no longer curves upwards are forgotten.
    """
    kept: tuple[Array, ...] = ()
    for x, y in zip(pairs[::2], pairs[1::2], strict=True):
        new = y + change * x
        if x @ new > 1e-12 * np.sqrt((x @ x) * (new @ new)):
            kept = (*kept, x, new)
    return kept


def _senders(learner: Learner) -> dict[str, int]:
    """How many units send to a receiver in each block with a prior; biases have none."""
    shapes = block_shapes(learner.n_visible, learner.n_hidden)
    return {name: shapes[name][1] for name in ("J", "K", "L", "M")}


def _traces(
    penalty: Penalty, learner: Learner, couplings: Couplings, estimate: Estimate
) -> tuple[dict[str, float] | None, int]:
    """Tr Σ_bb of every block, by random signs and conjugate gradients, and the number of evaluations."""
    blocks = learner.learned
    theta, gradient = couplings.vector(blocks), estimate.gradient.vector(blocks)
    places = _places(couplings, blocks)
    precision = learner.n_transitions * penalty.vector(couplings, blocks)

    def curved(v: Array) -> Array:
        scale = DIFFERENCE / np.sqrt(np.mean(v * v))
        moved = learner(couplings.with_vector(theta + scale * v, blocks), estimate.beliefs)
        found: Array = (gradient - moved.gradient.vector(blocks)) / scale
        return found

    n_probes = -(-ENTRIES // theta.size)
    rng, evaluations = np.random.default_rng(0), 0
    traces = dict.fromkeys(penalty.weights, 0.0)
    for _ in range(n_probes):
        signs = rng.choice([-1.0, 1.0], theta.size)
        mean = np.empty_like(theta)
        first = curved(signs)
        for place in places.values():
            mean[place] = max(float(signs[place] @ first[place]) / max(theta[place].size, 1), 0.0)
        solution, products = _solve(curved, precision, signs, 1.0 / (mean + precision + 1e-9))
        evaluations += 1 + products
        if solution is None:
            return None, evaluations
        for name in traces:
            traces[name] += float(signs[places[name]] @ solution[places[name]]) / n_probes
    return traces, evaluations


def _solve(
    curved: Callable[[Array], Array], precision: Array, right: Array, inverse: Array
) -> tuple[Array | None, int]:
    """X in (H + diag precision) x = right by conjugate gradients, and how many products it took.

    Far from a maximum the curvature may be negative: then there is no x.
    """
    x, rest = np.zeros_like(right), right.copy()
    direction = inverse * rest
    size = start = float(rest @ direction)
    for k in range(MOST_PRODUCTS):
        bent = curved(direction) + precision * direction
        curvature = float(direction @ bent)
        if curvature <= 1e-9 * float(direction @ (direction / inverse)):
            return None, k + 1
        x = x + size / curvature * direction
        rest = rest - size / curvature * bent
        smoothed = inverse * rest
        before, size = size, float(rest @ smoothed)
        if size <= RESIDUAL**2 * start:
            return x, k + 1
        direction = smoothed + size / before * direction
    return x, MOST_PRODUCTS


def _sampled_traces(
    penalty: Penalty, learner: Learner, couplings: Couplings, estimate: Estimate
) -> tuple[dict[str, float] | None, int]:
    """Tr Σ_bb with one curvature for each block: that of the complete data, less what is missing of them."""
    assert learner.held is not None
    assert estimate.beliefs is not None
    blocks, n = learner.learned, learner.n_transitions
    theta, places = couplings.vector(blocks), _places(couplings, learner.learned)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], theta.size)
    moved = learner.held(couplings.with_vector(theta + DIFFERENCE * signs, blocks), estimate.beliefs)
    here = learner.held(couplings, estimate.beliefs)
    complete = (here.gradient.vector(blocks) - moved.gradient.vector(blocks)) / DIFFERENCE
    slopes = [here.gradient.vector(blocks)]
    last = estimate
    for _ in range(SAMPLES):
        last = learner(couplings, last.beliefs)
        slopes.append(last.gradient.vector(blocks))
    missing = np.var(slopes, axis=0, ddof=1)
    traces = {}
    for name in penalty.weights:
        place = places[name]
        whole = float(signs[place] @ complete[place])
        size, precision = theta[place].size, n * penalty.weights[name]
        left = max(whole - float(missing[place].sum()), FEWEST * whole, 0.0)
        traces[name] = size / (left / size + precision)
    return traces, SAMPLES + 2


def _places(couplings: Couplings, blocks: tuple[str, ...]) -> dict[str, slice]:
    """Where each block lies in `couplings.vector(blocks)`."""
    ends = np.cumsum([getattr(couplings, name).size for name in blocks]).tolist()
    return {name: slice(begin, end) for name, begin, end in zip(blocks, [0, *ends[:-1]], ends, strict=True)}
