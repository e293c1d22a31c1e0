"""Where another learner ends where mean field ends: its errors over those of mean field in the shipped `floors`.

    python -m tests.benchmarks.floors [--learner NAME] [--sizes NV+NH …] [--bins T] [--networks N] [--store FILE]

Both learn by the rule of the figure, from the same start and on the same data. A ratio is made network by network, and
carries the standard error of its mean. Each line of the store is one run, so that what was interrupted goes on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hidviz.background.executors import workers
from hidviz.experiments import ASSETS
from hidviz.sweeps import FIGURES, Store, Sweep, load, run_sweep, table
from hidviz.sweeps.heights import BLOCKS
from hidviz.sweeps.spread import Estimate, estimate, ratio
from tests.benchmarks.table import head, heading, line

FIGURE = FIGURES["floors"]
SIZES = ("2+2", "4+2", "8+2", "16+2", "4+4", "8+4", "16+4")
TITLES = ["units", "networks", *(f"{block}, over mean field's" for block in BLOCKS), "seconds a run"]


def factor(value: Estimate) -> str:
    """A mean logarithm of a ratio as a factor, with its error."""
    mean = float(np.exp(value.mean))
    return f"{mean:.2g} ± {mean * value.error:.1g}" if np.isfinite(value.error) else f"{mean:.2g}"


def iter_rows(learner: str, sizes: Sequence[str], n_bins: int, n_networks: int, store: Store) -> Iterator[str]:
    """A row of the table for each size, as soon as its networks are done."""
    shipped = load(ASSETS, FIGURE.name).table
    for size in sizes:
        n_visible, n_hidden = map(int, size.split("+"))
        wanted = {"n_visible": n_visible, "n_hidden": n_hidden, "n_steps": n_bins}
        like = [e for e in FIGURE.full if all(getattr(e, name) == value for name, value in wanted.items())]
        sweep = Sweep(FIGURE.name, tuple(replace(e, learner=learner) for e in like if e.seed <= n_networks))
        *_, state = run_sweep(sweep, workers(), store=store)
        own = table(state.measurements)
        theirs = shipped[(shipped[list(wanted)] == list(wanted.values())).all(axis=1)]
        ratios = [ratio(*(rows[rows["block"] == block] for rows in (own, theirs))) for block in BLOCKS]
        taken = estimate(own.drop_duplicates("key")["seconds"])
        yield line([size, str(ratios[0].networks), *map(factor, ratios), f"{taken.mean:.0f}"])


def main(options: Sequence[str] | None = None) -> None:
    """Print the table, a line at a time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learner", default="mean-field-correlated")
    parser.add_argument("--sizes", nargs="+", default=SIZES, metavar="NV+NH")
    parser.add_argument("--bins", type=int, default=30_000, metavar="T")
    parser.add_argument("--networks", type=int, default=10, metavar="N")
    parser.add_argument("--store", type=Path, default=Path("floors-of-another.jsonl"))
    given = parser.parse_args(options)
    print(heading(), "\n")
    print(head(TITLES))
    for row in iter_rows(given.learner, given.sizes, given.bins, given.networks, Store(given.store)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
