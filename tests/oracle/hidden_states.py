"""The hidden units of single bins (M = 0) by brute force, and the belief propagation that was published for them."""

import itertools

import numpy as np


def posterior(K, fields, inputs):
    """Averages over p(σ) ∝ exp(σ·inputs) Π_i 1/2cosh(fields_i + K_i·σ), bin by bin.

    Returns:
        <σ> (n, Nh), <σσᵀ> (n, Nh, Nh), <tanh H σᵀ> (n, Nv, Nh), and log Σ_σ (n,).
    """
    states = np.array(list(itertools.product((-1.0, 1.0), repeat=K.shape[1])))
    H = fields[:, :, None] + K @ states.T
    log_weight = inputs @ states.T - np.logaddexp(H, -H).sum(axis=1)
    log_z = np.logaddexp.reduce(log_weight, axis=1)
    weight = np.exp(log_weight - log_z[:, None])
    pairs = np.einsum("tz,za,zb->tab", weight, states, states, optimize=True)
    with_fields = (np.tanh(H) * weight[:, None, :]) @ states
    return weight @ states, pairs, with_fields, log_z


def replicated_belief_propagation(K, fields, inputs, sweeps=200):
    """Battistin, Hertz, Tyrcha & Roudi (2015), as we derive it from their idea: n → -1 replicas of spins τ_i = ±1.

    1/2cosh H = (Σ_τ exp τH)^n at n = -1. Belief propagation between σ and n equal replicas of τ has for σ_b → τ_i the
    field inputs_b - Σ_k u_kb - u_ib, one message less than all n of its own, and for τ_i → σ_b

        u_ib = atanh(tanh K_ib tanh h_ib),    h_ib = fields_i + Σ_{c≠b} atanh(tanh K_ic tanh theta_ic)

    Returns:
        <σ> (n, Nh) and <τ_i σ_b> = <tanh H_i σ_b> (n, Nv, Nh), from the pair of one replica and one spin.
    """
    T, u = np.tanh(K), np.zeros((len(fields), *K.shape))
    for _ in range(sweeps):
        theta = (inputs - u.sum(axis=1))[:, None, :] - u
        heard = np.arctanh(T * np.tanh(theta))
        h = fields[:, :, None] + heard.sum(axis=2, keepdims=True) - heard
        u = 0.5 * u + 0.5 * np.arctanh(T * np.tanh(h))
    both = np.tanh(h) * np.tanh(theta)
    return np.tanh(inputs - u.sum(axis=1)), (T + both) / (1.0 + T * both)
