"""True, inferred and difference: the block matrix [[J, K], [L, M]] three times, on one scale.

Rows receive and columns send, as in the formulas. The colour range is symmetric and fixed for a run, from the largest
true coupling; the true matrix is sent to the browser once a run, the other two once a frame as float32. A cell that is
pointed at tells its value in both gauges, which the browser works out from the matrix drawn and the gauge.
"""

from __future__ import annotations

from dataclasses import dataclass
from json import dumps
from typing import NamedTuple

import numpy as np
from bokeh.models import (
    ColumnDataSource,
    CustomJSHover,
    FixedTicker,
    HoverTool,
    Image,
    LinearColorMapper,
    Range1d,
    Rect,
    Span,
    Text,
)
from bokeh.plotting import figure
from numpy.typing import NDArray

from hidviz.network import Couplings, Gauge, regauge, with_hidden
from hidviz.numerics import Array
from hidviz.ui.plots.axes import FONT, paint_axes, put
from hidviz.ui.plots.small_arrays import packed
from hidviz.ui.text.language import N_, _
from hidviz.ui.theme import block_colours, block_letters, diverging, inks

TITLES = (N_("True couplings"), N_("Inferred"), N_("Inferred − true"))

LETTER = 0.06  # of a map's width that a letter takes
HIDDEN = 0.25  # of a block that its letter may hide

SIGNED = "return (value < 0 ? '−' : '+') + Math.abs(value).toFixed(3)"

# What the true and the inferred heatmap hold at a cell; the inferred one is drawn in one gauge, and told in both.
IN_FULL = """
    const { flat_index } = special_vars.image_index, n = estimates.data.image[0].shape[1]
    const { order, signs } = gauge.data
    const moved = (unit) => unit < n_visible ? unit : n_visible + order[unit - n_visible]
    const sign = (unit) => unit < n_visible ? 1 : signs[unit - n_visible]
    const row = Math.floor(flat_index / n), column = flat_index % n
    const held = (source, k) => source.data.image[0][k]
    const drawn = held(estimates, flat_index)
    const other = sign(row) * sign(column) * held(estimates, moved(row) * n + moved(column))
    const [found, aligned] = align ? [other, drawn] : [drawn, other]
    const true_ = held(truths, flat_index)
    const signed = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toFixed(3)
    const values = [true_, found, aligned, aligned - true_]
    return values.map((x, k) => `${names[k]} ${signed(x)}`).join(" · ")"""
NAMES = (N_("true"), N_("unaligned"), N_("aligned"), N_("error"))


def block_matrix(couplings: Couplings, n_hidden: int) -> Array:
    """[[J, K], [L, M]] with room for n_hidden hidden units, (Nv + n_hidden, Nv + n_hidden)."""
    full = with_hidden(couplings, n_hidden)
    return np.block([[full.J, full.K], [full.L, full.M]])


@dataclass(frozen=True)
class Scale:
    """What is fixed for a run: sizes, and the largest coupling that the colours tell apart."""

    n_visible: int
    n_hidden: int
    largest: float


def scale_for(truth: Couplings, n_hidden: int) -> Scale:
    """The scale of a run with this truth: the largest true coupling, rounded up to one decimal."""
    largest = float(np.abs(block_matrix(truth, truth.n_hidden)).max(initial=0.0))
    return Scale(truth.n_visible, n_hidden, max(0.1, float(np.ceil(10.0 * largest) / 10.0)))


class Heatmap:
    """One block matrix.

    Args:
        title: what it shows.
        values: how the value of a cell is told when it is pointed at; with its sign unless given.
        named: whether the axes say which units they number; else that is said beside the map.
    """

    def __init__(self, title: str, values: CustomJSHover | None = None, *, named: bool = True) -> None:
        self.figure = figure(
            width=330,
            height=316,
            sizing_mode="scale_width",
            x_range=Range1d(0, 1),
            y_range=Range1d(1, 0),
            tools="",
            toolbar_location=None,
            min_border=0,
            x_axis_location="below",
            name=title,
        )
        self._mapper = LinearColorMapper(palette=list(diverging(dark=False)), low=-1.0, high=1.0)
        self.source = ColumnDataSource({"image": [np.zeros((1, 1), dtype=np.float32)]})
        self._image = Image(image="image", x=0, y=0, dw=1, dh=1, color_mapper=self._mapper)
        shown = self.figure.add_glyph(self.source, self._image)
        self._letters = ColumnDataSource({name: [] for name in ("x", "y", "text", "color", "anchor")})
        self._letter = Text(
            x="x", y="y", text="text", anchor="anchor", text_color="color", text_font={"value": FONT},
            text_font_size="12px", text_font_style="bold", background_fill_alpha=0.85,
            x_offset=1, y_offset=1, padding=1,
        )  # fmt: skip
        self.figure.add_glyph(self._letters, self._letter, level="overlay")  # which is not cut off at the frame
        self._boxes = ColumnDataSource({"x": [], "y": [], "width": [], "height": [], "color": []})
        self.figure.add_glyph(
            self._boxes,
            Rect(x="x", y="y", width="width", height="height", line_color="color", fill_alpha=0.0, line_width=2.5),
        )
        self._borders = [Span(dimension=d, line_width=1) for d in ("width", "height")]
        for border in self._borders:
            self.figure.add_layout(border)
        self._unit = CustomJSHover(args={"n_visible": 1})
        self.figure.add_tools(
            HoverTool(
                renderers=[shown],
                tooltips=[(_("to"), "$y{custom}"), (_("from"), "$x{custom}"), (_("coupling"), "@image{custom}")],
                formatters={"$x": self._unit, "$y": self._unit, "@image": values or CustomJSHover(code=SIGNED)},
            )
        )
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            axis.ticker = FixedTicker(ticks=[])
        if named:
            self.figure.xaxis.axis_label, self.figure.yaxis.axis_label = _("from unit"), _("to unit")
        self._dark = False
        self._scale = Scale(1, 0, 1.0)

    def fit(self, scale: Scale) -> None:
        """Adapt axes, borders and colours to a run."""
        self._scale = scale
        n_visible, n = scale.n_visible, scale.n_visible + scale.n_hidden
        self.figure.x_range.update(start=0, end=n)
        self.figure.y_range.update(start=n, end=0)
        self._image.update(dw=n, dh=n)
        self._mapper.update(low=-scale.largest, high=scale.largest)
        ticks, labels = unit_ticks(n_visible, scale.n_hidden)
        for axis in (self.figure.xaxis[0], self.figure.yaxis[0]):
            axis.ticker.ticks = [tick + 0.5 for tick in ticks]
            axis.major_label_overrides = {tick + 0.5: label for tick, label in zip(ticks, labels, strict=True)}
        for border in self._borders:
            border.location = n_visible
            border.visible = scale.n_hidden > 0
        self._unit.code = (
            f"const k = Math.floor(value);"
            f"const text = k < {n_visible} ? {dumps(_('visible {unit}'))} : {dumps(_('hidden {unit}'))};"
            f"return text.replace('{{unit}}', k < {n_visible} ? k + 1 : k + 1 - {n_visible})"
        )
        self._outline()

    def show(self, values: NDArray[np.float64]) -> None:
        """Draw a block matrix."""
        self.source.data = {"image": [packed(values)]}

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = dark
        paint_axes(self.figure, dark)
        self.figure.grid.grid_line_color = None
        self.figure.axis.axis_line_color = self.figure.axis.major_tick_line_color = None  # its cells are its frame
        put(self._mapper, palette=list(diverging(dark)))
        for border in self._borders:
            border.line_color = inks(dark).quiet
        put(self._letter, background_fill_color=inks(dark).paper)
        self._outline()

    def _outline(self) -> None:
        """Frame the blocks that touch hidden units, each in its colour."""
        colours = block_colours(self._dark)
        n_visible, n_hidden = self._scale.n_visible, self._scale.n_hidden
        blocks = {
            "K": (n_visible + n_hidden / 2, n_visible / 2, n_hidden, n_visible),
            "L": (n_visible / 2, n_visible + n_hidden / 2, n_visible, n_hidden),
            "M": (n_visible + n_hidden / 2, n_visible + n_hidden / 2, n_hidden, n_hidden),
        }
        rows = [(*box, colours[name]) for name, box in blocks.items()] if n_hidden else []
        names = ("x", "y", "width", "height", "color")
        self._boxes.data = {name: [row[k] for row in rows] for k, name in enumerate(names)}
        letters, ink = letters_of(self._scale), block_letters(self._dark)
        self._letters.data = {
            "x": [each.x for each in letters],
            "y": [each.y for each in letters],
            "text": [each.block for each in letters],
            "color": [ink[each.block] for each in letters],
            "anchor": [each.anchor for each in letters],
        }


class Letter(NamedTuple):
    """The letter of a block: where it stands, in cells, and which of its ends stands there."""

    block: str
    x: float
    y: float
    anchor: str


def letters_of(scale: Scale) -> list[Letter]:
    """The letters of the blocks that have room for theirs beside what is drawn, in a map of the usual size."""
    n_visible, n_hidden = scale.n_visible, scale.n_hidden
    if not n_hidden:
        return []
    across = LETTER * (n_visible + n_hidden)  # cells that a letter covers, either way
    end, middle = n_visible, n_visible + n_hidden / 2
    letters = {
        Letter("J", 0, 0, "top_left"): (n_visible, n_visible),
        Letter("K", middle, 0, "top_center"): (n_hidden, n_visible),
        Letter("L", 0, middle, "center_left"): (n_visible, n_hidden),
        Letter("M", end, end, "top_left"): (n_hidden, n_hidden),
    }
    return [
        letter
        for letter, (width, height) in letters.items()
        if min(width, height) >= 0.5 * across and across**2 <= HIDDEN * width * height
    ]


def unit_ticks(n_visible: int, n_hidden: int) -> tuple[list[float], list[str]]:
    """Where to number the units, and how: visible 1, 5, 10 …, hidden h1, h2 …; never so dense that they touch."""
    n = n_visible + n_hidden
    stride = next((step for step in (1, 2, 5, 10, 20, 50) if n / step <= 8), 100)
    room = n / 13  # units that one label covers
    visible = [0, *range(stride - 1, n_visible, stride)] if stride > 1 else list(range(n_visible))
    visible = [unit for unit in visible if unit == 0 or room <= unit <= n_visible - 1.3 * room]
    if n_hidden and n_hidden / max(room, 1.0) < 2.0 and n_hidden > 1 and room > 1.0:
        middle = n_visible + (n_hidden - 1) / 2
        visible = [unit for unit in visible if unit <= middle - 3 * room]  # its label is wider than a number
        return [*map(float, visible), middle], [*(str(unit + 1) for unit in visible), f"h1–{n_hidden}"]
    ticks, labels = [float(unit) for unit in visible], [str(unit + 1) for unit in visible]
    hidden = range(0, n_hidden, max(1, round(room), stride))
    return ticks + [float(n_visible + unit) for unit in hidden], labels + [f"h{unit + 1}" for unit in hidden]


class Heatmaps:
    """The three block matrices side by side."""

    def __init__(self) -> None:
        self._values = CustomJSHover(code=IN_FULL)
        self._other = ColumnDataSource(data={"order": [], "signs": []})  # apart: who refers to models is looked through
        self.true, self.found, self.error = (Heatmap(_(title), self._values, named=False) for title in TITLES)
        self.all = (self.true, self.found, self.error)
        self._truth: Couplings | None = None
        self.scale = Scale(1, 0, 1.0)
        self.n_beyond = 0  # cells of the inferred or the difference that the scale does not reach

    def show(self, truth: Couplings, estimate: Couplings, gauge: Gauge, *, align: bool) -> None:
        """Draw an estimate beside the truth; the truth and the scale only when the truth is another one.

        Args:
            truth: the true couplings.
            estimate: the inferred ones, as found.
            gauge: what aligns them to the truth.
            align: whether to draw them aligned.
        """
        n_hidden = max(truth.n_hidden, estimate.n_hidden)
        found = with_hidden(estimate, n_hidden)
        true, shown = (block_matrix(each, n_hidden) for each in (truth, regauge(found, gauge) if align else found))
        if truth is not self._truth or n_hidden != self.scale.n_hidden:
            self._truth, self.scale = truth, scale_for(truth, n_hidden)
            for heatmap in self.all:
                heatmap.fit(self.scale)
            self.true.show(true)
        self.found.show(shown)
        self.error.show(shown - true)
        self.n_beyond = int((np.abs(np.stack([shown, shown - true])) > self.scale.largest).any(axis=0).sum())
        other = gauge.inverse() if align else gauge
        put(self._other, data={"order": other.order.tolist(), "signs": other.signs.tolist()})
        put(
            self._values,
            args={
                "truths": self.true.source, "estimates": self.found.source, "gauge": self._other,
                "n_visible": truth.n_visible, "align": align, "names": list(map(_, NAMES)),
            },
        )  # fmt: skip

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for heatmap in self.all:
            heatmap.restyle(dark)
