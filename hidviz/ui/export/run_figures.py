"""The pictures of one run as finished figures, SVG and PNG: costs, errors and couplings, as on the Learn tab."""

from __future__ import annotations

from typing import Any

from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from hidviz.experiments import Frame
from hidviz.learners import LEARNERS
from hidviz.network import MATRICES, aligned
from hidviz.numerics import Array
from hidviz.ui.export.paper import drawing, files_of, say
from hidviz.ui.plots.axes import decimate
from hidviz.ui.plots.heatmaps import Scale, block_matrix, scale_for, unit_ticks
from hidviz.ui.text.status import gauge_in_words
from hidviz.ui.theme import LIGHT, block_colours, diverging


def draw_run(frame: Frame) -> dict[str, bytes]:
    """The pictures of a run by their file names: costs, errors and couplings, each as .svg and .png."""
    files: dict[str, bytes] = {}
    with drawing():
        pictures = {"costs": _costs(frame), "errors": _errors(frame), "couplings": _couplings(frame)}
        for name, picture in pictures.items():
            say(picture, _headline(frame), from_top=0.1)
            files |= files_of(picture, name)
    return files


def _headline(frame: Frame) -> str:
    """Which run this is, in a line."""
    experiment = frame.experiment
    learner = LEARNERS[experiment.learner].title
    units = f"{experiment.n_visible} visible + {experiment.n_hidden} hidden units"
    return f"{units}, T = {experiment.n_steps:,}, seed {experiment.seed}. {learner}, step {frame.snapshot.step:,}"


def _costs(frame: Frame) -> Figure:
    """Cost per bin over the steps, and what the truth costs."""
    figure, axes = _over_steps("cost (nats per bin)")
    steps, trace = frame.trace["step"], frame.trace
    curves: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("cost", "training", {"color": LIGHT.accent, "linewidth": 2.5}),
        ("exact", "exact", {"color": LIGHT.text, "linewidth": 1.6, "linestyle": ":"}),
        ("held_out", "held-out", {"color": LIGHT.text, "linewidth": 1.6, "linestyle": "--"}),
    )
    for name, label, stroke in curves:
        if name in trace:
            axes.plot(*decimate(steps, trace[name]), label=f"{label} {trace[name][-1]:.4f}", **stroke)
    truths = (
        ("truth", frame.setup.cost_at_truth, "-"),
        ("truth, held-out", frame.setup.held_out_cost_at_truth, "--"),
    )
    for label, cost, dash in truths:
        if cost is not None:
            axes.axhline(cost, color=LIGHT.quiet, linewidth=1.0, linestyle=dash, label=f"{label} {cost:.4f}")
    if best := frame.snapshot.best:
        axes.plot(best.step, best.cost, "o", color=LIGHT.quiet, fillstyle="none", label=f"best, step {best.step:,}")
    axes.legend()
    return figure


def _errors(frame: Frame) -> Figure:
    """Root mean square errors of each block: thin as found, bold after alignment."""
    figure, axes = _over_steps("rms error of couplings")
    colours, steps, trace = block_colours(dark=False), frame.trace["step"], frame.trace
    for block in MATRICES:
        if not (getattr(frame.data.truth, block).any() or getattr(frame.snapshot.couplings, block).any()):
            continue
        found, best = trace[f"rms_{block}"], trace[f"aligned_{block}"]
        axes.plot(
            *decimate(steps, found), color=colours[block], linewidth=1.0, label=f"{block} {found[-1]:.4f} unaligned"
        )
        axes.plot(*decimate(steps, best), color=colours[block], linewidth=2.8, label=f"{block} {best[-1]:.4f} aligned")
    axes.set_ylim(bottom=0.0)
    axes.legend()
    return figure


def _over_steps(what: str) -> tuple[Figure, Any]:
    figure = Figure(figsize=(8.0, 4.5))
    axes = figure.add_axes((0.1, 0.12, 0.87, 0.78))
    axes.set_xlabel("step")
    axes.set_ylabel(what)
    return figure, axes


SIDE, PITCH, LEFT, TOP = 3.0, 3.8, 0.75, 1.1  # inches: a map, from one to the next, and to the first of a row


def _couplings(frame: Frame) -> Figure:
    """True, found, and their difference; below, the same aligned to the truth where that changes anything."""
    truth, found = frame.data.truth, frame.snapshot.couplings
    n = max(truth.n_hidden, found.n_hidden)
    scale, true, raw = scale_for(truth, n), block_matrix(truth, n), block_matrix(found, n)
    rows = [[("True couplings", true), ("Found", raw), ("Found − true", raw - true)]]
    if not frame.gauge.is_identity:
        best = block_matrix(aligned(found, truth), n)
        rows.append([("True couplings", true), ("Found, aligned to the truth", best), ("Aligned − true", best - true)])
    width, height = LEFT + 3 * PITCH + 0.5, TOP + 4.0 * len(rows) - 0.3
    figure = Figure(figsize=(width, height))
    for k, row in enumerate(rows):
        for column, (title, values) in enumerate(row):
            x, y = LEFT + column * PITCH, height - TOP - 4.0 * k - SIDE
            axes = figure.add_axes((x / width, y / height, SIDE / width, SIDE / height))
            image = _map(axes, values, scale)
            axes.set_title(title, loc="left")
    bar = figure.add_axes(((LEFT + 3 * PITCH - 0.4) / width, 1.0 - (TOP + SIDE) / height, 0.15 / width, SIDE / height))
    bar.grid(visible=False)
    figure.colorbar(image, cax=bar, label="coupling")
    say(figure, gauge_in_words(frame.gauge, found.n_hidden, truth.n_hidden), from_top=0.4)
    return figure


def _map(axes: Any, values: Array, scale: Scale) -> Any:
    """One block matrix; rows receive, columns send, and the blocks of the hidden units are framed."""
    n_visible, n_hidden = scale.n_visible, scale.n_hidden
    image = axes.imshow(
        values,
        cmap=ListedColormap(list(diverging(dark=False))),
        vmin=-scale.largest,
        vmax=scale.largest,
        interpolation="nearest",
    )
    ticks, labels = unit_ticks(n_visible, n_hidden)
    axes.set_xticks(ticks, labels)
    axes.set_yticks(ticks, labels)
    axes.set_xlabel("from unit")
    axes.set_ylabel("to unit")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    blocks = {
        "K": (n_visible, 0, n_hidden, n_visible),
        "L": (0, n_visible, n_visible, n_hidden),
        "M": (n_visible, n_visible, n_hidden, n_hidden),
    }
    for block, (x, y, width, height) in blocks.items():
        if n_hidden:
            edge: dict[str, Any] = {"fill": False, "edgecolor": block_colours(dark=False)[block], "linewidth": 1.8}
            axes.add_patch(Rectangle((x - 0.5, y - 0.5), width, height, clip_on=False, **edge))
    return image
