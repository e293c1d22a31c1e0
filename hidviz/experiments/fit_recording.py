"""Fitting: couplings for a recording of one's own, judged on the part of it that learning has not seen.

The last part of every trial is held out. Learning starts several times from small random couplings, keeps in each run
the step that predicts the held-out part best (a sampling learner: the average of its last fifth), and of all runs the
best. Beside the result stand the two baselines that know of no hidden units: hidden units are worth what they gain on
those. Where no exact likelihood is affordable, nothing is held against the learner but its own objective.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hidviz.background import on_one_blas_thread, replacing
from hidviz.evaluation import LONGEST_JUDGEMENT, baselines, criteria, judge_for
from hidviz.experiments.progress import Progress
from hidviz.experiments.setup import cost_of
from hidviz.learners import LEARNERS, Learner, prepare
from hidviz.learning import Snapshot, learn, random_start, result
from hidviz.network import BLOCKS, Couplings, Recording
from hidviz.version import __version__

PATIENCE = 30  # steps without a lower held-out cost that end a run


@dataclass(frozen=True)
class Settings:
    """How to fit.

    Args:
        learner: a name in LEARNERS.
        n_hidden: number of hidden units to assume.
        hidden_hidden: learn M too.
        bias: learn the biases too.
        held_out: the part of every trial that is kept for judging; 0 for none.
        penalty: weight of the L2 penalty per bin.
        box: largest allowed size of a coupling; None for no box.
        max_steps: most steps of a run.
        starts: number of random starts.
        seed: of the random starts.

    Raises:
        ValueError: a setting is out of range.
    """

    learner: str
    n_hidden: int
    hidden_hidden: bool = False
    bias: bool = True
    held_out: float = 0.2
    penalty: float = 0.0
    box: float | None = None
    max_steps: int = 1000
    starts: int = 3
    seed: int = 1

    def __post_init__(self) -> None:
        if self.learner not in LEARNERS:
            raise ValueError(f"The learner must be one of {', '.join(LEARNERS)}, got {self.learner!r}.")
        for what, value, low, high in (
            ("number of hidden units", self.n_hidden, 0, 200),
            ("held-out part", self.held_out, 0.0, 0.9),
            ("penalty", self.penalty, 0.0, 10.0),
            ("box", 1.0 if self.box is None else self.box, 1e-3, 100.0),
            ("number of steps", self.max_steps, 1, 1_000_000),
            ("number of starts", self.starts, 1, 1_000),
            ("seed", self.seed, 0, 2**31 - 1),
        ):
            if not low <= value <= high:
                raise ValueError(f"The {what} must lie between {low:g} and {high:g}, got {value}.")


@dataclass(frozen=True, eq=False)
class Fitted:
    """The best run.

    Args:
        couplings: the estimate.
        summary: costs in nats per bin and all that is worth knowing, plain enough for JSON.
    """

    couplings: Couplings
    summary: dict[str, Any] = field(repr=False)

    def save(self, path: Path) -> None:
        """Write the couplings as .npz, block by block; what had this name is replaced once the new file is whole.

        Raises:
            OSError: there is no room, or the folder cannot be written.
        """
        with replacing(path) as file:
            np.savez(file, **{block: getattr(self.couplings, block) for block in BLOCKS})


@on_one_blas_thread
def fitted(recording: Recording, settings: Settings) -> Generator[Progress, None, Fitted]:
    """Fit a recording, yielding progress and returning the best run.

    Raises:
        ValueError: the trials are too short to be divided.
        Infeasible: the learner would take too long; the message gives the number and an alternative.
    """
    train, kept = divided(recording, settings.held_out)
    method = LEARNERS[settings.learner]
    n_hidden = _assumed(settings.learner, recording.n_visible, settings.n_hidden)
    switches = {"hidden_hidden": settings.hidden_hidden and method.hidden != "none", "bias": settings.bias}
    name = settings.learner if method.likelihood else "exact"
    held_out = judge_for(name, kept, n_hidden, **switches, longest=LONGEST_JUDGEMENT)
    learner = prepare(settings.learner, train, n_hidden=n_hidden, **switches)
    runs: list[tuple[float, Couplings, Snapshot]] = []
    for start in range(settings.starts):
        rng = np.random.default_rng([settings.seed, start])
        for last in _run(learner, held_out, random_start(train.n_visible, n_hidden, rng, learned=learner.learned),
                         settings):  # fmt: skip
            fraction = (start + last.step / settings.max_steps) / settings.starts
            yield Progress(f"start {start + 1} of {settings.starts}", fraction)
        found = result(last)
        judged = cost_of(held_out, found)
        runs.append((last.cost if judged is None else judged, found, last))
    _, couplings, last = min(runs, key=lambda run: run[0])
    yield Progress("judging", 1.0)
    exact = learner if method.likelihood else judge_for("exact", train, n_hidden, **switches, longest=LONGEST_JUDGEMENT)
    train_cost = cost_of(exact, couplings)
    n_parameters = couplings.vector(learner.learned).size
    paid = (
        None if train_cost is None else criteria(-train_cost * train.n_transitions, n_parameters, train.n_transitions)
    )
    return Fitted(
        couplings,
        {
            "hidviz": __version__,
            "settings": asdict(settings),
            "n_visible": train.n_visible,
            "n_trials": len(train.trials),
            "n_transitions": train.n_transitions,
            "n_transitions_held_out": 0 if kept is None else kept.n_transitions,
            "unit": "nats per bin",
            "objective": last.cost,
            "cost": train_cost,
            "held_out": cost_of(held_out, couplings),
            "baselines_held_out": _baselines(train, kept, settings.bias),
            "aic": None if paid is None else paid.aic / paid.n_transitions,
            "bic": None if paid is None else paid.bic / paid.n_transitions,
            "n_parameters": n_parameters,
            "steps": last.step,
            "evaluations": last.evaluations,
            "state": last.state,
            "message": last.message,
            "starts": [cost for cost, _, _ in runs],
        },
    )


def divided(recording: Recording, part: float) -> tuple[Recording, Recording | None]:
    """The first part of every trial, and the last, which is None if nothing is to be held out.

    Raises:
        ValueError: a trial is too short.
    """
    if part == 0.0:
        return recording, None
    cuts = [round(len(trial) * (1.0 - part)) for trial in recording.trials]
    for k, (trial, cut) in enumerate(zip(recording.trials, cuts, strict=True)):
        if min(cut, len(trial) - cut) < 2:
            raise ValueError(
                f"Trial {k + 1} of {len(trial)} bins is too short to hold out a part of {part:g}: hold out 0, or leave "
                "the trial out."
            )
    pairs = list(zip(recording.trials, cuts, strict=True))
    return Recording([trial[:cut] for trial, cut in pairs]), Recording([trial[cut:] for trial, cut in pairs])


def _run(learner: Learner, held_out: Learner | None, start: Couplings, settings: Settings) -> Generator[Snapshot]:
    stopping = None if learner.stochastic else held_out
    yield from learn(
        learner,
        start,
        penalty=settings.penalty,
        box=settings.box,
        held_out=stopping,
        patience=None if stopping is None else PATIENCE,
        max_steps=settings.max_steps,
    )


def _baselines(train: Recording, kept: Recording | None, bias: bool) -> dict[str, float | None]:
    """Held-out cost of the models without hidden units."""
    found = None if kept is None else baselines(train, kept, bias=bias)
    return {"visible": found and found.lag1, "visible-lag2": found and found.lag2}


def _assumed(learner: str, n_visible: int, n_hidden: int) -> int:
    """The number of hidden units in the couplings of a learner: lag 2 keeps its second matrix where they would be."""
    if LEARNERS[learner].hidden == "none":
        return n_visible if learner == "visible-lag2" else 0
    return n_hidden
