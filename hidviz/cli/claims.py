"""`hidviz claims`: what the paper claims and was asked beyond it, judged by the tables of the figures."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from hidviz.cli.terminal import DONE, Refused, report
from hidviz.experiments import ASSETS
from hidviz.sweeps import FIGURES, claims, load, markdown

TEACHING = """\
A line for each claim: its numbers with their standard errors over networks, how many networks that is, and whether it
holds: yes or no where the 95 % interval of every number says so, not settled otherwise or with fewer than three
networks. The table is Markdown.

  hidviz claims                 of the tables that ship with hidviz: the table of the README
  hidviz claims results         of those that `hidviz figure ... --out results` has written
"""


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser(
        "claims",
        help="judge the paper's claims by the tables of the figures",
        description="Judge the paper's claims, and what was asked beyond it, by the tables of the figures.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("directory", nargs="?", metavar="DIR", help="where the tables are (default: those shipped)")
    parser.set_defaults(act=act)


def act(given: argparse.Namespace) -> int:
    """Read what tables there are, and judge."""
    where = Path(given.directory) if given.directory else ASSETS
    there = {name: figure.name for name, figure in FIGURES.items() if (where / f"{figure.name}.csv").exists()}
    if not there:
        raise Refused(f"{where} holds no table of a figure: make one with `hidviz figure 4 --out {where}`.")
    report(markdown(claims({name: load(where, file).table for name, file in there.items()})))
    return DONE
