"""The chart of a scan as files: what the page shows, and nothing from a network."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

from hidviz import divide, random_couplings, scan, simulate
from hidviz.ui.export.gains_figure import draw_gains
from hidviz.ui.plots.gains import Gains


@pytest.fixture(scope="module")
def table():
    truth = random_couplings(4, 1, np.random.default_rng(3), bias=0.2, variance=2.0)
    parts = divide(simulate(truth, 1500, np.random.default_rng(3)).recording)
    *_, last = scan(parts, hidden=range(3), starts=1, max_steps=30)
    return last


@pytest.fixture(scope="module")
def drawn(table):
    return draw_gains(table, "gains")


def test_page_and_pictures_are_whole(drawn):
    assert list(drawn) == ["gains.html", "gains.svg", "gains.png"]
    assert drawn["gains.png"].startswith(b"\x89PNG")
    asked = []
    parser = HTMLParser()  # which takes a script for one text
    parser.handle_starttag = lambda _, given: asked.extend(value for name, value in given if name in ("src", "href"))
    parser.feed(drawn["gains.html"])
    assert not asked


def test_the_picture_shows_every_model_where_the_page_does(table, drawn):
    svg = ElementTree.fromstring(drawn["gains.svg"])
    text = " ".join("".join(each.itertext()) for each in svg.iter("{http://www.w3.org/2000/svg}text"))
    for name in ("without M", "with memory (M)", "lag 2", "hidden units", "gain on lag 1"):
        assert name in text
    assert table.sentence()[:60] in text
    (points,) = [each for each in svg.iter() if each.get("id", "").startswith("PathCollection")]
    outlines = [re.findall(r"-?[\d.]+", path.get("d")) for path in points.iter("{http://www.w3.org/2000/svg}path")]
    corners = [np.array(outline, dtype=float).reshape(-1, 2) for outline in outlines]
    places = [0.5 * (each.min(axis=0) + each.max(axis=0)) for each in corners]
    plot = Gains()
    plot.show(table, 2)
    shown = plot.shown()["points"]
    assert len(places) == len(table.rows) == 5
    for axis, name, sign in ((0, "x", 1.0), (1, "gain", -1.0)):  # down the page is down in SVG
        found = np.array([place[axis] for place in places])
        assert np.corrcoef(found, shown[name])[0, 1] * sign == pytest.approx(1.0, abs=1e-6)


def test_the_same_scan_gives_the_same_picture(table, drawn):
    again = draw_gains(table, "gains")
    assert again["gains.svg"] == drawn["gains.svg"]
    assert again["gains.png"] == drawn["gains.png"]
