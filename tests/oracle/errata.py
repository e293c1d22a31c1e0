"""The paper's rules, as printed and as corrected, side by side: `printed=True` is the print.

Small and slow. Every function takes one trial s (T, Nv) and plain blocks; biases are left out, as in the paper.
"""

import itertools
import math

import numpy as np

# Continuous hidden units.


def continuous_states(s, L, M):
    """mu(t), t = 0 … T-1, with mu(0) = 0."""
    mu = [np.zeros(len(L))]
    for t in range(len(s) - 1):
        mu.append(np.tanh(L @ s[t] + M @ mu[t]))
    return np.array(mu)


def continuous_log_likelihood(s, J, K, L, M):
    """eq. `LL`."""
    mu = continuous_states(s, L, M)
    fields = s[:-1] @ J.T + mu[:-1] @ K.T
    return float(np.sum(s[1:] * fields - np.logaddexp(fields, -fields)))


def continuous_slopes(s, J, K, L, M, *, printed_error=False, printed_paths=False):
    """eqs. `learnJ`, `learnK`, `dLresult`, `dMresult`; printed with s(t) in the error, and with these paths:

    q runs up to t-1, and the product over r stands in reading order M X(t+1) … M X(t+q).
    """
    T, mu = len(s), continuous_states(s, L, M)
    error = {t + 1: s[t if printed_error else t + 1] - np.tanh(J @ s[t] + K @ mu[t]) for t in range(T - 1)}
    slopes = {name: np.zeros(block.shape) for name, block in (("J", J), ("K", K), ("L", L), ("M", M))}
    for t in range(T - 1):
        slopes["J"] += np.outer(error[t + 1], s[t])
        slopes["K"] += np.outer(error[t + 1], mu[t])
        for q in range(t if printed_paths else T - 2 - t):
            if t + 2 + q > T - 1:
                continue  # beyond the data
            path = np.eye(len(L))
            order = range(1, q + 1) if printed_paths else range(q, 0, -1)
            for r in order:
                path = path @ M @ np.diag(1.0 - mu[t + r] ** 2)
            if printed_paths:
                back = error[t + 2 + q] @ K @ np.diag(1.0 - mu[t + 1 + q] ** 2) @ path
            else:
                back = error[t + 2 + q] @ K
                for r in range(q + 1, 1, -1):
                    back = (back * (1.0 - mu[t + r] ** 2)) @ M
                back = back * (1.0 - mu[t + 1] ** 2)
            slopes["L"] += np.outer(back, s[t])
            slopes["M"] += np.outer(back, mu[t])
    return slopes


# Stochastic hidden units, by listing every hidden history.


def _log_factors(state, field):
    return state * field - np.logaddexp(field, -field)


def log_joint(s, sigma, J, K, L, M, *, printed=False):
    """Log P[s, sigma] of whole histories (eq. `fulllikelihood`).

    Printed as one product over t, i and a of the pair factor of eq. `stochdyn`, without P[sigma(0)]: so every visible
    factor comes Nh times and every hidden one Nv times.
    """
    Nv, Nh = K.shape
    total = 0.0 if printed else -Nh * math.log(2.0)
    for t in range(len(s) - 1):
        visible = _log_factors(s[t + 1], J @ s[t] + K @ sigma[t]).sum()
        hidden = _log_factors(sigma[t + 1], L @ s[t] + M @ sigma[t]).sum()
        total += Nh * visible + Nv * hidden if printed else visible + hidden
    return total


def histories(length, units):
    """Every history of so many units, (n, length, units)."""
    flat = list(itertools.product((-1.0, 1.0), repeat=length * units))
    return np.array(flat).reshape(len(flat), length, units)


def log_likelihood(s, J, K, L, M):
    """eq. `vislikelihood`."""
    return float(np.logaddexp.reduce([log_joint(s, sigma, J, K, L, M) for sigma in histories(len(s), len(L))]))


def energy(s, sigma, J, K, L, M, *, printed=False):
    """E_s of eq. `Efull`, plus the constant Nh log 2 of a flat start; its fourth term printed with Σ_b, a left open.

    Read here with a = 0, the first hidden unit.
    """
    total = len(L) * math.log(2.0)
    for t in range(len(s) - 1):
        among_hidden = sigma[t + 1] * (M @ sigma[t])
        H, B = J @ s[t] + K @ sigma[t], L @ s[t] + M @ sigma[t]
        total -= s[t + 1] @ H + sigma[t + 1] @ L @ s[t]
        total -= among_hidden[0] if printed else among_hidden.sum()
        total += np.logaddexp(H, -H).sum() + np.logaddexp(B, -B).sum()
    return total


def exact_slopes(s, J, K, L, M, *, printed_energy=False, printed_M=False):
    """eqs. `dJ` to `dM`, averages over exp(-E_s)/Z_s.

    Printed with E_s = log P[s, sigma] (eq. `energy`), and with sigma_b(t+1) in `dM`.
    """
    every = histories(len(s), len(L))
    minus_energy = np.array([log_joint(s, sigma, J, K, L, M) for sigma in every])
    if printed_energy:
        minus_energy = -minus_energy
    weights = np.exp(minus_energy - np.logaddexp.reduce(minus_energy))
    slopes = {name: np.zeros(block.shape) for name, block in (("J", J), ("K", K), ("L", L), ("M", M))}
    for weight, sigma in zip(weights, every, strict=True):
        for t in range(len(s) - 1):
            e = s[t + 1] - np.tanh(J @ s[t] + K @ sigma[t])
            B = L @ s[t] + M @ sigma[t]
            slopes["J"] += weight * np.outer(e, s[t])
            slopes["K"] += weight * np.outer(e, sigma[t])
            slopes["L"] += weight * np.outer(sigma[t + 1] - np.tanh(B), s[t])
            for a, b in np.ndindex(M.shape):
                target = sigma[t + 1, b if printed_M else a]
                slopes["M"][a, b] += weight * (target - np.tanh(B[a])) * sigma[t, b]
    return slopes


# Mean field, at given magnetisations mu (T, Nh).


def lowest_order_objective(s, mu, J, K, L, M):
    """The terms of A that depend on the couplings, with the corrections of eqs. `correctedEH` and `correctedEB`."""
    total = 0.0
    for t in range(len(s) - 1):
        V = 1.0 - mu[t] ** 2
        for target, field, variance in (
            (s[t + 1], J @ s[t] + K @ mu[t], K**2 @ V),
            (mu[t + 1], L @ s[t] + M @ mu[t], M**2 @ V),
        ):
            average = np.logaddexp(field, -field) + 0.5 * (1.0 - np.tanh(field) ** 2) * variance
            total += float(np.sum(target * field - average))
    return total


def lowest_order_slopes(s, mu, J, K, L, M, *, printed=False):
    """eqs. `dJMFT` to `dMMFT`; printed with Delta and Gamma in the brackets, where their squares belong."""
    slopes = {name: np.zeros(block.shape) for name, block in (("J", J), ("K", K), ("L", L), ("M", M))}
    power = 0.5 if printed else 1.0
    for t in range(len(s) - 1):
        V = 1.0 - mu[t] ** 2
        for target, inputs, own, from_visible, from_hidden in (
            (s[t + 1], J, K, "J", "K"),
            (mu[t + 1], L, M, "L", "M"),
        ):
            t_field = np.tanh(inputs @ s[t] + own @ mu[t])
            chi = 1.0 - t_field**2
            error = target - t_field * (1.0 - chi * (own**2 @ V) ** power)
            slopes[from_visible] += np.outer(error, s[t])
            slopes[from_hidden] += np.outer(error, mu[t]) - chi[:, None] * own * V
    return slopes


def pair_series(H, variance, orders, *, printed=False):
    """log 2cosh H plus the E_j of eq. `sumjth`, j = 2, 4, …; printed with [Σ K²V]^j, where ^(j/2) belongs."""
    total = math.log(2.0 * math.cosh(H))
    slope = np.polynomial.Polynomial([0.0, 1.0])  # tanh H as a polynomial in x = tanh H; d/dH = (1-x²) d/dx
    for j in range(2, orders + 1):
        slope = slope.deriv() * np.polynomial.Polynomial([1.0, 0.0, -1.0])
        if j % 2 == 0:
            pairings = math.prod(range(1, j, 2))
            total += pairings / math.factorial(j) * slope(math.tanh(H)) * variance ** (j if printed else j / 2)
    return total
