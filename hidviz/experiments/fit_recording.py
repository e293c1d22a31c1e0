"""Fitting: couplings for your own recording, judged on the part of it that learning has not seen.

The recording is divided in three (`divide`): learning starts several times from small random couplings, keeps in each
run the step that predicts the stopping part best (a sampling learner: the average of its last fifth), and of all runs
the best; the judging part alone says what it is worth. Beside the result stand the two baselines that know of no hidden
units, with paired errors. Where no exact likelihood is affordable, nothing is held against the learner but its own
objective.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from hidviz.background import mapped, on_one_blas_thread, replacing
from hidviz.evaluation import (
    LONGEST_LIKELIHOOD,
    TINY,
    Repeats,
    block_costs,
    cost_per_bin,
    criteria,
    likelihood_for,
    paired,
    require_repeats,
)
from hidviz.experiments.fit_parts import iter_starts
from hidviz.experiments.l1_path import N_WEIGHTS, L1Path, Strength, strength_in_words
from hidviz.experiments.lags import LAGS, fit_lags
from hidviz.experiments.progress import Progress
from hidviz.experiments.ranges import RANGES, plain_number
from hidviz.learners import LEARNERS, Method, prepare
from hidviz.learning import Snapshot
from hidviz.network import BLOCKS, Couplings, Parts, Recording, divide
from hidviz.numerics import Array
from hidviz.version import __version__


@dataclass(frozen=True)
class Settings:
    """How to fit.

    Args:
        learner: a name in LEARNERS.
        n_hidden: number of hidden units to assume.
        hidden_hidden: learn M too.
        bias: learn the biases too.
        blocks: blocks of time to divide the recording in; 0 to learn from all of it and judge by nothing.
        penalty: weight of the L2 penalty per bin; "learned" for one in each block that follows from the data.
        l1: weight of the L1 penalty per bin, which sets couplings to zero; "chosen" on the stopping part; 0 for none.
        repeats: give the model h(t), the field that is the same in all trials, told from the part to learn from.
        box: largest allowed size of a coupling; None for no box.
        max_steps: most steps of a run.
        starts: number of random starts.
        seed: of the random starts, and of a learner that draws random numbers itself.

    Raises:
        ValueError: a setting is out of range.
    """

    learner: str
    n_hidden: int
    hidden_hidden: bool = False
    bias: bool = True
    blocks: int = 40
    penalty: float | Literal["learned"] = 0.0
    l1: Strength = 0.0
    repeats: bool = False
    box: float | None = None
    max_steps: int = 1000
    starts: int = 3
    seed: int = 1

    def __post_init__(self) -> None:
        if 0 < self.blocks < 5:
            raise ValueError(f"A recording is divided in at least 5 blocks, or none (0), got {self.blocks}.")
        if self.repeats and not self.blocks:
            raise ValueError("h(t) is chosen on a held-out part: divide the recording, or leave h(t) out.")
        if self.learner not in LEARNERS:
            raise ValueError(f"The learner must be one of {', '.join(LEARNERS)}, got {self.learner!r}.")
        if self.l1 and LEARNERS[self.learner].stochastic:
            raise ValueError(
                f"An L1 penalty needs exact gradients, and {self.learner} samples its own: take exact or mean-field."
            )
        if self.l1 == "chosen" and not self.blocks:
            raise ValueError("An L1 penalty is chosen on a held-out part: divide the recording, or give it a number.")
        for name, what, low, high in (
            ("n_hidden", "number of hidden units", *RANGES["n_hidden_assumed"]),
            ("blocks", "number of blocks", 0, 100_000),
            ("penalty", "penalty", *RANGES["penalty"]),
            ("l1", "L1 penalty", *RANGES["penalty"]),
            ("box", "box", *RANGES["box"]),
            ("max_steps", "number of steps", 1, RANGES["max_steps"][1]),
            ("starts", "number of starts", 1, 1_000),
            ("seed", "seed", *RANGES["seed"]),
        ):
            if (name, getattr(self, name)) in (("box", None), ("penalty", "learned"), ("l1", "chosen")):
                continue
            value = plain_number(f"The {what}", getattr(self, name), low, high)
            object.__setattr__(self, name, value)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The best run.

    Args:
        couplings: the estimate.
        summary: costs in nats per bin and all that is worth knowing, plain enough for JSON.
        external_field: (T - 1, Nv) h(t), which the model was given; None without.
        l1: the path of an L1 penalty; None without.
    """

    couplings: Couplings
    summary: dict[str, Any] = field(repr=False)
    external_field: Array | None = field(default=None, repr=False)
    l1: L1Path | None = field(default=None, repr=False)

    def save(self, path: Path) -> None:
        """Write the couplings as .npz, block by block, and `external_field` if there is one.

        What had this name is replaced once the new file is whole.

        Raises:
            OSError: there is no room, or the folder cannot be written.
        """
        with replacing(path) as file:
            arrays = {block: getattr(self.couplings, block) for block in BLOCKS}
            if self.external_field is not None:
                arrays["external_field"] = self.external_field
            np.savez(file, **arrays)


@on_one_blas_thread
def fit_recording(recording: Recording, settings: Settings) -> Generator[Progress, None, Fitted]:
    """Fit a recording, yielding progress and returning the best run.

    Raises:
        ValueError: the recording is too short to be divided, or has no repeats to tell h(t) from.
        Infeasible: the learner would take too long; the message gives the number and an alternative.
    """
    parts = divide(recording, blocks=settings.blocks) if settings.blocks else None
    told = require_repeats(parts) if parts is not None and settings.repeats else None
    if parts is not None and told is not None:
        parts = parts.with_external_field(told.field)
    train = recording if parts is None else parts.learn
    method = LEARNERS[settings.learner]
    n_hidden = method.units(recording.n_visible, settings.n_hidden)
    switches = {"hidden_hidden": settings.hidden_hidden and method.hidden != "none", "bias": settings.bias}
    stop = likelihood_for(settings.learner, parts and parts.stop, n_hidden, **switches, longest=LONGEST_LIKELIHOOD)
    noise = int(np.random.SeedSequence(settings.seed, spawn_key=(4,)).generate_state(1)[0])
    learner = prepare(settings.learner, train, n_hidden=n_hidden, **switches, **method.seeded(noise))

    def report(step: tuple[int, Snapshot]) -> Progress:
        start, last = step
        place, n_starts = start - settings.starts, settings.starts + bool(settings.l1)
        if place >= 0:
            return Progress(strength_in_words(place, settings.l1), (settings.starts + place / N_WEIGHTS) / n_starts)
        return Progress(f"start {start + 1} of {settings.starts}", (start + last.step / settings.max_steps) / n_starts)

    starts = iter_starts(
        learner, stop, train, starts=settings.starts, seed=settings.seed, penalty=settings.penalty, l1=settings.l1,
        box=settings.box, max_steps=settings.max_steps,
    )  # fmt: skip
    runs = yield from mapped(starts, report)
    best = runs[0]
    weight = TINY if settings.penalty == "learned" else settings.penalty  # of the models without hidden units
    yield Progress("judging", 1.0)
    longest = LONGEST_LIKELIHOOD
    exact = (
        learner if method.likelihood else likelihood_for(settings.learner, train, n_hidden, **switches, longest=longest)
    )
    train_cost = cost_per_bin(exact, best.couplings)
    values = best.couplings.vector(learner.learned)
    n_parameters = values.size if best.path is None else int(np.count_nonzero(values))
    n_parameters += 0 if train.external_field is None else train.external_field.size
    paid = (
        None if train_cost is None else criteria(-train_cost * train.n_transitions, n_parameters, train.n_transitions)
    )
    return Fitted(
        best.couplings,
        {
            "hidviz": __version__,
            "settings": asdict(settings),
            "names": [recording.name_of(unit) for unit in range(recording.n_visible)],
            "bin": recording.bin,
            "data": fingerprint(recording),
            "n_visible": train.n_visible,
            "n_trials": len(recording.trials),
            "n_transitions": train.n_transitions,
            "n_transitions_held_out": 0 if parts is None else parts.judge.n_transitions,
            "divided": None if parts is None else parts.how,
            "unit": "nats per bin",
            "objective": best.last.cost,
            "cost": train_cost,
            "stop": None if stop is None else best.stop,
            "l1": None if best.path is None else best.path.plain(),
            **_judged(parts, best.couplings, method, n_hidden, switches, weight, settings.l1, told),
            "aic": None if paid is None else paid.aic / paid.n_transitions,
            "bic": None if paid is None else paid.bic / paid.n_transitions,
            "n_parameters": n_parameters,
            "steps": best.last.step,
            "evaluations": best.last.evaluations,
            "state": best.last.state,
            "message": best.last.message,
            "warnings": [{"kind": remark.kind, "sentence": remark.sentence} for remark in best.last.remarks],
            "starts": [run.reached for run in runs],
        },
        train.external_field,
        best.path,
    )


def fingerprint(recording: Recording) -> str:
    """A hash of all states, trial by trial: tells whether two fits saw the same data, and tells nothing of them."""
    digest = hashlib.sha256()
    for trial in recording.trials:
        digest.update(repr(trial.shape).encode())
        digest.update(np.ascontiguousarray(trial).tobytes())
    return f"sha256:{digest.hexdigest()}"


def _judged(
    parts: Parts | None,
    couplings: Couplings,
    method: Method,
    n_hidden: int,
    switches: dict[str, bool],
    penalty: float,
    l1: Strength,
    told: Repeats | None,
) -> dict[str, Any]:
    """Cost on the judging part, of the fit and of the models without hidden units; None with the reason for it."""
    found: dict[str, Any] = {"held_out": None, "baselines_held_out": {"visible": None, "visible-lag2": None}}
    if parts is None:
        return found | {"not_judged": "Nothing is held out."}
    bare = parts.with_external_field(None)
    lags = [fit_lags(bare, each, bias=switches["bias"], penalty=penalty, l1=l1) for each in LAGS]
    others = {name: each.judged for name, each in zip(LAGS.values(), lags, strict=True)}
    if told is not None:
        under = fit_lags(parts, 1, bias=switches["bias"], penalty=penalty, l1=l1).judged if l1 else told.with_lag1
        others["repeats"] = under
    found["remarks"] = [remark for each in lags for remark in each.remarks]
    found["baselines_held_out"] = {which: float(costs.mean()) for which, costs in others.items()}
    judge = likelihood_for(method.name, parts.judge, n_hidden, **switches, longest=LONGEST_LIKELIHOOD)
    if judge is None:
        return found | {"not_judged": f"The likelihood of {n_hidden} hidden units takes too long to be summed."}
    costs = block_costs(couplings, parts.judge, method.judge, n_hidden=n_hidden, **switches)
    gains = {which: paired(other, costs) for which, other in others.items()}
    return found | {
        "held_out": float(costs.mean()),
        "gains": {which: gain.mean for which, gain in gains.items()},
        "gain_errors": {which: gain.error for which, gain in gains.items()},
    }
