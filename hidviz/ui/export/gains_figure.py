"""The chart of a scan as files: the page's own, on a page that needs no network, and the same as SVG and PNG."""

from __future__ import annotations

from textwrap import fill

from bokeh.layouts import column
from bokeh.models import Div
from matplotlib.figure import Figure

from hidviz.experiments import Scan
from hidviz.ui.export.offline import offline_page
from hidviz.ui.export.paper import drawing, files_of, say
from hidviz.ui.plots.gains import Gains
from hidviz.ui.text.own_scan import answer
from hidviz.ui.theme import LIGHT

WIDTH, HEIGHT = 8.0, 4.6  # inches
LEFT, RIGHT, ABOVE, BELOW = 0.8, 1.9, 0.75, 0.6  # inches beside the axes: the right is for the names of the lines
LETTERS = 95  # in a line of the sentence above


def draw_gains(table: Scan, name: str) -> dict[str, str | bytes]:
    """The chart as the files name.html, name.svg and name.png.

    Args:
        table: a scan that is complete.
        name: of the files, without ending.
    """
    plot = Gains()
    plot.restyle(False)
    plot.show(table, max(row.n_hidden for row in table.rows))
    page = column(Div(text=answer(table, complete=True)), plot.figure, sizing_mode="stretch_width")
    with drawing():
        return {f"{name}.html": offline_page(page, "Gain by the number of hidden units")} | files_of(
            _on_paper(plot, table.sentence()), name
        )


def _on_paper(plot: Gains, sentence: str) -> Figure:
    """What the page's chart shows, in the style that is set."""
    figure = Figure(figsize=(WIDTH, HEIGHT))
    say(figure, fill(sentence, LETTERS), from_top=0.12)
    size = (WIDTH - LEFT - RIGHT, HEIGHT - ABOVE - BELOW)
    axes = figure.add_axes((LEFT / WIDTH, BELOW / HEIGHT, size[0] / WIDTH, size[1] / HEIGHT))
    shown = plot.shown()
    lines, bars, points, rules, labels = (shown[each] for each in ("curves", "bars", "points", "rules", "labels"))
    for xs, ys, colour, dash in zip(*(lines[each] for each in ("xs", "ys", "color", "dash")), strict=True):
        axes.plot(xs, ys, color=colour, alpha=0.7, linewidth=2.0, linestyle=_dashes(dash))
    axes.vlines(bars["x"], bars["low"], bars["high"], colors=list(bars["color"]), linewidth=2.0)
    axes.scatter(
        points["x"], points["gain"], s=[0.5 * each**2 for each in points["size"]], c=list(points["fill"]),
        edgecolors=list(points["color"]), linewidths=2.0, zorder=3,
    )  # fmt: skip
    for left, right, y, dash in zip(*(rules[each] for each in ("x0", "x1", "y", "dash")), strict=True):
        axes.plot([left, right], [y, y], color=LIGHT.quiet, linewidth=1.5, linestyle=_dashes(dash))
    for x, y, text, colour in zip(*(labels[each] for each in ("x", "y", "text", "color")), strict=True):
        if text:
            axes.annotate(text, (x, y), (6, 0), textcoords="offset points", color=colour, va="center")
    x_range, y_range = plot.figure.x_range, plot.figure.y_range
    axes.set(
        xlim=(x_range.start, x_range.end), ylim=(y_range.start, y_range.end), xticks=range(round(x_range.end) + 1),
        xlabel=plot.figure.xaxis[0].axis_label, ylabel=plot.figure.yaxis[0].axis_label,
    )  # fmt: skip
    return figure


def _dashes(dash: str) -> str | tuple[int, tuple[float, ...]]:
    """Bokeh's dashes for matplotlib, which measures them in widths of the line."""
    return dash if dash == "solid" else (0, tuple(0.6 * float(each) for each in dash.split()))
