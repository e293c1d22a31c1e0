"""Which couplings are there: fits without a penalty, with L2 and with L1, of sparse networks with hidden units.

    python -m tests.benchmarks.sparse [--networks N] [--bins T] [--size NV+NH] [--connected P]

Each network has every coupling of J, K and L with probability P, of variance 1 / (P senders); fits assume its number of
hidden units, and are aligned with it. For each block:

    area     under the curve of hits against false alarms as the threshold on |coupling| falls: the probability that a
             coupling that is there is larger than one that is not
    outlives the same for the strongest L1 penalty that a coupling outlives, ties broken by its size
    kept     share of the couplings that are there, and of those that are not, which L1 does not set to zero
    rms      root mean square error over that of the fit without a penalty

and the judged cost above the truth's, in thousandths of a nat per bin.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np

from hidviz.background import one_blas_thread, return_value
from hidviz.evaluation import cost_per_bin
from hidviz.experiments import Fitted, Settings, fit_recording
from hidviz.learners import prepare
from hidviz.network import Couplings, Recording, best_gauge, divide, random_couplings, regauge, simulate
from hidviz.numerics import Array
from tests.benchmarks.table import head, heading, line

FITS = {"no penalty": {}, "L2, learned": {"penalty": "learned"}, "L1, chosen": {"l1": "chosen"}}
BLOCKS = ("J", "K", "L")


class Score(NamedTuple):
    """How well one fit tells the couplings of one block that are there from those that are not."""

    area: float
    outlives: float
    hits: float
    false: float
    rms: float


def sparse_network(n_visible: int, n_hidden: int, connected: float, seed: int) -> Couplings:
    """A random network with a share of its couplings, larger as they are fewer."""
    rng = np.random.default_rng([seed, 0])
    whole = random_couplings(n_visible, n_hidden, rng, variance=1.0 / connected)
    there = {name: rng.random(getattr(whole, name).shape) < connected for name in BLOCKS}
    return Couplings(**{name: getattr(whole, name) * there[name] for name in BLOCKS})


def area(score: Array, there: Array) -> float:
    """Probability that a coupling that is there scores above one that is not; ties count half."""
    gaps = score[there][:, None] - score[~there][None, :]
    return float(np.mean((gaps > 0.0) + 0.5 * (gaps == 0.0)))


def scores(fit: Fitted, truth: Couplings) -> dict[str, Score]:
    """Each block of a fit against the truth."""
    gauge = best_gauge(fit.couplings, truth)
    found = regauge(fit.couplings, gauge)
    outlives = None if fit.l1 is None else regauge(fit.l1.outlives, gauge)
    told = {}
    for name in BLOCKS:
        value, true = getattr(found, name).ravel(), getattr(truth, name).ravel()
        there, size = true != 0.0, np.abs(value)
        order = np.nan if outlives is None else area(
            np.abs(getattr(outlives, name).ravel()) + 1e-9 * size / size.max(initial=1e-9), there
        )  # fmt: skip
        rms = float(np.sqrt(np.mean((value - true) ** 2)))
        kept = [float((size[which] > 0.0).mean()) for which in (there, ~there)]
        told[name] = Score(area(size, there), order, kept[0], kept[1], rms)
    return told


def above_truth(fit: Fitted, truth: Couplings, judge: Recording) -> float:
    """Judged cost of a fit above that of the truth, nats per bin."""
    learner = prepare("exact", judge, n_hidden=truth.n_hidden, bias=True)
    costs = [cost_per_bin(learner, each) for each in (fit.couplings, truth)]
    return costs[0] - costs[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", type=int, default=10)
    parser.add_argument("--bins", type=int, default=3000)
    parser.add_argument("--size", default="10+2")
    parser.add_argument("--connected", type=float, default=0.3)
    given = parser.parse_args()
    n_visible, n_hidden = map(int, given.size.split("+"))
    print(heading(), "\n")
    found: dict[str, list[dict[str, Score]]] = {name: [] for name in FITS}
    above: dict[str, list[float]] = {name: [] for name in FITS}
    for seed in range(given.networks):
        truth = sparse_network(n_visible, n_hidden, given.connected, seed)
        recording = simulate(truth, given.bins, np.random.default_rng([seed, 1])).recording
        judge = divide(recording).judge
        for name, options in FITS.items():
            with one_blas_thread():
                fit = return_value(fit_recording(recording, Settings("exact", n_hidden, max_steps=300, **options)))
            found[name].append(scores(fit, truth))
            above[name].append(above_truth(fit, truth, judge))
    print(head(["fit", "block", "area", "by what it outlives", "kept: there", "kept: not there", "rms", "cost above"]))
    for name, runs in found.items():
        for block in BLOCKS:
            mean = Score(*np.mean([run[block] for run in runs], axis=0))
            both = zip(runs, found["no penalty"], strict=True)
            ratio = np.mean([run[block].rms / plain[block].rms for run, plain in both])
            order = "" if np.isnan(mean.outlives) else f"{mean.outlives:.3f}"
            cost = f"{1000.0 * np.mean(above[name]):.0f}" if block == "J" else ""
            kept = [f"{mean.hits:.2f}", f"{mean.false:.2f}"]
            print(line([name if block == "J" else "", block, f"{mean.area:.3f}", order, *kept, f"{ratio:.2f}", cost]))


if __name__ == "__main__":
    main()
