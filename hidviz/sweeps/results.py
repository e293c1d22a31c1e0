"""Results: a finished sweep as files, with all that is needed to run it again.

figure4.csv             the table: a row per experiment and block
figure4-traces.csv     costs and errors of every step, for a sweep that keeps them
figure4.json            provenance: the experiments, versions, seconds, slopes, and what failed
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from hidviz.background import write
from hidviz.experiments import Experiment
from hidviz.sweeps.spread import slopes
from hidviz.sweeps.sweep import SweepState, table, traces
from hidviz.version import __version__

TABLE_DIGITS, TRACE_DIGITS = "%.12g", "%.7g"


@dataclass(frozen=True, eq=False)
class Results:
    """A finished sweep, or as much of it as there is.

    Args:
        table: as of `sweeps.table`.
        traces: as of `sweeps.traces`; may be empty.
        settings: provenance, plain enough for JSON.
    """

    table: pd.DataFrame
    traces: pd.DataFrame
    settings: dict[str, Any]

    @property
    def experiments(self) -> tuple[Experiment, ...]:
        """The experiments, in the order of the table."""
        return tuple(Experiment(**knobs) for knobs in self.settings["experiments"])


def results_of(state: SweepState, **about: str | bool) -> Results:
    """What a sweep has found so far.

    Args:
        state: of `run_sweep`.
        **about: further entries of the provenance, such as a title.
    """
    found = table(state.measurements)
    settings = {
        "name": state.sweep.name,
        **about,
        "hidviz": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "seconds": round(sum(measurement.seconds for measurement in state.measurements), 1),
        "slopes": json.loads(slopes(found).to_json(orient="records")),
        "failed": dict(state.failed),
        "experiments": [asdict(experiment) for experiment in state.sweep.experiments],
    }
    return Results(found, traces(state.measurements), settings)


def paths(directory: Path, name: str, *, with_traces: bool) -> tuple[Path, ...]:
    """The files that `save` writes."""
    endings = (".csv", ".json", *(("-traces.csv",) if with_traces else ()))
    return tuple(directory / (name + ending) for ending in endings)


def save(results: Results, directory: Path) -> tuple[Path, ...]:
    """Write the files, and return their paths; whatever had these names is replaced, each once the new one is whole.

    Raises:
        OSError: there is no room, or the directory cannot be written.
    """
    name = results.settings["name"]
    written = paths(directory, name, with_traces=len(results.traces) > 0)
    write(written[0], results.table.to_csv(index=False, float_format=TABLE_DIGITS))
    write(written[1], json.dumps(results.settings, indent=1, ensure_ascii=False) + "\n")
    if len(results.traces):
        write(written[2], results.traces.to_csv(index=False, float_format=TRACE_DIGITS))
    return written


def load(directory: Path, name: str) -> Results:
    """Read what `save` has written.

    Raises:
        FileNotFoundError: there is no such file.
    """
    csv, settings, of_traces = paths(directory, name, with_traces=True)
    table = pd.read_csv(csv, dtype={"flag": str})
    return Results(
        table.assign(flag=table["flag"].fillna("")) if "flag" in table else table,
        pd.read_csv(of_traces) if of_traces.exists() else traces(()),
        json.loads(settings.read_text(encoding="utf-8")),
    )


def differing(one: pd.DataFrame, other: pd.DataFrame, *, tolerance: float = 1e-6) -> tuple[str, ...]:
    """Keys of the experiments in both tables whose errors or costs differ by more than a relative tolerance.

    The same experiment gives the same numbers on the same machine, and on another one nearly so: rounding differs.
    """
    names = ["mse_raw", "mse_aligned", "objective", "cost", "held_out", "wrong_signs", "wrong_signs_at_truth"]
    names = [name for name in names if name in one and name in other]
    both = one.merge(other, on=["key", "block"], suffixes=("_one", "_other"))
    left, right = (both[[f"{name}_{side}" for name in names]].to_numpy(float) for side in ("one", "other"))
    same = np.isclose(left, right, rtol=tolerance, atol=1e-12, equal_nan=True).all(axis=1)
    return tuple(dict.fromkeys(both.loc[~same, "key"]))
