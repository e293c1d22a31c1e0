"""The model and its data: couplings, what was recorded, how a network runs, and which networks are the same."""

from hidviz.network.couplings import (
    BLOCKS,
    MATRICES,
    Couplings,
    as_gradient,
    block_shapes,
    largest_field,
    learned_blocks,
    random_couplings,
    with_bias,
)
from hidviz.network.distinct_transitions import DistinctTransitions, distinct_present, distinct_transitions
from hidviz.network.divide import Parts, divide
from hidviz.network.gauge import (
    Gauge,
    aligned,
    best_gauge,
    cosines,
    flip,
    identity,
    n_equivalent_models,
    regauge,
    swap,
    with_hidden,
)
from hidviz.network.preview import Preview
from hidviz.network.read_spikes import FORMATS, read_spikes
from hidviz.network.recording import Recording
from hidviz.network.simulation import Simulation, iter_simulation, simulate
from hidviz.network.spikes import MOST_UNITS, Spikes, Trial

__all__ = [
    "BLOCKS",
    "FORMATS",
    "MATRICES",
    "MOST_UNITS",
    "Couplings",
    "DistinctTransitions",
    "Gauge",
    "Parts",
    "Preview",
    "Recording",
    "Simulation",
    "Spikes",
    "Trial",
    "aligned",
    "as_gradient",
    "best_gauge",
    "block_shapes",
    "cosines",
    "distinct_present",
    "distinct_transitions",
    "divide",
    "flip",
    "identity",
    "iter_simulation",
    "largest_field",
    "learned_blocks",
    "n_equivalent_models",
    "random_couplings",
    "read_spikes",
    "regauge",
    "simulate",
    "swap",
    "with_bias",
    "with_hidden",
]
