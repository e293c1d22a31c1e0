"""Colours of the page: one accent, the four blocks, and the inks of both themes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from colorcet import palette


@dataclass(frozen=True)
class Inks:
    """Colours that depend on the theme.

    Args:
        text: labels and numbers.
        quiet: axis lines, ticks and lesser text.
        grid: grid lines.
        paper: behind the plots.
        J: the block J, which is neutral.
    """

    text: str
    quiet: str
    grid: str
    paper: str
    J: str


ACCENT = "#5b4fcf"
ACCENT_DARK = "#a79ff2"

LIGHT = Inks(text="#1d1f24", quiet="#5c616b", grid="#e7e8ec", paper="#ffffff", J="#1d1f24")
DARK = Inks(text="#eceef2", quiet="#a6abb5", grid="#34373e", paper="#17181c", J="#f2f3f5")

K, L, M = "#d55e00", "#0072b2", "#009e73"
L_DARK = "#4aa8e0"  # the same blue, light enough to be read on a dark page

DIVERGING = tuple(palette["CET_D1A"])  # blue, light centre, red; uniform in lightness, safe for the colour-blind


def block_colours(dark: bool) -> Mapping[str, str]:
    """The colour of each block of couplings, everywhere on the page."""
    inks = DARK if dark else LIGHT
    return MappingProxyType({"J": inks.J, "K": K, "L": L_DARK if dark else L, "M": M, "h": inks.quiet, "g": inks.quiet})
