"""The command line: serve the page, make a figure of the paper, fit a recording.

Exit codes: 0 done; 1 something failed on the way, and what was finished is kept; 2 the request cannot be carried out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from hidviz import LEARNERS, __version__
from hidviz.background import workers
from hidviz.experiments import Settings, fitted
from hidviz.network import read_recording
from hidviz.sweeps import FIGURES, Figure, Results, Store, SweepState, panels, paths, results_of, run_sweep, save

DONE, FAILED, REFUSED = 0, 1, 2

TEACHING = """\
examples:
  hidviz serve                                 open the page at http://localhost:5006/hidviz
  hidviz figure 4 --quick --out results        a part of Fig. 4 in a minute: table, figure, settings
  hidviz figure 5 --out results                all of Fig. 5; stop it with Ctrl-C, and
                                               the same command goes on where it was
  hidviz figure 6 --scheduler tcp://host:8786 --out results
                                               on a Dask cluster (pip install hidviz[cluster])
  hidviz fit spikes.csv --hidden 3 --out fit.npz
                                               couplings of your own recording

`hidviz COMMAND --help` explains each.
"""

TEACHING_FIGURE = """\
written to DIR, for figure 4:
  figure4.csv     a row per experiment and block: errors as found and aligned, costs in nats per bin
  figure4.html    the figure, which needs no network; figure4.svg and figure4.png if there is a Chromium
  figure4.json    every knob of every experiment, versions, seconds, log-log slopes
  figure4.jsonl   finished experiments as they arrive: an interrupted run goes on from here

On one core Fig. 3 takes ten seconds, Fig. 4 three minutes, floors and Fig. 6 half an hour each, Fig. 5 two hours.
"""

TEACHING_FIT = """\
A FILE holds ±1 or spike counts with time down the rows and units across: .npy, .npz (one array a trial), or .csv.
Several files are several trials. The last part of every trial is held out; learning keeps the couplings that
predict it best. FILE.npz gets the blocks J, K, L, M, h, g (rows receive, columns send), FILE.json the costs.

  hidviz fit session1.npy session2.npy --hidden 4 --learner mean-field --box 1 --out fit.npz
  python -c "import numpy as np; print(np.load('fit.npz')['J'])"
"""


class Refused(Exception):
    """The request cannot be carried out; the message says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code.

    Args:
        arguments: what follows the name of the program; `sys.argv` if None.
    """
    given = _parser().parse_args(arguments)
    act: Callable[[argparse.Namespace], int] = given.act
    try:
        return act(given)
    except Refused as error:
        _say(f"hidviz: {error}")
        return REFUSED
    except KeyboardInterrupt:
        _say("\nhidviz: interrupted.")
        return FAILED
    except (ValueError, OSError) as error:
        _say(f"hidviz: {error}")
        return FAILED


def serve(given: argparse.Namespace) -> int:
    """`hidviz serve`."""
    from hidviz.ui.serve import serve as serve_page

    serve_page(port=given.port, address=given.address, show=given.show)
    return DONE


def figure(given: argparse.Namespace) -> int:
    """`hidviz figure`."""
    chosen, out = FIGURES[given.number], Path(given.out)
    sweep = chosen.sweep(quick=given.quick)
    store = Store(out / f"{chosen.name}.jsonl")
    outputs = (
        *paths(out, chosen.name, with_courses=True),
        *(out / f"{chosen.name}.{ending}" for ending in ("html", "svg", "png")),
    )
    _make_room(outputs, force=given.force, also=(store.path,))
    if given.workers is not None and given.workers < 1:
        raise Refused(f"--workers must be at least 1, got {given.workers}.")
    bar = Bar()
    state = SweepState(sweep, {}, {})
    try:
        for state in run_sweep(sweep, workers(given.scheduler, given.workers), store=store):
            bar.show(state.n_done / state.n_total, _in_words(state))
    except KeyboardInterrupt:
        _say(f"\nhidviz: interrupted. {state.n_done} of {state.n_total} are kept: the same command goes on from here.")
        return FAILED
    bar.close()
    for sentence in dict.fromkeys(state.failed.values()):
        _say(f"hidviz: an experiment failed: {sentence}")
    if not state.finished:
        return FAILED
    about = {"title": chosen.title, "look_for": chosen.look_for, "rules": chosen.rules, "quick": given.quick}
    results = results_of(state, **about)
    written = [*save(results, out), *_draw(chosen, results, out)]
    print("\n".join(str(path) for path in written))
    return FAILED if state.failed else DONE


def _draw(chosen: Figure, results: Results, out: Path) -> list[Path]:
    """The figure as a page, and as pictures if there is a browser to draw them."""
    from hidviz.ui.export.overlays import html
    from hidviz.ui.export.stills import NoBrowser, stills

    page, svg, png = (out / f"{chosen.name}.{ending}" for ending in ("html", "svg", "png"))
    page.write_text(html(panels(chosen.kind, results.table, results.courses), chosen.title), encoding="utf-8")
    try:
        drawn, pixels = stills(page)
    except NoBrowser as error:
        _say(f"hidviz: {page.name} is written, the pictures are not. {error}")
        return [page]
    svg.write_text(drawn, encoding="utf-8")
    png.write_bytes(pixels)
    return [page, svg, png]


def fit(given: argparse.Namespace) -> int:
    """`hidviz fit`."""
    out = Path(given.out)
    if out.suffix != ".npz":
        raise Refused(f"--out must end in .npz, got {given.out}.")
    costs = out.with_suffix(".json")
    if missing := [name for name in given.files if not Path(name).is_file()]:
        raise Refused(f"There is no file {', '.join(missing)}.")
    _make_room((out, costs), force=given.force)
    try:
        recording = read_recording(map(Path, given.files), transpose=given.transpose)
        settings = Settings(
            learner=given.learner, n_hidden=given.hidden, hidden_hidden=given.hidden_hidden, bias=not given.no_bias,
            held_out=given.held_out, penalty=given.penalty, box=given.box, max_steps=given.steps, starts=given.starts,
            seed=given.seed,
        )  # fmt: skip
    except ValueError as error:
        raise Refused(str(error)) from error
    bar, course = Bar(), fitted(recording, settings)
    while True:
        try:
            progress = next(course)
        except StopIteration as end:
            found = end.value
            break
        bar.show(progress.fraction, progress.what)
    bar.close()
    out.parent.mkdir(parents=True, exist_ok=True)
    found.save(out)
    costs.write_text(json.dumps(found.summary, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{out}\n{costs}")
    return DONE


class Bar:
    """A line of progress on stderr: redrawn in a terminal, else written now and then."""

    WIDTH, PERIOD = 30, 10.0  # characters; seconds between lines where nobody can redraw

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._spoken = -self.PERIOD

    def show(self, fraction: float, what: str) -> None:
        """Say how far it has come."""
        now = time.monotonic()
        if not self._live and now - self._spoken < self.PERIOD:
            return
        self._spoken = now
        done = round(self.WIDTH * fraction)
        line = f"[{'#' * done}{'.' * (self.WIDTH - done)}] {what}"
        print(f"\r{line:78}" if self._live else line, end="" if self._live else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        """End the line."""
        if self._live:
            print(file=sys.stderr)


def _in_words(state: SweepState) -> str:
    left = state.seconds_left
    if left is None or state.n_done == state.n_total:
        return f"{state.n_done} of {state.n_total}"
    hours, minutes = left / 3600.0, left / 60.0
    time_left = f"{hours:.1f} h" if hours > 1.5 else f"{minutes:.0f} min" if minutes > 1.5 else f"{left:.0f} s"
    return f"{state.n_done} of {state.n_total} · about {time_left} left"


def _make_room(files: Iterable[Path], *, force: bool, also: Iterable[Path] = ()) -> None:
    """Refuse to overwrite, or clear the way."""
    for path in files:
        if path.exists() and not force:
            raise Refused(f"{path} exists: choose another --out, or overwrite it with --force.")
    if force:
        for path in (*files, *also):
            path.unlink(missing_ok=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="hidviz",
        description="See a network being inferred when some of its units are hidden.",
        epilog=TEACHING,
        formatter_class=plain,
    )
    parser.add_argument("--version", action="version", version=f"hidviz {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)

    serving = commands.add_parser("serve", help="open the page", description="Serve the page, until Ctrl-C.")
    serving.add_argument("--port", type=int, default=5006, help="port to listen on (default: 5006; 0: any free one)")
    serving.add_argument(
        "--address", default="localhost", help="address to listen on (default: localhost, this machine alone)"
    )
    serving.add_argument("--show", action="store_true", help="open a browser too")
    serving.set_defaults(act=serve)

    drawing = commands.add_parser(
        "figure",
        help="make a figure of the paper, or the one beyond it",
        description="Run the experiments of Figs. 3 to 6, or those on where mean field ends, and draw them.",
        epilog=TEACHING_FIGURE,
        formatter_class=plain,
    )
    drawing.add_argument("number", choices=tuple(FIGURES), help="; ".join(f.title for f in FIGURES.values()))
    drawing.add_argument("--quick", action="store_true", help="only the experiments that take a minute or two together")
    drawing.add_argument("--out", required=True, metavar="DIR", help="directory to write to")
    drawing.add_argument("--workers", type=int, metavar="N", help="processes here (default: one a core)")
    drawing.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on this Dask scheduler (default: $HIDVIZ_SCHEDULER, or here)"
    )
    drawing.add_argument("--force", action="store_true", help="overwrite, and begin again from nothing")
    drawing.set_defaults(act=figure)

    fitting = commands.add_parser(
        "fit",
        help="infer the couplings behind a recording",
        description="Infer couplings from your own recording, with hidden units.",
        epilog=TEACHING_FIT,
        formatter_class=plain,
    )
    fitting.add_argument("files", nargs="+", metavar="FILE", help="recordings, a trial each: .npy, .npz, .csv")
    fitting.add_argument("--hidden", type=int, required=True, metavar="N", help="number of hidden units to assume")
    fitting.add_argument("--out", required=True, metavar="FILE.npz", help="where to write the couplings")
    fitting.add_argument(
        "--learner", choices=tuple(LEARNERS), default="exact", metavar="NAME",
        help=f"one of {', '.join(LEARNERS)} (default: exact, for about ten hidden units at most)",
    )  # fmt: skip
    fitting.add_argument("--hidden-hidden", action="store_true", help="let hidden units couple to each other (M)")
    fitting.add_argument(
        "--no-bias", action="store_true", help="learn no biases: only for units that fire half the time"
    )
    fitting.add_argument("--held-out", type=float, default=0.2, metavar="PART", help="held-out part (default: 0.2)")
    fitting.add_argument(
        "--penalty", type=float, default=0.0, metavar="X", help="weight of the L2 penalty (default: 0)"
    )
    fitting.add_argument("--box", type=float, metavar="X", help="largest size of a coupling (default: none)")
    fitting.add_argument("--steps", type=int, default=1000, metavar="N", help="most steps of a run (default: 1000)")
    fitting.add_argument("--starts", type=int, default=3, metavar="N", help="random starts (default: 3)")
    fitting.add_argument("--seed", type=int, default=1, metavar="N", help="of the random starts (default: 1)")
    fitting.add_argument("--transpose", action="store_true", help="the files have units down the rows")
    fitting.add_argument("--force", action="store_true", help="overwrite")
    fitting.set_defaults(act=fit)
    return parser
