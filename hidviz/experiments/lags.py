"""Lags: the models that know of no hidden unit, fitted as those beside which they stand.

The same L2 penalty, and under an L1 penalty an L1 path of their own (`l1_path`): models of which one alone may drop
couplings that the data do not ask for are no fair pair.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Literal, NamedTuple

from hidviz.background import return_value
from hidviz.evaluation import TINY, block_costs
from hidviz.experiments.l1_path import L1Path, Strength, iter_l1_path
from hidviz.learners import LEARNERS, Learner, logistic_fit, prepare
from hidviz.learning import Snapshot
from hidviz.network import Couplings, Parts
from hidviz.numerics import Array

LAGS: dict[Literal[1, 2], str] = {1: "visible", 2: "visible-lag2"}


class LagFit(NamedTuple):
    """A fit of lag 1 or lag 2.

    Args:
        learner: its likelihood on the part learned from.
        couplings: the estimate.
        judged: cost of each block of the judging part, nats per bin.
        remarks: a sentence where some states can be predicted perfectly.
        path: the L1 path; None for no L1 penalty.
        l1: weight of the L1 penalty that was asked for.
    """

    learner: Learner
    couplings: Couplings
    judged: Array
    remarks: tuple[str, ...]
    path: L1Path | None = None
    l1: Strength = 0.0


def fit_lags(
    parts: Parts, lags: Literal[1, 2], *, bias: bool = True, penalty: float = 0.0, l1: Strength = 0.0
) -> LagFit:
    """Fit one of them, and under an L1 penalty what its path ends in.

    Args:
        parts: what `divide` made of a recording.
        lags: how many bins ago it looks.
        bias: fit h too.
        penalty: weight of the L2 penalty per bin; never less than a tiny one.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part; 0 for none.
    """
    name = LAGS[lags]
    n_copies = LEARNERS[name].units(parts.learn.n_visible, 0)
    learner = prepare(name, parts.learn, n_hidden=n_copies, bias=bias)
    found = logistic_fit(parts.learn, lags=lags, bias=bias, penalty=max(penalty, TINY))
    names = ", ".join(parts.learn.name_of(unit) for unit in found.held)
    remarks = (f"Some states of {names} can be predicted perfectly at lag {lags}: a penalty keeps it finite.",)
    judged = _judged(parts, lags, found.couplings, bias=bias)
    plain = LagFit(learner, found.couplings, judged, remarks if names else ())
    return return_value(iter_lag_path(parts, lags, plain, l1, bias=bias, penalty=penalty)) if l1 else plain


def iter_lag_path(
    parts: Parts, lags: Literal[1, 2], plain: LagFit, l1: Strength, *, bias: bool = True, penalty: float = 0.0
) -> Generator[tuple[int, Snapshot], None, LagFit]:
    """Follow the L1 path from a fit without that penalty, yielding its steps and at which strength each is.

    Args:
        parts: what `divide` made of a recording.
        lags: how many bins ago it looks.
        plain: what `fit_lags` made of the same without an L1 penalty.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part.
        bias: as there.
        penalty: as there.
    """
    name = LAGS[lags]
    stop = prepare(name, parts.stop, n_hidden=LEARNERS[name].units(parts.stop.n_visible, 0), bias=bias)
    path = yield from iter_l1_path(plain.learner, stop, plain.couplings, l1, penalty=penalty)
    judged = _judged(parts, lags, path.couplings, bias=bias)
    return plain._replace(couplings=path.couplings, judged=judged, path=path, l1=l1)


def _judged(parts: Parts, lags: Literal[1, 2], couplings: Couplings, *, bias: bool) -> Array:
    """Cost of each block of the judging part, nats per bin."""
    return block_costs(couplings, parts.judge, LAGS[lags], bias=bias)
