"""How the time of one evaluation grows with T, Nv and Nh.

    python -m tests.benchmarks.growth [--only exact] [--quick]

From each base one size is raised while the others stay; the time of an evaluation, the fastest of a few, is fitted
by a power of that size, on logarithmic axes. In brackets: the powers between neighbouring sizes, from the smallest to
the largest. Exact sums grow by a factor with every hidden unit, so there it is the factor that is fitted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hidviz import LEARNERS, prepare, random_couplings, random_start, simulate
from tests.benchmarks.table import duration, head, heading, line

SMALLEST_SECONDS = 0.2  # an evaluation is timed again and again until this much time has passed


@dataclass(frozen=True)
class Sizes:
    """Sizes of a network and its data: T in bins, Nv, Nh."""

    n_steps: int
    n_visible: int
    n_hidden: int


@dataclass(frozen=True)
class Ladder:
    """A learner, the sizes to begin from, and the sizes to go through one by one.

    Args:
        learner: a name in LEARNERS.
        base: where the other sizes stay.
        n_steps: T, bins. n_visible: Nv. n_hidden: Nh; none for a learner that knows of no hidden units.
        hidden_hidden: whether M ≠ 0.
        by_factor: whether time grows by a factor with every hidden unit.
    """

    learner: str
    base: Sizes
    n_steps: tuple[int, ...] = (4_000, 8_000, 16_000, 32_000)
    n_visible: tuple[int, ...] = (10, 20, 40, 80)
    n_hidden: tuple[int, ...] = (5, 10, 20, 40)
    hidden_hidden: bool = False
    by_factor: bool = False

    @property
    def title(self) -> str:
        """The learner, and whether M ≠ 0."""
        return f"{self.learner}{', M ≠ 0' if self.hidden_hidden else ''}"

    def quick(self) -> Ladder:
        """Two short steps of each, with little data, to see that everything runs."""
        base = replace(self.base, n_steps=100, n_visible=6, n_hidden=min(self.base.n_hidden, 3))
        return replace(self, base=base, n_steps=(100, 200), n_visible=(4, 6), n_hidden=self.n_hidden and (2, 3))


SMALL, LARGE = Sizes(10_000, 8, 6), Sizes(8_000, 40, 10)
EXACT = {"n_visible": (6, 8, 10, 12), "n_hidden": (4, 6, 8, 10), "by_factor": True}
LADDERS = (
    Ladder("backprop", LARGE),
    Ladder("backprop", LARGE, hidden_hidden=True),
    Ladder("exact", Sizes(10_000, 5, 5), n_steps=(10_000, 100_000, 1_000_000), n_visible=(), n_hidden=()),
    Ladder("exact", SMALL, **EXACT),
    Ladder("exact", replace(SMALL, n_hidden=4), hidden_hidden=True, **EXACT | {"n_hidden": (2, 4, 6, 8)}),
    Ladder("mean-field", LARGE),
    Ladder("mean-field", LARGE, hidden_hidden=True),
    Ladder("mean-field-gaussian", LARGE),
    Ladder("gibbs", LARGE),
    Ladder("gibbs", LARGE, hidden_hidden=True),
    Ladder("visible", replace(LARGE, n_hidden=0), n_hidden=()),
)


def seconds(ladder: Ladder, sizes: Sizes) -> float:
    """The fastest evaluation from cold at these sizes, at a small random start."""
    truth_rng, data_rng, start_rng = np.random.default_rng(1).spawn(3)
    truth = random_couplings(sizes.n_visible, sizes.n_hidden, truth_rng, hidden_hidden=ladder.hidden_hidden)
    hidden = "continuous" if LEARNERS[ladder.learner].hidden == "continuous" else "stochastic"
    recording = simulate(truth, sizes.n_steps, data_rng, hidden=hidden).recording
    learner = prepare(ladder.learner, recording, n_hidden=sizes.n_hidden, hidden_hidden=ladder.hidden_hidden)
    start = random_start(sizes.n_visible, sizes.n_hidden, start_rng, learned=learner.learned)
    learner(start)
    spent: list[float] = []
    while len(spent) < 3 or sum(spent) < SMALLEST_SECONDS:
        begin = time.perf_counter()
        learner(start)
        spent.append(time.perf_counter() - begin)
    return min(spent)


def growth(sizes: Sequence[int], times: Sequence[float], *, by_factor: bool = False) -> tuple[float, list[float]]:
    """The power of the size that the times grow with, or the factor per unit; fitted, and between neighbours."""
    x, y = np.asarray(sizes, dtype=np.float64) if by_factor else np.log(sizes), np.log(times)
    slopes = np.array([np.polyfit(x, y, 1)[0], *(np.diff(y) / np.diff(x))])
    fitted, *local = np.exp(slopes) if by_factor else slopes
    return float(fitted), [float(slope) for slope in local]


def _cell(ladder: Ladder, name: str) -> str:
    sizes = getattr(ladder, name)
    if not sizes:
        return "–"
    by_factor = ladder.by_factor and name == "n_hidden"
    times = [seconds(ladder, replace(ladder.base, **{name: size})) for size in sizes]
    fitted, local = growth(sizes, times, by_factor=by_factor)
    between = ", ".join(f"{slope:.2f}" for slope in local)
    return f"{'×' if by_factor else ''}{fitted:.2f}{' a unit' if by_factor else ''} ({between})"


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.growth", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="learners whose names begin like this")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    options = parser.parse_args(arguments)
    print(f"{heading()}\n\n{head(['learner', 'base: Nv + Nh, T', 'seconds there', 'T', 'Nv', 'Nh'])}")
    for full in LADDERS:
        if not full.learner.startswith(options.only):
            continue
        ladder = full.quick() if options.quick else full
        base = ladder.base
        cells = [ladder.title, f"{base.n_visible} + {base.n_hidden}, {base.n_steps:,}", duration(seconds(ladder, base))]
        print(line([*cells, *(_cell(ladder, name) for name in ("n_steps", "n_visible", "n_hidden"))]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
