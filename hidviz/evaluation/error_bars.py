"""Error bars: how well the data tell each coupling, from the curvature of the exact likelihood where the fit stands.

    standard error of θ_k = √ (I⁻¹)_kk            I = observed information, see `information`
    mean square error of a block ≈ mean of (I⁻¹)_kk over the block      ∝ 1/T: the line of the learning curves

I⁻¹ is a pseudo-inverse. Directions along which a step of length 1 costs less than half a nat are called flat: the data
say nothing of them within the size of any coupling. They are counted and left out, so couplings that they touch are
known less well than their bars say. With more hidden units than there are, some directions are always flat.

For weak couplings only the products K_ib L_bj are told by the data, not the scale c in K → cK, L → L/c of each hidden
unit; with G = ½ ∂(log|K_a| - log|L_a|)/∂θ the standard error of log c is √(GᵀI⁻¹G).

Under an L1 penalty (`zeros_held`) couplings that are exactly zero have no error: the information is restricted to the
others, whose errors take the zeros for known. That the same data chose which are zero is in no bar here (post-selection
inference: Berk et al., Ann. Stat. 41, 802, 2013), so these are too small for couplings that were kept narrowly.

These are the errors of converged maximum likelihood with enough data. A penalty, an early stop, a mean field's bias, or
a wrong model add errors that no bar here shows.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hidviz.background import return_value
from hidviz.evaluation.information import information
from hidviz.evaluation.information_by_row import information_by_row
from hidviz.network import (
    BLOCKS,
    MATRICES,
    Couplings,
    Gauge,
    Recording,
    best_gauge,
    learned_blocks,
    regauge,
    with_bias,
    with_hidden,
)
from hidviz.numerics import Array, Index

FLAT = 1.0  # nats per squared coupling: below, the standard error along a direction exceeds 1


@dataclass(frozen=True, eq=False)
class ErrorBars:
    """Standard errors of a fit, and what the data leave open.

    Args:
        standard_errors: of every learned entry; zero in the blocks not learned, and where a coupling is held at zero.
        flat_parts: of every learned entry the part of it, from 0 to 1, that lies in flat directions; zero elsewhere.
        mean_variance: for each learned block, its mean squared standard error, over entries that are not held.
        scale_errors: (Nh,) standard error of log c, the scale of each hidden unit; infinite for an unconnected one.
        eigenvalues: (N,) of the information of the entries that are not held, rising, in nats per squared coupling;
            negative ones say that the fit is not at a maximum.
        flat_shares: for each learned block, which share of the flat directions lies in it; empty without any.
        threshold: eigenvalues below this count as flat.
        n_transitions: of the recording.
        how: where the information comes from, in words.
    """

    standard_errors: Couplings
    flat_parts: Couplings
    mean_variance: Mapping[str, float]
    scale_errors: Array
    eigenvalues: Array
    flat_shares: Mapping[str, float]
    threshold: float
    n_transitions: int
    how: str

    def __post_init__(self) -> None:
        for name in ("mean_variance", "flat_shares"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        values = (getattr(self, field.name) for field in fields(self))
        return ErrorBars, tuple(dict(each) if isinstance(each, Mapping) else each for each in values)

    @property
    def n_flat(self) -> int:
        """Number of flat directions."""
        return int((self.eigenvalues < self.threshold).sum())

    def expected(self, n_transitions: int) -> dict[str, float]:
        """The 1/T line: mean square error of each learned block that this many transitions of such data would leave."""
        return {name: value * self.n_transitions / n_transitions for name, value in self.mean_variance.items()}


@dataclass(frozen=True)
class Comparison:
    """Error bars of one block against the errors that a known truth reveals.

    Args:
        n: number of entries.
        standard_error: root mean square of the standard errors.
        error: root mean square of found minus true, aligned.
        covered: fraction of entries whose 95 % interval holds the truth; about 0.95 if the bars tell all.
    """

    n: int
    standard_error: float
    error: float
    covered: float


def error_bars(
    couplings: Couplings,
    recording: Recording,
    *,
    hidden: Literal["stochastic", "continuous"] = "stochastic",
    hidden_hidden: bool = False,
    bias: bool = False,
    zeros_held: bool = False,
) -> ErrorBars:
    """Error bars of a fit.

    Args:
        couplings: the fit, at the maximum of the likelihood or near it.
        recording: the data it was learned from.
        hidden: which hidden units are assumed.
        hidden_hidden: whether M was learned.
        bias: whether the biases were learned.
        zeros_held: an L1 penalty has set the couplings that are exactly zero: none has an error, and the others take
            them for known.

    Raises:
        Infeasible: it would take too long; the message gives the number.
    """
    return return_value(
        iter_error_bars(
            couplings, recording, hidden=hidden, hidden_hidden=hidden_hidden, bias=bias, zeros_held=zeros_held
        )
    )


def iter_error_bars(
    couplings: Couplings,
    recording: Recording,
    *,
    hidden: Literal["stochastic", "continuous"] = "stochastic",
    hidden_hidden: bool = False,
    bias: bool = False,
    zeros_held: bool = False,
) -> Generator[float, None, ErrorBars]:
    """`error_bars` yielding the fraction done and returning the result."""
    blocks = learned_blocks(couplings.n_hidden, hidden_hidden=hidden_hidden, bias=bias)
    nothing = Couplings(**{name: np.zeros_like(getattr(couplings, name)) for name in BLOCKS})
    if couplings.n_hidden:
        whole = yield from information(couplings, recording, hidden=hidden, hidden_hidden=hidden_hidden, bias=bias)
        matrices, places = [whole], [np.arange(len(whole))]
    else:
        matrices = yield from information_by_row(couplings, recording, bias=bias)
        places = _rows_of(nothing, blocks)
    free = _free(couplings, blocks) if zeros_held else np.ones(len(nothing.vector(blocks)), bool)
    parts = [_told(matrix, free[where]) for matrix, where in zip(matrices, places, strict=True)]

    def by_block(values: Array) -> dict[str, Array]:
        found = nothing.with_vector(values, blocks)
        return {name: getattr(found, name) for name in blocks}

    order = np.argsort(np.concatenate(places))
    variance = np.concatenate([(part.roots**2).sum(axis=1) for part in parts])[order]
    flat_parts = np.minimum(np.concatenate([part.flat_parts for part in parts])[order], 1.0)
    eigenvalues = np.sort(np.concatenate([part.eigenvalues for part in parts]))
    flat = eigenvalues < FLAT
    n_free = [int(block.sum()) for block in by_block(free.astype(np.float64)).values()]
    shares = flat_parts / max(flat.sum(), 1)
    roots = parts[0].roots
    return ErrorBars(
        standard_errors=nothing.with_vector(np.sqrt(variance), blocks),
        flat_parts=nothing.with_vector(flat_parts, blocks),
        mean_variance={
            name: float(block.sum() / max(counted, 1))
            for (name, block), counted in zip(by_block(variance).items(), n_free, strict=True)
        },
        scale_errors=_scale_errors(couplings, nothing, roots, blocks),
        eigenvalues=eigenvalues,
        flat_shares={name: float(block.sum()) for name, block in by_block(shares).items()} if flat.any() else {},
        threshold=FLAT,
        n_transitions=recording.n_transitions,
        how=_how(hidden, hidden_hidden or bool(couplings.M.any()), couplings.n_hidden),
    )


class _Told(NamedTuple):
    """What one matrix of information says: I⁻¹ = roots rootsᵀ, and what its flat directions leave open."""

    eigenvalues: Array
    roots: Array
    flat_parts: Array


def _told(matrix: Array, free: NDArray[np.bool_]) -> _Told:
    """Of the entries that are free; the others are held where they are, and have neither error nor flat part."""
    eigenvalues, directions = np.linalg.eigh(matrix[np.ix_(free, free)])
    flat = eigenvalues < FLAT
    among = np.zeros((len(free), len(eigenvalues)))
    among[free] = directions
    return _Told(eigenvalues, among[:, ~flat] / np.sqrt(eigenvalues[~flat]), (among[:, flat] ** 2).sum(axis=1))


def _free(couplings: Couplings, blocks: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which entries are not held at zero: couplings that are not zero, and all biases."""
    return np.concatenate(
        [(getattr(couplings, name) != 0.0).ravel() | np.full(getattr(couplings, name).size, name not in MATRICES)
         for name in blocks]
    )  # fmt: skip


def _rows_of(nothing: Couplings, blocks: tuple[str, ...]) -> list[Index]:
    """Places, in the vector of all parameters, of each row of J and then h."""
    place = nothing.with_vector(np.arange(len(nothing.vector(blocks)), dtype=np.float64), blocks)
    rows = with_bias(place.J, place.h) if "h" in blocks else place.J
    return list(rows.astype(np.intp))


def _how(hidden: str, coupled: bool, n_hidden: int) -> str:
    if not n_hidden:
        return "the curvature of one logistic regression a unit"
    if coupled:
        return "central differences of the exact gradient"
    return "the Louis identity" if hidden == "stochastic" else "its second derivatives"


def _scale_errors(couplings: Couplings, nothing: Couplings, roots: Array, blocks: tuple[str, ...]) -> Array:
    errors = np.full(couplings.n_hidden, np.inf)
    for a in range(couplings.n_hidden):
        sent, received = couplings.K[:, a], couplings.L[a]
        if sent.any() and received.any():
            K, L = nothing.K.copy(), nothing.L.copy()
            K[:, a], L[a] = 0.5 * sent / (sent @ sent), -0.5 * received / (received @ received)
            slope = Couplings(nothing.J, K, L).vector(blocks)
            errors[a] = float(np.linalg.norm(slope @ roots))
    return errors


def compare_errors(bars: ErrorBars, estimate: Couplings, truth: Couplings) -> dict[str, Comparison]:
    """Error bars against the errors of the aligned estimate, for each learned block that has entries.

    Hidden units that the estimate lacks are left out; units that the truth lacks count as unconnected there.

    Args:
        bars: the error bars of the estimate.
        estimate: the fit that they belong to.
        truth: the true couplings.
    """
    gauge = best_gauge(estimate, truth)
    found, true = _brought(estimate, gauge), with_hidden(truth, len(gauge.order))
    errors = _brought(bars.standard_errors, gauge)
    ones = {name: np.ones_like(getattr(estimate, name)) for name in BLOCKS}
    present = _brought(Couplings(**ones), gauge)
    result = {}
    for name in bars.mean_variance:
        there = getattr(present, name) != 0.0
        standard = np.abs(getattr(errors, name)[there])
        error = np.abs((getattr(found, name) - getattr(true, name))[there])
        if there.any():
            covered = float(np.mean(error <= 1.96 * standard))
            result[name] = Comparison(int(there.sum()), _rms(standard), _rms(error), covered)
    return result


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _brought(couplings: Couplings, gauge: Gauge) -> Couplings:
    return regauge(with_hidden(couplings, len(gauge.order)), gauge)
