"""How many evaluations learning takes, to within 1e-6 nats per bin of the optimum, for every optimiser.

    python -m tests.benchmarks.training [--starts 3] [--quick]

All begin from the same small random starts. The optimum of a start is where L-BFGS ends, with no slope above 1e-9.
Optimisers with a rate are given a few and the best one counts, which is more than a user would do for them; Adam's
steps shrink over its horizon, so it is given a few of those. "–" is an optimiser that was not there after `MOST`
evaluations: too slow, oscillating, or at another optimum.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

from hidviz import Couplings, Experiment, Learner, learn, prepare, random_start
from hidviz.learning.optimisers import OPTIMISERS
from hidviz.network.simulation import simulate
from tests.benchmarks.table import head, heading, line

WITHIN = 1e-6  # nats per bin
MOST = 4000  # evaluations
RATES = (1.0, 2.0, 4.0)  # times the default rate
HORIZONS = (150, 400, 1000)  # steps of adam

CASES = (
    Experiment(n_visible=18, n_hidden=2, learner="backprop"),
    Experiment(n_visible=10, n_hidden=10, model="stochastic", learner="exact"),
)


def optimum(learner: Learner, start: Couplings, *, most: int) -> tuple[float, int]:
    """The cost at which L-BFGS ends from here, and the evaluations it takes to be within `WITHIN` of it."""
    course = [(s.cost, s.evaluations) for s in learn(learner, start, tolerance=1e-9, max_steps=most)]
    lowest = min(cost for cost, _ in course)
    return lowest, next(evaluations for cost, evaluations in course if cost <= lowest + WITHIN)


def evaluations_to(cost: float, learner: Learner, start: Couplings, *, most: float, **settings: float | str) -> float:
    """Evaluations until the cost is at most this; infinity if it is not after `most`."""
    for snapshot in learn(learner, start, tolerance=0.0, **settings):
        if snapshot.cost <= cost:
            return snapshot.evaluations
        if snapshot.evaluations >= most:
            break
    return np.inf


def settings_of(optimiser: str) -> list[dict[str, float]]:
    """What an optimiser with a rate is tried with."""
    if optimiser == "adam":
        return [{"max_steps": steps} for steps in HORIZONS]
    return [{"rate": factor * OPTIMISERS[optimiser].default_rate} for factor in RATES]


def counts(experiment: Experiment, n_starts: int, most: int) -> dict[str, list[tuple[float, str]]]:
    """For each optimiser: the evaluations from each start, and the setting that was best."""
    hidden = experiment.model
    recording = simulate(experiment.truth(), experiment.n_steps, np.random.default_rng(1), hidden=hidden).recording
    learner = prepare(experiment.learner, recording, n_hidden=experiment.n_hidden)
    found: dict[str, list[tuple[float, str]]] = {name: [] for name in ("l-bfgs", "gradient", "momentum", "adam")}
    for number in range(n_starts):
        rng = np.random.default_rng([2, number])
        start = random_start(experiment.n_visible, experiment.n_hidden, rng, learned=learner.learned)
        lowest, taken = optimum(learner, start, most=most)
        for name in found:
            best: tuple[float, str] = (taken, "none needed") if name == "l-bfgs" else (np.inf, "–")
            for given in settings_of(name) if name != "l-bfgs" else ():
                until = min(most, best[0])
                n = evaluations_to(lowest + WITHIN, learner, start, most=until, optimiser=name, **given)
                if n < best[0]:
                    best = n, ", ".join(f"{setting.replace('_', ' ')} {value:g}" for setting, value in given.items())
            found[name].append(best)
    return found


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.training", description=__doc__.splitlines()[0])
    parser.add_argument("--starts", type=int, default=3, help="random starts")
    parser.add_argument("--quick", action="store_true", help="little data and few evaluations: does it run?")
    options = parser.parse_args(arguments)
    titles = ["learner", "optimiser", "evaluations: median", "of each start", "against L-BFGS", "best setting"]
    print(f"{heading()}\n\n{head(titles)}")
    for full in CASES:
        experiment = replace(full, n_visible=3, n_hidden=1, n_steps=1000) if options.quick else full
        found = counts(experiment, options.starts, 50 if options.quick else MOST)
        fewest = float(np.median([n for n, _ in found["l-bfgs"]]))
        title = f"{experiment.learner}, {experiment.n_visible} + {experiment.n_hidden}, T = {experiment.n_steps:,}"
        for name, reached in found.items():
            median = float(np.median([n for n, _ in reached]))
            each = ", ".join(_count(n) for n, _ in reached)
            ratio = f"{median / fewest:.1f}×" if np.isfinite(median) else "–"
            print(line([title, name, _count(median), each, ratio, min(reached)[1]]), flush=True)
    return 0


def _count(n: float) -> str:
    return f"{n:.0f}" if np.isfinite(n) else "–"


if __name__ == "__main__":
    sys.exit(main())
