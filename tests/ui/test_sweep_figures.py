"""The finished figure of a sweep: every shipped one is drawn whole, and its texts can be read."""

import re
import subprocess
import sys
from itertools import combinations
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from hidviz.experiments import ASSETS
from hidviz.sweeps.figure_curves import Panel, Series, panels
from hidviz.sweeps.paper_figures import FIGURES
from hidviz.sweeps.results import load
from hidviz.ui.export.paper import drawing
from hidviz.ui.export.sweep_figures import draw_sweep, plot_sweep
from hidviz.ui.theme import LIGHT

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module", params=FIGURES)
def drawn(request):
    """The panels of a shipped figure, and its files."""
    figure = FIGURES[request.param]
    results = load(ASSETS, figure.name)
    shown = panels(figure.kind, results.table, results.traces)
    return shown, draw_sweep(shown, figure.title, figure.name)


def texts(svg):
    return {"".join(each.itertext()).strip() for each in ElementTree.fromstring(svg).iter(f"{SVG}text")}


def test_a_figure_is_a_whole_picture_of_lines(drawn):
    shown, files = drawn
    (svg,) = (content for name, content in files.items() if name.endswith(".svg"))
    (png,) = (content for name, content in files.items() if name.endswith(".png"))
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"<image" not in svg
    said = texts(svg)
    for panel in shown:
        assert {panel.title, panel.x_label} <= said
    for block in {series.what for panel in shown for series in panel.series} & {"J", "K", "L"}:
        assert getattr(LIGHT, block).encode() in svg
        assert any(text == block or re.match(rf"{block} [+−]\d\.\d\d$", text) for text in said)


def test_no_two_texts_lie_upon_each_other(drawn):
    shown, _ = drawn
    with drawing():
        figure = plot_sweep(shown, "title")
        FigureCanvasAgg(figure).draw()
        boxes = [(text.get_text(), text.get_window_extent()) for text in _drawn_texts(figure)]
    assert len(boxes) > 10
    for (one, box), (other, beside) in combinations(boxes, 2):
        assert not box.overlaps(beside), (one, other)


def _drawn_texts(figure):
    yield from figure.texts
    for legend in figure.legends:
        yield from legend.get_texts()
    for axes in figure.axes:
        yield from (axes.title, axes.xaxis.label, axes.yaxis.label, *axes.texts)
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
            yield from (text for place, text in ticks if low <= place <= high)


def test_slopes_are_those_of_the_curves():
    T = np.array([100.0, 1000.0, 10000.0])
    y = 3.0 / T
    panel = Panel("one", "T (time bins)", "error", True, (Series("J", "exact", "J, Exact", T, y, y, y),))
    assert "J −1.00" in texts(draw_sweep([panel], "title", "name")["name.svg"])


@pytest.mark.slow
def test_figures_are_drawn_without_a_browser():
    code = (
        "import sys; from hidviz.ui.export import sweep_figures, run_figures; "
        "assert not any(name.startswith('playwright') for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
