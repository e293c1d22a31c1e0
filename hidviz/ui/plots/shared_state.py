"""Hidden units above the population: a window of their posterior, and below it how many recorded units fire."""

from __future__ import annotations

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, LinearColorMapper, Range1d, VArea
from bokeh.plotting import figure
from numpy.typing import NDArray

from hidviz.numerics import Array
from hidviz.ui.plots.axes import paint_axes, round_numbers
from hidviz.ui.plots.small_arrays import packed
from hidviz.ui.text.language import _
from hidviz.ui.theme import LIGHT, inks

SHADES = 64
BELOW = 150  # pixels


class SharedStatePlot:
    """Two figures with one axis of time."""

    def __init__(self) -> None:
        time = Range1d(0, 1)
        shared = {
            "sizing_mode": "stretch_width", "x_range": time, "tools": "", "toolbar_location": None, "min_border": 0,
            "min_border_left": 64, "output_backend": "canvas",
        }  # fmt: skip
        self.above = figure(height=60, y_range=Range1d(1, 0), name=_("Hidden units"), **shared)
        self.below = figure(height=BELOW, y_range=Range1d(0, 1), name=_("Units that fire"), **shared)
        self._mapper = LinearColorMapper(palette=[LIGHT.paper, LIGHT.L], low=-1.0, high=1.0)
        self._image = ColumnDataSource({name: [] for name in ("image", "x", "y", "dw", "dh")})
        self.above.image("image", "x", "y", "dw", "dh", color_mapper=self._mapper, source=self._image)
        self._counts = ColumnDataSource({"x": [], "y": []})
        self._area = self.below.add_glyph(self._counts, VArea(x="x", y1=0, y2="y"))
        self.above.xaxis.visible = False
        self.below.xaxis.axis_label, self.below.yaxis.axis_label = _("time (bins)"), _("units that fire")

    def show(self, begin: int, posterior: Array, counts: NDArray[np.int64], most: int) -> None:
        """Draw a window.

        Args:
            begin: its first bin.
            posterior: (n, Nh) in [-1, 1].
            counts: (n,) units that fire.
            most: the largest count of the recording.
        """
        n, n_hidden = posterior.shape
        self.above.x_range.update(start=begin, end=begin + n)
        self.above.y_range.update(start=n_hidden, end=0)
        self.above.height = 24 + 26 * n_hidden
        self._image.data = {
            "image": [packed(posterior.T)], "x": [begin], "y": [0], "dw": [n], "dh": [n_hidden],
        }  # fmt: skip
        names = {a + 0.5: f"h{a + 1}" for a in range(n_hidden)}
        self.above.yaxis.ticker = FixedTicker(ticks=list(names))
        self.above.yaxis.major_label_overrides = names
        x = begin + np.arange(n + 1, dtype=np.float64)
        self._counts.data = {"x": np.repeat(x, 2)[1:-1], "y": np.repeat(counts, 2).astype(np.float64)}
        self.below.y_range.update(start=0, end=max(most, 1) + 0.5)
        ticks = {k: label for k, label in round_numbers(0.0, most).items() if k == int(k)}
        self.below.yaxis.ticker = FixedTicker(ticks=list(ticks))
        self.below.yaxis.major_label_overrides = ticks

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ink = inks(dark)
        for plot in (self.above, self.below):
            paint_axes(plot, dark)
            plot.xgrid.grid_line_color = None
        self.above.ygrid.grid_line_color = None
        self._area.glyph.fill_color = ink.text
        low, high = (np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) for colour in (ink.paper, ink.L))
        mixed = [low + (high - low) * share for share in np.linspace(0.0, 1.0, SHADES)]
        self._mapper.palette = ["#" + "".join(f"{round(float(part)):02x}" for part in colour) for colour in mixed]
