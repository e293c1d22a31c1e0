"""What a fit is worth: errors, likelihoods, baselines, error bars. Learning never imports it."""

from hidviz.evaluation.baselines import TINY, Baselines, baseline_memory, baseline_seconds, baselines
from hidviz.evaluation.correlations import Correlations, correlations, rates
from hidviz.evaluation.effective_parameters import score_products
from hidviz.evaluation.equivalent_models import (
    Equivalent,
    flip_half,
    gauge_label,
    iter_equivalents,
    rescale,
)
from hidviz.evaluation.error_bars import Comparison, ErrorBars, compare_errors, error_bars, iter_error_bars
from hidviz.evaluation.error_paths import Excerpt, Path, by_delay, excerpt_at, n_paths, strongest_paths
from hidviz.evaluation.errors import Criteria, criteria, mean_square_errors, rms_errors
from hidviz.evaluation.free_run import FREE_BINS, FreeRun, free_run
from hidviz.evaluation.hidden_states import (
    ToldStates,
    hidden_magnetisations,
    hidden_state_error,
    iter_told_states,
    told_states,
    wrong_signs,
)
from hidviz.evaluation.importance_sampling import Sampled, Sampler, sampler
from hidviz.evaluation.information import LONGEST_ERROR_BARS, MOST_PARAMETERS, error_bar_seconds
from hidviz.evaluation.likelihood import LONGEST_LIKELIHOOD, cost_per_bin, likelihood_for, log_likelihood
from hidviz.evaluation.model_comparison import Candidate, Evidence, Judgement, judge
from hidviz.evaluation.paired import Difference, block_costs, paired
from hidviz.evaluation.repeats import Repeats, repeating, repeats, require_repeats
from hidviz.evaluation.replica_theory import ReplicaTheory, replica_theory
from hidviz.evaluation.shared_state import SharedStates, shared_states

__all__ = [
    "FREE_BINS",
    "LONGEST_ERROR_BARS",
    "LONGEST_LIKELIHOOD",
    "MOST_PARAMETERS",
    "TINY",
    "Baselines",
    "Candidate",
    "Comparison",
    "Correlations",
    "Criteria",
    "Difference",
    "Equivalent",
    "ErrorBars",
    "Evidence",
    "Excerpt",
    "FreeRun",
    "Judgement",
    "Path",
    "Repeats",
    "ReplicaTheory",
    "Sampled",
    "Sampler",
    "SharedStates",
    "ToldStates",
    "baseline_memory",
    "baseline_seconds",
    "baselines",
    "block_costs",
    "by_delay",
    "compare_errors",
    "correlations",
    "cost_per_bin",
    "criteria",
    "error_bar_seconds",
    "error_bars",
    "excerpt_at",
    "flip_half",
    "free_run",
    "gauge_label",
    "hidden_magnetisations",
    "hidden_state_error",
    "iter_equivalents",
    "iter_error_bars",
    "iter_told_states",
    "judge",
    "likelihood_for",
    "log_likelihood",
    "mean_square_errors",
    "n_paths",
    "paired",
    "rates",
    "repeating",
    "repeats",
    "replica_theory",
    "require_repeats",
    "rescale",
    "rms_errors",
    "sampler",
    "score_products",
    "shared_states",
    "strongest_paths",
    "told_states",
    "wrong_signs",
]
