"""hidviz: infer the couplings of a network when some of its units are hidden.

    from hidviz import Experiment
    for snapshot in Experiment().run():
        print(snapshot.step, snapshot.cost)

The engine stands on NumPy and SciPy alone; the page lives in `hidviz.ui` and is imported only when asked for.
"""

from hidviz.background import Runner
from hidviz.evaluation import (
    ErrorBars,
    FreeRun,
    criteria,
    error_bars,
    free_run,
    judge,
    log_likelihood,
    mean_square_errors,
    rms_errors,
)
from hidviz.experiments import (
    PRESETS,
    Advice,
    Examination,
    Experiment,
    HiddenIsing,
    HiddenUnit,
    Scan,
    advice,
    couplings_table,
    examine,
    hide_unit,
    load_bundle,
    posterior_table,
    restarts,
    save_bundle,
    scan,
)
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
    "Examination",
    "Experiment",
    "Fit",
    "FreeRun",
    "Gauge",
    "HiddenIsing",
    "HiddenPosterior",
    "HiddenUnit",
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
    "couplings_table",
    "criteria",
    "divide",
    "error_bars",
    "examine",
    "fit",
    "free_run",
    "hidden_posterior",
    "hide_unit",
    "judge",
    "learn",
    "load_bundle",
    "log_likelihood",
    "mean_square_errors",
    "posterior_table",
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
