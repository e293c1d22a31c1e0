"""From gradients to snapshots: where learning begins, how it steps, and why it ends."""

from hidviz.learning.coupling_step import CouplingStep, coupling_step
from hidviz.learning.fit import Fit, fit
from hidviz.learning.l1 import adaptive_weights, times
from hidviz.learning.loop import learn, with_couplings
from hidviz.learning.optimisers import OPTIMISERS
from hidviz.learning.regularisation import Penalty
from hidviz.learning.remarks import Cure, Remark, State
from hidviz.learning.snapshot import Snapshot, regauge_snapshot, result
from hidviz.learning.starts import STARTS, mirrored_start, random_start, signed_start, true_start
from hidviz.learning.stopping import data_warnings

__all__ = [
    "OPTIMISERS",
    "STARTS",
    "CouplingStep",
    "Cure",
    "Fit",
    "Penalty",
    "Remark",
    "Snapshot",
    "State",
    "adaptive_weights",
    "coupling_step",
    "data_warnings",
    "fit",
    "learn",
    "mirrored_start",
    "random_start",
    "regauge_snapshot",
    "result",
    "signed_start",
    "times",
    "true_start",
    "with_couplings",
]
