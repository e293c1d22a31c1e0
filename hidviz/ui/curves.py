"""The two live curves: cost per bin, and rms errors of the couplings.

Bokeh models are built once per session. A frame is one assignment of `data` per line; every curve carries its value
at its end. Colours are set by `paint`, because the page's own design would restyle what is left to defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from bokeh.model import Model
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    GlyphRenderer,
    HoverTool,
    NumeralTickFormatter,
    Range1d,
    Span,
    Text,
    TickFormatter,
)
from bokeh.plotting import figure

from hidviz.couplings import Array
from hidviz.frames import Frame
from hidviz.ui.colours import ACCENT, ACCENT_DARK, DARK, LIGHT, block_colours
from hidviz.ui.decimate import decimated

FONT = "Roboto, Helvetica, Arial, sans-serif"
SMALLEST_EXCESS = 1e-10  # nats per bin: below this a cost is the lowest, for a logarithm


@dataclass(frozen=True)
class Line:
    """One curve to draw: its name (a key of the source), its label at the end, its points."""

    name: str
    label: str
    x: Array
    y: Array


class Curves:
    """A figure of named curves over the step, each labelled at its end.

    Args:
        styles: for each curve its width and dash.
        axis: label of the ordinate.
        name: an accessible name for the figure.
    """

    def __init__(self, styles: Mapping[str, tuple[float, str]], axis: str, name: str) -> None:
        self.figure = figure(
            height=206,
            sizing_mode="stretch_width",
            x_range=Range1d(0, 20),
            y_range=Range1d(0, 1),
            tools="",
            toolbar_location=None,
            output_backend="canvas",
            min_border=0,
            name=name,
        )
        self.figure.xaxis.axis_label = "step"
        self.figure.yaxis.axis_label = axis
        self._sources = {style: ColumnDataSource({"x": [], "y": []}) for style in styles}
        self._most_labels = len(styles) + 2  # every curve, and two truths
        self._lines: dict[str, GlyphRenderer] = {}
        for style, (width, dash) in styles.items():
            self._lines[style] = self.figure.line(
                "x", "y", source=self._sources[style], line_width=width, line_dash=dash, line_join="round"
            )
        nothing = {"x": np.nan, "y": np.nan, "text": "", "color": LIGHT.text}
        self._ends = ColumnDataSource({name: [value] * self._most_labels for name, value in nothing.items()})
        self.figure.add_glyph(
            self._ends,
            Text(
                x="x", y="y", text="text", text_color="color", x_offset=7, text_baseline="middle",
                text_font_size="13px", text_font={"value": FONT},
            ),
        )  # fmt: skip
        self.figure.add_tools(
            HoverTool(
                renderers=list(self._lines.values()),
                tooltips=[("step", "@x{0,0}"), (axis, "@y{0.0000[00]}")],
                mode="mouse",
                line_policy="nearest",
            )
        )
        self._colours: Mapping[str, str] = {}
        self._dark = False

    def draw(self, lines: Sequence[Line], low: float, high: float) -> None:
        """Show these curves, and no others, between the given ordinates."""
        shown = {line.name: line for line in lines}
        for name, source in self._sources.items():
            line = shown.get(name)
            x, y = decimated(line.x, line.y) if line else (np.empty(0), np.empty(0))
            source.data = {"x": x.astype(np.float32), "y": y.astype(np.float32)}
        last = max((float(line.x[-1]) for line in lines if len(line.x)), default=0.0)
        _set(self.figure.x_range, start=0.0, end=_next_nice(1.4 * last))
        _set(self.figure.y_range, start=low, end=high)
        labelled = [line for line in lines if line.label and len(line.y)]
        margin = 0.04 * (high - low)
        heights = spread([float(line.y[-1]) for line in labelled], 2.0 * margin, low + margin, high - margin)
        # Always as many rows: Bokeh draws between taking in more rows and their colours, and then fails.
        spare = self._most_labels - len(labelled)
        self._ends.data = {
            "x": [*(float(line.x[-1]) for line in labelled), *[np.nan] * spare],
            "y": [*heights, *[np.nan] * spare],
            "text": [*(line.label for line in labelled), *[""] * spare],
            "color": [*(self._colours.get(line.name, LIGHT.text) for line in labelled), *[LIGHT.text] * spare],
        }

    def paint(self, colours: Mapping[str, str], dark: bool) -> None:
        """Colour the curves by name, and everything else by theme."""
        self._colours = colours
        for name, renderer in self._lines.items():
            renderer.glyph.line_color = colours[name]
        paint_axes(self.figure, dark)


class CostCurves(Curves):
    """Training and held-out cost per bin, and what the truth costs, on a linear or a logarithmic scale."""

    def __init__(self) -> None:
        styles = {
            "train": (3.0, "solid"),
            "exact": (2.0, "dotted"),
            "held_out": (2.0, "dashed"),
            "best": (0.0, "solid"),
        }
        super().__init__(styles, "cost (nats per bin)", "Cost per bin")
        self.logarithmic = False
        self._plain, self._powers = NumeralTickFormatter(format="0.00"), _powers_of_ten()
        self._truths = {name: Span(dimension="width", line_width=1.5, visible=False) for name in ("train", "held_out")}
        for name, span in self._truths.items():
            span.line_dash = "solid" if name == "train" else "dashed"
            self.figure.add_layout(span)
        self._best = ColumnDataSource({"x": [], "y": []})
        self._best_mark = self.figure.scatter("x", "y", source=self._best, size=9, marker="circle", fill_alpha=0.0)
        self._best_mark.glyph.line_width = 2
        self.figure.yaxis.ticker = BasicTicker(desired_num_ticks=5)

    def show(self, frame: Frame) -> None:
        """Draw the costs of a frame."""
        steps = frame.trace["step"]
        curves = {
            "train": ("train", frame.trace["cost"]),
            "exact": ("exact", frame.trace["exact"] if "exact" in frame.trace else np.empty(0)),
            "held_out": ("held-out", frame.trace["held_out"] if "held_out" in frame.trace else np.empty(0)),
        }
        present = {name: (label, y) for name, (label, y) in curves.items() if len(y)}
        if self.logarithmic:
            self._show_excess(steps, present)
        else:
            self._show_costs(frame, steps, present)

    def _show_costs(self, frame: Frame, steps: Array, curves: Mapping[str, tuple[str, Array]]) -> None:
        truths = {"train": frame.bench.cost_at_truth, "held_out": frame.bench.held_out_cost_at_truth}
        known = {name: value for name, value in truths.items() if value is not None}
        low = min([float(y.min()) for _, y in curves.values()] + list(known.values()))
        high = max(float(y[0]) for _, y in curves.values())
        high = max([high, *known.values(), low + 1e-3])
        low, high = _roomy(low, high)
        lines = [Line(name, f"{label} {y[-1]:.4f}", steps, y) for name, (label, y) in curves.items()]
        names = {"train": "truth", "held_out": "truth, held-out"}
        marks = [
            Line(f"truth_{name}", f"{names[name]} {y:.4f}", steps[-1:], np.array([y])) for name, y in known.items()
        ]
        self.draw([*lines, *marks], low, high)
        for name, span in self._truths.items():
            _set(span, visible=name in known, location=known.get(name, 0.0))
        best = frame.snapshot.best
        _set(self._best, data={"x": [best.step] if best else [], "y": [best.cost] if best else []})
        self._set_axis("cost (nats per bin)", self._plain)
        _set(self._plain, format="0.00" if high - low > 0.2 else "0.0000")

    def _show_excess(self, steps: Array, curves: Mapping[str, tuple[str, Array]]) -> None:
        """The cost above the lowest so far, as powers of ten on a linear axis, which Bokeh can rescale live."""
        lines = []
        for name, (label, y) in curves.items():
            excess = np.log10(np.maximum(y - y.min(), SMALLEST_EXCESS))
            lines.append(Line(name, f"{label} {y[-1]:.4f}", steps, excess))
        high = max(float(line.y.max()) for line in lines) + 0.4
        self.draw(lines, float(np.log10(SMALLEST_EXCESS)), high)
        for span in self._truths.values():
            _set(span, visible=False)
        self._best.data = {"x": [], "y": []}
        self._set_axis("excess cost (nats per bin)", self._powers)

    def _set_axis(self, label: str, formatter: TickFormatter) -> None:
        """Name the ordinate; nothing that stays the same is sent, since the browser lays the figure out anew for it."""
        _set(self.figure.yaxis[0], axis_label=label, formatter=formatter)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme: the accent for training, ink for everything it is compared with."""
        inks = DARK if dark else LIGHT
        accent = ACCENT_DARK if dark else ACCENT
        truths = {"truth_train": inks.quiet, "truth_held_out": inks.quiet}
        self.paint({"train": accent, "exact": inks.text, "held_out": inks.text, "best": accent} | truths, dark)
        for span in self._truths.values():
            span.line_color = inks.quiet
            span.line_alpha = 0.55
        self._best_mark.glyph.line_color = inks.quiet


class ErrorCurves(Curves):
    """Root-mean-square errors of each block: as found (thin) and after alignment to the truth (bold)."""

    def __init__(self) -> None:
        thin = {f"rms_{block}": (1.3, "solid") for block in "JKLM"}
        bold = {f"aligned_{block}": (3.2, "solid") for block in "JKLM"}
        super().__init__(thin | bold, "rms error of couplings", "Errors of the couplings")
        self.figure.yaxis.ticker = BasicTicker(desired_num_ticks=5)

    def show(self, frame: Frame) -> None:
        """Draw the errors of a frame; blocks that the network has not are left out."""
        steps = frame.trace["step"]
        truth = frame.world.truth
        blocks = [b for b in "JKLM" if getattr(truth, b).any() or getattr(frame.snapshot.couplings, b).any()]
        lines = []
        for block in blocks:
            found, aligned = frame.trace[f"rms_{block}"], frame.trace[f"aligned_{block}"]
            apart = abs(found[-1] - aligned[-1]) > 0.02 * max(found[-1], 1e-12)
            lines.append(Line(f"rms_{block}", f"{block} as found {found[-1]:.3f}" if apart else "", steps, found))
            lines.append(Line(f"aligned_{block}", f"{block} {aligned[-1]:.3f}", steps, aligned))
        high = max([float(line.y.max()) for line in lines] + [1e-3])
        self.draw(lines, 0.0, _roomy(0.0, high)[1])

    def restyle(self, dark: bool) -> None:
        """Colours for a theme: each block its own."""
        colours = block_colours(dark)
        self.paint({f"{kind}_{block}": colours[block] for kind in ("rms", "aligned") for block in "JKLM"}, dark)


def paint_axes(plot: figure, dark: bool) -> None:
    """Set every line and letter of a figure's frame for a theme."""
    inks = DARK if dark else LIGHT
    plot.background_fill_color = plot.border_fill_color = None
    plot.outline_line_color = None
    plot.grid.grid_line_color = inks.grid
    plot.axis.axis_line_color = plot.axis.major_tick_line_color = inks.quiet
    plot.axis.minor_tick_line_color = None
    plot.axis.major_label_text_color = inks.quiet
    plot.axis.axis_label_text_color = inks.text
    plot.axis.major_label_text_font_size = plot.axis.axis_label_text_font_size = "13px"
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_standoff = 6
    plot.axis.major_label_text_font = plot.axis.axis_label_text_font = FONT


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


def _next_nice(value: float) -> float:
    """The least of 20, 50, 100, 200, 500, … that is not below the value, so that axes move seldom."""
    scale = 10.0
    while True:
        for factor in (2.0, 3.0, 5.0, 7.0, 10.0):
            if factor * scale >= value:
                return factor * scale
        scale *= 10.0


def _roomy(low: float, high: float) -> tuple[float, float]:
    """Ends a little beyond these, on a coarse grid, so that an axis moves seldom: moving it costs a new layout."""
    grid = 2.0 ** np.floor(np.log2(0.06 * (high - low)))
    return float(np.floor(low / grid) * grid - grid), float(np.ceil(high / grid) * grid + grid)


def _set(model: Model, **values: object) -> None:
    """Change only what is another value now."""
    changed = {name: value for name, value in values.items() if getattr(model, name) != value}
    if changed:
        model.update(**changed)


def _powers_of_ten() -> CustomJSTickFormatter:
    return CustomJSTickFormatter(
        code="const up = '⁰¹²³⁴⁵⁶⁷⁸⁹'; const k = Math.round(tick);"
        "if (Math.abs(tick - k) > 1e-6) { return '' }"
        "return '10' + (k < 0 ? '⁻' : '') + String(Math.abs(k)).split('').map(d => up[d]).join('')"
    )
