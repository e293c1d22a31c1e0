"""Paper: how figures are drawn for files, by matplotlib, without a browser and without a screen.

It may be done in any thread: nothing here touches matplotlib's global figures, its settings are put back, and the same
figure gives the same bytes.
"""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import matplotlib as mpl
from matplotlib.figure import Figure

from hidviz.ui.theme import LIGHT

STYLE = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "hidviz",  # else identifiers are drawn at random
    "font.size": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 11.0,
    "axes.edgecolor": LIGHT.quiet,
    "axes.labelcolor": LIGHT.text,
    "text.color": LIGHT.text,
    "xtick.color": LIGHT.quiet,
    "ytick.color": LIGHT.quiet,
    "axes.grid": True,
    "grid.color": LIGHT.grid,
    "legend.frameon": False,
    "figure.facecolor": LIGHT.paper,
}
UNDATED: dict[str, dict[str, None]] = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}
DOTS_PER_INCH = 120


_drawing = threading.Lock()  # matplotlib's settings belong to the process


@contextmanager
def drawing() -> Iterator[None]:
    """Everything drawn inside has our style."""
    with _drawing, mpl.rc_context(STYLE):
        yield


def files_of(figure: Figure, name: str) -> dict[str, bytes]:
    """The figure as files, named with this name: .svg, in which text is text, and .png."""
    files = {}
    for kind, undated in UNDATED.items():
        content = io.BytesIO()
        figure.savefig(content, format=kind, dpi=DOTS_PER_INCH, metadata=undated)
        files[f"{name}.{kind}"] = content.getvalue()
    return files


def say(figure: Figure, text: str, from_top: float) -> None:
    """A line of text at the left, so many inches from the top."""
    width, height = figure.get_size_inches()
    figure.text(0.15 / width, 1.0 - from_top / height, text, va="top", fontsize=11)
