"""Whether mean field with the same-time term stays at the true couplings when it starts there.

    python -m tests.benchmarks.same_time [--networks N] [--steps STEPS] [--size NV+NH] [--bins T] [--variances G2 …]

For each network the steps made until the run ended, the mean square error of K at three steps, and the exact cost at
the couplings found less that of the true ones, in nats per bin. A learner that held the truth would end with a K like
that of the exact one, which is learned from the same start for comparison, and with a cost a little below the truth's.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from hidviz import Experiment
from hidviz.background import one_blas_thread, return_value
from hidviz.evaluation import cost_per_bin, mean_square_errors
from hidviz.learning import learn
from hidviz.network import Couplings
from tests.benchmarks.table import head, heading, line

TITLES = [
    "learner",
    "g²",
    "seed",
    "steps",
    "ended",
    "K at a third",
    "at two thirds",
    "at the end",
    "cost − the truth's",
]


def left_the_truth(experiment: Experiment) -> list[str]:
    """Cells of the table after the seed: a run from the true couplings, judged by the exact likelihood."""
    data = return_value(experiment.simulate())
    setup = experiment.prepare(data)
    path: list[Couplings] = []
    for snapshot in learn(setup.learner, data.truth, **experiment.learn_options(None)):
        path.append(snapshot.couplings)
        last = snapshot
    exact = setup.exact or setup.learner
    marks = [path[min(round(share * experiment.max_steps), len(path) - 1)] for share in (1 / 3, 2 / 3, 1.0)]
    errors = [mean_square_errors(each, data.truth, align=True)["K"] for each in marks]
    excess = cost_per_bin(exact, path[-1]) - cost_per_bin(exact, data.truth)
    return [str(last.step), last.state, *(f"{error:.1e}" for error in errors), f"{excess:+.4f}"]


def main() -> None:
    """Print the table, a line at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=3)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--size", default="5+5")
    parser.add_argument("--bins", type=int, default=10_000)
    parser.add_argument("--variances", nargs="*", type=float, default=[1.0, 0.25])
    given = parser.parse_args()
    n_visible, n_hidden = map(int, given.size.split("+"))
    base = Experiment(n_visible=n_visible, n_hidden=n_hidden, n_steps=given.bins, model="stochastic", start="truth",
                      optimiser="momentum", rate=0.05, max_steps=given.steps, n_held_out=0)  # fmt: skip
    print(heading(), "\n")
    print(head(TITLES))
    for learner in ("mean-field-same-time", "exact"):
        for variance in given.variances:
            for seed in range(1, given.networks + 1):
                with one_blas_thread():
                    cells = left_the_truth(replace(base, learner=learner, variance=variance, seed=seed))
                print(line([learner, f"{variance:g}", str(seed), *cells]), flush=True)


if __name__ == "__main__":
    main()
