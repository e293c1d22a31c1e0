"""L1: a penalty on the sizes of couplings, Σ w_k |θ_k|, that sets those to zero which the data do not ask for.

Weights stand in the place of the couplings they are of. Biases are free. With one weight λ of all, couplings that are
there shrink by as much as those that are not; adaptive weights (Zou, JASA 101, 1418, 2006) follow a first estimate θ⁰:

    w_k = λ (median|θ⁰| / |θ⁰_k|)^½

The penalty is the same in every gauge where the weights move with the hidden units. K = L = 0 is a minimum of the
penalised cost at any λ, since the likelihood is flat there: so a path of λ rises, from couplings to none, and a hidden
unit that has gone does not come back.
"""

from __future__ import annotations

import numpy as np

from hidviz.learners import Learner
from hidviz.network import MATRICES, Couplings, block_shapes
from hidviz.numerics import Array

SMALLEST = 1e-3  # a coupling of the first estimate counts as this large at least


def l1_weights(l1: float | Couplings, learner: Learner, optimiser: str) -> Couplings | None:
    """The weight of each coupling that a learner learns; None for no penalty.

    Args:
        l1: one weight of all couplings, or one of each.
        learner: what is being learned with.
        optimiser: a name in OPTIMISERS.

    Raises:
        ValueError: a weight is below 0 or not finite, there are others than of these couplings, or learner or optimiser
            cannot minimise such a penalty.
    """
    weights = l1 if isinstance(l1, Couplings) else _alike(float(l1), learner)
    if (weights.n_visible, weights.n_hidden) != (learner.n_visible, learner.n_hidden):
        raise ValueError(
            f"L1 weights must be those of {learner.n_visible} visible and {learner.n_hidden} hidden units, "
            f"got {weights.n_visible} and {weights.n_hidden}."
        )
    vector = weights.vector()
    if (vector < 0.0).any():
        raise ValueError(f"l1 must be a number not below 0, got {vector.min():g}.")
    if not vector.any():
        return None
    if learner.stochastic:
        raise ValueError(
            "An L1 penalty needs exact gradients, and this learner's are sampled: take the exact learner or mean field."
        )
    if optimiser != "l-bfgs":
        raise ValueError(f"An L1 penalty is minimised by L-BFGS alone, got optimiser={optimiser!r}: leave it out.")
    return weights


def adaptive_weights(first: Couplings, learned: tuple[str, ...]) -> Couplings:
    """The weight of each coupling at λ = 1: the smaller, the larger the coupling of a first estimate.

    Args:
        first: the estimate.
        learned: names of the blocks learned.
    """
    names = [name for name in MATRICES if name in learned]
    sizes: Array = np.maximum(np.abs(first.vector(names)), SMALLEST)
    nothing = first.with_vector(np.zeros(first.vector().size))
    return nothing.with_vector(np.sqrt(np.median(sizes) / sizes), names)


def times(weights: Couplings, factor: float) -> Couplings:
    """Weights, all of them larger by a factor."""
    return weights.with_vector(factor * weights.vector())


def _alike(l1: float, learner: Learner) -> Couplings:
    if not np.isfinite(l1):
        raise ValueError(f"l1 must be a number not below 0, got {l1}.")
    shapes = block_shapes(learner.n_visible, learner.n_hidden)
    blocks = {name: np.full(shapes[name], l1 * (name in learner.learned)) for name in MATRICES}
    return Couplings(**blocks)
