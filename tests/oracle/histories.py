"""Stochastic hidden units by brute force: sums over every hidden history of a short recording."""

import itertools

import numpy as np


def _states(n):
    return [np.array(z) for z in itertools.product((-1.0, 1.0), repeat=n)]


def _log_probability(state, field):
    """Log probability that units in these fields take this state."""
    return float(np.sum(state * field - np.logaddexp(field, -field)))


def histories(trial, J, K, L, M, h, g):
    """Every hidden history of one trial, (n, T - 1, Nh), with log P[s, history], (n,)."""
    length, n_hidden = len(trial) - 1, K.shape[1]
    found, logs = [], []
    for history in itertools.product(_states(n_hidden), repeat=length):
        log_p = -n_hidden * np.log(2.0)
        for t in range(length):
            log_p += _log_probability(trial[t + 1], h + J @ trial[t] + K @ history[t])
            if t > 0:
                log_p += _log_probability(history[t], g + L @ trial[t - 1] + M @ history[t - 1])
        found.append(np.array(history).reshape(length, n_hidden))
        logs.append(log_p)
    return np.array(found), np.array(logs)


def log_likelihood(trials, **blocks):
    """Log P[s], nats, summed over trials."""
    return sum(float(np.logaddexp.reduce(histories(trial, **blocks)[1])) for trial in trials)


def magnetisations(trials, **blocks):
    """<sigma_a(t)> given the whole trial, trial after trial, (n_transitions, Nh)."""
    return np.concatenate([_mean(trial, blocks) for trial in trials])


def filtered_magnetisations(trials, **blocks):
    """<sigma_a(t)> given s up to t + 1, trial after trial, (n_transitions, Nh)."""
    rows = [_mean(trial[: t + 2], blocks)[t] for trial in trials for t in range(len(trial) - 1)]
    return np.array(rows)


def best_histories(trials, **blocks):
    """The most likely hidden history of each trial, one after the other, (n_transitions, Nh)."""
    best = []
    for trial in trials:
        every, logs = histories(trial, **blocks)
        best.append(every[logs.argmax()])
    return np.concatenate(best)


def _mean(trial, blocks):
    every, logs = histories(trial, **blocks)
    return np.tensordot(np.exp(logs - np.logaddexp.reduce(logs)), every, 1)
