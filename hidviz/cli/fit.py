"""`hidviz fit`: couplings of a recording of your own, with what they are worth in a few lines."""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hidviz.background import check_writable, return_value, write
from hidviz.cli import recordings
from hidviz.cli.fit_scan import check_hidden, chosen_fit, hide, run_scan, with_names
from hidviz.cli.fit_summary import in_words, zeros
from hidviz.cli.terminal import DONE, FAILED, Bar, Refused, report, say
from hidviz.experiments import Fitted, Settings, fit_recording
from hidviz.learners import LEARNERS
from hidviz.network import Recording

CHART = (".html", ".svg", ".png")

TEACHING = """\
A FILE holds ±1 or spike counts with time down the rows and units across, or spike times: see `hidviz look --help`.
Several files are several trials. Of every five blocks of time three are learned from, one stops the steps and chooses
the start, and one judges; of 20 trials or more whole ones are dealt out. FILE.npz gets the blocks
J, K, L, M, h, g (rows receive, columns send), FILE.json names, costs, gains with their errors, and settings.
A range of hidden units is a scan: all of it goes to FILE.json, and the model chosen to FILE.npz.

  hidviz fit session1.npy session2.npy --hidden 4 --learner mean-field --penalty learned --out fit.npz
  hidviz fit session.nwb --bin 20ms --hidden 0-4 --hidden-hidden both --chart --out fit.npz
  python -c "import numpy as np; print(np.load('fit.npz')['J'])"
"""


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser(
        "fit",
        help="infer the couplings behind a recording",
        description="Infer couplings from your own recording, with hidden units.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    recordings.add(parser)
    parser.add_argument(
        "--hidden",
        type=sizes,
        required=True,
        metavar="N",
        help="number of hidden units to assume; 0-4 scans five of them",
    )
    parser.add_argument("--out", required=True, metavar="FILE.npz", help="where to write the couplings")
    parser.add_argument(
        "--learner", choices=tuple(LEARNERS), default="exact", metavar="NAME",
        help=f"one of {', '.join(LEARNERS)} (default: exact, for about ten hidden units at most)",
    )  # fmt: skip
    parser.add_argument(
        "--hidden-hidden", nargs="?", choices=("yes", "no", "both"), const="yes", default="no",
        help="let hidden units couple to each other (M); both: scan with and without",
    )  # fmt: skip
    parser.add_argument(
        "--repeats", nargs="?", choices=("yes", "no", "both"), const="yes",
        help="give the model h(t), the field that is the same in all of 20 trials or more of one length, so that no "
        "hidden unit need stand for a stimulus (default: no; in a scan: both, where there are such trials)",
    )  # fmt: skip
    parser.add_argument(
        "--no-bias", action="store_true", help="learn no biases: only for units that fire half the time"
    )
    parser.add_argument(
        "--blocks",
        type=int,
        default=40,
        metavar="N",
        help="blocks of time to divide in (default: 40; 0: learn from all)",
    )
    parser.add_argument(
        "--penalty", type=_number_or("learned"), default=0.0, metavar="X",
        help="weight of the L2 penalty, or “learned” from the data, block by block (default: 0)",
    )  # fmt: skip
    parser.add_argument(
        "--l1", nargs="?", type=_number_or("chosen"), const="chosen", default=0.0, metavar="X",
        help="set couplings that the data do not ask for to exactly zero, by an L1 penalty of this weight, or of one "
        "chosen on the held-out part that stops the steps; in a scan for every model, lag 1 and lag 2 too; FILE.csv "
        "tells which, by name (default: 0)",
    )  # fmt: skip
    parser.add_argument("--box", type=float, metavar="X", help="largest size of a coupling (default: none)")
    parser.add_argument("--steps", type=int, default=1000, metavar="N", help="most steps of a run (default: 1000)")
    parser.add_argument("--starts", type=int, default=3, metavar="N", help="random starts (default: 3)")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="N", help="of the random starts and of a sampling learner (default: 1)"
    )
    parser.add_argument(
        "--hide",
        metavar="A,B",
        type=lambda text: tuple(name.strip() for name in text.split(",")),
        help="hide these units in turn, infer each from the others, and compare with what it did",
    )
    parser.add_argument(
        "--error-bars", action="store_true", help="write FILE.csv too: each coupling by name with its standard error"
    )
    parser.add_argument(
        "--chart", action="store_true",
        help="draw the gains of a scan with their paired errors, as on the page: FILE.html, FILE.svg and FILE.png",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite the result, once the new one is complete")
    parser.set_defaults(act=act)


def _number_or(word: str) -> Callable[[str], float | str]:
    """What reads the weight of a penalty: a number, or this one word."""

    def read(text: str) -> float | str:
        try:
            return text if text == word else float(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"must be a number or the word “{word}”, got {text!r}") from None

    return read


def act(given: argparse.Namespace) -> int:
    """Read, fit, write, and say what came of it."""
    out = Path(given.out)
    if out.suffix != ".npz":
        raise Refused(f"--out must end in .npz, got {given.out}.")
    scans = len(given.hidden) > 1 or "both" in (given.hidden_hidden, given.repeats)
    if given.chart and not scans:
        raise Refused("A chart shows a scan: give --hidden a range such as 0-4, or leave --chart out.")
    endings = (".npz", ".json", *(".csv",) * bool(given.error_bars or given.l1), *CHART * given.chart)
    outputs = tuple(out.with_suffix(ending) for ending in endings)
    inputs = [Path(name) for name in given.files]
    if missing := [str(path) for path in inputs if not path.exists()]:
        raise Refused(f"There is no file {', '.join(missing)}.")
    _look_at(outputs, inputs, force=given.force)
    try:
        spikes = recordings.spikes(given)
        recording = recordings.recording(spikes, given)
        if given.hide is not None:
            check_hidden(recording, given.hide)
        settings = Settings(
            learner=given.learner, n_hidden=given.hidden[-1], hidden_hidden=given.hidden_hidden == "yes",
            bias=not given.no_bias, blocks=given.blocks, repeats=given.repeats == "yes", penalty=given.penalty,
            l1=given.l1, box=given.box, max_steps=given.steps, starts=given.starts, seed=given.seed,
        )  # fmt: skip
    except ValueError as error:
        raise Refused(str(error)) from error
    for remark in spikes.preview(given.bin).remarks:
        say(f"  {remark}")
    if scans:
        table = run_scan(recording, settings, given.hidden, given.hidden_hidden, given.repeats or "both")
        found = chosen_fit(table, recording, settings)
        for sentence in zeros(found.summary):
            say(sentence)
    else:
        found = _run_fit(recording, settings)
    if given.hide is not None:
        hide(found, recording, settings, given.hide)
    tables: tuple[str | bytes, ...] = ()
    if given.error_bars or given.l1:
        tables = (with_names(found, recording, settings, errors=given.error_bars),)
    if given.chart:
        from hidviz.ui.export.gains_figure import draw_gains  # takes seconds to import

        drawn = draw_gains(table, out.stem)
        tables = (*tables, *(drawn[f"{out.stem}{ending}"] for ending in CHART))
    try:
        written = _keep(found, outputs, tables)
    except OSError as error:
        written = _keep(found, _elsewhere(outputs), tables)
        say(f"hidviz: {out} could not be written ({error}). The result is kept here instead:")
        report("\n".join(map(str, written)))
        return FAILED
    report("\n".join(map(str, written)))
    return DONE


def sizes(text: str) -> tuple[int, ...]:
    """Numbers of hidden units: 3, or 0-4 for all of these."""
    first, dash, last = text.strip().partition("-")
    try:
        found = tuple(range(int(first), int(last) + 1)) if dash and first else (int(text),)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number such as 3, or a range as 0-4, got {text!r}") from None
    if not found:
        raise argparse.ArgumentTypeError(f"must be a rising range such as 0-4, got {text!r}")
    return found


def _run_fit(recording: Recording, settings: Settings) -> Fitted:
    bar = Bar()
    found = return_value(
        fit_recording(recording, settings), lambda progress: bar.show(progress.fraction, progress.what)
    )
    bar.close()
    say(in_words(found.summary))
    return found


def _look_at(outputs: Sequence[Path], inputs: Sequence[Path], *, force: bool) -> None:
    """Refuse outputs that are inputs, that are there already, or that could not be written at the end."""
    for path in outputs:
        if path.exists():
            if any(path.samefile(each) for each in inputs):
                raise Refused(f"{path} is the recording itself: choose another --out.")
            if not force:
                raise Refused(f"{path} exists: choose another --out, or overwrite it with --force.")
        try:
            check_writable(path)
        except OSError as error:
            raise Refused(f"--out cannot be written: {error}") from error


def _keep(found: Fitted, outputs: Sequence[Path], tables: Sequence[str | bytes]) -> Sequence[Path]:
    couplings, costs, *others = outputs
    found.save(couplings)
    write(costs, json.dumps(found.summary, indent=1, ensure_ascii=False) + "\n")
    for path, table in zip(others, tables, strict=True):
        write(path, table)
    return outputs


def _elsewhere(outputs: Sequence[Path]) -> tuple[Path, ...]:
    """The same names in a new folder of the system's, for a result that would be lost otherwise."""
    folder = Path(tempfile.mkdtemp(prefix="hidviz-fit-"))
    return tuple(folder / path.name for path in outputs)
