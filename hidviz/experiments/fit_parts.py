"""One model fitted to one part of a recording, stopped by another: several starts, of which the best is kept.

Learning starts from small random couplings and biases at the observed rates, and stops when the cost on the stopping
part no longer falls; that part also chooses the start, and the strength of an L1 penalty (`l1_path`). None of it is
evidence: the judging part is, and it is not seen.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from hidviz.background import mapped, return_value
from hidviz.evaluation import LONGEST_LIKELIHOOD, cost_per_bin, likelihood_for
from hidviz.experiments.l1_path import L1Path, Strength, iter_l1_path
from hidviz.learners import LEARNERS, Learner, prepare
from hidviz.learning import Snapshot, learn, random_start, result
from hidviz.network import Couplings, Recording

PATIENCE = 30  # steps without a lower cost on the stopping part that end a run
SURE = 0.999  # largest |mean state| that a bias starts from


@dataclass(frozen=True, eq=False)
class Run:
    """The end of one start.

    Args:
        couplings: what it found.
        stop: cost on the stopping part, nats per bin; on the learned part where nothing stopped it.
        last: its last step.
        path: the L1 path from its end, which `couplings` are of; None for no L1 penalty.
    """

    couplings: Couplings
    stop: float
    last: Snapshot
    path: L1Path | None = None

    @property
    def reached(self) -> float:
        """What `stop` was before any L1 penalty: starts are compared by it."""
        return self.stop if self.path is None else self.path.without


def iter_starts(
    learner: Learner,
    stop: Learner | None,
    recording: Recording,
    *,
    starts: int,
    seed: int,
    penalty: float | Literal["learned"] = 0.0,
    l1: Strength = 0.0,
    box: float | None = None,
    max_steps: int = 300,
) -> Generator[tuple[int, Snapshot], None, tuple[Run, ...]]:
    """Learn from several starts, yielding (start, step) and returning the runs, the best first.

    With an L1 penalty the best of them goes on along its path, each strength of which counts as one start more.

    Args:
        learner: prepared on the part to learn from.
        stop: its cost on the part to stop by; None for none.
        recording: what the learner was prepared on.
        starts: number of random starts.
        seed: of the random starts.
        penalty: weight of the L2 penalty per bin; "learned" for one in each block that follows from the data.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part; 0 for none.
        box: largest allowed size of a coupling; None for no box.
        max_steps: most steps of a start.
    """
    stopping = None if learner.stochastic else stop
    runs = []
    for k in range(starts):
        start = starting_point(recording, learner, np.random.default_rng([seed, k]))
        for last in learn(
            learner, start, penalty=penalty, box=box, held_out=stopping,
            patience=None if stopping is None else PATIENCE, max_steps=max_steps,
        ):  # fmt: skip
            yield k, last
        found = result(last)
        judged = cost_per_bin(stop, found)
        runs.append(Run(found, last.cost if judged is None else judged, last))
    best, *others = sorted(runs, key=lambda run: run.stop)
    if l1:
        steps = iter_l1_path(learner, stop, best.couplings, l1, penalty=penalty, box=box, max_steps=max_steps)
        path = yield from mapped(steps, lambda each: (starts + each[0], each[1]))
        best = _sparse(best, path, stop)
    return best, *others


def _sparse(run: Run, path: L1Path, stop: Learner | None) -> Run:
    """A run that ends where its L1 path does."""
    judged, last = cost_per_bin(stop, path.couplings), path.last or run.last
    return Run(path.couplings, last.cost if judged is None else judged, last, path)


def fit_model(
    learn_from: Recording,
    stop_by: Recording | None,
    n_hidden: int,
    *,
    hidden_hidden: bool,
    starts: int,
    seed: int,
    penalty: float = 0.0,
    l1: Strength = 0.0,
    max_steps: int = 300,
    sampled: bool = False,
) -> tuple[Run, ...]:
    """The runs of one model with biases, the best first.

    Args:
        learn_from: the part to learn from.
        stop_by: the part to stop by; None for none.
        n_hidden: number of hidden units.
        hidden_hidden: whether to learn M.
        starts: number of random starts.
        seed: of the random starts.
        penalty: weight of the L2 penalty per bin.
        l1: weight of the L1 penalty per bin; "chosen" on the stopping part; 0 for none.
        max_steps: most steps of a start.
        sampled: learn by sampling, as a scan does where sums over hidden states would take too long.

    Raises:
        ValueError: the L1 penalty is to be chosen, and there is nothing to choose it by.
        Infeasible: there are too many hidden units to sum over.
    """
    method = LEARNERS["gibbs" if sampled else "exact"]
    learner = prepare(
        method.name, learn_from, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=True, **method.seeded(seed)
    )
    stop = likelihood_for(
        "exact", stop_by, n_hidden, hidden_hidden=hidden_hidden, bias=True, longest=LONGEST_LIKELIHOOD
    )
    steps = iter_starts(
        learner, stop, learn_from, starts=starts, seed=seed, penalty=penalty, l1=l1, max_steps=max_steps
    )
    return return_value(steps)


def starting_point(recording: Recording, learner: Learner, rng: np.random.Generator) -> Couplings:
    """Small random couplings, and visible biases at the observed rates where they are learned.

    An external field is taken off the biases.
    """
    start = random_start(recording.n_visible, learner.n_hidden, rng, learned=learner.learned)
    if "h" not in learner.learned:
        return start
    total = sum(trial.sum(axis=0, dtype=np.int64) for trial in recording.trials)
    h = np.arctanh(np.clip(total / recording.n_bins, -SURE, SURE))
    return replace(start, h=h if recording.external_field is None else h - recording.external_field.mean(axis=0))
