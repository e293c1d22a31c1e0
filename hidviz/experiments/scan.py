"""Scan: how many hidden units, and do they remember? The same fit over sizes, judged block by block beside baselines.

    for table in scan(divide(recording)):
        print(table.in_words())

Each model is learned on one part of the recording, stopped on another, and judged on a third. Lag 1 and lag 2 have the
same penalty. The choice is the fewest hidden units whose cost lies within one paired standard error of the best; AIC
and BIC, from the learned part, stand beside it. States of real tissue last longer than two bins, so couplings among
hidden units, M, are part of the scan. Where a recording holds repeats, each model is fitted under h(t) too, the field
that is the same in all trials: a hidden unit that only stands for a stimulus gains nothing there. A model whose exact
fit would take more than a minute a start is fitted by sampling (`scan_speed`).

With an L1 penalty every model, lag 1, lag 2 and lag 1 under h(t) included, follows an L1 path of its own from its best
start (`l1_path`), and what it ends in is judged: all but the couplings that are zero count as parameters. A model that
would be sampled is left out, as the penalty needs exact gradients.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from hidviz.background import mapped, on_one_blas_thread
from hidviz.evaluation import (
    LONGEST_LIKELIHOOD,
    TINY,
    Repeats,
    block_costs,
    cost_per_bin,
    criteria,
    likelihood_for,
    paired,
    repeats,
    require_repeats,
)
from hidviz.experiments.fit_parts import iter_starts
from hidviz.experiments.l1_path import L1Path, Strength, strength_in_words
from hidviz.experiments.lags import LagFit, fit_lags, iter_lag_path
from hidviz.experiments.ranges import RANGES, plain_number
from hidviz.experiments.scan_speed import L1_STARTS, STEPS, check_exact, check_judged, learner_for, seconds_a_step
from hidviz.experiments.scan_table import Scan, ScanRow
from hidviz.learners import LEARNERS, Infeasible, Learner, logistic_fit, prepare
from hidviz.network import Couplings, Parts
from hidviz.numerics import Array

ENOUGH = 100  # bins for each coupling of a row, from which no penalty is needed
UNDER_FIELD = "lag 1, h(t)"
PENALTIES = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)


@on_one_blas_thread
def scan(
    parts: Parts,
    *,
    hidden: Iterable[int] = range(5),
    hidden_hidden: Iterable[bool] = (False, True),
    driven: Iterable[bool] = (False, True),
    starts: int = 3,
    penalty: float | None = None,
    l1: Strength = 0.0,
    box: float | None = None,
    max_steps: int = 300,
    seed: int = 1,
) -> Generator[Scan, None, None]:
    """Fit models of rising size, yielding the table after every model and, in between, what is being done.

    Stop asking whenever you like; what is finished is in the last table.

    Args:
        parts: what `divide` made of a recording.
        hidden: numbers of hidden units; lag 1, which has none, is always there.
        hidden_hidden: without M, with it, or both.
        driven: without h(t), under it, or both; only where there are repeats (`evaluation.repeats`).
        starts: random starts of each model.
        penalty: weight of the L2 penalty per bin; None for none where each coupling of a row has 100 bins, else the one
            of five that lets lag 1 predict the stopping part best.
        l1: weight of the L1 penalty per bin; "chosen" for each model on the stopping part; 0 for none.
        box: largest allowed size of a coupling; None for no box.
        max_steps: most steps of a start.
        seed: of the random starts.

    Raises:
        ValueError: a setting is out of range, or h(t) alone is wanted and there are no repeats.
    """
    wanted = sorted({int(n) for n in hidden} - {0})
    if wanted and not 0 < wanted[0] <= wanted[-1] <= 16:
        raise ValueError(f"Numbers of hidden units must lie between 0 and 16, got {wanted}.")
    if l1 != "chosen":
        l1 = plain_number("The L1 penalty", l1, *RANGES["penalty"])
    told = require_repeats(parts) if set(driven) == {True} else repeats(parts)
    fields = [None] if told is None else [told.field if each else None for each in sorted(set(driven))]
    of_each = {each is not None: parts.with_external_field(each) for each in fields}
    models = [(n, m, d) for n in wanted for d in of_each for m in sorted(set(hidden_hidden))]
    weight = _penalty(parts, max(wanted, default=0)) if penalty is None else penalty
    n_models = len(models) + 1 + (True in of_each)
    for table in _iter_lags(parts, told, weight, l1, n_models, driven=True in of_each):
        if table.doing:
            yield table
    yield replace(table, doing="measuring the speed of this machine" if models else "")
    pending = dict.fromkeys(models, 0.0)
    for n, m, d in models:
        learner = learner_for(of_each[d], n, m, max_steps)
        longer = 1.0 if learner == "exact" else max_steps / min(STEPS, max_steps)
        runs = starts + (L1_STARTS if l1 else 0.0)
        pending[n, m, d] = runs * longer * seconds_a_step(of_each[d], n, m, learner)
    steps, spent, expected = float(min(STEPS, max_steps)), 0.0, 0.0
    for model in models:
        n, m, d = model
        blank = ScanRow(n, m, None, 0, external_field=of_each[d].learn.external_field)
        name = blank.name
        left, rest = steps * sum(pending.values()), steps * (sum(pending.values()) - pending[model])
        table = replace(table, doing=name, seconds_left=left)
        yield table
        began = time.monotonic()
        try:
            for row in _iter_row(of_each[d], n, m, starts, weight, l1, box, max_steps, seed):
                if isinstance(row, str):
                    passed = time.monotonic() - began
                    yield replace(table, doing=f"{name}, {row}", seconds_left=max(left - passed, rest))
        except Infeasible as refusal:
            row = replace(blank, note=str(refusal))
        assert isinstance(row, ScanRow)
        row = replace(row, seconds=time.monotonic() - began)
        spent, expected = spent + row.seconds, expected + pending.pop(model)
        steps = spent / expected if expected else steps
        table = _with(table, row, steps * sum(pending.values()))
        yield table
    yield replace(table, doing="", seconds_left=0.0)


def _iter_row(
    parts: Parts,
    n: int,
    m: bool,
    starts: int,
    penalty: float,
    l1: Strength,
    box: float | None,
    max_steps: int,
    seed: int,
) -> Iterator[str | ScanRow]:
    """What is being done, and at the end the model."""
    name = learner_for(parts, n, m, max_steps)
    if l1:
        check_exact(name, n)
    if name == "gibbs":
        check_judged(parts, n, m)
    learner = prepare(name, parts.learn, n_hidden=n, hidden_hidden=m, bias=True, **LEARNERS[name].seeded(seed))
    stop = likelihood_for("exact", parts.stop, n, hidden_hidden=m, bias=True, longest=LONGEST_LIKELIHOOD)
    steps = iter_starts(
        learner, stop, parts.learn, starts=starts, seed=seed, penalty=penalty, l1=l1, box=box, max_steps=max_steps
    )
    runs = yield from mapped(
        steps,
        lambda each: (
            f"start {each[0] + 1} of {starts}, step {each[1].step}"
            if each[0] < starts
            else strength_in_words(each[0] - starts, l1)
        ),
    )
    best = runs[0].couplings
    exact = learner if name == "exact" else likelihood_for(
        "exact", parts.learn, n, hidden_hidden=m, bias=True, longest=LONGEST_LIKELIHOOD
    )  # fmt: skip
    yield replace(
        _row(
            parts, exact, best, block_costs(best, parts.judge, hidden_hidden=m), learner.learned, hidden_hidden=m,
            l1=l1,
            path=runs[0].path,
        ),
        sampled=name == "gibbs",
        max_steps=max_steps,
        stop=tuple(run.reached for run in runs),
        message=runs[0].last.message,
    )  # fmt: skip


def _row(
    parts: Parts,
    exact: Learner | None,
    couplings: Couplings,
    judged: Array,
    learned: tuple[str, ...],
    *,
    hidden_hidden: bool = False,
    l1: Strength = 0.0,
    path: L1Path | None = None,
) -> ScanRow:
    """A model with what it costs on the part learned from, and what it would cost with its parameters.

    Where its likelihood of that part is not affordable, these are not numbers.
    """
    known, n, field = cost_per_bin(exact, couplings), parts.learn.n_transitions, parts.learn.external_field
    cost = np.nan if known is None else known
    values = couplings.vector(learned)
    size = values.size if path is None else int(np.count_nonzero(values))
    size += 0 if field is None else field.size
    paid = criteria(-cost * n, size, n)
    return ScanRow(
        couplings.n_hidden, hidden_hidden, couplings, size, cost, (), judged, aic=paid.aic / n, bic=paid.bic / n,
        external_field=field, l1=l1, path=path,
    )  # fmt: skip


def _iter_lags(
    parts: Parts, told: Repeats | None, penalty: float, l1: Strength, n: int, *, driven: bool
) -> Iterator[Scan]:
    """The table with the models that know of no hidden unit, and under an L1 penalty before it what is being done.

    Until their paths have ended it holds the fits without that penalty, at which they begin.
    """
    beside = None if told is None or not (driven or l1) else parts.with_external_field(told.field)
    models: dict[str, tuple[Parts, Literal[1, 2]]] = {"lag 1": (parts, 1), "lag 2": (parts, 2)}
    if beside is not None:
        models[UNDER_FIELD] = (beside, 1)
    found = {name: fit_lags(part, lags, penalty=penalty) for name, (part, lags) in models.items()}
    if l1:
        plain, sparse = _lags_table(parts, told, found, penalty, l1, n), {}
        for name, (part, lags) in models.items():
            sparse[name] = yield from mapped(
                iter_lag_path(part, lags, found[name], l1, penalty=penalty),
                lambda each, name=name: replace(plain, doing=f"{name}, {strength_in_words(each[0], l1)}"),  # type: ignore[misc]
            )
        found = sparse
    table = _lags_table(parts, told, found, penalty, l1, n)
    yield _with(table, _lag_row(beside, found[UNDER_FIELD]), 0.0) if beside is not None and driven else table


def _lags_table(
    parts: Parts, told: Repeats | None, found: dict[str, LagFit], penalty: float, l1: Strength, n: int
) -> Scan:
    """Lag 1 as the first row, and what lag 2 and repeats gain on it."""
    lag1, lag2, gains = found["lag 1"], found["lag 2"], None
    if told is not None:
        both = found[UNDER_FIELD].judged if lag1.path is not None else told.with_lag1
        gains = paired(lag1.judged, told.alone), paired(lag1.judged, both)
    first = replace(_lag_row(parts, lag1), gain=paired(lag1.judged, lag1.judged))
    gain, remarks = paired(lag1.judged, lag2.judged), (*lag1.remarks, *lag2.remarks)
    return Scan((first,), gain, penalty, parts.how, n, "", 0.0, remarks, gains, l1)


def _lag_row(parts: Parts, found: LagFit) -> ScanRow:
    """Lag 1 as a row."""
    l1 = 0.0 if found.path is None else found.l1
    return _row(parts, found.learner, found.couplings, found.judged, found.learner.learned, l1=l1, path=found.path)


def _with(table: Scan, row: ScanRow, seconds_left: float) -> Scan:
    if row.judged.size:
        fewer = [
            each
            for each in table.rows
            if each.n_hidden == row.n_hidden - 1
            and (each.hidden_hidden == row.hidden_hidden or not each.n_hidden)
            and each.driven == row.driven
            and each.judged.size
        ]
        row = replace(
            row,
            gain=paired(table.rows[0].judged, row.judged),
            step=paired(fewer[0].judged, row.judged) if fewer else None,
        )
    return replace(table, rows=(*table.rows, row), seconds_left=seconds_left)


def _penalty(parts: Parts, most_hidden: int) -> float:
    """No penalty with plenty of data; else what lets lag 1 predict the stopping part best."""
    learn, stop = parts.learn, parts.stop
    if learn.n_transitions >= ENOUGH * (learn.n_visible + most_hidden + 1):
        return 0.0
    judge = prepare("visible", stop, n_hidden=0, bias=True)

    def cost(weight: float) -> float:
        return -judge(logistic_fit(learn, bias=True, penalty=max(weight, TINY)).couplings).objective

    return min(PENALTIES, key=cost)
