"""hidviz: infer the couplings of a network when some of its units are hidden.

    from hidviz import Experiment
    for snapshot in Experiment().run():
        print(snapshot.step, snapshot.cost)

A network, its data, and the networks that the data cannot tell from it:
    Couplings, random_couplings, Recording, simulate → Simulation, Gauge, regauge, best_gauge, aligned

Learn: a method prepared for a recording is a function of the couplings, which an optimiser climbs step by step:
    LEARNERS, Method, prepare → Learner → Estimate (with Beliefs), Infeasible, STARTS, random_start, OPTIMISERS,
    learn → Snapshot (with Remark and its Cure), fit → Fit, hidden_posterior → HiddenPosterior

Evaluate what was found:
    rms_errors, mean_square_errors, log_likelihood, cost_per_bin, criteria → Criteria, error_bars → ErrorBars,
    judge → Judgement (with Candidate and Evidence), free_run → FreeRun

Experiment: one run with every setting as one value, by itself or from many starts, watched, stopped and kept:
    Experiment, PRESETS, iter_run → Frame (with Data, Setup and Trace) or Progress, iter_resumed, advice → Advice,
    restarts → Restarts (of Start), save_bundle, load_bundle → Bundle, Runner

Sweep: many experiments to one table (imports pandas):
    Sweep, grid, run_sweep → SweepState (of Measurement), Store (which Keeps), workers → Crew, FIGURES

Your own data: from spikes in files to couplings, and how many hidden units they speak for:
    read_spikes → Spikes, Preview, divide → Parts, fit_recording → Fitted, Settings, scan → Scan (of ScanRow),
    examine → Examination, hide_unit → HiddenUnit, HiddenIsing (an estimator as scikit-learn has them),
    sparse_fit → SparseFit, couplings_table, posterior_table, couplings_dataset, posterior_dataset

The page lives in `hidviz.ui`, and is imported only when asked for; `hidviz serve` opens it.
"""

from typing import TYPE_CHECKING, Any

from hidviz.background import Crew, Runner, workers
from hidviz.evaluation import (
    Candidate,
    Criteria,
    ErrorBars,
    Evidence,
    FreeRun,
    Judgement,
    cost_per_bin,
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
    Bundle,
    Data,
    Examination,
    Experiment,
    Fitted,
    Frame,
    HiddenIsing,
    HiddenUnit,
    Progress,
    Restarts,
    Scan,
    ScanRow,
    Settings,
    Setup,
    SparseFit,
    Start,
    Trace,
    advice,
    couplings_dataset,
    couplings_table,
    examine,
    fit_recording,
    hide_unit,
    iter_resumed,
    iter_run,
    load_bundle,
    posterior_dataset,
    posterior_table,
    restarts,
    save_bundle,
    scan,
    sparse_fit,
)
from hidviz.learners import (
    LEARNERS,
    Beliefs,
    Estimate,
    HiddenPosterior,
    Infeasible,
    Learner,
    Method,
    hidden_posterior,
    prepare,
)
from hidviz.learning import OPTIMISERS, STARTS, Cure, Fit, Remark, Snapshot, fit, learn, random_start
from hidviz.network import (
    Couplings,
    Gauge,
    Parts,
    Preview,
    Recording,
    Simulation,
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

if TYPE_CHECKING:
    from hidviz.sweeps import FIGURES, Keeps, Measurement, Store, Sweep, SweepState, grid, run_sweep

_SWEEPS = ("FIGURES", "Keeps", "Measurement", "Store", "Sweep", "SweepState", "grid", "run_sweep")

__all__ = [  # noqa: RUF022 - in groups, as the docstring
    # network
    "Couplings", "Gauge", "Recording", "Simulation", "aligned", "best_gauge", "random_couplings", "regauge", "simulate",
    # learn
    "LEARNERS", "OPTIMISERS", "STARTS", "Beliefs", "Cure", "Estimate", "Fit", "HiddenPosterior", "Infeasible",
    "Learner", "Method", "Remark", "Snapshot", "fit", "hidden_posterior", "learn", "prepare", "random_start",
    # evaluate
    "Candidate", "Criteria", "ErrorBars", "Evidence", "FreeRun", "Judgement", "cost_per_bin", "criteria", "error_bars",
    "free_run", "judge", "log_likelihood", "mean_square_errors", "rms_errors",
    # experiment
    "PRESETS", "Advice", "Bundle", "Data", "Experiment", "Frame", "Progress", "Restarts", "Runner", "Setup", "Start",
    "Trace", "advice", "iter_resumed", "iter_run", "load_bundle", "restarts", "save_bundle",
    # sweep
    "FIGURES", "Crew", "Keeps", "Measurement", "Store", "Sweep", "SweepState", "grid", "run_sweep", "workers",
    # your own data
    "Examination", "HiddenIsing", "HiddenUnit", "couplings_dataset", "couplings_table", "examine", "hide_unit",
    "posterior_dataset", "posterior_table",
    "Fitted", "Parts", "Preview", "Scan", "ScanRow", "Settings", "SparseFit", "Spikes", "divide",
    "fit_recording", "read_spikes", "scan", "sparse_fit",
    "__version__",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """The names of sweeps, imported when they are first asked for, since pandas takes a second."""
    if name not in _SWEEPS:
        raise AttributeError(f"module 'hidviz' has no attribute {name!r}")
    import hidviz.sweeps

    return getattr(hidviz.sweeps, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
