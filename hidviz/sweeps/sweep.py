"""Sweeps: many experiments, run over an executor, to one tidy table.

    sweep = Sweep("lengths", grid(Experiment(), n_steps=(1_000, 10_000), seed=(1, 2)))
    for state in run_sweep(sweep, processes, store=Store("lengths.jsonl")):
        print(state.n_done, "of", state.n_total)
    table(state.measurements)

Finished experiments are kept in the store as they arrive and are not run again, so a sweep that was cancelled, or
killed, goes on where it was. A worker that dies takes with it no more than the experiments under way, which are handed
out again. The table depends on the experiments alone, not on where they ran nor on which came first; only its column
`seconds` does.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from hidviz.background import Crew, Workers, append_line, checkpoint
from hidviz.experiments import Experiment
from hidviz.sweeps.measurement import Measurement, key_of, measure, predicted_seconds
from hidviz.sweeps.spread import flags

LOOK = 0.05  # seconds between looks at the workers
MOST_LOST = 3  # an experiment that was under way when workers died so often is not handed out again

MEASURES = (
    "mse_raw", "mse_aligned", "objective", "cost", "held_out", "cost_at_truth", "held_out_at_truth", "aic", "bic",
    "n_parameters", "steps", "evaluations", "state", "converged", "flag", "residual", "largest", "seconds",
    "wrong_signs", "wrong_signs_at_truth",
)  # fmt: skip
"""Columns of the table after the key, the knobs and the block; costs in nats per bin, `flag` as in `flags`."""


@dataclass(frozen=True)
class Sweep:
    """A named list of experiments.

    Args:
        name: a short name, as in file names.
        experiments: what to run, in the order of the table.
        with_traces, with_states: keep costs and errors of every step too; tell the hidden states too.

    Raises:
        ValueError: there is no experiment, or one occurs twice.
    """

    name: str
    experiments: tuple[Experiment, ...]
    with_traces: bool = False
    with_states: bool = False

    def __post_init__(self) -> None:
        if not self.experiments:
            raise ValueError("A sweep needs at least one experiment, got none.")
        if len(set(self.experiments)) < len(self.experiments):
            twice = next(e for e in self.experiments if self.experiments.count(e) > 1)
            raise ValueError(f"The experiments of a sweep must differ, got twice {twice}.")

    @property
    def predicted_seconds(self) -> float:
        """A rough guess at the seconds of one core that all of it takes."""
        return sum(predicted_seconds(experiment) for experiment in self.experiments)


def grid(base: Experiment, **axes: Sequence[Any]) -> tuple[Experiment, ...]:
    """All combinations of the given values of knobs, the first knob turning slowest; other knobs are those of `base`.

    Raises:
        ValueError: a name is not that of a knob, or a value is out of range.
    """
    if unknown := set(axes) - {field.name for field in fields(Experiment)}:
        raise ValueError(f"An axis of a grid must be a knob of Experiment, got {', '.join(sorted(unknown))}.")
    return tuple(replace(base, **dict(zip(axes, values, strict=True))) for values in itertools.product(*axes.values()))


@dataclass(frozen=True)
class SweepState:
    """How far a sweep has come.

    Args:
        sweep: what is run.
        finished: measurements so far, by key.
        failed: for experiments that could not be run a sentence, by key.
        running: the experiments under way.
        seconds_left: predicted seconds to the end; None while nothing is known.
        ahead: how many other sweeps it waits for before it can go on.
    """

    sweep: Sweep
    finished: Mapping[str, Measurement]
    failed: Mapping[str, str]
    running: tuple[Experiment, ...] = ()
    seconds_left: float | None = None
    ahead: int = 0

    @property
    def finished_all(self) -> bool:
        """Whether no experiment is left."""
        return self.n_done == self.n_total

    @property
    def n_done(self) -> int:
        """How many experiments need no more work."""
        return len(self.finished) + len(self.failed)

    @property
    def n_total(self) -> int:
        """How many experiments there are."""
        return len(self.sweep.experiments)

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What is finished, in the order of the sweep."""
        keys = (key_of(experiment) for experiment in self.sweep.experiments)
        return tuple(self.finished[key] for key in keys if key in self.finished)


class Store:
    """Measurements in a file, one line of JSON each, appended as they arrive.

    A line is written in one piece and reaches the disk before anything else happens. One that was torn by a crash is
    passed over, and so is one that another version of hidviz has written.

    Args:
        path: the file, which need not exist.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def load(self) -> dict[str, Measurement]:
        """Everything that is stored, by key."""
        found = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    measurement = Measurement.from_json(line)
                except ValueError:
                    continue
                found[key_of(measurement.experiment)] = measurement
        return found

    def append(self, measurement: Measurement) -> None:
        """Add one measurement.

        Raises:
            OSError: there is no room; the file is as it was.
        """
        append_line(self.path, measurement.to_json())

    def set_aside(self) -> Path | None:
        """Give the file another name, figure4.1.jsonl or the next that is free; None if there is no file."""
        if not self.path.exists():
            return None
        names = (self.path.with_suffix(f".{k}{self.path.suffix}") for k in itertools.count(1))
        return self.path.rename(next(name for name in names if not name.exists()))


class Keeps(Protocol):
    """Where finished measurements are kept: a Store, or anything like it."""

    def load(self) -> dict[str, Measurement]: ...  # noqa: D102
    def append(self, measurement: Measurement) -> None: ...  # noqa: D102


def run_sweep(
    sweep: Sweep,
    workers: Workers,
    *,
    store: Keeps | None = None,
    give_way: Callable[[], bool] = lambda: False,
) -> Iterator[SweepState]:
    """Run the experiments of a sweep that are not in the store, yielding its state whenever something has changed.

    Closing the iterator, or leaving it at a checkpoint, cancels what is under way.

    Args:
        sweep: what to run.
        workers: opens the executor to run on, and a new one if that breaks.
        store: where finished measurements are kept.
        give_way: whether to end once what is under way is finished, though more waits; asked again and again.
    """
    known = store.load() if store is not None else {}
    keys = {experiment: key_of(experiment) for experiment in sweep.experiments}
    finished = {key: known[key] for key in keys.values() if key in known and _fits(known[key], sweep)}
    failed: dict[str, str] = {}
    waiting = deque(experiment for experiment, key in keys.items() if key not in finished)
    lost: Counter[Experiment] = Counter()
    clock = _Clock()
    yield SweepState(sweep, dict(finished), {}, (), clock.left(waiting, 1))
    while waiting and not give_way():
        with workers() as crew:
            for done, flying in _flights(crew, sweep, waiting, give_way):
                for experiment, outcome in done:
                    if isinstance(outcome, Measurement):
                        finished[keys[experiment]] = outcome
                        clock.add(outcome)
                        if store is not None:
                            store.append(outcome)
                    elif isinstance(outcome, BrokenExecutor | CancelledError) and lost[experiment] + 1 < MOST_LOST:
                        lost[experiment] += 1
                        waiting.appendleft(experiment)
                    else:
                        failed[keys[experiment]] = _sentence(outcome)
                left = clock.left([*flying, *waiting], crew.size)
                yield SweepState(sweep, dict(finished), dict(failed), flying, left)


def table(measurements: Iterable[Measurement]) -> pd.DataFrame:
    """One row per experiment and block: key, knobs, block, and the columns in MEASURES, in the order given."""
    rows = []
    for measurement in measurements:
        shared = {name: getattr(measurement, name) for name in MEASURES if hasattr(measurement, name)}
        shared |= {"converged": measurement.state == "converged"}
        for block, (raw, aligned) in measurement.errors.items():
            rows.append(
                {"key": key_of(measurement.experiment)}
                | asdict(measurement.experiment)
                | {"block": block, "mse_raw": raw, "mse_aligned": aligned}
                | shared
            )
    columns = ["key", *(field.name for field in fields(Experiment)), "block", *MEASURES]
    found = pd.DataFrame(rows, columns=columns)
    return found.assign(flag=flags(found))


def traces(measurements: Iterable[Measurement]) -> pd.DataFrame:
    """One row per experiment and step: key, step, cost and errors, of the measurements that kept them."""
    parts = [pd.DataFrame({"key": key_of(m.experiment)} | dict(m.trace)) for m in measurements if m.trace]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["key", "step", "cost"])


Outcome = Measurement | BaseException


def _flights(
    crew: Crew, sweep: Sweep, waiting: deque[Experiment], give_way: Callable[[], bool]
) -> Iterator[tuple[list[tuple[Experiment, Outcome]], tuple[Experiment, ...]]]:
    """Hand out what waits, a few at a time; yield what has ended and what is under way, until all is done or broken."""
    flying: dict[Future[Measurement], Experiment] = {}
    broken = False
    while flying or (waiting and not broken and not give_way()):
        n_flying = len(flying)
        while waiting and not broken and len(flying) < crew.size and not give_way():
            try:
                future = crew.executor.submit(measure, waiting[0], sweep.with_traces, sweep.with_states)
            except (BrokenExecutor, CancelledError):
                broken = True
            else:
                flying[future] = waiting.popleft()
                if future.done():
                    break
        if len(flying) > n_flying:
            yield [], tuple(flying.values())
        ended, _ = wait(flying, timeout=LOOK, return_when=FIRST_COMPLETED)
        checkpoint()
        if ended:
            done = [(flying.pop(future), _outcome(future)) for future in list(flying) if future in ended]
            broken |= any(isinstance(outcome, BrokenExecutor | CancelledError) for _, outcome in done)
            yield done, tuple(flying.values())


def _outcome(future: Future[Measurement]) -> Outcome:
    try:
        return future.result()
    except (Exception, CancelledError) as error:
        return error


def _sentence(error: BaseException | Measurement) -> str:
    if isinstance(error, BrokenExecutor | CancelledError):
        return f"Its worker died {MOST_LOST} times: it may need more memory than there is."
    return str(error) or repr(error)


def _fits(found: Measurement, sweep: Sweep) -> bool:
    return bool(found.trace or not sweep.with_traces) and not (sweep.with_states and found.wrong_signs is None)


class _Clock:
    """Predicts from what the finished experiments took."""

    def __init__(self) -> None:
        self._predicted = self._taken = 0.0

    def add(self, measurement: Measurement) -> None:
        self._predicted += predicted_seconds(measurement.experiment)
        self._taken += measurement.seconds

    def left(self, experiments: Iterable[Experiment], size: int) -> float | None:
        ahead = sum(predicted_seconds(experiment) for experiment in experiments)
        slowness = self._taken / self._predicted if self._predicted else 1.0
        return slowness * ahead / max(1, min(size, os.cpu_count() or 1))
