"""The checks of My data: whether a model of the scan can be relied on, and what its hidden units are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from hidviz.evaluation import FreeRun, SharedStates, shared_states
from hidviz.experiments import (
    CheckSeconds,
    Halves,
    HiddenUnit,
    ScanRow,
    busiest,
    examine,
    hide_unit,
    predict_checks,
)
from hidviz.learners import Infeasible
from hidviz.ui.state.own_scan import Scanned
from hidviz.ui.text.language import _, _n


@dataclass(frozen=True, eq=False)
class Checked:
    """What is known so far; None for what is not yet there.

    Args:
        scanned: the scan that the model is from.
        row: the model.
        doing: what is being done, in a few words; empty at the end.
        n_done: how many of the checks are there.
        n: how many there will be.
        hide: units to hide in turn.
        seconds: predicted for each check; None until the speed of this machine is known.
        seconds_left: predicted for what is left.
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
    hide: tuple[str, ...] = ()
    seconds: CheckSeconds | None = None
    seconds_left: float = 0.0
    free_run: FreeRun | None = None
    lag1: FreeRun | None = None
    shared: SharedStates | None = None
    halves: Halves | None = None
    hidden: tuple[HiddenUnit, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def predicted(self) -> dict[str, float]:
        """Predicted seconds of each check that is made, by what it is called; empty until they are known."""
        each, n = self.seconds, len(self.hide)
        if each is None:
            return {}
        known = {_("free run"): each.free_run}
        if self.row.n_hidden:
            known |= {_("hidden units"): each.posterior, _("two halves"): each.halves}
        return known | ({_n("hiding {n} unit", "hiding {n} units", n): n * each.hide} if n else {})


class _Step(NamedTuple):
    """What is being done, in words; the field of `CheckSeconds` that it is part of; what is new from what is known."""

    doing: str
    part: str
    act: Callable[[Checked], dict[str, Any]]


def iter_checks(scanned: Scanned, row: ScanRow, hide: Sequence[str] | None = None) -> Iterator[Checked]:
    """Make all checks of a model, for a Runner: what is known after each, and before each what comes.

    Args:
        scanned: the scan.
        row: the model.
        hide: names of units to hide in turn; None for the busiest.

    Raises:
        ValueError: the model has no couplings.
    """
    if row.couplings is None:
        raise ValueError(f"This model was not fitted: {row.note}")
    units = () if not row.n_hidden else busiest(scanned.parts) if hide is None else tuple(hide)
    steps = _steps(scanned, row, units)
    known = Checked(scanned, row, n=len(steps), hide=units)
    yield replace(known, doing="Measuring the speed of this machine")
    predicted = predict_checks(row, scanned.parts, scanned.table.rows[0])
    shares = [getattr(predicted, step.part) for step in steps]
    runs = [step.part for step in steps].count("free_run")
    shares[:runs] = [share / runs for share in shares[:runs]]
    known = replace(known, seconds=predicted)
    for k, step in enumerate(steps):
        yield replace(known, doing=step.doing, seconds_left=sum(shares[k:]))
        try:
            found = step.act(known)
        except Infeasible as refusal:
            found = {"notes": (*known.notes, f"{step.doing}: {refusal}")}
        known = replace(known, n_done=known.n_done + 1, **found)
    yield known


def _steps(scanned: Scanned, row: ScanRow, units: tuple[str, ...]) -> list[_Step]:
    parts, lag1, couplings = scanned.parts, scanned.table.rows[0], row.couplings
    assert couplings is not None
    penalty = scanned.table.penalty

    def run_of(model: ScanRow) -> FreeRun | None:
        return next(examine(model, parts, lag1, checks=("free_run",))).free_run

    def halves_of(_: Checked) -> dict[str, Any]:
        return {"halves": next(examine(row, parts, lag1, checks=("halves",), penalty=penalty)).halves}

    def hide(name: str) -> Callable[[Checked], dict[str, Any]]:
        def hidden(known: Checked) -> dict[str, Any]:
            driven = parts.with_external_field(row.external_field)
            found = hide_unit(
                driven, name, n_hidden=row.n_hidden, hidden_hidden=row.hidden_hidden, penalty=penalty,
                l1=row.l1, max_steps=row.max_steps, sampled=row.sampled,
            )  # fmt: skip
            return {"hidden": (*known.hidden, found)}

        return hidden

    def shared_of(_: Checked) -> dict[str, Any]:
        return {"shared": shared_states(couplings, scanned.recording.with_external_field(row.external_field))}

    steps = [_Step("Letting the model run free", "free_run", lambda _: {"free_run": run_of(row)})]
    if not row.n_hidden:
        return steps
    steps.append(_Step("Letting lag 1 run free", "free_run", lambda _: {"lag1": run_of(lag1)}))
    steps.append(_Step("Reading the hidden units off", "posterior", shared_of))
    steps.append(_Step("Fitting two halves of the recording", "halves", halves_of))
    return steps + [_Step(f"Hiding {name} and inferring it", "hide", hide(name)) for name in units]
