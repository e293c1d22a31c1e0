"""What a fit is worth: errors, likelihoods, baselines, error bars. Learning never imports it."""

from hidviz.evaluation.baselines import Baselines, baseline_seconds, baselines
from hidviz.evaluation.correlations import Correlations, correlations, rates
from hidviz.evaluation.equivalent_models import (
    Equivalent,
    broken_flip,
    cost_with,
    gallery,
    in_short,
    moved_beliefs,
    rescaled,
)
from hidviz.evaluation.error_bars import Comparison, ErrorBars, compared, error_bars, measuring
from hidviz.evaluation.error_paths import Path, Stretch, by_delay, n_paths, stretch_at, strongest_paths
from hidviz.evaluation.errors import criteria, mean_square_errors, rms_errors
from hidviz.evaluation.information import LONGEST_SECONDS, MOST_PARAMETERS, predicted_seconds
from hidviz.evaluation.likelihood import LONGEST_JUDGEMENT, judge_for, log_likelihood
from hidviz.evaluation.model_comparison import Candidate, Evidence, Judgement, judge
from hidviz.evaluation.sampler import Sampler, sampler

__all__ = [
    "LONGEST_JUDGEMENT",
    "LONGEST_SECONDS",
    "MOST_PARAMETERS",
    "Baselines",
    "Candidate",
    "Comparison",
    "Correlations",
    "Equivalent",
    "ErrorBars",
    "Evidence",
    "Judgement",
    "Path",
    "Sampler",
    "Stretch",
    "baseline_seconds",
    "baselines",
    "broken_flip",
    "by_delay",
    "compared",
    "correlations",
    "cost_with",
    "criteria",
    "error_bars",
    "gallery",
    "in_short",
    "judge",
    "judge_for",
    "log_likelihood",
    "mean_square_errors",
    "measuring",
    "moved_beliefs",
    "n_paths",
    "predicted_seconds",
    "rates",
    "rescaled",
    "rms_errors",
    "sampler",
    "stretch_at",
    "strongest_paths",
]
