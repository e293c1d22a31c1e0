"""Field sums: symmetric matrices over all parameters, such as the information, from what single transitions say.

A transition tells of J and L only through its fields H and B: what it says of them and of K comes first, and the inputs
of the fields after that. Equal triples of states s(t-1), s(t), s(t+1) are counted once. Only for M = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from hidviz.background import checkpoint
from hidviz.network import Recording, distinct_transitions
from hidviz.numerics import Array

BLOCK_NUMBERS = 2**19  # numbers in a block's largest array: 4 MB

Contributions = Callable[[Array, Array, Array, Array, Array | float], tuple[Array, Array, Array]]
"""A symmetric matrix over what n triples say of their fields H and B, and of K.

Args:
    (n, Nv + 1) what H receives from visible units and the bias, x; (n, Nv + 1) what B receives, w; (n, Nv) the next
    visible states; (n,) how often each triple occurs; (n, Nv) the external field, 0 where there is none.

Returns:
    The matrix in pairs of fields, (n, Nv + Nh, Nv + Nh); in fields and K, (n, Nv + Nh, Nv Nh); and in K, summed over
    triples, (Nv Nh, Nv Nh).
"""


def assembled(
    contributions: Contributions, recording: Recording, blocks: tuple[str, ...], n_hidden: int, n_states: int
) -> Generator[float, None, Array]:
    """The matrix of all parameters from what each distinct triple tells, yielding the fraction done.

    Args:
        contributions: what triples say of their fields and of K.
        recording: whose triples.
        blocks: of the parameters, without M, in the order wanted.
        n_hidden: number of hidden units.
        n_states: hidden states that `contributions` lists at once; it decides how many triples make a block.
    """
    n_visible = recording.n_visible
    n_pairs = n_visible * n_hidden
    triples = distinct_transitions(recording)

    field = np.arange((n_visible + n_hidden) * (n_visible + 1)).reshape(n_visible + n_hidden, n_visible + 1)
    by_row = {"J": field[:n_visible, :-1], "h": field[:n_visible, -1], "L": field[n_visible:, :-1]}
    place = by_row | {"g": field[n_visible:, -1], "K": field.size + np.arange(n_pairs)}
    whole = np.zeros((field.size + n_pairs,) * 2)
    of_K = slice(field.size, None)

    n_fields = n_visible + n_hidden
    per_triple = max(n_states * (n_fields + n_pairs), n_fields * n_pairs, (n_visible + 1) ** 2)
    size = max(BLOCK_NUMBERS // per_triple, 1)
    for begin in range(0, len(triples.count), size):
        yield begin / len(triples.count)
        checkpoint()
        part = slice(begin, begin + size)
        x, w = triples.present[triples.x[part]], triples.previous[triples.p[part]]
        external = 0.0 if triples.field is None else triples.field[triples.x[part]]
        fields, mixed, pairs = contributions(x, w, triples.following[triples.y[part]], triples.count[part], external)
        whole[of_K, of_K] += pairs
        inputs = ((slice(0, n_visible), x), (slice(n_visible, None), w))
        for units, sent in inputs:
            to = field[units].ravel()
            for others, sent_too in inputs:
                whole[np.ix_(to, field[others].ravel())] += _spread(fields[:, units, others], sent, sent_too)
            with_K = _spread(mixed[:, units], sent, np.ones((len(x), 1)))
            whole[to, of_K] += with_K
            whole[of_K, to] += with_K.T
    order = np.concatenate([place[name].ravel() for name in blocks])
    result: Array = whole[np.ix_(order, order)]
    return result


def normalised(log_p: Array) -> Array:
    """Probabilities of joint states, (n, n_states), from their logarithms up to a constant of each row."""
    p: Array = np.exp(log_p - log_p.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return p


def _spread(fields: Array, sent: Array, sent_too: Array) -> Array:
    """Σ_t fields_t[k, l] sent_t[j] sent_too_t[m], as a matrix of (k, j) by (l, m)."""
    n, k, m = fields.shape
    pairs = (sent[:, :, None] * sent_too[:, None, :]).reshape(n, -1)
    total: Array = (fields.reshape(n, -1).T @ pairs).reshape(k, m, sent.shape[1], sent_too.shape[1])
    return total.transpose(0, 2, 1, 3).reshape(k * sent.shape[1], m * sent_too.shape[1])
