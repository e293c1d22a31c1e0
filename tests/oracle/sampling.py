"""The distribution of hidden histories given visible ones, by listing all of them (one trial, a tiny network).

A history is sigma (T - 1, Nh): the hidden states that predict s(1) … s(T-1). The state at the last bin is left out.
"""

import itertools

import numpy as np


def complete_log_likelihood(J, K, L, M, h, g, s, sigma):
    """log P[s(1 …), sigma | s(0)] of one trial, bin after bin; sigma(0) is uniform."""
    total = -sigma.shape[1] * np.log(2.0)
    for t in range(len(s) - 1):
        H = h + J @ s[t] + K @ sigma[t]
        total += np.sum(s[t + 1] * H - np.logaddexp(H, -H))
        if t + 1 < len(sigma):
            B = g + L @ s[t] + M @ sigma[t]
            total += np.sum(sigma[t + 1] * B - np.logaddexp(B, -B))
    return total


def histories(n_transitions, n_hidden):
    """Every hidden history, (2**(n_transitions * n_hidden), n_transitions, n_hidden); the last unit changes fastest."""
    states = list(itertools.product((-1.0, 1.0), repeat=n_transitions * n_hidden))
    return np.array(states).reshape(len(states), n_transitions, n_hidden)


def posterior(J, K, L, M, h, g, s):
    """All histories, the probability of each given s, and log P[s]."""
    every = histories(len(s) - 1, K.shape[1])
    logs = np.array([complete_log_likelihood(J, K, L, M, h, g, s, sigma) for sigma in every])
    evidence = np.logaddexp.reduce(logs)
    return every, np.exp(logs - evidence), evidence


def sweep_matrix(probability, every, order):
    """Transition matrix of one Gibbs sweep that visits the sites (t, a) in this order."""
    n = len(every)
    index = {history.tobytes(): k for k, history in enumerate(every)}
    sweep = np.eye(n)
    for t, a in order:
        site = np.zeros((n, n))
        for k, history in enumerate(every):
            flipped = history.copy()
            flipped[t, a] *= -1.0
            other = index[flipped.tobytes()]
            site[k, other] = probability[other] / (probability[other] + probability[k])
            site[k, k] = 1.0 - site[k, other]
        sweep = sweep @ site
    return sweep


def independent_bins(J, K, L, h, g, s):
    """Without M each bin has a posterior of its own: log p_t (T - 1,) and mean hidden states (T - 1, Nh), one trial."""
    states = histories(1, K.shape[1])[:, 0]
    evidence, means = np.zeros(len(s) - 1), np.zeros((len(s) - 1, K.shape[1]))
    for t in range(len(s) - 1):
        B = g + L @ s[t - 1] if t > 0 else np.zeros(len(g))
        logs = []
        for sigma in states:
            H = h + J @ s[t] + K @ sigma
            logs.append(np.sum(s[t + 1] * H - np.logaddexp(H, -H)) + np.sum(sigma * B - np.logaddexp(B, -B)))
        evidence[t] = np.logaddexp.reduce(logs)
        means[t] = np.exp(np.array(logs) - evidence[t]) @ states
    return evidence, means
