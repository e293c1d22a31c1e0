"""Sparse fit: visible couplings most of which are exactly zero, by an L1 penalty chosen by cross-validation.

Where few units are connected, a penalty on the sum of sizes finds which: it sets what the data do not ask for to zero,
where an L2 penalty would only shrink it. It shrinks the others too, by as much each; so it is adaptive (Zou, JASA 101,
1418, 2006): each coupling has a weight of its own, the smaller the larger the coupling is without a penalty,

    λ_ij = λ (median|J⁰| / |J⁰_ij|)^½        J⁰ the plain fit of the same data

The path runs from the λ at which every coupling is zero downwards. The blocks to learn from and to stop by are dealt
out in five folds; the λ that predicts each fold best from the other four is kept, scaled as noise is, with 1/√n. The
judging part is not seen unless it is given away. Biases are free. For networks without hidden units.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hidviz.background import checkpoint
from hidviz.evaluation import TINY
from hidviz.learners import logistic_fit, prepare, sparse_rows
from hidviz.network import Couplings, Parts, Recording
from hidviz.numerics import Array

N_WEIGHTS = 30
FOLDS = 5
LEAST = 1e-3  # of the weight at which all is zero
SMALLEST = 1e-3  # a coupling of the plain fit counts as this large at least


@dataclass(frozen=True, eq=False)
class SparseFit:
    """The fit, and the path that led to it.

    Args:
        couplings: J and h.
        weight: λ, chosen, per bin.
        weights: those tried, falling.
        left_out: cost on what was left out at each, nats per bin.
        n_zero: couplings that are exactly zero.
        entered: (Nv, Nv) the largest λ at which each coupling is not zero; 0 if it is at all of them. The larger, the
            surer that the units are connected.
    """

    couplings: Couplings
    weight: float
    weights: Array
    left_out: Array
    n_zero: int
    entered: Array


def sparse_fit(parts: Parts, *, bias: bool = True, everything: bool = False) -> SparseFit:
    """Fit visible couplings with an L1 penalty.

    Args:
        parts: what `divide` made of a recording.
        bias: fit h too, without a penalty.
        everything: learn from the judging part too; then nothing is left to judge by.
    """
    known = parts[:3] if everything else parts[:2]
    both = parts.learn.with_trials([trial for part in known for trial in part.trials])
    weights, path = sparse_path(both, bias=bias)
    total, folds = np.zeros(len(weights)), min(FOLDS, len(both.trials))
    for fold in range(folds):
        kept = both.with_trials([trial for k, trial in enumerate(both.trials) if k % folds != fold])
        judge = prepare("visible", both.with_trials(both.trials[fold::folds]), n_hidden=0, bias=True)
        noise, scales = (both.n_transitions / kept.n_transitions) ** 0.5, adaptive_scales(kept, bias=bias)
        couplings = path[0]
        for k, weight in enumerate(weights):
            couplings = sparse_couplings(kept, float(weight * noise) * scales, bias=bias, start=couplings)
            total[k] -= judge(couplings).objective
    best = int(total.argmin())
    entered = np.zeros_like(path[best].J)
    for weight, found in zip(weights[::-1], path[::-1], strict=True):
        entered[found.J != 0.0] = weight
    return SparseFit(
        path[best], float(weights[best]), weights, total / both.n_transitions, int((path[best].J == 0.0).sum()), entered
    )


def sparse_path(recording: Recording, *, bias: bool = True) -> tuple[Array, list[Couplings]]:
    """Couplings along falling weights, the first of which sets every coupling to zero.

    Args:
        recording: what to learn from.
        bias: fit h too, without a penalty.
    """
    n_visible = recording.n_visible
    nothing = Couplings(np.zeros((n_visible,) * 2), np.zeros((n_visible, 0)), np.zeros((0, n_visible)))
    scales = adaptive_scales(recording, bias=bias)
    alone = sparse_couplings(recording, 1e9 * scales, bias=bias, start=nothing)
    rise = prepare("visible", recording, n_hidden=0, bias=True)(alone).gradient.J / recording.n_transitions
    weights = float((np.abs(rise) / scales).max()) * np.geomspace(1.0, LEAST, N_WEIGHTS)
    found = [alone]
    for weight in weights[1:]:
        checkpoint()
        found.append(sparse_couplings(recording, float(weight) * scales, bias=bias, start=found[-1]))
    return weights, found


def adaptive_scales(recording: Recording, *, bias: bool = True) -> Array:
    """(Nv, Nv) the weight of each coupling beside λ: the smaller, the larger the coupling of the plain fit."""
    plain = np.abs(logistic_fit(recording, bias=bias, penalty=TINY).couplings.J)
    return np.asarray(np.sqrt(max(float(np.median(plain)), SMALLEST) / np.maximum(plain, SMALLEST)))


def sparse_couplings(recording: Recording, weights: Array | float, *, bias: bool = True, start: Couplings) -> Couplings:
    """The best couplings at given weights of the L1 penalty, per bin.

    Args:
        recording: what to learn from.
        weights: of the penalty, Σ weights |J|; (Nv, Nv), or one of all.
        bias: fit h too, without a penalty.
        start: couplings to start from.
    """
    data, n_visible = recording.transitions(), recording.n_visible
    constant = np.ones((recording.n_transitions, int(bias)), np.int8)
    senders: NDArray[np.int8] = np.ascontiguousarray(np.column_stack([data.present, constant]).T)
    of_each = np.zeros((n_visible, len(senders)))
    of_each[:, :n_visible] = weights
    field = recording.external_fields()
    rows = sparse_rows(
        senders, np.ascontiguousarray(2 * data.following.T), of_each,
        start=np.column_stack([start.J, start.h])[:, : len(senders)], offset=None if field is None else field.T,
    )  # fmt: skip
    return Couplings(rows[:, :n_visible], start.K, start.L, h=rows[:, n_visible] if bias else None)  # type: ignore[arg-type]  # zeros
