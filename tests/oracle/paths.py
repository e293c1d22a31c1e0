"""Model A bin by bin, and every path of back-propagation written out."""

import itertools

import numpy as np


def hidden_states(trial, L, M, g):
    """mu(t) of one trial, (T - 1, Nh)."""
    mu = [np.zeros(len(L))]
    for t in range(len(trial) - 2):
        mu.append(np.tanh(g + L @ trial[t] + M @ mu[t]))
    return np.array(mu)


def every_path(trial, J, K, L, M, h, g):
    """(t, q, i, units from the future back, product) of every path of one trial."""
    mu = hidden_states(trial, L, M, g)
    n_visible, n_hidden = K.shape
    last = len(trial) - 1
    for t in range(last - 1):
        for q in range(last - 1 - t):
            eps = trial[t + q + 2] - np.tanh(h + J @ trial[t + q + 1] + K @ mu[t + q + 1])
            for i in range(n_visible):
                for units in itertools.product(range(n_hidden), repeat=q + 1):
                    product = eps[i] * K[i, units[0]] * (1.0 - mu[t + q + 1, units[0]] ** 2)
                    for k in range(1, q + 1):
                        product *= M[units[k - 1], units[k]] * (1.0 - mu[t + q + 1 - k, units[k]] ** 2)
                    yield t, q, i, units, product


def gradient(trials, J, K, L, M, h, g):
    """dL and dM as literal sums over paths."""
    dL, dM = np.zeros_like(L), np.zeros_like(M)
    for trial in trials:
        mu = hidden_states(trial, L, M, g)
        for t, _, _, units, product in every_path(trial, J, K, L, M, h, g):
            dL[units[-1]] += product * trial[t]
            dM[units[-1]] += product * mu[t]
    return dL, dM
