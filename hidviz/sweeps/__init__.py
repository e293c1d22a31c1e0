"""Many runs: one run to numbers, grids of runs, the paper's figures."""

from hidviz.sweeps.claims import Claim, markdown
from hidviz.sweeps.figure_curves import COSTS, Panel, Series, panels
from hidviz.sweeps.heights import with_heights
from hidviz.sweeps.measurement import Measurement, key_of
from hidviz.sweeps.paper_claims import claims
from hidviz.sweeps.paper_figures import FIGURES, Figure, FigureKind
from hidviz.sweeps.results import Results, differing, load, paths, results_of, save
from hidviz.sweeps.spread import optimiser_words
from hidviz.sweeps.sweep import LOOK, Keeps, Store, Sweep, SweepState, grid, run_sweep, table, traces

__all__ = [
    "COSTS",
    "FIGURES",
    "LOOK",
    "Claim",
    "Figure",
    "FigureKind",
    "Keeps",
    "Measurement",
    "Panel",
    "Results",
    "Series",
    "Store",
    "Sweep",
    "SweepState",
    "claims",
    "differing",
    "grid",
    "key_of",
    "load",
    "markdown",
    "optimiser_words",
    "panels",
    "paths",
    "results_of",
    "run_sweep",
    "save",
    "table",
    "traces",
    "with_heights",
]
