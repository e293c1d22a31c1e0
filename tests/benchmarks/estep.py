"""Sweeps of the mean-field E-step for each bin, and its processor time: `python -m tests.benchmarks.estep [--quick]`.

Couplings are those that an optimiser comes to from a small random start, with penalty .001. Cold is an E-step from a
guess, warm one from the magnetisations of the step before, settled. A sweep works out the field of a bin once; "open"
are bins that 500 sweeps did not solve to 1e-8. The
gradient is the M-step's, at given magnetisations.
"""

from __future__ import annotations

import argparse
import sys
import time
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from hidviz import learn, prepare, random_couplings, random_start, simulate
from hidviz.background import keep_freed_memory, one_blas_thread
from hidviz.learners.parts.e_step_solver import settle
from hidviz.learners.parts.mean_field_cases import cases_of, distinct_cases
from hidviz.learners.parts.mean_field_objective import Theory, objective_and_slopes, wire
from hidviz.numerics import LOWEST
from tests.benchmarks.table import duration, head, heading, line

TOLERANCE, MOST = 1e-8, 500  # what a learner asks for
STEPS = (2, 10, 30)


class Setting(NamedTuple):
    """A network, its coupling variance, bins, and who learns it."""

    n_visible: int
    n_hidden: int
    n_steps: int
    variance: float
    optimiser: str


SETTINGS = (
    Setting(80, 20, 10_000, 1.0, "l-bfgs"),
    Setting(80, 20, 10_000, 1.0, "momentum"),
    Setting(80, 20, 10_000, 4.0, "l-bfgs"),
    Setting(18, 2, 10_000, 1.0, "l-bfgs"),
    Setting(18, 2, 10_000, 4.0, "l-bfgs"),
    Setting(30, 10, 10_000, 1.0, "l-bfgs"),
    Setting(30, 10, 10_000, 4.0, "l-bfgs"),
    Setting(80, 80, 3_000, 1.0, "l-bfgs"),
    Setting(80, 80, 3_000, 4.0, "l-bfgs"),
)


def course(setting, n_steps):
    """The data, and the couplings after each step of learning."""
    truth_rng, data_rng, start_rng = np.random.default_rng(7).spawn(3)
    truth = random_couplings(setting.n_visible, setting.n_hidden, truth_rng, variance=setting.variance)
    recording = simulate(truth, setting.n_steps, data_rng, hidden="stochastic").recording
    learner = prepare("mean-field", recording, n_hidden=setting.n_hidden)
    start = random_start(setting.n_visible, setting.n_hidden, start_rng, learned=learner.learned)
    steps = learn(learner, start, optimiser=setting.optimiser, penalty=1e-3, max_steps=n_steps)
    return recording, [snapshot.couplings for snapshot in steps]


def timed(work, repeats):
    """The least processor time of some calls, seconds, and what the last one gave."""
    spent = []
    for _ in range(repeats):
        began = time.process_time()
        result = work()
        spent.append(time.process_time() - began)
    return min(spent), result


def rows(setting, repeats, steps):
    """A row of the table for each step and start."""
    recording, couplings = course(setting, max(steps))
    everything, theory = cases_of(recording), Theory(LOWEST)
    distinct = distinct_cases(recording, everything)
    cases = everything if distinct is None else distinct.cases
    wirings = [wire(each, theory) for each in couplings]
    for step, (before, now) in enumerate(pairwise(wirings), start=1):
        if step not in steps:
            continue
        known = settle(theory, before, cases, None, TOLERANCE, MOST).mu
        for name, start in (("cold", None), ("warm", known)):
            seconds, found = timed(lambda s=start, w=now: settle(theory, w, cases, s, TOLERANCE, MOST), repeats)
            gradient, _ = timed(lambda f=found, w=now: objective_and_slopes(theory, w, cases, f.mu), repeats)
            yield line([
                f"{setting.n_visible} + {setting.n_hidden}, T = {setting.n_steps:,}, variance {setting.variance:g}",
                f"{setting.optimiser}, {step}, {name}",
                f"{found.sweeps.mean():.1f}",
                f"{np.quantile(found.sweeps, 0.95):.0f}",
                f"{found.sweeps.max()}",
                f"{(found.gaps > TOLERANCE).sum()}",
                duration(seconds),
                f"{1e6 * seconds / found.sweeps.sum():.2f} µs",
                duration(gradient),
            ])  # fmt: skip


def main(arguments=None):
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.estep", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3, help="of which the fastest counts")
    parser.add_argument("--quick", action="store_true", help="little data and few steps: does it run?")
    options = parser.parse_args(arguments)
    titles = ["network", "step, start", "sweeps a bin: mean", "95 %", "most", "open", "E-step", "a sweep", "gradient"]
    print(f"{heading()}\n\n{head(titles)}")
    keep_freed_memory()
    with one_blas_thread():
        for setting in SETTINGS[:1] if options.quick else SETTINGS:
            chosen = setting._replace(n_visible=8, n_hidden=3, n_steps=200) if options.quick else setting
            for row in rows(chosen, options.repeats, STEPS[:1] if options.quick else STEPS):
                print(row, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
