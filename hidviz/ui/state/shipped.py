"""Shipped runs: finished runs from assets/, made by this package itself, which recomputing confirms.

`python -m hidviz.ui.state.shipped` makes them anew.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from hidviz.experiments import Experiment, Frame, Trace, framed, with_baselines
from hidviz.learning import learn
from hidviz.network import BLOCKS, Couplings

PACKAGED = Path(__file__).parents[2] / "assets"
ASSETS = PACKAGED if PACKAGED.is_dir() else Path(__file__).parents[3] / "assets"


@lru_cache(maxsize=4)
def shipped_frame(name: str) -> Frame:
    """The last frame of a shipped run, with its data simulated again; shared by all sessions, since it is immutable.

    Raises:
        FileNotFoundError: no such run is shipped.
    """
    with np.load(ASSETS / f"{name}.npz", allow_pickle=False) as stored:
        experiment = Experiment(**json.loads(str(stored["experiment"])))
        couplings = Couplings(**{block: stored[block] for block in BLOCKS})
        names = [str(column) for column in stored["columns"]]
        rows = stored["trace"]
        message, evaluations = str(stored["message"]), int(stored["evaluations"])
    data = _drained(experiment.simulate())
    setup = with_baselines(data, experiment.prepared(data), bias=experiment.bias > 0.0)
    past = Trace()
    for row in rows[:-1]:
        past = past.extended(dict(zip(names, row, strict=True)))

    first = next(learn(setup.learner, couplings, held_out=setup.held_out))
    step = len(rows) - 1
    best = first.best and replace(first.best, step=step)  # of those whose couplings are known here
    snapshot = replace(first, step=step, evaluations=evaluations, state="converged", message=message, best=best)
    return framed(data, setup, snapshot, past)


def ship(name: str, experiment: Experiment) -> Path:
    """Run an experiment to its end and store the last frame under assets/."""
    frame = [item for item in experiment.course() if isinstance(item, Frame)][-1]
    path = ASSETS / f"{name}.npz"
    names = frame.trace.names
    np.savez_compressed(
        path,
        experiment=json.dumps(asdict(experiment)),
        columns=np.array(names),
        trace=np.column_stack([frame.trace[column] for column in names]),
        message=frame.snapshot.message,
        evaluations=frame.snapshot.evaluations,
        **{block: getattr(frame.snapshot.couplings, block) for block in BLOCKS},
    )
    return path


def _drained(generator: Any) -> Any:
    """What a generator returns at its end."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


if __name__ == "__main__":
    print(ship("fig3", Experiment()))
