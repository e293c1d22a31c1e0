"""Public truths: how our sparse fit ranks the couplings of two simulated recordings beside their authors' lasso.

    python -m tests.benchmarks.public_truth FOLDER [--simulated N]

FOLDER holds kinetic_ising_N10_T1000_sparse0[13].mat, with the truth, and …_lasso.mat, what its authors inferred (from
https://github.com/noashin/kinetic_ising_model_neurons, MIT). For each way to rank couplings the area under the curve of
hits against false alarms, and the root mean square error of its estimate in our units; then which couplings of the
first truth the entry orders of adaptive weights and of one weight of all rank differently, and the area that the former
gains by each. --simulated draws recordings from that truth again, fits them alike, and tells the mean difference of the
areas.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from hidviz.experiments import sparse_fit
from hidviz.experiments.sparse import N_WEIGHTS, sparse_couplings
from hidviz.learners import logistic_fit, prepare
from hidviz.network import Couplings, Recording, divide, simulate
from hidviz.numerics import Array
from tests.benchmarks.sparse import area
from tests.benchmarks.table import head, line

NAMES = ("kinetic_ising_N10_T1000_sparse01", "kinetic_ising_N10_T1000_sparse03")
OURS, THEIRS = 2.0, 4.0  # their J is twice ours, and their lasso, on 0/1 states, four times


def one_weight(recording: Recording) -> tuple[Array, list[Array]]:
    """J along falling weights that are the same for every coupling, and the largest at which each is not zero."""
    n = recording.n_visible
    nothing = Couplings(np.zeros((n, n)), np.zeros((n, 0)), np.zeros((0, n)))
    alone = sparse_couplings(recording, 1e9, start=nothing)
    rise = prepare("visible", recording, n_hidden=0, bias=True)(alone).gradient.J / recording.n_transitions
    weights = float(np.abs(rise).max()) * np.geomspace(1.0, 1e-3, N_WEIGHTS)
    entered, path, found = np.zeros((n, n)), [], alone
    for weight in weights:
        found = sparse_couplings(recording, float(weight), start=found)
        path.append(found.J)
        entered[(found.J != 0.0) & (entered == 0.0)] = weight
    return entered, path


def rows(recording: Recording, there: Array) -> dict[str, tuple[float, Array]]:
    """For each way to rank, the area and the estimate behind it."""
    found = sparse_fit(divide(recording), everything=True)
    plain = logistic_fit(recording, bias=True).couplings.J
    entered, path = one_weight(recording)
    kept = int((found.couplings.J != 0.0).sum())
    alike = min(path, key=lambda J: abs(int((J != 0.0).sum()) - kept))
    size = np.abs(found.couplings.J)
    return {
        "no penalty, |J|": (area(np.abs(plain), there), plain),
        "ours, |J| at the chosen λ": (area(size, there), found.couplings.J),
        "ours, ties at zero broken by no penalty": (area(size + 1e-9 * np.abs(plain), there), found.couplings.J),
        "ours, order in which they enter": (area(found.entered + 1e-9 * size, there), found.couplings.J),
        "one weight of all, |J| at as many couplings": (area(np.abs(alike), there), alike),
        "one weight of all, order in which they enter": (area(entered, there), alike),
    }  # fmt: skip


def by_coupling(recording: Recording, J: Array) -> list[tuple[float, float]]:
    """Couplings that the two orders rank differently, and the area that our order gains by each."""
    there, found = J != 0.0, sparse_fit(divide(recording), everything=True)
    ours, alike = (
        (score[there][:, None] > score[~there]).mean(axis=1)
        + 0.5 * (score[there][:, None] == score[~there]).mean(axis=1)
        for score in (found.entered + 1e-9 * np.abs(found.couplings.J), one_weight(recording)[0])
    )
    gains = (ours - alike) / there.sum()
    return [(float(size), float(gain)) for size, gain in zip(J[there], gains, strict=True) if gain]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--simulated", type=int, default=0)
    given = parser.parse_args()
    print(head(["truth", "ranked by", "area", "rms", "zero: there", "zero: not"]))
    for name in NAMES:
        file = loadmat(given.folder / f"{name}.mat")
        J, recording = file["J"] / OURS, Recording(file["S"])
        lasso = loadmat(given.folder / f"{name}_lasso.mat")["J_est_1"] / THEIRS
        there = J != 0.0
        table = rows(recording, there) | {"their lasso, |J|": (area(np.abs(lasso), there), lasso)}
        for what, (value, found) in table.items():
            zeros = [str(int((found[which] == 0.0).sum())) for which in (there, ~there)]
            print(line([name[-8:], what, f"{value:.3f}", f"{np.sqrt(np.mean((found - J) ** 2)):.4f}", *zeros]))
    file = loadmat(given.folder / f"{NAMES[0]}.mat")
    told = by_coupling(Recording(file["S"]), file["J"] / OURS)
    print(f"\nadaptive less one weight, {NAMES[0]}: " + ", ".join(f"J {size:+.3f}: {gain:+.4f}" for size, gain in told))
    if given.simulated:
        J = loadmat(given.folder / f"{NAMES[0]}.mat")["J"] / OURS
        truth, differences = Couplings(J, np.zeros((len(J), 0)), np.zeros((0, len(J)))), []
        for seed in range(given.simulated):
            again = rows(simulate(truth, 1000, np.random.default_rng(seed)).recording, J != 0.0)
            order = [again[f"{who}, order in which they enter"][0] for who in ("ours", "one weight of all")]
            differences.append(order[0] - order[1])
        error = np.std(differences, ddof=1) / len(differences) ** 0.5
        print(f"\nadaptive less one weight, {given.simulated} recordings: {np.mean(differences):+.4f} ± {error:.4f}")


if __name__ == "__main__":
    main()
