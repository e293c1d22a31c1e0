"""Files made to do harm, or by somebody who knew no better: recordings and bundles that must end in one sentence.

`python -m tests.faults.hostile` opens each in a process of its own and says what became of it: the sentence, the memory
taken above idle, and for how long an event loop beside it was held.
"""

import argparse
import asyncio
import io
import json
import os
import struct
import sys
import tempfile
import time
import warnings
import zipfile
import zlib
from functools import partial
from pathlib import Path

import numpy as np

from tests.loops import run_aside

BIN = 0.02
LOOK = 0.005  # seconds between two looks of the loop at the clock
GENERATOR = np.random.default_rng(1)
COUNTS = GENERATOR.poisson(0.3, (50, 4)).astype(np.int64)


# Recordings: a name, and the bytes of the file


def npy_header(text, version=(1, 0)):
    """The head of a .npy file with this description of what follows."""
    text = text + " " * (118 - len(text) - 1) + "\n" if len(text) < 117 else text + "\n"
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version == (1, 0) else "<I", len(text)) + text.encode()


def npy_claim(shape, descr="<f8"):
    return npy_header(f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}")


def npy(array, *, allow_pickle=False):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=allow_pickle)
    return file.getvalue()


def zipped(members, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are given twice, which is what some are made for
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def patched(content, where, what):
    """The same bytes with others at some place."""
    return content[:where] + what + content[where + len(what) :]


def zeros(head, n):
    """A member that begins like this and goes on with so many zeros."""
    return head + bytes(n)


def mat5(*elements):
    """A MATLAB 5 file of these elements."""
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H2s", 0x0100, b"IM") + b"".join(elements)


def mat_matrix(data, dims, kind=6, number=9):
    """A matrix named x: an array class, dimensions, and the bytes of its numbers."""

    def element(what, content):
        return struct.pack("<II", what, len(content)) + content + bytes(-len(content) % 8)

    flags = element(6, struct.pack("<II", kind, 0))
    return element(
        14, flags + element(5, struct.pack(f"<{len(dims)}i", *dims)) + element(1, b"x") + element(number, data)
    )


def compressed(element):
    packed = zlib.compress(element)
    return struct.pack("<II", 15, len(packed)) + packed


def hdf5(fill):
    """An HDF5 file that `fill` has written to."""
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.h5"
        with h5py.File(path, "w") as file:
            fill(file)
        return path.read_bytes()


def units_table(times, ends):
    """What fills the table of units of an NWB file with data sets of these descriptions."""

    def fill(file):
        units = file.create_group("units")
        units.create_dataset("spike_times", **times)
        units.create_dataset("spike_times_index", **ends)

    return fill


def vast(n, kind="f8"):
    """A data set that claims so many numbers and holds none of them."""
    return {"shape": (n,), "dtype": kind, "chunks": (2**16,), "compression": "gzip"}


def waves(file):
    file.create_dataset("spikes", **vast(4 * 10**8))
    file["sCount"] = [4 * 10**8]


def circular(file):
    file["units"] = file["/"]
    file["units/spike_times"] = [0.1, 0.2]


def outward(file):
    import h5py

    file["units"] = h5py.ExternalLink("/etc/passwd", "/units")


def cells_to_nowhere(file):
    import h5py

    file.create_dataset("spikes", (1, 3), dtype=h5py.ref_dtype)


RECORDINGS = {
    # text
    "empty.csv": lambda: b"",
    "blank.csv": lambda: b"\n" * 1000,
    "zeros.csv": lambda: bytes(10_000),
    "noise.csv": lambda: np.random.default_rng(1).bytes(100_000),
    "utf16.csv": lambda: "time,unit\n0.1,1\n0.2,2\n".encode("utf-16"),
    "heading-alone.csv": lambda: b"time,unit\n",
    "one-number.csv": lambda: b"1\n",
    "one-line.csv": lambda: b"1," * 1_000_000 + b"1\n",
    "two-lines-of-a-million.csv": lambda: (b"1," * 500_000 + b"0\n") * 2,
    "ragged.csv": lambda: b"1,0,1\n0,1\n1,1,1\n",
    "missing.csv": lambda: b"1,0\n,1\n0,nan\n",
    "infinite.csv": lambda: b"1,0\n1e400,1\n0,1\n",
    "negative.csv": lambda: b"1,0\n-7,1\n0,1\n",
    "5000-digits.csv": lambda: b"1,0\n" + b"9" * 5000 + b",1\n0,1\n",
    "open-quote.csv": lambda: b'time,unit\n"0.1,1\n' + b"0.2,2\n" * 50_000,
    "null-inside.csv": lambda: b"time,unit\n0.1,a\x00b\n0.2,\x00\n",
    "formula.csv": lambda: b"time,unit\n=cmd|' /C calc'!A0,1\n0.2,2\n",
    "page.csv": lambda: b"<html><script>alert(1)</script></html>\n" * 10,
    "times-to-the-end-of-time.csv": lambda: b"time,unit\n0.1,1\n1e18,1\n0.2,2\n",
    "times-that-are-none.csv": lambda: b"time,unit\nnan,1\n0.2,2\n",
    "a-unit-an-event.csv": lambda: b"time,unit\n" + b"".join(b"%d.5,u%d\n" % (k, k) for k in range(20_000)),
    "a-trial-an-event.csv": lambda: b"trial,time,unit\n" + b"".join(b"%d,0.5,u%d\n" % (k, k) for k in range(3_000)),
    # NumPy
    "claims-terabytes.npy": lambda: npy_claim((10**12, 4)) + bytes(64),
    "claims-terabytes-of-nothing.npy": lambda: npy_claim((10**12, 0)),
    "nothing-by-terabytes.npy": lambda: npy_claim((0, 10**12)),
    "negative-shape.npy": lambda: npy_claim((-5, 4)) + bytes(64),
    "objects.npy": lambda: npy(np.array([{"a": 1}], dtype=object), allow_pickle=True),
    "code-as-header.npy": lambda: npy_header("__import__('os').system('touch /tmp/hidviz-was-here')") + bytes(64),
    "deep-header.npy": lambda: npy_header("{'descr': " + "[" * 3000 + "]" * 3000 + "}", (2, 0)),
    "long-header.npy": lambda: b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + bytes(64),
    "version-9.npy": lambda: patched(npy(COUNTS), 6, b"\x09\x09"),
    "cut-short.npy": lambda: npy(COUNTS)[:-100],
    "complex.npy": lambda: npy(COUNTS + 1j),
    "words.npy": lambda: npy(COUNTS.astype(str)),
    "fields.npy": lambda: npy(np.zeros(50, dtype=[("a", "f8"), ("b", "i4")])),
    "four-axes.npy": lambda: npy(np.zeros((2, 2, 2, 2))),
    "as-many-units-as-bins.npy": lambda: npy(np.random.default_rng(1).integers(0, 2, (6001, 6000), dtype=np.uint8)),
    "gigabytes-of-zeros.npz": lambda: zipped([("a.npy", zeros(npy_claim((900_000_000,), "|i1"), 900_000_000))]),
    "lies-about-its-size.npz": lambda: lying(zipped([("a.npy", zeros(npy_claim((400_000_000,), "|i1"), 400_000_000))])),
    "ten-thousand-members.npz": lambda: zipped([(f"u{k}.npy", npy(np.array([0.1, 0.2]))) for k in range(10_000)]),
    "twice-the-same-name.npz": lambda: zipped([("a.npy", npy(COUNTS)), ("a.npy", npy(COUNTS[:7]))]),
    "paths-upward.npz": lambda: zipped([("../../etc/a.npy", npy(COUNTS)), ("/b.npy", npy(COUNTS.astype(str)))]),
    "wrong-sum.npz": lambda: patched(zipped([("a.npy", npy(COUNTS))], zipfile.ZIP_STORED), 300, b"\xff\xff"),
    "encrypted.npz": lambda: encrypted(zipped([("a.npy", npy(COUNTS))])),
    # MATLAB
    "cut-short.mat": lambda: mat5(mat_matrix(COUNTS.astype(float).tobytes(), (4, 50)))[:-200],
    "claims-terabytes.mat": lambda: mat5(mat_matrix(bytes(64), (2**31 - 1, 2**31 - 1))),
    "gigabytes-of-zeros.mat": lambda: mat5(compressed(mat_matrix(bytes(900_000_000), (9_000_000, 100), 8, 1))),
    "unknown-class.mat": lambda: mat5(mat_matrix(bytes(64), (8, 1), 77)),
    # HDF5
    "cut-short.nwb": lambda: hdf5(units_table({"data": [0.1, 0.2]}, {"data": [1, 2]}))[:900],
    "claims-terabytes.nwb": lambda: hdf5(units_table(vast(10**12), {"data": [1, 2]})),
    "claims-gigabytes.nwb": lambda: hdf5(units_table(vast(4 * 10**8), {"data": [1, 2]})),
    "index-of-terabytes.nwb": lambda: hdf5(units_table({"data": [0.1, 0.2]}, vast(10**12, "i8"))),
    "index-beyond.nwb": lambda: hdf5(units_table({"data": [0.1, 0.2]}, {"data": [10**15, -5, 10**18]})),
    "circular.nwb": lambda: hdf5(circular),
    "outward.nwb": lambda: hdf5(outward),
    "claims-gigabytes.h5": lambda: hdf5(waves),
    "cells-to-nowhere.mat": lambda: hdf5(cells_to_nowhere),
    "claims-gigabytes.mat": lambda: hdf5(lambda file: file.create_dataset("raster", **vast(4 * 10**8))),
}


def lying(content):
    """An archive whose directory says that its first member unpacks to 100 bytes."""
    directory = content.rindex(b"PK\x01\x02")
    return patched(content, directory + 24, struct.pack("<I", 100))


def encrypted(content):
    """An archive whose first member says that it is encrypted."""
    directory = content.rindex(b"PK\x01\x02")
    return patched(patched(content, 6, b"\x01\x00"), directory + 8, b"\x01\x00")


# Bundles: a name, and what is done to a good one


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_members(**changes):
    """Some members replaced by others, or left out by None; a name has “_” for “.”."""

    def change(content):
        changed = members(content) | {name.replace("_", "."): made for name, made in changes.items()}
        return zipped([(name, made) for name, made in changed.items() if made is not None])

    return change


def with_settings(**changes):
    """Settings replaced at the top of settings.json."""

    def change(content):
        settings = json.loads(members(content)["settings.json"]) | changes
        return with_members(settings_json=json.dumps(settings).encode())(content)

    return change


def with_knobs(**knobs):
    """Knobs of the experiment replaced."""

    def change(content):
        experiment = json.loads(members(content)["settings.json"])["experiment"]
        return with_settings(experiment=experiment | knobs)(content)

    return change


def with_arrays(**changes):
    """Arrays replaced by the bytes of other .npy files, or left out by None."""

    def change(content):
        with zipfile.ZipFile(io.BytesIO(members(content)["arrays.npz"])) as archive:
            arrays = {name: archive.read(name) for name in archive.namelist()}
        arrays |= {f"{name}.npy": made for name, made in changes.items()}
        made = zipped([(name, array) for name, array in arrays.items() if array is not None])
        return with_members(arrays_npz=made)(content)

    return change


def of_numbers(value):
    """The arrays of the couplings found to J, all with this number."""
    return with_arrays(found_J=npy(np.full((4, 4), value)))


def thirteen_bombs(content):
    blocks = [f"{kind}_{block}" for kind in ("found", "true") for block in "JKLMhg"]
    bombs = {name: zeros(npy_claim((8_000_000,)), 64_000_000) for name in (*blocks, "trace")}
    return with_arrays(**bombs)(content)


SEED_OF_5000_DIGITS = b'{"kind": "hidviz run", "schema": 1, "experiment": {"seed": ' + b"9" * 5000 + b"}}"

BUNDLES = {
    "nothing": lambda _: b"",
    "noise": lambda _: np.random.default_rng(1).bytes(100_000),
    "text": lambda _: b"settings.json",
    "an empty archive": lambda _: zipped([]),
    "cut short": lambda content: content[: len(content) // 2],
    "cut at its end": lambda content: content[:-10],
    "bytes turned among its numbers": lambda content: patched(
        content, content.index(b"arrays.npz") + 60, b"\xa5\x5a\xa5"
    ),
    "more bytes than a bundle may have": lambda content: content + bytes(21 * 2**20),
    "encrypted": encrypted,
    "a directory that lies": lying,
    "no settings": with_members(settings_json=None),
    "no arrays": with_members(arrays_npz=None),
    "settings twice": lambda content: zipped([*members(content).items(), ("settings.json", b"{}")]),
    "settings that are no JSON": with_members(settings_json=b"{'a': 1}"),
    "settings that are a list": with_members(settings_json=b"[1, 2]"),
    "settings as deep as a well": with_members(settings_json=b"[" * 100_000 + b"]" * 100_000),
    "settings of 64 MB": with_members(settings_json=b" " * 64_000_000 + b"{}"),
    "settings in another code": with_members(settings_json="{}".encode("utf-16")),
    "of another kind": with_settings(kind="cake recipe"),
    "of the year 3000": with_settings(schema=1000),
    "no experiment": with_settings(experiment=None),
    "an experiment that is a word": with_settings(experiment="fig3"),
    "a knob that nobody knows": with_knobs(shoe_size=43),
    "units without number": with_knobs(n_visible=10**9),
    "units that are not a number": with_knobs(n_visible=float("nan")),
    "a seed of 5,000 digits": with_members(
        settings_json=b'{"kind": "hidviz run", "schema": 1, "experiment": {"seed": ' + b"9" * 5000 + b"}}"
    ),
    "a learner that is code": with_knobs(learner="__import__('os').system('id')"),
    "more units than couplings": with_knobs(n_visible=200, n_hidden=200),
    "no columns": with_settings(columns=[]),
    "columns that are HTML": with_settings(columns=["step", "<img src=x onerror=alert(1)>"]),
    "a million columns": with_settings(columns=["step"] * 1_000_000),
    "an ending of another kind": with_settings(run={"state": "exploded", "message": "x", "evaluations": 1}),
    "an ending that is a novel": with_settings(run={"state": "converged", "message": "x" * 10**6, "evaluations": 1}),
    "arrays that are no archive": with_members(arrays_npz=b"PK"),
    "an array of objects": with_arrays(found_J=npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)),
    "an array missing": with_arrays(found_K=None),
    "an array too many": with_arrays(found_Q=npy(np.zeros(3))),
    "an array of terabytes": with_arrays(found_J=npy_claim((10**6, 10**6))),
    "an array of another shape": with_arrays(found_J=npy(np.zeros((4, 3)))),
    "numbers that are none": of_numbers(np.nan),
    "numbers without bound": of_numbers(1e300),
    "a trace of text": with_arrays(trace=npy(np.array([["a", "b"]]))),
    "thirteen bombs of 64 MB": thirteen_bombs,
}


# What becomes of them


def look(path):
    """Read a recording as `hidviz look` and `hidviz fit` do, as far as it goes."""
    from hidviz.network import read_spikes

    spikes = read_spikes(path)
    width = BIN if spikes.are_times else None
    spikes.preview(width)
    return spikes.recording(width)


def good_bundle():
    """The bytes of a bundle as hidviz writes it."""
    from hidviz.experiments import Experiment, Frame, iter_run, save_bundle

    experiment = Experiment(n_visible=4, n_hidden=2, n_steps=200, n_held_out=100, max_steps=3)
    file = io.BytesIO()
    save_bundle(file, [item for item in iter_run(experiment) if isinstance(item, Frame)][-1])
    return file.getvalue()


def read_one(path, is_bundle):
    """In this process: what became of a file, the memory it took, and the longest time that a loop was held."""
    from hidviz.experiments import load_bundle

    def items():
        yield load_bundle(io.BytesIO(path.read_bytes())) if is_bundle else look(path)

    idle = status("VmRSS")
    failure, held = run_aside(beside(items()))
    what = "opened" if failure is None else f"{type(failure).__name__}: {failure}"
    return {"what": what, "megabytes": round(max(0, status("VmHWM") - idle) / 1e6), "held": round(held, 3)}


async def beside(items):
    """Consume items in a thread, as the page does, beside an event loop that only looks at the clock.

    Returns:
        what ended it, and the longest time between two looks, in seconds, as far as this process was at work in it: on
        a busy machine the loop waits for others too.
    """
    from hidviz.background import Runner

    runner, longest = Runner(), 0.0
    wall, worked = time.monotonic(), time.process_time()
    runner.start(items)
    while not runner.ended:
        await asyncio.sleep(LOOK)
        now, work = time.monotonic(), time.process_time()
        longest = max(longest, min(now - wall - LOOK, work - worked))
        wall, worked = now, work
    return runner.failure, longest


def status(key):
    with open("/proc/self/status") as lines:  # noqa: PTH123
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def judged(folder):
    """Each of all files, read in a process of its own: (name, what became of it); where processes can be forked."""
    folder, good = Path(folder), good_bundle()
    (folder / "warm.csv").write_text("1,0\n0,1\n1,1\n")
    look(folder / "warm.csv")  # whatever is imported late
    files = dict(RECORDINGS) | {f"{name}.zip": partial(make, good) for name, make in BUNDLES.items()}
    for name, make in files.items():
        path = folder / name
        path.write_bytes(make())
        yield name, forked(lambda path=path: read_one(path, path.suffix == ".zip"))
        path.unlink()


def forked(call):
    """What a call gives, as JSON, from a copy of this process; what is wrong with it if that died."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        with os.fdopen(writing, "w") as out:
            out.write(json.dumps(call()))
            out.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    _, ended = os.waitpid(child, 0)
    return json.loads(said) if said else {"what": f"died with {ended}", "megabytes": -1, "held": -1}


def worst(found, n=5):
    """The files that took most, in words: of memory, and of an event loop's time."""

    def of(key, unit):
        ranked = sorted(found.items(), key=lambda item: -item[1][key])[:n]
        return ", ".join(f"{told[key]} {unit} {name}" for name, told in ranked)

    return f"{len(found)} files. Most memory: {of('megabytes', 'MB')}.\nLongest hold: {of('held', 's')}."


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="a line of JSON a file")
    given = parser.parse_args(words)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, told in judged(folder):
            found[name] = told
            words = f"{told['megabytes']:5} MB {told['held']:6.3f} s  {name}: {told['what'][:200]}"
            print(json.dumps([name, told]) if given.json else words, flush=True)
    if not given.json:
        print(worst(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
