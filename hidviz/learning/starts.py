"""Starts: where learning begins.

Only the random start knows nothing of the truth. The others exist to show what the paper's Fig. 3 shows: with the right
signs learning ends at the true model, with the wrong ones at its mirror image, and the data cannot tell which.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from hidviz.network import BLOCKS, Couplings, Gauge, block_shapes, regauge, with_hidden
from hidviz.numerics import check_generator


def random_start(
    n_visible: int,
    n_hidden: int,
    rng: np.random.Generator,
    *,
    scale: float = 0.1,
    learned: tuple[str, ...] = BLOCKS,
) -> Couplings:
    """Small random couplings to start from; K = L = M = 0 is a stationary point, so never start there.

    Args:
        n_visible: number of visible units.
        n_hidden: number of hidden units assumed.
        rng: source of randomness.
        scale: standard deviation of every entry.
        learned: the blocks to draw; the others are zero.

    Raises:
        ValueError: rng is no Generator.
    """
    check_generator(rng)
    shapes = block_shapes(n_visible, n_hidden)
    streams = dict(zip(BLOCKS, rng.spawn(len(BLOCKS)), strict=True))
    return Couplings(**{name: streams[name].normal(0.0, scale, shapes[name]) * (name in learned) for name in BLOCKS})


def signed_start(truth: Couplings, start: Couplings) -> Couplings:
    """The sizes of a small start with the signs of the true couplings (paper, Fig. 3, bottom row).

    Hidden units beyond those of the truth keep the signs they have.
    """
    known = with_hidden(truth, start.n_hidden)
    n = start.n_hidden
    true = {"J": known.J, "K": known.K[:, :n], "L": known.L[:n], "M": known.M[:n, :n], "h": known.h, "g": known.g[:n]}
    own = {name: getattr(start, name) for name in BLOCKS}
    return Couplings(
        **{
            name: np.abs(own[name]) * np.where(true[name] != 0.0, np.sign(true[name]), np.sign(own[name]))
            for name in own
        }
    )


def mirrored_start(truth: Couplings, start: Couplings) -> Couplings:
    """`signed_start` with every hidden unit flipped: the basin of the mirror image of the true model."""
    n = start.n_hidden
    return regauge(signed_start(truth, start), Gauge(np.arange(n), -np.ones(n)))


def true_start(truth: Couplings, start: Couplings) -> Couplings:
    """The true couplings themselves, for the hidden units that the start has room for."""
    known = with_hidden(truth, start.n_hidden)
    n = start.n_hidden
    return Couplings(known.J, known.K[:, :n], known.L[:n], known.M[:n, :n], known.h, known.g[:n])


STARTS: Mapping[str, str] = MappingProxyType(
    {
        "random": "Small random couplings",
        "right-signed": "Small, with the signs of the truth",
        "wrong-signed": "Small, all hidden signs flipped",
        "truth": "At the true couplings",
    }
)
