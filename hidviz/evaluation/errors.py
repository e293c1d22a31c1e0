"""Errors: how far an estimate is from the truth, and how well it explains data.

    rms_X      = √ mean (X_found - X_true)²            per block X, as found and after alignment
    AIC        = cost + N                              cost = -log likelihood in nats, N parameters
    BIC        = cost + N/2 · log n                    n transitions
    TIC        = cost + N*                             N* effective parameters, see `effective_parameters`

Printed with BIC = cost + N log N in sec. 3.2; the usual criterion is the one here. Learners never see any of this.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hidviz.network import BLOCKS, Couplings, aligned, with_hidden
from hidviz.numerics import Array


@dataclass(frozen=True)
class Criteria:
    """What a fit costs once its parameters are paid for, in nats, summed over all transitions.

    Args:
        cost: -log likelihood.
        n_parameters: N, number of learned couplings and biases.
        n_transitions: n.
        aic: Akaike's criterion.
        bic: Schwarz's criterion.
        n_effective: N*, the effective number of parameters; None if it was not found.
    """

    cost: float
    n_parameters: int
    n_transitions: int
    aic: float
    bic: float
    n_effective: float | None = None

    @property
    def tic(self) -> float | None:
        """Takeuchi's criterion, Akaike's with N* in place of N; None without N*."""
        return None if self.n_effective is None else self.cost + self.n_effective


def criteria(
    log_likelihood: float, n_parameters: int, n_transitions: int, *, n_effective: float | None = None
) -> Criteria:
    """AIC, BIC and TIC of a fit.

    Args:
        log_likelihood: of the training data at the fit, nats; never a mean-field objective, which is none.
        n_parameters: number of learned entries.
        n_transitions: number of transitions the likelihood is summed over.
        n_effective: effective number of parameters, where it is known.
    """
    cost = -log_likelihood
    bic = cost + 0.5 * n_parameters * float(np.log(n_transitions))
    return Criteria(cost, n_parameters, n_transitions, cost + n_parameters, bic, n_effective)


def differences(estimate: Couplings, truth: Couplings) -> dict[str, Array]:
    """Found minus true, block by block, as they stand; missing hidden units count as unconnected ones."""
    n = max(estimate.n_hidden, truth.n_hidden)
    found, true = with_hidden(estimate, n), with_hidden(truth, n)
    return {name: getattr(found, name) - getattr(true, name) for name in BLOCKS}


def mean_square_errors(estimate: Couplings, truth: Couplings, *, align: bool) -> dict[str, float]:
    """Mean square error of each block; 0 for an empty one.

    Args:
        estimate: any couplings.
        truth: the couplings to compare with; the number of hidden units may differ.
        align: whether to bring the estimate into its best gauge first.
    """
    errors = differences(aligned(estimate, truth) if align else estimate, truth)
    return {name: float(np.mean(error**2)) if error.size else 0.0 for name, error in errors.items()}


def rms_errors(estimate: Couplings, truth: Couplings, *, align: bool) -> dict[str, float]:
    """Root mean square error of each block; 0 for an empty one.

    Args:
        estimate: any couplings.
        truth: the couplings to compare with; the number of hidden units may differ.
        align: whether to bring the estimate into its best gauge first.
    """
    return {name: value**0.5 for name, value in mean_square_errors(estimate, truth, align=align).items()}
