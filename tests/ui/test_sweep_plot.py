"""The live figure of a sweep, without a browser: what its sources hold."""

import pytest
from bokeh.models import GlyphRenderer, Text

from hidviz.experiments import ASSETS
from hidviz.sweeps.figure_curves import panels
from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.results import load
from hidviz.ui.plots.sweep import Layer, LengthPlot
from hidviz.ui.text.sweep import name_of


def test_number_of_labels_never_changes():
    """Bokeh 3.9 draws no frame any more once the number of texts has changed together with the ranges."""
    plot, sizes, shown = LengthPlot("plot"), set(), set()
    (labels,) = (r.data_source for r in plot.figure.select(GlyphRenderer) if isinstance(r.glyph, Text))
    sizes.add(len(labels.data["text"]))
    for figure in FIGURES.values():
        results = load(ASSETS, figure.name)
        for panel in panels(figure.kind, results.table, results.traces):
            for scale in ("log-log", "log", "linear"):
                plot.show([Layer(panel, shipped=True)], scale)
                sizes |= {len(column) for column in labels.data.values()}
                shown.add(sum(bool(text) for text in labels.data["text"]))
    assert len(sizes) == 1
    assert len(shown) > 1


@pytest.mark.parametrize("number", FIGURES)
def test_points_to_compute_can_be_told_apart(number):
    names = [name_of(experiment) for experiment in FIGURES[number].full]
    assert len(set(names)) == len(names)
