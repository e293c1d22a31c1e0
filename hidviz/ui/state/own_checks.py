"""The checks of My data: whether a model of the scan can be relied on, and what its hidden units are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hidviz.evaluation import FreeRun, SharedStates, shared_states
from hidviz.experiments import Halves, HiddenUnit, ScanRow, examine, hide_unit
from hidviz.learners import Infeasible
from hidviz.network import Recording
from hidviz.ui.state.own_scan import Scanned

MOST_HIDDEN = 4  # units that are hidden in turn


@dataclass(frozen=True, eq=False)
class Checked:
    """What is known so far; None for what is not yet there.

    Args:
        scanned: the scan that the model is from.
        row: the model.
        doing: what is being done, in a few words; empty at the end.
        n_done: how many of the checks are there.
        n: how many there will be.
        free_run: of the model beside the data.
        lag1: the same of lag 1.
        shared: what the hidden units do.
        halves: of two halves of the recording.
        hidden: units that were hidden in turn.
        notes: why something is missing.
    """

    scanned: Scanned
    row: ScanRow
    doing: str = ""
    n_done: int = 0
    n: int = 0
    free_run: FreeRun | None = None
    lag1: FreeRun | None = None
    shared: SharedStates | None = None
    halves: Halves | None = None
    hidden: tuple[HiddenUnit, ...] = ()
    notes: tuple[str, ...] = ()


def iter_checks(scanned: Scanned, row: ScanRow) -> Iterator[Checked]:
    """Make all checks of a model, for a Runner: what is known after each, and before each what comes.

    Raises:
        ValueError: the model has no couplings.
    """
    if row.couplings is None:
        raise ValueError(f"This model was not fitted: {row.note}")
    steps = _steps(scanned, row)
    known = Checked(scanned, row, n=len(steps))
    for doing, step in steps:
        yield replace(known, doing=doing)
        try:
            found = step(known)
        except Infeasible as refusal:
            found = {"notes": (*known.notes, f"{doing}: {refusal}")}
        known = replace(known, n_done=known.n_done + 1, **found)
    yield known


def _steps(scanned: Scanned, row: ScanRow) -> list[tuple[str, Callable[[Checked], dict[str, Any]]]]:
    """What is being done, in words, and a function from what is known to what is new."""
    parts, lag1, couplings = scanned.parts, scanned.table.rows[0], row.couplings
    assert couplings is not None
    penalty = scanned.table.penalty

    def run_of(model: ScanRow) -> FreeRun | None:
        return next(examine(model, parts, lag1, checks=("free_run",))).free_run

    def halves_of(_: Checked) -> dict[str, Any]:
        return {"halves": next(examine(row, parts, lag1, checks=("halves",), penalty=penalty)).halves}

    def hide(name: str) -> Callable[[Checked], dict[str, Any]]:
        def hidden(known: Checked) -> dict[str, Any]:
            found = hide_unit(parts, name, n_hidden=row.n_hidden, hidden_hidden=row.hidden_hidden, penalty=penalty)
            return {"hidden": (*known.hidden, found)}

        return hidden

    steps: list[tuple[str, Callable[[Checked], dict[str, Any]]]] = [
        ("Letting the model run free", lambda _: {"free_run": run_of(row)})
    ]
    if not row.n_hidden:
        return steps
    steps.append(("Letting lag 1 run free", lambda _: {"lag1": run_of(lag1)}))
    steps.append(("Reading the hidden units off", lambda _: {"shared": shared_states(couplings, scanned.recording)}))
    steps.append(("Fitting two halves of the recording", halves_of))
    return steps + [(f"Hiding {name} and inferring it", hide(name)) for name in busiest(scanned.recording)]


def busiest(recording: Recording) -> tuple[str, ...]:
    """The units that fire in the most bins, but for one that is left to infer them from."""
    spikes = sum((trial > 0).sum(axis=0) for trial in recording.trials)
    order = np.argsort(-np.asarray(spikes), kind="stable")
    return tuple(recording.name_of(int(k)) for k in order[: min(MOST_HIDDEN, recording.n_visible - 1)])
