"""Correlations pair by pair, from the definition; partial ones as correlations of what a least-squares fit leaves."""

import numpy as np


def triples(trials):
    """s(t), s(t+1), s(t+2) of every t that has them within a trial."""
    found = [(trial[t], trial[t + 1], trial[t + 2]) for trial in trials for t in range(len(trial) - 2)]
    return tuple(np.array(column, dtype=float) for column in zip(*found, strict=True))


def correlation(later, earlier):
    """Pearson's correlation of every later column with every earlier one; 0 for a column that does not vary."""
    result = np.zeros((later.shape[1], earlier.shape[1]))
    for i in range(later.shape[1]):
        for j in range(earlier.shape[1]):
            x, y = later[:, i] - later[:, i].mean(), earlier[:, j] - earlier[:, j].mean()
            size = np.sqrt((x @ x) * (y @ y))
            result[i, j] = x @ y / size if size > 1e-8 else 0.0
    return result


def left_by(known, wanted):
    """What the best linear guess of `wanted` from `known` leaves."""
    design = np.column_stack([np.ones(len(known)), known])
    return wanted - design @ np.linalg.lstsq(design, wanted, rcond=1e-9)[0]
