"""Bundle: one run in one file, to keep, to hand on, to check, and to open again.

A bundle is a zip archive; the same run gives the same bytes.

    settings.json   every knob, the seeds among them, how far the run came, and the versions that made it
    arrays.npz      found_J … found_g, true_J … true_g; trace (rows × columns, named in settings.json)
    trace.csv       costs (nats per bin) and errors, one row a step
    J.csv …         the found couplings as labelled tables; rows receive, columns send
    script.py       learns the run again through the public interface and compares its costs with the stored ones
    costs.svg …     figures, if whoever saves the run has drawn any: for looking at, and never read

The script reproduces a run made by its knobs alone, flips and swaps included. A run whose knobs were turned midway, or
whose couplings were set by hand, is stored as faithfully, but its script will say at which step they part.

Reading checks every name, size, kind, shape and number before it is used. The recorded data are not in the bundle,
since the knobs make them again.
"""

from __future__ import annotations

import csv
import io
import json
import platform
import zipfile
from collections.abc import Generator, Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import numpy as np

from hidviz.background import on_one_blas_thread, replacing
from hidviz.experiments.archive import DamagedError, arrays, member, opened
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame, Progress, framed
from hidviz.experiments.trace import Trace
from hidviz.learning import learn
from hidviz.network import BLOCKS, Couplings, block_shapes
from hidviz.numerics import Array
from hidviz.version import __version__

KIND, SCHEMA = "hidviz run", 1
LARGEST = 64 * 2**20  # bytes of any one member, unpacked: half a million steps
STRONGEST = 1e3  # a coupling beyond this means nothing, and its exponentials overflow
ARRAYS = ("trace", *(f"{kind}_{block}" for kind in ("found", "true") for block in BLOCKS))
COLUMNS = ("step", "cost", "exact", "held_out", *(f"{kind}_{b}" for kind in ("rms", "aligned") for b in BLOCKS))
NO_FIGURES: Mapping[str, bytes] = MappingProxyType({})
PINNED = (1980, 1, 1, 0, 0, 0)  # the date of every member, so that the bytes do not depend on when they are written


class Bundle(NamedTuple):
    """What a bundle holds: the knobs, the couplings found, and costs and errors at every step."""

    experiment: Experiment
    couplings: Couplings
    trace: Trace


def save_bundle(
    target: str | Path | IO[bytes], experiment: Experiment, frame: Frame, figures: Mapping[str, bytes] = NO_FIGURES
) -> None:
    """Write a run as a bundle.

    Args:
        target: a path, or a binary file open for writing.
        experiment: the knobs of the run.
        frame: its newest step.
        figures: pictures of the run by file name, to be put beside the numbers.

    Raises:
        ValueError: the run has more steps than a bundle may hold, or a figure has the name of another member.
    """
    stored = _arrays(frame)
    rows = stored["trace"]
    if rows.nbytes > LARGEST - 2**10:
        most = LARGEST // rows[0].nbytes
        raise ValueError(f"A bundle has room for {most:,} steps, got {len(rows):,}.")
    packed = io.BytesIO()
    np.savez(packed, **stored)
    members: dict[str, str | bytes] = {
        "settings.json": json.dumps(_settings(experiment, frame), indent=2) + "\n",
        "script.py": _script(experiment),
        "trace.csv": _csv([list(frame.trace.names), *rows.tolist()]),
        **{f"{block}.csv": _csv(_table(frame.snapshot.couplings, block)) for block in "JKLM"},
        "arrays.npz": packed.getvalue(),
    }
    if taken := members.keys() & figures.keys():
        raise ValueError(f"Figures must have names of their own, got {', '.join(sorted(taken))}.")
    place = replacing(target) if isinstance(target, str | Path) else nullcontext(target)
    with place as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in (members | dict(figures)).items():
            archive.writestr(zipfile.ZipInfo(name, PINNED), content, zipfile.ZIP_DEFLATED)


def load_bundle(source: str | Path | IO[bytes]) -> Bundle:
    """Read a bundle, trusting nothing in it.

    Args:
        source: a path, or a binary file open for reading.

    Raises:
        ValueError: the file is no bundle, or damaged; the message says in one sentence what is wrong with it.
        OSError: there is no such file.
    """
    try:
        with opened(source, 2 * LARGEST) as archive:
            settings = _read_settings(member(archive, "settings.json", 2**20))
            stored = arrays(member(archive, "arrays.npz", LARGEST), ARRAYS, LARGEST)
        return _checked(settings, stored)
    except DamagedError as damage:
        raise ValueError(f"This file is not a bundle that can be opened: {damage}") from None


@on_one_blas_thread
def reopened(bundle: Bundle) -> Generator[Progress | Frame]:
    """Make the data again, stand where the run stood, and go on from there.

    What the optimiser remembered is not in a bundle, so this is a continuation, not the one that would have been.

    Yields:
        Progress while data are made, then the newest frame of the run, then the frames that follow it.

    Raises:
        ValueError: the trace has other columns than a run with these knobs.
        Infeasible: the learner would take too long.
    """
    experiment, couplings, trace = bundle
    data = yield from experiment.simulate()
    yield Progress("Preparing the learner", 1.0)
    setup = experiment.prepared(data)
    snapshot = next(
        learn(
            setup.learner,
            couplings,
            optimiser=experiment.optimiser,
            penalty=experiment.penalty,
            box=experiment.box,
            held_out=setup.held_out,
        )
    )
    step = int(trace["step"][-1])
    best = snapshot.best and replace(snapshot.best, step=step)
    frame = framed(data, setup, replace(snapshot, step=step, best=best), Trace())
    if set(frame.trace.names) != set(trace.names):
        raise ValueError(
            f"A run with these knobs records {', '.join(frame.trace.names)}, this one {', '.join(trace.names)}."
        )
    yield from experiment.course(since=replace(frame, trace=trace))


# Writing


def _arrays(frame: Frame) -> dict[str, Any]:
    found, true, trace = frame.snapshot.couplings, frame.data.truth, frame.trace
    blocks = {f"{kind}_{b}": getattr(each, b) for kind, each in (("found", found), ("true", true)) for b in BLOCKS}
    return blocks | {"trace": np.column_stack([trace[name] for name in trace.names])}


def _settings(experiment: Experiment, frame: Frame) -> dict[str, Any]:
    snapshot = frame.snapshot
    return {
        "kind": KIND,
        "schema": SCHEMA,
        "experiment": asdict(experiment),
        "run": {
            "step": snapshot.step,
            "evaluations": snapshot.evaluations,
            "cost": snapshot.cost,
            "state": snapshot.state,
            "message": snapshot.message,
        },
        "columns": list(frame.trace.names),
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    libraries = {name: version(name) for name in ("numpy", "scipy")}
    return {"hidviz": __version__, **libraries, "python": platform.python_version()}


def _table(couplings: Couplings, block: str) -> list[list[object]]:
    """A block with its units named: visible 1, hidden 1, …; the corner says which way to read it."""
    to, since = {"J": ("visible", "visible"), "K": ("visible", "hidden"), "L": ("hidden", "visible")}.get(
        block, ("hidden", "hidden")
    )
    values = getattr(couplings, block)
    head: list[object] = ["to / from", *(f"{since} {j + 1}" for j in range(values.shape[1]))]
    return [head, *([f"{to} {i + 1}", *row] for i, row in enumerate(values.tolist()))]


def _csv(rows: list[list[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _script(experiment: Experiment) -> str:
    plain = asdict(Experiment())
    knobs = "".join(f"    {name}={value!r},\n" for name, value in asdict(experiment).items() if value != plain[name])
    return SCRIPT.replace("KNOBS", f"\n{knobs}" if knobs else "")


SCRIPT = '''"""Learn this run again and compare its costs with the stored ones, in nats per bin."""

import json
import sys
from pathlib import Path

import numpy as np

from hidviz import Experiment

here = Path(__file__).parent
columns = json.loads((here / "settings.json").read_text(encoding="utf-8"))["columns"]
with np.load(here / "arrays.npz", allow_pickle=False) as arrays:
    stored = dict(zip(columns, arrays["trace"].T, strict=True))

experiment = Experiment(KNOBS)
costs = []
for snapshot in experiment.run():
    if snapshot.step == len(costs):
        costs.append(snapshot.cost)
    if snapshot.step >= stored["step"].max():
        break

reached = stored["step"] < len(costs)
steps = stored["step"][reached].astype(int)
gaps = np.abs(np.array(costs)[steps] - stored["cost"][reached])
parted = np.flatnonzero(gaps > 1e-9)
if parted.size or not reached.all():
    where = steps[parted[0]] if parted.size else len(costs)
    sys.exit(f"The costs part at step {where}: other versions, or knobs that were turned during the run.")
print(f"Reproduced {len(gaps)} costs; the largest difference is {gaps.max():.1e} nats per bin.")
'''


# Reading


def _read_settings(content: bytes) -> dict[str, Any]:
    try:
        settings = json.loads(content)
    except (ValueError, RecursionError):
        raise DamagedError("its settings are no JSON text.") from None
    if not isinstance(settings, dict) or settings.get("kind") != KIND:
        raise DamagedError(f"its settings must be those of a {KIND}.")
    if settings.get("schema") != SCHEMA:
        raise DamagedError(f"its schema must be {SCHEMA}, got {str(settings.get('schema'))[:20]}.")
    return settings


def _checked(settings: dict[str, Any], stored: dict[str, Array]) -> Bundle:
    knobs = settings.get("experiment")
    if not isinstance(knobs, dict) or set(knobs) != set(asdict(Experiment())):
        raise DamagedError("its settings must name every knob of an experiment, and no others.")
    try:
        experiment = Experiment(**knobs)
    except (ValueError, TypeError) as error:
        raise DamagedError(str(error)[:200]) from None
    for kind, n_hidden in (("found", experiment.n_hidden_learned), ("true", experiment.n_hidden)):
        for block, shape in block_shapes(experiment.n_visible, n_hidden).items():
            given = stored[f"{kind}_{block}"].shape
            if given != shape:
                raise DamagedError(f"{kind}_{block} must have shape {shape} for these knobs, got {given}.")
    couplings = Couplings(**{block: stored[f"found_{block}"] for block in BLOCKS})
    if np.abs(couplings.vector()).max() > STRONGEST:
        raise DamagedError(f"its couplings must not be larger than {STRONGEST:g}.")
    return Bundle(experiment, couplings, _checked_trace(settings.get("columns"), stored["trace"]))


def _checked_trace(columns: object, rows: Array) -> Trace:
    names = columns if isinstance(columns, list) and all(isinstance(name, str) for name in columns) else []
    if names[:2] != ["step", "cost"] or len(set(names)) != len(names) or not set(names) <= set(COLUMNS):
        raise DamagedError("its columns must be step, cost, and others that a trace may have.")
    if rows.ndim != 2 or rows.shape[1] != len(names) or len(rows) == 0:
        raise DamagedError(f"its trace must have shape (steps, {len(names)}), got {rows.shape}.")
    steps = rows[:, 0]
    if (steps < 0).any() or (steps > 1e9).any() or (steps != np.floor(steps)).any():
        raise DamagedError("the steps of its trace must be whole numbers from 0.")
    trace = Trace()
    for row in rows.tolist():
        trace = trace.extended(dict(zip(names, row, strict=True)))
    return trace
