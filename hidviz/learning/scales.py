"""Scales: at convergence, whether the data tell how large each hidden unit's K is against its L.

For weak couplings they hardly do: K_a → c K_a, L_a → L_a / c costs almost nothing, and a fit may end anywhere along
that valley with a gradient as small as any. With v the direction of log c, and C the cost in nats with its penalty,

    standard error of log c ≥ 1 / √(vᵀ ∂²C v)         vᵀ ∂²C v from gradients a little to either side

The bound is that at fixed other couplings; `hidviz.evaluation.error_bars` has the whole.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hidviz.learners import Learner
from hidviz.learning.remarks import Cure, Remark
from hidviz.learning.snapshot import Snapshot
from hidviz.learning.stopping import LISTED
from hidviz.network import Couplings
from hidviz.numerics import Array

LOOSE = 0.7  # standard error of log c from which a scale is open: a factor of two
STEP = 1e-3  # of log c behind a difference of gradients


def scale_errors(snapshot: Snapshot, learner: Learner) -> Array:
    """Least standard error of log c of each hidden unit, (Nh,); infinite where nothing holds it."""
    couplings, blocks, n = snapshot.couplings, learner.learned, learner.n_transitions
    weights = n * snapshot.penalty.vector(couplings, blocks)

    def slope(theta: Array) -> Array:
        return weights * theta - learner(couplings.with_vector(theta, blocks)).gradient.vector(blocks)

    theta = couplings.vector(blocks)
    errors = np.full(couplings.n_hidden, np.inf)
    for a in range(couplings.n_hidden):
        K, L = np.zeros_like(couplings.K), np.zeros_like(couplings.L)
        K[:, a], L[a] = couplings.K[:, a], -couplings.L[a]
        along = Couplings(np.zeros_like(couplings.J), K, L).vector(blocks)
        curvature = float(along @ (slope(theta + STEP * along) - slope(theta - STEP * along))) / (2.0 * STEP)
        errors[a] = curvature**-0.5 if curvature > 0.0 else np.inf
    return errors


def with_scales(snapshot: Snapshot, learner: Learner) -> Snapshot:
    """A snapshot that has converged, with a remark where scales are open; any other as it is.

    A unit that an L1 penalty has left without couplings has no scale, and none is missed.
    """
    has_scales = {"K", "L"} <= set(learner.learned) and learner.held is None
    if snapshot.state != "converged" or not has_scales:
        return snapshot
    errors = scale_errors(snapshot, learner)
    after = replace(snapshot, evaluations=snapshot.evaluations + 2 * len(errors))
    K, L = snapshot.couplings.K, snapshot.couplings.L
    gone = ~(K.any(axis=0) | L.any(axis=1)) & (snapshot.penalty.l1 is not None)
    loose = np.flatnonzero((errors > LOOSE) & ~gone)
    if not len(loose):
        return after
    return replace(
        after,
        remarks=(
            *after.remarks,
            _loose([int(unit) + 1 for unit in loose], float(errors[loose].max()), snapshot.penalty.learned),
        ),
    )


def _loose(units: list[int], worst: float, learned: bool) -> Remark:
    which = ", ".join(str(unit) for unit in units[:LISTED]) + (" …" if len(units) > LISTED else "")
    known = f"to a factor of {np.exp(worst):.1f} at best" if worst < 5.0 else "not at all"
    sentence = (
        f"The scale of hidden unit{'s' * (len(units) > 1)} {which} is open: along K → cK, L → L/c the factor c is "
        f"known {known}, so that K and L may be far off. Record longer"
        + ("." if learned else ", or let a penalty be learned.")
    )
    return Remark("open scale", sentence, None if learned else Cure("Learn the penalty", {"penalty": "learned"}))
