"""Couplings: every parameter of a network as one immutable value, and random ensembles of them.

Glossary of the letters used throughout the engine. Rows receive, columns send; arrays over time are time first.

    i, j      visible units, n_visible (Nv) of them, states s = ±1
    a, b      hidden units, n_hidden (Nh) of them; sigma = ±1 when stochastic, mu in [-1, 1] when continuous
              or when it stands for a magnetisation <sigma>
    t         time bin
    z, y      a joint state of all hidden units, one of 2**Nh
    J         (Nv, Nv) visible to visible coupling        K   (Nv, Nh) hidden to visible
    L         (Nh, Nv) visible to hidden                  M   (Nh, Nh) hidden to hidden
    h, g      (Nv,), (Nh,) biases: the coupling from a unit that is always +1
    H_i(t)    h_i + sum_j J_ij s_j(t) + sum_b K_ib sigma_b(t): field on visible unit i, predicts s_i(t+1)
    B_a(t)    g_a + sum_j L_aj s_j(t) + sum_b M_ab sigma_b(t): field on hidden unit a, predicts sigma_a(t+1)

The same record holds a gradient: the derivative with respect to each entry, in the place of that entry.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hidviz.numerics import Array, check_generator

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

BLOCKS = ("J", "K", "L", "M", "h", "g")
MATRICES = BLOCKS[:4]


@dataclass(frozen=True, eq=False)
class Couplings:
    """Every parameter of one network; arrays are copied on the way in and read-only from then on.

    Args:
        J: (Nv, Nv) visible to visible.
        K: (Nv, Nh) hidden to visible.
        L: (Nh, Nv) visible to hidden.
        M: (Nh, Nh) hidden to hidden; zeros when left out.
        h: (Nv,) bias of the visible units; zeros when left out.
        g: (Nh,) bias of the hidden units; zeros when left out.

    Raises:
        ValueError: a block has the wrong shape or an entry is not finite.
    """

    J: Array
    K: Array
    L: Array
    M: Array = None  # type: ignore[assignment]  # filled in below, so that users always see an array
    h: Array = None  # type: ignore[assignment]
    g: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        n_visible, n_hidden = self._sizes()
        shapes = block_shapes(n_visible, n_hidden)
        for name in BLOCKS:
            given = getattr(self, name)
            block = np.zeros(shapes[name]) if given is None else np.array(given, dtype=np.float64)
            if block.shape != shapes[name]:
                raise ValueError(
                    f"{name} must have shape {shapes[name]} for {n_visible} visible and {n_hidden} hidden units, "
                    f"got {block.shape}: rows are receivers, columns are senders."
                )
            if not np.isfinite(block).all():
                raise ValueError(f"{name} must hold finite numbers, got {block[~np.isfinite(block)][0]}.")
            block.flags.writeable = False
            object.__setattr__(self, name, block)

    def _sizes(self) -> tuple[int, int]:
        J, K = np.asarray(self.J), np.asarray(self.K)
        if J.ndim != 2 or J.shape[0] != J.shape[1] or len(J) == 0:
            raise ValueError(f"J must be a square matrix (Nv, Nv) with Nv >= 1, got shape {J.shape}.")
        if K.ndim != 2:
            raise ValueError(f"K must be a matrix (Nv, Nh), got shape {K.shape}.")
        return len(J), K.shape[1]

    def __reduce__(self) -> tuple[Any, ...]:
        return Couplings, tuple(getattr(self, name) for name in BLOCKS)  # so that a copy is read-only again

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Couplings):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name)) for name in BLOCKS)

    __hash__ = None  # type: ignore[assignment]  # equal by content, so not a key

    @property
    def n_visible(self) -> int:
        """Number of visible units, Nv."""
        return len(self.J)

    @property
    def n_hidden(self) -> int:
        """Number of hidden units, Nh."""
        return int(self.K.shape[1])

    def vector(self, blocks: Sequence[str] = BLOCKS) -> Array:
        """The named blocks as one flat vector, in the given order, each row by row."""
        return np.concatenate([getattr(self, name).ravel() for name in blocks])

    def with_vector(self, vector: Array, blocks: Sequence[str] = BLOCKS) -> Couplings:
        """These couplings with the named blocks read from a flat vector: the inverse of `vector`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        size = sum(values[name].size for name in blocks)
        if len(vector) != size:
            raise ValueError(f"Blocks {', '.join(blocks)} hold {size} numbers, got a vector of {len(vector)}.")
        begin = 0
        for name in blocks:
            end = begin + values[name].size
            values[name] = vector[begin:end].reshape(values[name].shape)
            begin = end
        return Couplings(**values)


def block_shapes(n_visible: int, n_hidden: int) -> dict[str, tuple[int, ...]]:
    """Shape of each block of a network with these numbers of units."""
    return {
        "J": (n_visible, n_visible),
        "K": (n_visible, n_hidden),
        "L": (n_hidden, n_visible),
        "M": (n_hidden, n_hidden),
        "h": (n_visible,),
        "g": (n_hidden,),
    }


def learned_blocks(n_hidden: int, *, hidden_hidden: bool = False, bias: bool = False) -> tuple[str, ...]:
    """Names of the blocks that a learner with these switches adjusts."""
    wanted = {
        "J": True,
        "K": n_hidden,
        "L": n_hidden,
        "M": n_hidden and hidden_hidden,
        "h": bias,
        "g": n_hidden and bias,
    }
    return tuple(name for name in BLOCKS if wanted[name])


def with_bias(block: Array, bias: Array) -> Array:
    """A block from the visible units with its bias as one more column, the coupling from the constant unit."""
    return np.column_stack([block, bias])


def as_gradient(Jh: Array, K: Array, Lg: Array, M: Array, learned: Collection[str]) -> Couplings:
    """Derivatives as Couplings, zero in the blocks that are not learned.

    Args:
        Jh: (Nv, Nv + 1) with respect to J, and to h in the last column.
        K: (Nv, Nh).
        Lg: (Nh, Nv + 1) with respect to L, and to g in the last column.
        M: (Nh, Nh).
        learned: names of the learned blocks.
    """
    slopes = {"J": Jh[:, :-1], "K": K, "L": Lg[:, :-1], "M": M, "h": Jh[:, -1], "g": Lg[:, -1]}
    return Couplings(**{name: slopes[name] if name in learned else np.zeros_like(slopes[name]) for name in BLOCKS})


def largest_field(couplings: Couplings) -> float:
    """The largest size of field, H or B, that any state of the network could cause."""
    J, K, L, M = (np.abs(block).sum(axis=1) for block in (couplings.J, couplings.K, couplings.L, couplings.M))
    visible, hidden = J + K + np.abs(couplings.h), L + M + np.abs(couplings.g)
    return float(max(visible.max(), hidden.max(initial=0.0)))


def random_couplings(
    n_visible: int,
    n_hidden: int,
    rng: np.random.Generator,
    *,
    variance: float = 1.0,
    hidden_hidden: bool = False,
    bias: float = 0.0,
) -> Couplings:
    """Draw independent normal couplings, of variance g²/Nv for J and L, g²/Nh for K and M (paper, Fig. 5).

    Every block has a random stream of its own, so switching M or the biases on leaves the others as they were.

    Args:
        n_visible: number of visible units, at least 1.
        n_hidden: number of hidden units, at least 0.
        rng: source of randomness.
        variance: the coupling variance g².
        hidden_hidden: draw M too; otherwise M = 0.
        bias: standard deviation of the biases h and g; zero for none.

    Raises:
        ValueError: a size or a variance is out of range, or rng is no Generator.
    """
    check_generator(rng)
    if n_visible < 1 or n_hidden < 0:
        raise ValueError(f"A network needs at least 1 visible and 0 hidden units, got {n_visible} and {n_hidden}.")
    if variance < 0 or bias < 0:
        raise ValueError(f"Variance and bias must not be negative, got {variance} and {bias}.")
    by_sender = {"J": n_visible, "K": n_hidden, "L": n_visible, "M": n_hidden}
    spread = {name: (variance / max(sent, 1)) ** 0.5 for name, sent in by_sender.items()}
    spread |= {"M": spread["M"] * hidden_hidden, "h": bias, "g": bias}
    streams = dict(zip(BLOCKS, rng.spawn(len(BLOCKS)), strict=True))
    shapes = block_shapes(n_visible, n_hidden)
    return Couplings(**{name: streams[name].normal(0.0, 1.0, shapes[name]) * spread[name] for name in BLOCKS})
