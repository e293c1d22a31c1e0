"""Learners: one method of inference per file, and the one registry of them all.

    LEARNERS[name](recording, n_hidden=…)  →  learner;  learner(couplings)  →  Estimate

A dict of methods is the whole plug-in system: a new method is a new file and a new line here. All else that other
floors need to know of it, such as what judges it or when to stop it, it says of itself. What two learners share lies in
`parts`, which imports no learner.
"""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hidviz.learners import exact, smoothing
from hidviz.learners.backprop import BACKPROP
from hidviz.learners.gibbs import GIBBS
from hidviz.learners.mean_field import (
    MEAN_FIELD,
    MEAN_FIELD_GAUSSIAN,
    MEAN_FIELD_NAIVE,
    MEAN_FIELD_SAME_TIME,
    MEAN_FIELD_SECOND_ORDER,
)
from hidviz.learners.mean_field_correlated import MEAN_FIELD_CORRELATED
from hidviz.learners.parts.logistic import BIAS_PENALTY, best_rows
from hidviz.learners.parts.sparse_logistic import sparse_rows
from hidviz.learners.protocol import (
    LIKELIHOODS,
    Beliefs,
    Estimate,
    HiddenKind,
    Infeasible,
    Learner,
    Method,
    TooLarge,
    regauge_beliefs,
)
from hidviz.learners.smoothing import HiddenPosterior, hidden_posterior
from hidviz.learners.visible import VISIBLE, VISIBLE_LAG2, LogisticFit, logistic_fit
from hidviz.network import Recording

__all__ = [
    "BACKPROP",
    "BIAS_PENALTY",
    "LEARNERS",
    "LIKELIHOODS",
    "Beliefs",
    "Estimate",
    "HiddenKind",
    "HiddenPosterior",
    "Infeasible",
    "Learner",
    "LogisticFit",
    "Method",
    "TooLarge",
    "best_rows",
    "exact",
    "hidden_posterior",
    "logistic_fit",
    "prepare",
    "regauge_beliefs",
    "smoothing",
    "sparse_rows",
]

_METHODS = {
    method.name: method
    for method in (
        BACKPROP,
        exact.method(smoothing.prepare_chain),
        MEAN_FIELD,
        MEAN_FIELD_NAIVE,
        MEAN_FIELD_GAUSSIAN,
        MEAN_FIELD_SECOND_ORDER,
        MEAN_FIELD_SAME_TIME,
        MEAN_FIELD_CORRELATED,
        GIBBS,
        VISIBLE,
        VISIBLE_LAG2,
    )
}

LEARNERS: Mapping[str, Method] = MappingProxyType(_METHODS)


def _named(name: str) -> Method:
    return LEARNERS[name]


copyreg.pickle(Method, lambda method: (_named, (method.name,)))  # a method travels as its name, a learner with it


def prepare(
    name: str,
    recording: Recording,
    *,
    n_hidden: int,
    hidden_hidden: bool = False,
    bias: bool = False,
    **options: Any,
) -> Learner:
    """Prepare a method for a recording: the work that depends on the data alone.

    Args:
        name: a name in LEARNERS.
        recording: the visible history to learn from.
        n_hidden: number of hidden units to assume.
        hidden_hidden: whether to learn M; zero otherwise.
        bias: whether to learn the biases h and g; zero otherwise.
        **options: options of the method.

    Raises:
        ValueError: the name is unknown, or an argument is out of range.
        Infeasible: the request would take too long; the message gives the number and an alternative.
    """
    if name not in LEARNERS:
        raise ValueError(f"learner must be one of {', '.join(LEARNERS)}, got {name!r}.")
    return LEARNERS[name](recording, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=bias, **options)
