"""The model and its data: couplings, what was recorded, how a network runs, and which networks are the same."""

from hidviz.network.couplings import (
    BLOCKS,
    Couplings,
    as_gradient,
    block_shapes,
    largest_field,
    learned_blocks,
    random_couplings,
    with_bias,
)
from hidviz.network.divide import Parts, divide
from hidviz.network.gauge import (
    Gauge,
    aligned,
    best_gauge,
    cosines,
    flip,
    n_equivalent_models,
    regauge,
    swap,
    with_hidden,
)
from hidviz.network.read_recording import read_recording
from hidviz.network.recording import Recording
from hidviz.network.simulation import iter_simulation, simulate

__all__ = [
    "BLOCKS",
    "Couplings",
    "Gauge",
    "Parts",
    "Recording",
    "aligned",
    "as_gradient",
    "best_gauge",
    "block_shapes",
    "cosines",
    "divide",
    "flip",
    "iter_simulation",
    "largest_field",
    "learned_blocks",
    "n_equivalent_models",
    "random_couplings",
    "read_recording",
    "regauge",
    "simulate",
    "swap",
    "with_bias",
    "with_hidden",
]
