"""How often the error bar of the sampled likelihood holds the exact value, over many networks, at their true couplings.

    python -m tests.benchmarks.coverage [--networks N] [--bins T] [--sizes NV+NH …] [--variances G2 …]

Covered is the share of |estimate - exact| < 1.96 standard errors among the networks whose estimate is not refused. z is
that deviation in standard errors: its mean tells a bias, its root mean square an error bar too small or too large.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from hidviz.background import one_blas_thread
from hidviz.evaluation import log_likelihood
from hidviz.evaluation.importance_sampling import Sampled, sampled_log_likelihood
from hidviz.learners import prepare
from hidviz.network import random_couplings, simulate
from tests.benchmarks.table import head, heading, line


class Coverage(NamedTuple):
    """Estimates of some networks beside their exact log likelihoods, in nats."""

    found: list[Sampled]
    exact: list[float]

    @property
    def deviations(self) -> np.ndarray:
        """Of the estimates that are not refused, in standard errors."""
        pairs = zip(self.found, self.exact, strict=True)
        return np.array([(each.log_likelihood - e) / each.standard_error for each, e in pairs if not each.refusal])

    @property
    def covered(self) -> float:
        """Share of the estimates that are not refused within 1.96 standard errors."""
        return float(np.mean(np.abs(self.deviations) < 1.96))


def coverage(n_visible: int, n_hidden: int, variance: float, n_bins: int, seeds: Iterable[int]) -> Coverage:
    """For each seed a network, its data, and the estimate with the proposal that is used beside learning."""
    result = Coverage([], [])
    for seed in seeds:
        truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), variance=variance)
        recording, _ = simulate(truth, n_bins, np.random.default_rng([seed, 1]))
        proposals = prepare("mean-field", recording, n_hidden=n_hidden, tolerance=1e-2, max_sweeps=10)
        hidden = proposals(truth).beliefs.hidden
        result.found.append(sampled_log_likelihood(truth, recording, hidden, np.random.default_rng([seed, 2])))
        result.exact.append(log_likelihood(truth, recording))
    return result


def main() -> None:
    """Print the table, a line at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--networks", type=int, default=100)
    parser.add_argument("--bins", type=int, default=1000)
    parser.add_argument("--sizes", nargs="*", default=["6+4", "8+8"])
    parser.add_argument("--variances", nargs="*", type=float, default=[1.0, 4.0, 9.0])
    given = parser.parse_args()
    print(heading(), "\n")
    titles = ["units", "g²", "covered", "refused", "mean z", "rms z", "fewest samples: worst", "median", "error, nats"]
    print(head(titles))
    for size in given.sizes:
        n_visible, n_hidden = map(int, size.split("+"))
        for variance in given.variances:
            with one_blas_thread():
                one = coverage(n_visible, n_hidden, variance, given.bins, range(given.networks))
            z, fewest = one.deviations, [each.fewest for each in one.found]
            numbers = [one.covered, 1.0 - len(z) / len(fewest), z.mean(), np.sqrt(np.mean(z**2))]
            cells = [f"{number:.2f}" for number in numbers] + [f"{min(fewest):.1f}", f"{np.median(fewest):.1f}"]
            errors = [each.standard_error for each in one.found]
            print(line([size, f"{variance:g}", *cells, f"{np.mean(errors):.2f}"]), flush=True)


if __name__ == "__main__":
    main()
