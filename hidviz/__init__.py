"""hidviz: infer the couplings of a network when some of its units are hidden.

    from hidviz import Experiment
    for snapshot in Experiment().run():
        print(snapshot.step, snapshot.cost)

The engine stands on NumPy and SciPy alone; the page lives in `hidviz.ui` and is imported only when asked for.
"""

from hidviz.background import Runner
from hidviz.evaluation import ErrorBars, criteria, error_bars, judge, log_likelihood, mean_square_errors, rms_errors
from hidviz.experiments import PRESETS, Advice, Experiment, Scan, advice, load_bundle, restarts, save_bundle, scan
from hidviz.learners import LEARNERS, Beliefs, Estimate, HiddenPosterior, Infeasible, Learner, hidden_posterior, prepare
from hidviz.learning import Fit, Snapshot, fit, learn, random_start
from hidviz.network import (
    Couplings,
    Gauge,
    Parts,
    Preview,
    Recording,
    Spikes,
    aligned,
    best_gauge,
    divide,
    random_couplings,
    read_spikes,
    regauge,
    simulate,
)
from hidviz.version import __version__

__all__ = [
    "LEARNERS",
    "PRESETS",
    "Advice",
    "Beliefs",
    "Couplings",
    "ErrorBars",
    "Estimate",
    "Experiment",
    "Fit",
    "Gauge",
    "HiddenPosterior",
    "Infeasible",
    "Learner",
    "Parts",
    "Preview",
    "Recording",
    "Runner",
    "Scan",
    "Snapshot",
    "Spikes",
    "__version__",
    "advice",
    "aligned",
    "best_gauge",
    "criteria",
    "divide",
    "error_bars",
    "fit",
    "hidden_posterior",
    "judge",
    "learn",
    "load_bundle",
    "log_likelihood",
    "mean_square_errors",
    "prepare",
    "random_couplings",
    "random_start",
    "read_spikes",
    "regauge",
    "restarts",
    "rms_errors",
    "save_bundle",
    "scan",
    "simulate",
]  # fmt: skip
