"""The finished figure of a sweep, SVG and PNG: its panels two by two, each curve named at its end.

Colours tell the blocks or the costs, dashes the learners, as everywhere; at the end of a curve over the data length
stands the slope of its logarithm too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from hidviz.sweeps import Panel, Series
from hidviz.ui.export.paper import drawing, files_of, say
from hidviz.ui.plots.axes import decades, decimate, stroke
from hidviz.ui.plots.series_style import (
    WIDTHS,
    colour_of,
    dash_of,
    dashes_of,
    end_labels,
    notes,
    short_name,
)
from hidviz.ui.theme import LIGHT
from hidviz.units import signed

COLUMNS = 2
WIDTH, HEIGHT = 6.6, 4.6  # inches that a panel takes
LEFT, RIGHT, ABOVE, BELOW = 0.85, 1.45, 0.3, 0.65  # inches of it beside the axes: the right is for the labels
TOP, KEY = 0.45, 0.4  # inches for the title, and for a row of the key below
KEYS_IN_A_ROW = 4
NOTE, LETTERS = 0.24, 11.0  # inches for a line of words below, and letters of it an inch
LINE = 0.18  # inches from one label to the next
LEADER = 0.14  # inches from the end of a curve to its label


def draw_sweep(panels: Sequence[Panel], title: str, name: str) -> dict[str, bytes]:
    """The figure as the files name.svg and name.png.

    Args:
        panels: of `hidviz.sweeps.panels`; at least one.
        title: stands above.
        name: of the files, without ending.
    """
    with drawing():
        return files_of(plot_sweep(panels, title), name)


def plot_sweep(panels: Sequence[Panel], title: str) -> Figure:
    """The same as a figure of matplotlib, in the style that is set."""
    n_columns = min(COLUMNS, len(panels))
    n_rows = -(-len(panels) // n_columns)
    dashes = dashes_of(panels)
    slopes = ["Numbers at the curves: slopes of log error over log T."] if any(map(_has_slopes, panels)) else []
    width = n_columns * WIDTH
    words = [line for each in (*slopes, *notes(panels)) for line in wrap(each, round(LETTERS * width))]
    key = KEY * -(-len(dashes) // KEYS_IN_A_ROW) + (NOTE * len(words) + 0.1 if words else 0.0)
    height = TOP + n_rows * HEIGHT + key
    figure = Figure(figsize=(width, height))
    say(figure, title, from_top=0.15)
    for k, panel in enumerate(panels):
        row, column = divmod(k, n_columns)
        left, bottom = column * WIDTH + LEFT, height - TOP - (row + 1) * HEIGHT + BELOW
        size = (WIDTH - LEFT - RIGHT, HEIGHT - ABOVE - BELOW)
        axes = figure.add_axes((left / width, bottom / height, size[0] / width, size[1] / height))
        _draw(axes, panel, size)
    for k, line in enumerate(words):
        say(figure, line, from_top=height - key + 0.05 + NOTE * k)
    if dashes:
        strokes = [Line2D([], [], color=LIGHT.text, linewidth=2.0, **_dashed(dash, 2.0)) for dash in dashes.values()]
        figure.legend(
            strokes, list(dashes), loc="lower left", ncols=KEYS_IN_A_ROW, handlelength=4.0,
            bbox_to_anchor=(0.1 / width, 0.0),
        )  # fmt: skip
    return figure


def _draw(axes: Any, panel: Panel, size: tuple[float, float]) -> None:
    """One panel on axes of a size in inches."""
    by_step = panel.x_label == "step"
    axes.set_xscale("linear" if by_step else "log")
    axes.set_yscale("log" if panel.logarithmic else "linear")
    axes.set_title(panel.title, loc="left")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.y_label)
    for series in panel.series:
        _draw_curve(axes, series, points=not by_step and series.role == "curve")
    for axis, ends, set_ends in (
        (axes.xaxis, axes.get_xlim(), axes.set_xlim),
        (axes.yaxis, axes.get_ylim(), axes.set_ylim),
    ):
        set_ends(*ends)  # settled, so that ticks and labels do not move them
        if axis.get_scale() == "log":
            ticks = decades(*np.log10(ends))
            axis.set_ticks([10.0**tick for tick in ticks], list(ticks.values()))
            axis.set_minor_locator(NullLocator())
    _label_ends(axes, panel, size)


def _draw_curve(axes: Any, series: Series, *, points: bool) -> None:
    colour, width = colour_of(series, dark=False), WIDTHS[series.role] * 0.8
    x, y = decimate(series.x, series.y)
    axes.plot(x, y, color=colour, linewidth=width, **_dashed(dash_of(series), width))
    if points:
        axes.plot(series.x, series.y, "o", color=colour, markersize=4.5)
        axes.vlines(series.x, series.low, series.high, color=colour, linewidth=1.0)


def _dashed(dash: str, width: float) -> dict[str, Any]:
    lengths = stroke(dash)
    return {"dashes": [0.75 * length / width for length in lengths]} if lengths else {}


def _label_ends(axes: Any, panel: Panel, size: tuple[float, float]) -> None:
    """The name of each curve at its end, and a line to it where it must stand apart."""
    left, low = axes.get_xlim()[0], axes.get_ylim()[0]
    across, up = axes.transAxes.inverted(), axes.transData

    def place(axis: int, values: Any) -> Any:
        """Of data along an axis as parts of its length."""
        pair = [np.full(len(values), left), np.full(len(values), low)]
        pair[axis] = np.asarray(values)
        return across.transform(up.transform(np.column_stack(pair)))[:, axis]

    name = _named_with_slope if _has_slopes(panel) else short_name
    gap, leader = LINE / size[1], LEADER / size[0]
    for label in end_labels(panel.series, partial(place, 0), partial(place, 1), (0.0, 1.0), gap, name):
        colour = colour_of(label.series, dark=False)
        end = (label.x + leader, label.height)
        axes.plot(
            [label.x + 0.2 * leader, end[0]], [label.y, label.height], transform=axes.transAxes, color=colour,
            linewidth=0.7, clip_on=False,
        )  # fmt: skip
        axes.annotate(
            label.text, end, xycoords="axes fraction", xytext=(2, 0), textcoords="offset points", va="center",
            color=colour, annotation_clip=False,
            bbox={"facecolor": LIGHT.paper, "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
        )  # fmt: skip


def _has_slopes(panel: Panel) -> bool:
    return panel.logarithmic and panel.x_label.startswith("T ")


def _named_with_slope(series: Series) -> str:
    """The name of a curve and the slope of its logarithm, by least squares through its points."""
    if series.role != "curve" or len(series.x) < 2:
        return short_name(series)
    return f"{short_name(series)} {signed(float(np.polyfit(np.log(series.x), np.log(series.y), 1)[0]), 2)}"
