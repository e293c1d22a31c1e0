"""Many runs: one run to numbers, grids of runs, the paper's figures."""

from hidviz.sweeps.figure_curves import COSTS, Panel, Series, panels
from hidviz.sweeps.measurement import Measurement, key_of
from hidviz.sweeps.paper_figures import FIGURES, Figure, FigureKind
from hidviz.sweeps.results import Results, differing, load, paths, results_of, save
from hidviz.sweeps.sweep import LOOK, Keeps, Store, Sweep, SweepState, grid, run_sweep, table, traces

__all__ = [
    "COSTS",
    "FIGURES",
    "LOOK",
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
    "differing",
    "grid",
    "key_of",
    "load",
    "panels",
    "paths",
    "results_of",
    "run_sweep",
    "save",
    "table",
    "traces",
]
