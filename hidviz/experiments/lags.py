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
    """Fit one of them: see `iter_lags`."""
    return return_value(iter_lags(parts, lags, bias=bias, penalty=penalty, l1=l1))


def iter_lags(
    parts: Parts, lags: Literal[1, 2], *, bias: bool = True, penalty: float = 0.0, l1: Strength = 0.0
) -> Generator[tuple[int, Snapshot], None, LagFit]:
    """Fit one of them, yielding the steps of its L1 path and at which strength each is.

    Args:
        parts: what `divide` made of a recording.
        lags: how many bins ago it looks.
        bias: fit h too.
        penalty: weight of the L2 penalty per bin; never less than a tiny one.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part; 0 for none.
    """
    name = LAGS[lags]
    n_copies = LEARNERS[name].units(parts.learn.n_visible, 0)
    learner, stop = (prepare(name, part, n_hidden=n_copies, bias=bias) for part in parts[:2])
    found = logistic_fit(parts.learn, lags=lags, bias=bias, penalty=max(penalty, TINY))
    couplings, path = found.couplings, None
    if l1:
        path = yield from iter_l1_path(learner, stop, couplings, l1, penalty=penalty)
        couplings = path.couplings
    names = ", ".join(parts.learn.name_of(unit) for unit in found.held)
    remarks = (f"Some states of {names} can be predicted perfectly at lag {lags}: a penalty keeps it finite.",)
    judged = block_costs(couplings, parts.judge, name, n_hidden=n_copies, bias=bias)
    return LagFit(learner, couplings, judged, remarks if names else (), path, l1)
