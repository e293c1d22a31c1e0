"""Axes: what all figures share.

Their frame in the colours of a theme, ranges that move seldom, labels that keep apart, fewer points for a screen, and
changes sent only where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.core.property.vectorization import Field
from bokeh.model import Model
from bokeh.models import LinearInterpolator, MultiLine, Text
from bokeh.plotting import figure

from hidviz.numerics import Array
from hidviz.ui.theme import inks
from hidviz.units import raised

FONT = "Roboto, Helvetica, Arial, sans-serif"
LARGE = "14px"
NARROW = 14  # pixels beside another, for half of the last tick's label
WIDE = 146  # pixels beside the frame of a figure whose curves carry large letters at their ends
MAX_POINTS = 600  # of a curve: about a pixel each, and every frame sends them


STROKES = {"solid": (), "dashed": (7, 4), "dotted": (2, 4), "dotdash": (2, 4, 7, 4), "dashdot": (7, 4, 2, 4)}


def stroke(dash: str) -> tuple[int, ...]:
    """Lengths of strokes and gaps in turn, in pixels; empty for a line that is whole.

    Bokeh draws the named dashes of a column shorter than it draws them elsewhere, so it too is given lengths.
    """
    return STROKES[dash] if dash in STROKES else tuple(int(length) for length in dash.split())


def paint_axes(plot: figure, dark: bool) -> None:
    """Set every line and letter of a figure's frame for a theme."""
    ink = inks(dark)
    plot.background_fill_color = plot.border_fill_color = None
    plot.outline_line_color = None
    plot.grid.grid_line_color = ink.grid
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = ink.quiet
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = ink.quiet
    plot.axis.axis_label_text_color = ink.text
    plot.axis.major_label_text_font_size = plot.axis.axis_label_text_font_size = "13px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_standoff = 6
    plot.axis.major_label_text_font = plot.axis.axis_label_text_font = FONT


WIDTHS = {0.0: 0.0, 1.3: 2.4, 3.2: 4.8, 10.0: 12.0}
"""Of curves as they are and for whoever reads them from far away, pixels; thin and bold stay apart."""


def enlarge(plot: figure) -> None:
    """Let letters be as large as the text around the figure, and lines wide, for whoever reads it from far away."""
    plot.axis.major_label_text_font_size = plot.axis.axis_label_text_font_size = LARGE
    labels = list(plot.select(Text))
    for glyph in labels:
        glyph.text_font_size = LARGE
    beside = (plot.min_border_right or 0) > NARROW  # which one that was enlarged already has too
    plot.min_border_right = WIDE if labels and beside else NARROW
    for curves in plot.select(MultiLine):
        curves.line_width = Field("width", transform=LinearInterpolator(x=list(WIDTHS), y=list(WIDTHS.values())))


def roomy(low: float, high: float) -> tuple[float, float]:
    """Ends a little beyond these, on a coarse grid, so that an axis moves seldom: moving it costs a new layout."""
    grid = 2.0 ** np.floor(np.log2(0.06 * (high - low)))
    return float(np.floor(low / grid) * grid - grid), float(np.ceil(high / grid) * grid + grid)


def spread(heights: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Heights at least `gap` apart, in the same order and as near to the given ones as a single sweep finds."""
    order = np.argsort(heights, kind="stable")
    placed = np.array(heights, dtype=np.float64)
    floor = low
    for k in order:
        placed[k] = max(placed[k], floor)
        floor = placed[k] + gap
    ceiling = high
    for k in order[::-1]:
        placed[k] = min(placed[k], ceiling)
        ceiling = placed[k] - gap
    return [float(height) for height in placed]


def put(model: Model, **values: object) -> None:
    """Change only what is another value now."""
    changed = {name: value for name, value in values.items() if getattr(model, name) != value}
    if changed:
        model.update(**changed)


def decimate(x: Array, y: Array, max_points: int = MAX_POINTS) -> tuple[Array, Array]:
    """At most max_points of a curve, in order: first, last, and the least and greatest y of each stretch.

    Args:
        x: (n,) abscissae in order.
        y: (n,) ordinates.
        max_points: at least 4.
    """
    n = len(y)
    if n <= max_points:
        return x, y
    width = -(-(n - 2) // ((max_points - 2) // 2))
    inner = np.pad(y[1:-1], (0, -(n - 2) % width), mode="edge").reshape(-1, width)
    begins = 1 + width * np.arange(len(inner))
    extremes = np.sort([begins + inner.argmin(axis=1), begins + inner.argmax(axis=1)], axis=0).T.ravel()
    index = np.concatenate([[0], np.minimum(extremes, n - 2), [n - 1]])
    index = index[np.diff(index, prepend=-1) > 0]
    return x[index], y[index]


def decades(low: float, high: float) -> dict[float, str]:
    """Ticks between two numbers given by their logarithms: powers of ten, and what it needs between them."""
    for factors in ((1,), (1, 3), (1, 2, 3, 5), tuple(range(1, 10))):
        ticks = {
            k + float(np.log10(factor)): _power_of_ten(factor, k)
            for k in range(int(np.floor(low)), int(np.ceil(high)) + 1)
            for factor in factors
        }
        inside = {tick: label for tick, label in ticks.items() if low - 0.02 <= tick <= high + 0.02}
        if len(inside) >= 4:
            break
    return inside


def _power_of_ten(factor: int, k: int) -> str:
    """Factor times ten to the k: as it is where that is short, with a raised exponent where it is not."""
    if 0 <= k <= 2:
        return str(factor * 10**k)
    return ("10" if factor == 1 else f"{factor}·10") + raised(k)


def round_numbers(low: float, high: float) -> dict[float, str]:
    """About five round ticks between two numbers."""
    rough = max(high - low, 1e-9) / 5.0
    scale = 10.0 ** np.floor(np.log10(rough))
    step = scale * next(factor for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * scale >= rough)
    first, last = int(np.ceil(low / step)), int(np.floor(high / step + 0.5))
    return {k * step: f"{k * step:,.6g}" for k in range(first, last + 1)}
