"""One logistic regression per unit, fitted by a general optimiser."""

import numpy as np
from scipy.optimize import minimize


def best_rows(inputs, following, weights=0.0):
    """Rows w that maximise the mean of log P[following | inputs @ w] - ½ Σ weights w², and the log likelihood."""
    rows, total = [], 0.0
    for target in following.T:

        def loss(w, target=target):
            field = inputs @ w
            value = np.mean(np.logaddexp(field, -field) - target * field) + 0.5 * np.sum(weights * w * w)
            return value, inputs.T @ (np.tanh(field) - target) / len(target) + weights * w

        best = minimize(loss, np.zeros(inputs.shape[1]), jac=True, options={"gtol": 1e-9})
        field = inputs @ best.x
        total += float(np.sum(target * field - np.logaddexp(field, -field)))
        rows.append(best.x)
    return np.array(rows), total
