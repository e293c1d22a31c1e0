"""One run with every setting: experiment, data, setup, frames; presets, restarts, and a run as a file."""

from hidviz.experiments.bundle import LARGEST_FILE, Bundle, load_bundle, save_bundle
from hidviz.experiments.check_seconds import CheckSeconds, predict_checks
from hidviz.experiments.estimator import HiddenIsing
from hidviz.experiments.examine import CHECKS, Examination, Halves, examine
from hidviz.experiments.experiment import LIVE, Experiment
from hidviz.experiments.fit_recording import Fitted, Settings, fingerprint, fit_recording
from hidviz.experiments.frame import Frame, make_frame, regauge_frame
from hidviz.experiments.hide_unit import HiddenUnit, busiest, hide_unit, hide_units
from hidviz.experiments.l1_path import L1Path
from hidviz.experiments.labelled import couplings_dataset, couplings_table, posterior_dataset, posterior_table
from hidviz.experiments.presets import ABOUT_PRESETS, PRESETS, preset_of
from hidviz.experiments.progress import Progress
from hidviz.experiments.ranges import CHOICES, OPTIONAL, RANGES
from hidviz.experiments.reopen import ASSETS, iter_reopened, shipped_frame
from hidviz.experiments.restarts import MOST_STARTS, SAME, Restarts, Start, restarts
from hidviz.experiments.run import iter_edited, iter_resumed, iter_run, with_knobs
from hidviz.experiments.scan import scan
from hidviz.experiments.scan_summary import scan_summary
from hidviz.experiments.scan_table import Scan, ScanRow
from hidviz.experiments.setup import Data, Setup, with_baselines
from hidviz.experiments.shipped import shipped_restarts, shipped_scores
from hidviz.experiments.sparse import SparseFit, sparse_fit
from hidviz.experiments.stopping_advice import Advice, advice
from hidviz.experiments.trace import Trace

__all__ = [
    "ABOUT_PRESETS",
    "ASSETS",
    "CHECKS",
    "CHOICES",
    "LARGEST_FILE",
    "LIVE",
    "MOST_STARTS",
    "OPTIONAL",
    "PRESETS",
    "RANGES",
    "SAME",
    "Advice",
    "Bundle",
    "CheckSeconds",
    "Data",
    "Examination",
    "Experiment",
    "Fitted",
    "Frame",
    "Halves",
    "HiddenIsing",
    "HiddenUnit",
    "L1Path",
    "Progress",
    "Restarts",
    "Scan",
    "ScanRow",
    "Settings",
    "Setup",
    "SparseFit",
    "Start",
    "Trace",
    "advice",
    "busiest",
    "couplings_dataset",
    "couplings_table",
    "examine",
    "fingerprint",
    "fit_recording",
    "hide_unit",
    "hide_units",
    "iter_edited",
    "iter_reopened",
    "iter_resumed",
    "iter_run",
    "load_bundle",
    "make_frame",
    "posterior_dataset",
    "posterior_table",
    "predict_checks",
    "preset_of",
    "regauge_frame",
    "restarts",
    "save_bundle",
    "scan",
    "scan_summary",
    "shipped_frame",
    "shipped_restarts",
    "shipped_scores",
    "sparse_fit",
    "with_baselines",
    "with_knobs",
]
