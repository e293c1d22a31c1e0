"""Networks with continuous hidden units, bin by bin: log likelihood and its gradient as the literal sum over paths."""

import numpy as np


def hidden_path(s, L, M, g):
    """mu(0) … mu(T-1) of one trial, from mu(0) = 0."""
    mu = [np.zeros(len(L))]
    for t in range(len(s) - 1):
        mu.append(np.tanh(g + L @ s[t] + M @ mu[t]))
    return np.array(mu)


def log_likelihood(trials, J, K, L, M, h, g):
    total = 0.0
    for s in trials:
        mu = hidden_path(s, L, M, g)
        for t in range(len(s) - 1):
            H = h + J @ s[t] + K @ mu[t]
            total += float(np.sum(s[t + 1] * H - np.logaddexp(H, -H)))
    return total


def gradient_by_paths(trials, J, K, L, M, h, g):
    """Every error at u+1 blames every earlier hidden input at r, along the product of all matrices between."""
    found = {name: np.zeros_like(block) for name, block in {"J": J, "K": K, "L": L, "M": M, "h": h, "g": g}.items()}
    for s in trials:
        mu = hidden_path(s, L, M, g)
        for u in range(len(s) - 1):
            eps = s[u + 1] - np.tanh(h + J @ s[u] + K @ mu[u])
            found["J"] += np.outer(eps, s[u])
            found["K"] += np.outer(eps, mu[u])
            found["h"] += eps
            for r in range(1, u + 1):
                blame = eps @ K @ np.diag(1.0 - mu[u] ** 2)
                for q in range(u - 1, r - 1, -1):
                    blame = blame @ M @ np.diag(1.0 - mu[q] ** 2)
                found["L"] += np.outer(blame, s[r - 1])
                found["M"] += np.outer(blame, mu[r - 1])
                found["g"] += blame
    return found


def backprop(s, J, K, L, M, h, g):
    """The same gradient of one trial by the plain backward recursion, for histories too long for sums over paths."""
    mu = hidden_path(s, L, M, g)
    eps = s[1:] - np.tanh(h + s[:-1] @ J.T + mu[:-1] @ K.T)
    delta = np.zeros_like(mu)
    for t in range(len(s) - 2, 0, -1):
        delta[t] = (1.0 - mu[t] ** 2) * (eps[t] @ K + delta[t + 1] @ M)
    return {
        "J": eps.T @ s[:-1],
        "K": eps.T @ mu[:-1],
        "L": delta[1:].T @ s[:-1],
        "M": delta[1:].T @ mu[:-1],
        "h": eps.sum(axis=0),
        "g": delta.sum(axis=0),
    }
