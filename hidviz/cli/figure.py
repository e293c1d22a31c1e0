"""`hidviz figure`: the experiments of a figure of the paper, its table, its settings, and the figure drawn.

The same command always goes on: finished experiments are kept in a store beside the figure, and only `--restart`, which
sets that store aside, begins again. Files that some store here has made are made anew from it; others are not touched.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from hidviz.background import check_writable, workers, write
from hidviz.cli.interrupts import interrupts_at_checkpoints
from hidviz.cli.terminal import DONE, FAILED, Bar, Refused, report, say
from hidviz.sweeps import (
    FIGURES,
    Figure,
    Results,
    Store,
    Sweep,
    SweepState,
    panels,
    paths,
    results_of,
    run_sweep,
    save,
    with_heights,
)
from hidviz.units import duration

ROOM = 2**21  # bytes that a figure and its tables may take

TEACHING = """\
written to DIR, for figure 4:
  figure4.csv     a row per experiment and block: errors as found and aligned, costs in nats per bin
  figure4.html    the figure as a page that needs no network; figure4.svg and figure4.png the same on paper
  figure4.json    every knob of every experiment, versions, seconds, log-log slopes
  figure4.jsonl   finished experiments as they arrive: the same command goes on from here, whatever stopped it

On one core Fig. 3 takes seconds, phase three minutes, Fig. 4 a quarter of an hour, Fig. 6 not quite one, floors an hour
and a half, Fig. 5 six hours. `hidviz claims DIR` then judges what the paper says by these tables.
"""


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser(
        "figure",
        help="make a figure of the paper, or one beyond it",
        description="Run the experiments of Figs. 3 to 6, or of those beyond (where mean field ends; how often hidden "
        "states are told wrongly), and draw them.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("number", choices=tuple(FIGURES), help="; ".join(f.title for f in FIGURES.values()))
    parser.add_argument("--quick", action="store_true", help="only the experiments that take a minute or two together")
    parser.add_argument("--out", required=True, metavar="DIR", help="directory to write to")
    parser.add_argument("--workers", type=int, metavar="N", help="processes here (default: one a core)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="run on this Dask scheduler (default: $HIDVIZ_SCHEDULER, or here)"
    )
    parser.add_argument(
        "--force", action="store_true", help="overwrite files of these names; finished experiments are kept and used"
    )
    parser.add_argument(
        "--restart", action="store_true", help="begin again from nothing; what was finished is set aside, not deleted"
    )
    parser.set_defaults(act=act)


def act(given: argparse.Namespace) -> int:
    """Run what is not finished yet, then write and draw."""
    chosen, out = FIGURES[given.number], Path(given.out)
    sweep = chosen.sweep(quick=given.quick)
    store = Store(out / f"{chosen.name}.jsonl")
    if given.workers is not None and given.workers < 1:
        raise Refused(f"--workers must be at least 1, got {given.workers}.")
    outputs = (
        *paths(out, chosen.name, with_traces=True),
        *(out / f"{chosen.name}.{ending}" for ending in ("html", "svg", "png")),
    )
    if not given.force:
        _refuse_to_overwrite(outputs, store, sweep)
    _look_at(outputs)
    if given.restart and (aside := store.set_aside()):
        say(f"hidviz: what was finished is kept in {aside}.")
    bar = Bar()
    state = SweepState(sweep, {}, {})
    try:
        with interrupts_at_checkpoints():
            for state in run_sweep(sweep, workers(given.scheduler, given.workers), store=store):
                bar.show(state.n_done / state.n_total, _in_words(state))
    except KeyboardInterrupt:
        without = " without --restart" if given.restart else ""
        say(
            f"\nhidviz: interrupted. {state.n_done} of {state.n_total} are kept: the same command{without} goes on "
            "from here."
        )
        return FAILED
    bar.close()
    for sentence in dict.fromkeys(state.failed.values()):
        say(f"hidviz: an experiment failed: {sentence}")
    if not state.finished:
        return FAILED
    about = {"title": chosen.title, "look_for": chosen.look_for, "rules": chosen.rules, "quick": given.quick}
    results = results_of(state, **about)
    if chosen.kind == "errors":
        say("hidviz: reckoning the 1/T lines from the information at the true couplings.")
        results = replace(results, table=with_heights(results.table))
    written = [*save(results, out), *_draw(chosen, results, out)]
    report("\n".join(str(path) for path in written))
    return FAILED if state.failed else DONE


def _draw(chosen: Figure, results: Results, out: Path) -> list[Path]:
    """The figure as a page and as pictures."""
    from hidviz.ui.export.overlays import html
    from hidviz.ui.export.sweep_figures import draw_sweep

    shown = panels(chosen.kind, results.table, results.traces)
    drawn: dict[str, str | bytes] = {f"{chosen.name}.html": html(shown, chosen.title)}
    drawn |= draw_sweep(shown, chosen.title, chosen.name)
    for name, content in drawn.items():
        write(out / name, content)
    return [out / name for name in drawn]


def _refuse_to_overwrite(outputs: Sequence[Path], store: Store, sweep: Sweep) -> None:
    """Refuse if a file is there that this store has not made, or was made from more than would take its place."""
    there = [path for path in outputs if path.exists()]
    if there and not store.path.exists():
        raise Refused(f"{there[0]} exists: choose another --out, or overwrite it with --force.")
    settings = next((path for path in there if path.suffix == ".json"), None)
    n_before = len(_experiments(settings)) if settings else 0
    if settings and not _experiments(settings) <= {_name(asdict(experiment)) for experiment in sweep.experiments}:
        raise Refused(
            f"{settings} is of {n_before} experiments, more than these {len(sweep.experiments)}: choose another --out, "
            "or overwrite it with --force; finished experiments are kept in either case."
        )


def _experiments(settings: Path) -> set[str]:
    """The experiments that a file of settings names, each as one text; none if it cannot be read."""
    try:
        return {_name(knobs) for knobs in json.loads(settings.read_text(encoding="utf-8"))["experiments"]}
    except (ValueError, KeyError, TypeError):
        return set()


def _name(knobs: dict[str, Any]) -> str:
    return json.dumps(knobs, sort_keys=True)


def _look_at(outputs: Sequence[Path]) -> None:
    """Refuse what could not be written at the end, before any work is done for it."""
    for path in outputs:
        try:
            check_writable(path, ROOM)
        except OSError as error:
            raise Refused(f"--out cannot be written: {error}") from error


def _in_words(state: SweepState) -> str:
    left = state.seconds_left
    if left is None or state.n_done == state.n_total:
        return f"{state.n_done} of {state.n_total}"
    return f"{state.n_done} of {state.n_total} · about {duration(left)} left"
