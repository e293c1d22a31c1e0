"""Bundle: one run in one file, to keep, to hand on, to check, and to open again.

A bundle is a zip archive; the same run gives the same bytes.

    settings.json   every knob, the seeds among them, how far the run came, and the versions that made it
    arrays.npz      found_J … found_g, true_J … true_g; trace (rows × columns, named in settings.json)
    trace.csv       costs (nats per bin) and errors, one row a step, or of a long run 20,000 steps evenly apart
    J.csv …         the found couplings as labelled tables; rows receive, columns send
    script.py       learns the run again through the public interface and compares its costs with the stored ones
    costs.svg …     figures, if whoever saves the run has drawn any: for looking at, and never read

The script reproduces a run made by its knobs alone, flips and swaps included. A run whose knobs were turned midway, or
whose couplings were set by hand, is stored as faithfully, but its script will say at which step they part.

Reading checks every name, size, kind, shape and number before it is used; the settings, which are small, come first and
say how large all else may be. Data, and steps left out of a long run, are not in it: the knobs make them again.
"""

from __future__ import annotations

import csv
import io
import json
import math
import platform
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple, cast, get_args

import numpy as np

from hidviz.background import write
from hidviz.experiments.archive import HEADER, DamagedError, arrays, member, opened
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame
from hidviz.experiments.trace import Trace
from hidviz.learning import State
from hidviz.network import BLOCKS, MATRICES, Couplings, block_shapes
from hidviz.numerics import Array
from hidviz.version import __version__

KIND, SCHEMA = "hidviz run", 1
LARGEST_FILE = 20 * 2**20  # bytes of a bundle, written or read
MOST_ROWS_READ = 200_000  # earlier versions wrote every step
STRONGEST = 1e3  # a coupling beyond this means nothing, and its exponentials overflow
LONGEST_MESSAGE = 2000
COLUMNS = ("step", "cost", "exact", "held_out", *(f"{kind}_{b}" for kind in ("rms", "aligned") for b in BLOCKS))
NO_FIGURES: Mapping[str, bytes] = MappingProxyType({})
PINNED = (1980, 1, 1, 0, 0, 0)  # the date of every member, so that the bytes do not depend on when they are written


class Ending(NamedTuple):
    """How the run stood when it was saved, as its snapshot says."""

    state: State = "learning"
    message: str = ""
    evaluations: int = 0


class Bundle(NamedTuple):
    """What a bundle holds: knobs, the couplings found, costs and errors at every step, and how the run stood."""

    experiment: Experiment
    couplings: Couplings
    trace: Trace
    ending: Ending = Ending()


def save_bundle(target: str | Path | IO[bytes], frame: Frame, figures: Mapping[str, bytes] = NO_FIGURES) -> None:
    """Write a run as a bundle.

    Args:
        target: a path, or a binary file open for writing.
        frame: its newest step, which knows all the others.
        figures: pictures of the run by file name, to be put beside the numbers.

    Raises:
        ValueError: the bundle would be larger than may be opened again, or a figure has the name of another member.
        OSError: there is no room, or the folder cannot be written.
    """
    trace = np.column_stack([frame.trace[name] for name in frame.trace.names])
    packed = io.BytesIO()
    np.savez(packed, **_arrays(frame, trace))
    members: dict[str, str | bytes] = {
        "settings.json": json.dumps(_settings(frame), indent=2) + "\n",
        "script.py": _script(frame.experiment),
        "trace.csv": _csv([list(frame.trace.names), *trace.tolist()]),
        **{f"{block}.csv": _csv(_table(frame.snapshot.couplings, block)) for block in MATRICES},
        "arrays.npz": packed.getvalue(),
    }
    if taken := members.keys() & figures.keys():
        raise ValueError(f"Figures must have names of their own, got {', '.join(sorted(taken))}.")
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, member_content in (members | dict(figures)).items():
            archive.writestr(zipfile.ZipInfo(name, PINNED), member_content, zipfile.ZIP_DEFLATED)
    if (size := content.tell()) > LARGEST_FILE:
        raise ValueError(f"A bundle may have {LARGEST_FILE // 2**20} MB, this one has {size / 2**20:.1f} MB.")
    if isinstance(target, str | Path):
        write(target, content.getvalue())
    else:
        target.write(content.getvalue())


def load_bundle(source: str | Path | IO[bytes]) -> Bundle:
    """Read a bundle, trusting nothing in it.

    Args:
        source: a path, or a binary file open for reading.

    Raises:
        ValueError: the file is no bundle, or damaged; the message says in one sentence what is wrong with it.
        OSError: there is no such file.
    """
    try:
        with opened(source, LARGEST_FILE) as archive:
            settings = _read_settings(member(archive, "settings.json", 2**20))
            experiment = _checked_experiment(settings.get("experiment"))
            names = _checked_columns(settings.get("columns"))
            shapes = _shapes(experiment)
            room = {name: math.prod(shape) for name, shape in shapes.items()} | {"trace": MOST_ROWS_READ * len(names)}
            stored = arrays(member(archive, "arrays.npz", sum(8 * n + 2 * HEADER for n in room.values())), room)
        ending = _checked_ending(settings.get("run"))
        return Bundle(experiment, _checked_couplings(stored, shapes), _checked_trace(names, stored["trace"]), ending)
    except DamagedError as damage:
        raise ValueError(f"This file is not a bundle that can be opened: {damage}") from None


# Writing


def _arrays(frame: Frame, trace: Array) -> dict[str, Any]:
    found, true = frame.snapshot.couplings, frame.data.truth
    blocks = {f"{kind}_{b}": getattr(each, b) for kind, each in (("found", found), ("true", true)) for b in BLOCKS}
    return blocks | {"trace": trace}


def _settings(frame: Frame) -> dict[str, Any]:
    snapshot = frame.snapshot
    return {
        "kind": KIND,
        "schema": SCHEMA,
        "experiment": asdict(frame.experiment),
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


def _checked_experiment(knobs: object) -> Experiment:
    if not isinstance(knobs, dict) or set(knobs) != set(asdict(Experiment())):
        raise DamagedError("its settings must name every knob of an experiment, and no others.")
    try:
        return Experiment(**knobs)
    except (ValueError, TypeError) as error:
        said = str(error)  # it may quote what was in the file
        raise DamagedError(said if len(said) <= 400 else f"{said[:400]} ….") from None


def _checked_columns(columns: object) -> list[str]:
    names = columns if isinstance(columns, list) and all(isinstance(name, str) for name in columns) else []
    if names[:2] != ["step", "cost"] or len(set(names)) != len(names) or not set(names) <= set(COLUMNS):
        raise DamagedError("its columns must be step, cost, and others that a trace may have.")
    return names


def _checked_ending(run: object) -> Ending:
    given = run if isinstance(run, dict) else {}
    state, message, evaluations = (given.get(name) for name in Ending._fields)
    if state not in get_args(State) or not isinstance(message, str) or len(message) > LONGEST_MESSAGE:
        raise DamagedError("its settings must say how the run ended.")
    if type(evaluations) is not int or not 0 <= evaluations <= 10**12:
        raise DamagedError("its settings must say how often the learner was called.")
    return Ending(cast(State, state), message, evaluations)


def _shapes(experiment: Experiment) -> dict[str, tuple[int, ...]]:
    """The shape that the knobs give to each block."""
    sizes = (("found", experiment.n_hidden_learned), ("true", experiment.n_hidden))
    return {
        f"{kind}_{block}": shape
        for kind, n_hidden in sizes
        for block, shape in block_shapes(experiment.n_visible, n_hidden).items()
    }


def _checked_couplings(stored: dict[str, Array], shapes: dict[str, tuple[int, ...]]) -> Couplings:
    for name, shape in shapes.items():
        if stored[name].shape != shape:
            raise DamagedError(f"{name} must have shape {shape} for these knobs, got {stored[name].shape}.")
    couplings = Couplings(**{block: stored[f"found_{block}"] for block in BLOCKS})
    if np.abs(couplings.vector()).max() > STRONGEST:
        raise DamagedError(f"its couplings must not be larger than {STRONGEST:g}.")
    return couplings


def _checked_trace(names: list[str], rows: Array) -> Trace:
    if rows.ndim != 2 or rows.shape[1] != len(names) or len(rows) == 0:
        raise DamagedError(f"its trace must have shape (steps, {len(names)}), got {rows.shape}.")
    steps = rows[:, 0]
    if (steps < 0).any() or (steps > 1e9).any() or (steps != np.floor(steps)).any():
        raise DamagedError("the steps of its trace must be whole numbers from 0.")
    return Trace.of(names, rows)
