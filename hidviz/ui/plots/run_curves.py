"""The live curves of a run: its costs, beside what they are measured by, and the errors of its couplings.

Levels run across the costs: what the truth costs, and what models without hidden units do. Where no exact sum is
affordable, the cost is sampled now and then, and drawn between its standard errors.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from bokeh.models import ColumnDataSource, CustomJSTickFormatter, HoverTool, NumeralTickFormatter, Scatter

from hidviz.experiments import Frame, Setup
from hidviz.network import MATRICES
from hidviz.ui.plots.axes import put, roomy
from hidviz.ui.plots.curves import Curves, Line
from hidviz.ui.text.language import N_, _
from hidviz.ui.theme import block_colours, block_letters, inks

SMALLEST_EXCESS = 1e-10  # nats per bin: below this a cost is the lowest, for a logarithm

STYLES = {
    "train": (3.0, "solid"),
    "exact": (2.0, "dotted"),
    "held_out": (2.0, "dashed"),
    "sampled": (2.0, "dotted"),
    "sampled_held_out": (2.0, "dotdash"),
    **{f"{name}_{side}": (0.8, "dotted") for name in ("sampled", "sampled_held_out") for side in ("low", "high")},
    "truth": (1.5, "solid"),
    "truth_held_out": (1.5, "dashed"),
    "lag1": (1.0, "dotdash"),
    "lag2": (1.0, "dotdash"),
}


class CostCurves(Curves):
    """Costs per bin, on a linear or a logarithmic scale."""

    def __init__(self) -> None:
        super().__init__(STYLES, _("nats per bin"), _("Cost per bin"))
        self.logarithmic = False
        self._plain, self._powers = NumeralTickFormatter(format="0.00"), _powers_of_ten()
        self._best = ColumnDataSource({"x": [], "y": []})
        self._best_mark = Scatter(x="x", y="y", size=9, marker="circle", fill_alpha=0.0, line_width=2)
        best = self.figure.add_glyph(self._best, self._best_mark)
        tip = [(_("step"), "@x{0,0}"), (_("lowest held-out cost"), "@y{0.0000}")]
        self.figure.add_tools(HoverTool(renderers=[best], tooltips=tip))

    def show(self, frame: Frame) -> None:
        """Draw the costs of a frame."""
        steps = frame.trace["step"]
        curves = [
            Line(name, f"{_(label)} {frame.trace[column][-1]:.4f}", steps, frame.trace[column])
            for name, label, column in (
                ("train", N_("train"), "cost"),
                ("exact", N_("exact"), "exact"),
                ("held_out", N_("held-out"), "held_out"),
            )
            if column in frame.trace
        ]
        if self.logarithmic:
            self._show_excess(curves)
        else:
            self._show_costs(frame, [*curves, *_sampled(frame)])

    def _show_costs(self, frame: Frame, curves: list[Line]) -> None:
        last = float(frame.trace["step"][-1])
        levels = [
            Line(name, f"{_(label)} {value:.4f}", np.array([0.0, last]), np.array([value, value]))
            for name, (label, value) in _levels(frame.setup).items()
        ]
        lines = [*levels, *curves]
        low = min(float(line.y.min()) for line in lines)
        low, high = roomy(low, max(_top(levels, curves), low + 1e-3))
        self.draw(lines, low, high)
        put(self._best, data=_lowest(frame))
        self.name_ordinate(_("nats per bin"), self._plain)
        put(self._plain, format="0.00" if high - low > 0.2 else "0.0000")

    def _show_excess(self, curves: list[Line]) -> None:
        """The cost above the lowest so far, as powers of ten on a linear axis, which Bokeh can rescale live."""
        lines = [
            Line(line.name, line.label, line.x, np.log10(np.maximum(line.y - line.y.min(), SMALLEST_EXCESS)))
            for line in curves
        ]
        high = max(float(line.y.max()) for line in lines) + 0.4
        self.draw(lines, float(np.log10(SMALLEST_EXCESS)), high)
        put(self._best, data={"x": [], "y": []})
        self.name_ordinate(_("nats per bin, excess"), self._powers, exponents=True)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme: the accent for training, ink for everything it is compared with."""
        ink = inks(dark)
        own = {"train": ink.accent, "sampled": ink.accent, "exact": ink.text, "held_out": ink.text}
        self.paint(dict.fromkeys(STYLES, ink.quiet) | own, dark)
        self._best_mark.line_color = ink.quiet


class ErrorCurves(Curves):
    """Root-mean-square errors of each block: as found (thin) and after alignment to the truth (bold)."""

    def __init__(self) -> None:
        thin = {f"rms_{block}": (1.3, "solid") for block in MATRICES}
        bold = {f"aligned_{block}": (3.2, "solid") for block in MATRICES}
        super().__init__(thin | bold, _("rms error"), _("Errors of the couplings"))

    def show(self, frame: Frame) -> None:
        """Draw the errors of a frame; blocks that the network has not are left out."""
        steps = frame.trace["step"]
        lines = []
        for block in blocks_of(frame):
            found, aligned = frame.trace[f"rms_{block}"], frame.trace[f"aligned_{block}"]
            apart = abs(found[-1] - aligned[-1]) > 0.02 * max(found[-1], 1e-12)
            lines.append(
                Line(
                    f"rms_{block}",
                    _("{block} unaligned {found:.3f}", block=block, found=found[-1]) if apart else "",
                    steps,
                    found,
                )
            )
            lines.append(Line(f"aligned_{block}", f"{block} {aligned[-1]:.3f}", steps, aligned))
        high = max([float(line.y.max()) for line in lines] + [1e-3])
        self.draw(lines, 0.0, roomy(0.0, high)[1])

    def restyle(self, dark: bool) -> None:
        """Colours for a theme: each block its own."""
        lines, letters = (
            {f"{kind}_{block}": colours[block] for kind in ("rms", "aligned") for block in MATRICES}
            for colours in (block_colours(dark), block_letters(dark))
        )
        self.paint(lines, dark, letters)


def blocks_of(frame: Frame) -> tuple[str, ...]:
    """The blocks of couplings that the true or the inferred network has."""
    networks = (frame.data.truth, frame.snapshot.couplings)
    return tuple(block for block in MATRICES if any(getattr(each, block).any() for each in networks))


def _lowest(frame: Frame) -> dict[str, list[float]]:
    """Where the held-out cost was lowest, the first such step; nowhere without held-out data."""
    held_out = frame.trace["held_out"] if "held_out" in frame.trace else np.empty(0)
    if not np.isfinite(held_out).any():
        return {"x": [], "y": []}
    k = int(np.nanargmin(held_out))
    return {"x": [float(frame.trace["step"][k])], "y": [float(held_out[k])]}


def _top(levels: list[Line], curves: list[Line]) -> float:
    """The highest cost in view: where learning began; once it has passed all it is measured by, the highest of those.

    The first steps fall by far more than what tells the models apart; they leave the picture at its upper edge.
    """
    highest = max((float(line.y[0]) for line in levels), default=np.inf)
    passed = all(float(line.y[-1]) < highest for line in curves)
    return highest if passed and np.isfinite(highest) else max(float(line.y[0]) for line in [*levels, *curves])


def _levels(setup: Setup) -> Mapping[str, tuple[str, float]]:
    """What curves are measured by: for each level its label and its cost, nats per bin; those that are known."""
    found = setup.baselines
    levels = {
        "truth": (N_("truth"), setup.cost_at_truth),
        "truth_held_out": (N_("truth, held-out"), setup.held_out_cost_at_truth),
        "lag1": (N_("lag-1, held-out"), found and found.lag1),
        "lag2": (N_("lag-2, held-out"), found and found.lag2),
    }
    return {name: (label, value) for name, (label, value) in levels.items() if value is not None}


def _sampled(frame: Frame) -> list[Line]:
    """Costs that were estimated by sampling, each between its standard errors."""
    lines = []
    for name, label, column in (
        ("sampled", N_("sampled"), "cost"),
        ("sampled_held_out", N_("its held-out"), "held_out"),
    ):
        if column in frame.sampled:
            columns = np.array([frame.sampled[key] for key in ("step", column, f"{column}_error")])
            steps, cost, error = columns[:, np.isfinite(columns[1])]  # without those that were refused
            if not len(steps):
                continue
            lines.append(Line(name, f"{_(label)} {cost[-1]:.4f} ± {error[-1]:.4f}", steps, cost))
            lines.append(Line(f"{name}_low", "", steps, cost - error))
            lines.append(Line(f"{name}_high", "", steps, cost + error))
    return lines


def _powers_of_ten() -> CustomJSTickFormatter:
    return CustomJSTickFormatter(
        code="const up = '⁰¹²³⁴⁵⁶⁷⁸⁹'; const k = Math.round(tick);"
        "if (Math.abs(tick - k) > 1e-6) { return '' }"
        "return '10' + (k < 0 ? '⁻' : '') + String(Math.abs(k)).split('').map(d => up[d]).join('')"
    )
