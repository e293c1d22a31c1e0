"""Arrays in, arrays out: functions that know no network and no time but the order of their rows."""

from hidviz.numerics.arrays import Array, Flags, Index, States, check_generator
from hidviz.numerics.bernoulli import Receivers, receivers, response
from hidviz.numerics.gaussian import LOWEST, NAIVE, Averages, Closure, Curvature, Slopes, gaussian
from hidviz.numerics.joint_states import Tables, distinct, expected_tanh, joint_states, rank
from hidviz.numerics.messages import Kernel, Messages, backward, best_scores, forward, kernel, smooth, trace_back
from hidviz.numerics.parallel_in_time import join_segments
from hidviz.numerics.special import entropy, log_2cosh, tanh

__all__ = [
    "LOWEST",
    "NAIVE",
    "Array",
    "Averages",
    "Closure",
    "Curvature",
    "Flags",
    "Index",
    "Kernel",
    "Messages",
    "Receivers",
    "Slopes",
    "States",
    "Tables",
    "backward",
    "best_scores",
    "check_generator",
    "distinct",
    "entropy",
    "expected_tanh",
    "forward",
    "gaussian",
    "join_segments",
    "joint_states",
    "kernel",
    "log_2cosh",
    "rank",
    "receivers",
    "response",
    "smooth",
    "tanh",
    "trace_back",
]
