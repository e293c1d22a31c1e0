"""Whether the shipped results come back: some rows of every shipped table, made again by the code as it is.

    python -m tests.benchmarks.recompute [FIGURE …] [--rows N] [--longest SECONDS] [--seed SEED]

Rows are drawn by the seed among those that took no longer than was allowed. For each the largest relative difference of
its errors and costs from the shipped ones, and where it is. Rounding differs between machines, and where a run stops
early another rounding may lead elsewhere: see the table's own `state`.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from hidviz import Experiment
from hidviz.background import one_blas_thread
from hidviz.sweeps import FIGURES, Figure, key_of, load, table
from hidviz.sweeps.measurement import measure
from tests.benchmarks.table import head, heading, line

ASSETS = Path(__file__).parents[2] / "assets"
NUMBERS = ("mse_raw", "mse_aligned", "objective", "cost", "held_out", "wrong_signs", "wrong_signs_at_truth")
SAME = 1e-6
TITLES = ["figure", "experiment", "ended", "seconds", "were", "largest difference", "of"]


def drawn(figure: Figure, shipped: pd.DataFrame, n: int, longest: float, seed: int) -> list[Experiment]:
    """Some experiments of a figure, none that took longer than so many seconds."""
    took = shipped.groupby("key")["seconds"].first()
    known = [e for e in figure.full if took.get(key_of(e), np.inf) <= longest]
    return random.Random(seed).sample(known, min(n, len(known)))


def difference(found: pd.DataFrame, shipped: pd.DataFrame) -> tuple[float, str]:
    """The largest relative difference of one experiment's numbers, and what it is of."""
    both = found.merge(shipped, on=["key", "block"], suffixes=("", "_shipped"))
    worst = 0.0, "nothing"
    for name in NUMBERS:
        if f"{name}_shipped" not in both:
            continue
        now, then = (both[column].to_numpy(float) for column in (name, f"{name}_shipped"))
        apart = np.abs(now - then) / np.maximum(np.abs(then), 1e-6)
        apart[np.isnan(now) & np.isnan(then)] = 0.0
        apart = np.where(np.isnan(apart), np.inf, apart)
        k = int(np.argmax(apart))
        if apart[k] > worst[0]:
            worst = float(apart[k]), f"{name} {both['block'][k]}"
    return worst


def name_of(row: Mapping[str, object]) -> str:
    """An experiment in a few words."""
    size = f"{row['n_visible']}+{row['n_hidden']}, T = {row['n_steps']}, g² = {row['variance']:g}"
    return f"{size}, {row['learner']}, seed {row['seed']}"


def main() -> None:
    """Print the table, a line at a time, and how many rows came back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", default=list(FIGURES))
    parser.add_argument("--rows", type=int, default=12)
    parser.add_argument("--longest", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(heading(), "\n")
    print(head(TITLES))
    came_back, n = 0, 0
    for number in given.figures:
        figure = FIGURES[number]
        results = load(ASSETS, figure.name)
        for experiment in drawn(figure, results.table, given.rows, given.longest, given.seed):
            with one_blas_thread():
                found = table([measure(experiment, with_states=figure.kind == "phase")])
            shipped = results.table[results.table["key"] == key_of(experiment)]
            apart, where = difference(found, shipped)
            row, then = found.iloc[0], shipped.iloc[0]
            states = str(row["state"]) + ("" if row["state"] == then["state"] else f" (was {then['state']})")
            cells = [f"{row['seconds']:.1f}", f"{then['seconds']:.1f}", f"{apart:.0e}", where]
            print(line([number, name_of(row), states, *cells]), flush=True)
            came_back, n = came_back + (apart <= SAME), n + 1
    print(f"\n{came_back} of {n} rows came back to {SAME:g}.")


if __name__ == "__main__":
    main()
