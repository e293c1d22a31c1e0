"""Restarts: many random starts on the same data, side by side, to see which of them end at the same model.

All starts take turns of a few steps, so that none waits for another to finish. What is published is a table of all of
them, as immutable as the frames in it; a row is the run that `Experiment` would make with that start number, bit for
bit, so a run can be taken out of the table and gone on with.

The cost of a run that stopped early, or that was sampled, is compared as it stands. That all starts agree is no proof
that no better model exists, and that they are equivalent is a matter of the gauge: see `hidviz.network.gauge`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from hidviz.background import on_one_blas_thread
from hidviz.evaluation import gauge_label
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame
from hidviz.experiments.progress import Progress
from hidviz.experiments.run import first_frame, iter_resumed
from hidviz.experiments.setup import Data, with_baselines
from hidviz.learners import Infeasible
from hidviz.learning import State
from hidviz.network import MATRICES

TURN = 3  # steps that a start makes before the next one has its turn
MOST_STARTS = 64
ROOM = 1e9  # bytes for what learners remember of the hidden units of every start
SAME = 1e-6  # nats per bin: a converged cost is nearer than this to its optimum


@dataclass(frozen=True, eq=False)
class Start:
    """One run among many.

    Args:
        frame: its newest step.
    """

    frame: Frame

    @property
    def experiment(self) -> Experiment:
        """Its knobs."""
        return self.frame.experiment

    @property
    def index(self) -> int:
        """Which of the random starts, counted from 1."""
        return self.experiment.start_index

    @property
    def step(self) -> int:
        """Number of steps made."""
        return self.frame.snapshot.step

    @property
    def cost(self) -> float:
        """Training cost, nats per bin."""
        return self.frame.snapshot.cost

    @property
    def state(self) -> State:
        """Whether it is learning, or how it ended."""
        return self.frame.snapshot.state

    @property
    def gauge(self) -> str:
        """The gauge that aligns it to the truth, in short."""
        return gauge_label(self.frame.gauge)

    @property
    def rms(self) -> Mapping[str, float]:
        """Root-mean-square error of each block J, K, L, M as found."""
        return {block: float(self.frame.trace[f"rms_{block}"][-1]) for block in MATRICES}

    @property
    def aligned(self) -> Mapping[str, float]:
        """The same in the gauge nearest to the truth."""
        return {block: float(self.frame.trace[f"aligned_{block}"][-1]) for block in MATRICES}


@dataclass(frozen=True, eq=False)
class Restarts:
    """All starts that have begun, in the order of their numbers.

    Args:
        starts: the runs so far.
        n: how many there will be.
    """

    starts: tuple[Start, ...]
    n: int

    @property
    def n_ended(self) -> int:
        """How many have come to their end."""
        return sum(start.state != "learning" for start in self.starts)

    @property
    def lowest(self) -> float:
        """The lowest cost so far, nats per bin."""
        return min(start.cost for start in self.starts)

    def n_best(self, within: float = SAME) -> int:
        """How many of those that have ended reached the lowest cost, up to this many nats per bin."""
        return sum(start.state != "learning" and start.cost <= self.lowest + within for start in self.starts)


def restarts(experiment: Experiment, n: int = 8, data: Data | None = None) -> Iterator[Progress | Restarts]:
    """Learn from n random starts on the same data, a few steps of each in turn, until all have ended.

    Args:
        experiment: the knobs; the start is the random one, and its number runs from 1 to n.
        n: number of starts, from 1 to 64.
        data: data with the experiment's `data_key`, if there are any; simulated otherwise, to the same numbers.

    Yields:
        Progress while data are made, then the whole table after every turn.

    Raises:
        ValueError: n is out of range.
        Infeasible: the learner would take too long, or all starts together too much memory.
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= MOST_STARTS:
        raise ValueError(f"The number of starts must be a whole number from 1 to {MOST_STARTS}, got {n!r}.")
    return _turns([replace(experiment, start="random", start_index=k) for k in range(1, n + 1)], data)


@on_one_blas_thread
def _turns(experiments: list[Experiment], data: Data | None) -> Generator[Progress | Restarts]:
    if data is None:
        data = yield from experiments[0].simulate()
    yield Progress("Preparing the learner", 1.0)
    setup = with_baselines(data, experiments[0].prepare(data), bias=experiments[0].bias > 0.0)
    runs: list[Iterator[Progress | Frame]] = []
    starts: list[Start] = []
    n = len(experiments)
    for experiment in experiments:
        frame = first_frame(experiment, data, setup)
        if not starts:
            check_room(frame, n)
        runs.append(iter_resumed(frame))
        next(runs[-1])  # that frame itself
        starts.append(Start(frame))
        yield Restarts(tuple(starts), n)
    waiting = [k for k in range(n) if starts[k].state == "learning"]
    while waiting:
        for k in waiting:
            for _, item in zip(range(TURN), runs[k], strict=False):
                assert isinstance(item, Frame)
                starts[k] = Start(item)
            yield Restarts(tuple(starts), n)
        waiting = [k for k in waiting if starts[k].state == "learning"]


def check_room(frame: Frame, n: int) -> None:
    """Refuse to keep n runs like this one if together they are too large.

    Raises:
        Infeasible: they are; the message gives the number that fits.
    """
    beliefs = frame.snapshot.estimate.beliefs
    each = 0 if beliefs is None else 2 * beliefs.nbytes  # the newest step, and the best one
    if n * each > ROOM:
        raise Infeasible(
            f"{n} starts would remember {n * each / 1e9:.1f} GB of hidden units: "
            f"take at most {int(ROOM / each)} starts, or fewer bins."
        )
