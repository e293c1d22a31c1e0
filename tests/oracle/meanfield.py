"""Mean field for stochastic hidden units, term by term in plain loops over trials, bins and units.

`theory` is "naive", "lowest", "gaussian" or "second"; `magnetisations` is one (T - 1, Nh) array per trial.
"""

import itertools

import numpy as np

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(150)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


def averages(H, variance, theory):
    """<log 2cosh>, <tanh> and <1-tanh²> of one field."""
    if theory == "gaussian":
        fields = H + np.sqrt(variance) * _NODES
        return (
            float(_WEIGHTS @ np.logaddexp(fields, -fields)),
            float(_WEIGHTS @ np.tanh(fields)),
            float(_WEIGHTS @ (1.0 - np.tanh(fields) ** 2)),
        )
    t = np.tanh(H)
    if theory == "naive":
        return np.logaddexp(H, -H), t, 0.0
    return np.logaddexp(H, -H) + 0.5 * (1.0 - t**2) * variance, t * (1.0 - (1.0 - t**2) * variance), 1.0 - t**2


def _mean_chi(H, variance, theory):
    return averages(H, variance, "lowest" if theory == "naive" else theory)[2]


def _entropy(mu):
    return -sum(p * np.log(p) for p in ((1.0 + mu) / 2.0, (1.0 - mu) / 2.0))


def objective(trials, magnetisations, theory, same_time, J, K, L, M, h, g):
    """A, in nats."""
    Nv, Nh = K.shape
    total = 0.0
    for s, mu in zip(trials, magnetisations, strict=True):
        total -= Nh * np.log(2.0)
        for t in range(len(s) - 1):
            V = 1.0 - mu[t] ** 2
            H = [h[i] + J[i] @ s[t] + K[i] @ mu[t] for i in range(Nv)]
            variance = [(K[i] ** 2) @ V for i in range(Nv)]
            for i in range(Nv):
                total += s[t + 1, i] * H[i] - averages(H[i], variance[i], theory)[0]
            for a in range(Nh):
                total += _entropy(mu[t, a])
                if t + 1 < len(mu):
                    B = g[a] + L[a] @ s[t] + M[a] @ mu[t]
                    total += mu[t + 1, a] * B - averages(B, (M[a] ** 2) @ V, theory)[0]
                    if theory == "second":
                        for b in range(Nh):
                            total += 0.5 * (1.0 - mu[t + 1, a] ** 2) * M[a, b] ** 2 * V[b]
            if same_time:
                for a, b in itertools.permutations(range(Nh), 2):
                    W = sum(K[i, a] * K[i, b] * _mean_chi(H[i], variance[i], theory) for i in range(Nv))
                    total += 0.25 * W**2 * V[a] * V[b]
    return total


def answers(trials, magnetisations, theory, J, K, L, M, h, g):
    """tanh of the right-hand side of the E-step equation of every unit and bin, trial after trial."""
    Nv, Nh = K.shape
    rows = []
    for s, mu in zip(trials, magnetisations, strict=True):
        V = 1.0 - mu**2
        for t in range(len(mu)):
            row = []
            for a in range(Nh):
                field = g[a] + L[a] @ s[t - 1] + M[a] @ mu[t - 1] if t > 0 else 0.0
                for i in range(Nv):
                    _, tanh, chi = averages(h[i] + J[i] @ s[t] + K[i] @ mu[t], (K[i] ** 2) @ V[t], theory)
                    field += (s[t + 1, i] - tanh) * K[i, a] + mu[t, a] * chi * K[i, a] ** 2
                if t + 1 < len(mu):
                    for b in range(Nh):
                        _, tanh, chi = averages(g[b] + L[b] @ s[t] + M[b] @ mu[t], (M[b] ** 2) @ V[t], theory)
                        field += (mu[t + 1, b] - tanh) * M[b, a] + mu[t, a] * chi * M[b, a] ** 2
                if theory == "second":
                    for b in range(Nh):
                        field -= mu[t, a] * M[a, b] ** 2 * V[t - 1, b] if t > 0 else 0.0
                        field -= mu[t, a] * V[t + 1, b] * M[b, a] ** 2 if t + 1 < len(mu) else 0.0
                row.append(np.tanh(field))
            rows.append(row)
    return np.array(rows)


def log_likelihood(s, J, K, L, M, h, g):
    """Log P[s] of one trial, by passing the weight of every hidden state forward in time."""
    states = [np.array(z) for z in itertools.product((-1.0, 1.0), repeat=K.shape[1])]
    weight = np.array([0.5 ** K.shape[1]] * len(states))
    for t in range(len(s) - 1):
        seen = weight * [_probability(s[t + 1], h + J @ s[t] + K @ z) for z in states]
        weight = np.zeros(len(states))
        for z, w in zip(states, seen, strict=True):
            field = g + L @ s[t] + M @ z
            weight += [w * _probability(y, field) for y in states]
    return float(np.log(weight.sum()))


def _probability(state, field):
    return np.exp(np.sum(state * field - np.logaddexp(field, -field)))
