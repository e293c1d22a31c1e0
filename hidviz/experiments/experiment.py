"""Experiment: every knob of a run as one frozen value.

    Experiment → truth → simulate → Recording → learn → Snapshot, Snapshot, …

One seed per experiment is spawned into truth, data, start, held-out data and the noise of a sampling learner, so
changing T leaves the truth unchanged and a new start leaves the data unchanged. The same experiment gives the same
numbers on the same machine.

`Experiment.run` yields the snapshots; `hidviz.experiments.run` has the same run as Progress and Frames, to be watched.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hidviz.background import mapped, on_one_blas_thread, return_value
from hidviz.experiments.memory import room_for
from hidviz.experiments.progress import Progress
from hidviz.experiments.ranges import CHOICES, OPTIONAL, RANGES, plain_number
from hidviz.experiments.setup import Data, Setup, prepare_setup
from hidviz.learners import LEARNERS, Learner
from hidviz.learning import (
    Snapshot,
    learn,
    mirrored_start,
    random_start,
    signed_start,
    true_start,
)
from hidviz.network import Couplings, iter_simulation, learned_blocks, random_couplings


@dataclass(frozen=True)
class Experiment:
    """Every knob of one run.

    Args:
        n_visible: number of visible units, Nv.
        n_hidden: number of hidden units of the true network, Nh.
        n_steps: data length T in time bins.
        variance: coupling variance g²: J, L ~ N(0, g²/Nv), K, M ~ N(0, g²/Nh).
        model: the true hidden units: "continuous" (model A) or "stochastic" (model B).
        hidden_hidden: whether hidden units couple to hidden units (M), in truth and estimate.
        bias: standard deviation of the true biases; zero for none, else they are learned too.
        learner: a name in LEARNERS.
        n_hidden_assumed: hidden units that the learner assumes; as many as there are when None.
        optimiser: a name in OPTIMISERS; None for the default of the learner.
        rate: step size; None for the default of the optimiser.
        penalty: weight of the L2 penalty per bin; "learned" for one in each block of couplings that follows from the
            data.
        box: largest allowed size of a coupling; None for no box.
        start: a name in STARTS.
        start_index: which of the random starts, counted from 1.
        start_scale: standard deviation of a small start.
        patience: stop when the held-out cost, if it is affordable, has not fallen for this many steps; None to go on
            to convergence.
        max_steps: stop after this many steps; None for no limit.
        n_held_out: length of the held-out data in bins; 0 for none.
        seed: the one source of all randomness.

    Raises:
        ValueError: a knob is out of range; the message says what must hold.
        Infeasible: (on `simulate` and `prepare`) it would take too long, or too much memory.
    """

    n_visible: int = 18
    n_hidden: int = 2
    n_steps: int = 10_000
    variance: float = 1.0
    model: Literal["continuous", "stochastic"] = "continuous"
    hidden_hidden: bool = False
    bias: float = 0.0
    learner: str = "backprop"
    n_hidden_assumed: int | None = None
    optimiser: str | None = None
    rate: float | None = None
    penalty: float | Literal["learned"] = 0.0
    box: float | None = None
    start: str = "random"
    start_index: int = 1
    start_scale: float = 0.1
    patience: int | None = None
    max_steps: int | None = None
    n_held_out: int = 10_000
    seed: int = 1

    def __post_init__(self) -> None:
        for name, (low, high) in RANGES.items():
            value = getattr(self, name)
            if (value is None and name in OPTIONAL) or (name == "penalty" and value == "learned"):
                continue
            value = plain_number(name, value, low, high)
            object.__setattr__(self, name, value)
        for name, known in CHOICES.items():
            value = getattr(self, name)
            chosen = isinstance(value, str) and value in known  # what is no string may have no hash
            if not chosen and not (name in OPTIONAL and value is None):
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {value!r}.")
        if not isinstance(self.hidden_hidden, bool | np.bool_):
            raise ValueError(f"hidden_hidden must be True or False, got {self.hidden_hidden!r}.")
        object.__setattr__(self, "hidden_hidden", bool(self.hidden_hidden))
        if 0 < self.n_held_out < RANGES["n_steps"][0]:
            raise ValueError(f"n_held_out must be 0 or at least {RANGES['n_steps'][0]}, got {self.n_held_out}.")
        if self.patience is not None and not self.n_held_out:
            raise ValueError("patience waits for the held-out cost: set n_held_out, or leave patience out.")

    @property
    def n_hidden_learned(self) -> int:
        """The number of hidden units that the learner assumes; 0 for a learner that knows of none."""
        assumed = self.n_hidden if self.n_hidden_assumed is None else self.n_hidden_assumed
        return LEARNERS[self.learner].units(self.n_visible, assumed)

    @property
    def optimiser_used(self) -> str:
        """The optimiser by name: the one asked for, else the default of the learner."""
        return self.optimiser or ("adam" if LEARNERS[self.learner].stochastic else "l-bfgs")

    @property
    def data_key(self) -> tuple[object, ...]:
        """What the data depend on: two experiments with the same key share a Data."""
        return (
            self.n_visible, self.n_hidden, self.n_steps, self.variance, self.model, self.hidden_hidden, self.bias,
            self.n_held_out, self.seed,
        )  # fmt: skip

    def truth(self) -> Couplings:
        """The true couplings; independent of the data length."""
        return random_couplings(
            self.n_visible,
            self.n_hidden,
            self._rng(0),
            variance=self.variance,
            hidden_hidden=self.hidden_hidden,
            bias=self.bias,
        )

    def starting_point(self, truth: Couplings) -> Couplings:
        """Where learning begins; only the starts that say so look at the truth."""
        n_hidden = self.n_hidden_learned
        learned = learned_blocks(n_hidden, hidden_hidden=self.hidden_hidden, bias=self.bias > 0.0)
        rng = self._rng(2, self.start_index)
        small = random_start(self.n_visible, n_hidden, rng, scale=self.start_scale, learned=learned)
        informed = {"right-signed": signed_start, "wrong-signed": mirrored_start, "truth": true_start}
        return informed[self.start](truth, small) if self.start in informed else small

    def simulate(self) -> Generator[Progress, None, Data]:
        """Draw the truth and simulate data and held-out data, yielding progress and returning the Data.

        Raises:
            Infeasible: the run would take too long, or more memory than it may use; the message gives the number and
                what would fit.
        """
        self._refuse_if_long()
        with room_for(self):
            return (yield from self._simulate())

    def _refuse_if_long(self) -> None:
        """Asked before memory: where a step takes hours, fewer bins that would fit are no advice."""
        method = LEARNERS[self.learner]
        method.refuse_if_long(self.n_visible, self.n_hidden_learned, self.n_steps - 1, self.hidden_hidden)

    def _simulate(self) -> Generator[Progress, None, Data]:
        truth = self.truth()
        total = self.n_steps + self.n_held_out
        done = 0
        runs = []
        for stream, n_bins in ((1, self.n_steps), (3, self.n_held_out)):
            if n_bins == 0:
                continue

            def report(fraction: float, done: int = done, n_bins: int = n_bins) -> Progress:
                return Progress(f"Simulating {total:,} bins", (done + fraction * n_bins) / total)

            chunks = iter_simulation(truth, n_bins, self._rng(stream), hidden=self.model)
            runs.append((yield from mapped(chunks, report)))
            done += n_bins
        held_out = runs[1].recording if len(runs) > 1 else None
        return Data(truth, runs[0].recording, runs[0].hidden, held_out)

    def prepare(self, data: Data) -> Setup:
        """Prepare the learner, and the costs to compare with: exact where affordable, else sampled where M = 0.

        Raises:
            Infeasible: the learner would take too long, or too much memory; the message gives the number and an
                alternative.
        """
        self._refuse_if_long()
        with room_for(self, with_data=False):
            return prepare_setup(
                data,
                self.learner,
                n_hidden=self.n_hidden_learned,
                model=self.model,
                hidden_hidden=self.hidden_hidden,
                bias=self.bias > 0.0,
                seed=self.seed,
                noise=int(self._stream(4).generate_state(1)[0]),
            )

    def learn_options(self, held_out: Learner | None) -> dict[str, Any]:
        """The keywords of `learn` that the knobs decide.

        Args:
            held_out: the learner's cost on held-out data; None if it is not affordable, and patience waits for nothing.
        """
        return {
            "optimiser": self.optimiser,
            "rate": self.rate,
            "penalty": self.penalty,
            "box": self.box,
            "held_out": held_out,
            "patience": self.patience if held_out else None,
            "max_steps": self.max_steps,
        }

    @on_one_blas_thread
    def run(self) -> Generator[Snapshot]:
        """Simulate, then learn: the snapshots of the run, from the start to the end."""
        data = return_value(self.simulate())
        setup = self.prepare(data)
        yield from learn(setup.learner, self.starting_point(data.truth), **self.learn_options(setup.held_out))

    def _rng(self, *stream: int) -> np.random.Generator:
        return np.random.default_rng(self._stream(*stream))

    def _stream(self, *stream: int) -> np.random.SeedSequence:
        """One of the streams of this seed: 0 truth, 1 data, (2, k) start k, 3 held-out data, 4 noise of the learner."""
        return np.random.SeedSequence(self.seed, spawn_key=stream)


LIVE = frozenset({"optimiser", "rate", "penalty", "box", "patience", "max_steps"})
"""Knobs that apply in the middle of a run; all others start learning again, or make new data."""
