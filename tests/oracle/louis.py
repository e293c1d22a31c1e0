"""Observed information of stochastic hidden units without couplings among them, by listing states; no shortcut."""

import itertools

import numpy as np


def information(J, K, L, h, g, trials):
    """<C> - Cov[score], summed over transitions; parameters are the rows of (J, h, K), then those of (L, g)."""
    n_visible, n_hidden = K.shape
    wide, narrow = n_visible + 1 + n_hidden, n_visible + 1
    n = n_visible * wide + n_hidden * narrow
    states = [np.array(state) for state in itertools.product((-1.0, 1.0), repeat=n_hidden)]
    total = np.zeros((n, n))
    for s in trials:
        for t in range(len(s) - 1):
            w = np.append(s[t - 1], 1.0) if t > 0 else np.zeros(narrow)
            B = np.column_stack([L, g]) @ w
            logs, scores, curvatures = [], [], []
            for sigma in states:
                z = np.concatenate([s[t], [1.0], sigma])
                H = np.column_stack([J, h, K]) @ z
                logs.append(s[t + 1] @ H - np.logaddexp(H, -H).sum() + sigma @ B - np.logaddexp(B, -B).sum())
                score = [(s[t + 1, i] - np.tanh(H[i])) * z for i in range(n_visible)]
                score += [(sigma[a] - np.tanh(B[a])) * w for a in range(n_hidden)]
                scores.append(np.concatenate(score))
                curvature, begin = np.zeros((n, n)), 0
                for field, sent in [(field, z) for field in H] + [(field, w) for field in B]:
                    rows = slice(begin, begin + len(sent))
                    curvature[rows, rows] = (1.0 - np.tanh(field) ** 2) * np.outer(sent, sent)
                    begin += len(sent)
                curvatures.append(curvature)
            p = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
            mean = sum(p[k] * scores[k] for k in range(len(p)))
            for k in range(len(p)):
                away = scores[k] - mean
                total += p[k] * (curvatures[k] - np.outer(away, away))
    return total


def in_blocks(matrix, n_visible, n_hidden, *, bias):
    """The same with parameters in the order J, K, L, and with a bias h, g; each row by row."""
    wide = np.arange(n_visible * (n_visible + 1 + n_hidden)).reshape(n_visible, -1)
    narrow = wide.size + np.arange(n_hidden * (n_visible + 1)).reshape(n_hidden, n_visible + 1)
    blocks = [wide[:, :n_visible], wide[:, n_visible + 1 :], narrow[:, :-1]]
    blocks += [wide[:, n_visible], narrow[:, -1]] if bias else []
    order = np.concatenate([block.ravel() for block in blocks])
    return matrix[np.ix_(order, order)]
