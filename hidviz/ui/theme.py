"""Colours of the page, each said here and nowhere else: inks of both themes, blocks, and the scale of the heatmaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from types import MappingProxyType

from colorcet import palette


@dataclass(frozen=True)
class Inks:
    """The colours of a theme; a style sheet has each as a variable of the same name, `--text`, `--warning-edge` ….

    Args:
        text: labels and numbers.
        quiet: axis lines, ticks and lesser text.
        grid: grid lines, and lines between the rows of a table.
        edge: around what can be filled in or pressed.
        paper: behind everything.
        sheet: behind a sheet that lies over the page.
        accent: what can be pressed, what is chosen, the curve that is learned.
        soft: behind what is chosen or pointed at.
        off: what cannot be pressed now.
        bad: what was refused, and why.
        warning, warning_paper, warning_edge: a notice, behind it, and beside it.
        J, K, L, M: the blocks of couplings; J is neutral.
        K_text, M_text: the same colours for letters, which need more contrast than lines and areas; J and L have it.
    """

    text: str
    quiet: str
    grid: str
    edge: str
    paper: str
    sheet: str
    accent: str
    soft: str
    off: str
    bad: str
    warning: str
    warning_paper: str
    warning_edge: str
    J: str
    K: str = "#d55e00"
    L: str = "#0072b2"
    M: str = "#009e73"
    K_text: str = "#b34700"
    M_text: str = "#00724f"


LIGHT = Inks(
    text="#1d1f24", quiet="#5c616b", grid="#e7e8ec", edge="#c3c6cd", paper="#ffffff", sheet="#ffffff", accent="#5b4fcf",
    soft="#f1f0fb", off="#9a9ea7", bad="#b3261e", warning="#6b3f00", warning_paper="#fff4e0", warning_edge="#e0a84a",
    J="#1d1f24",
)  # fmt: skip
DARK = Inks(
    text="#eceef2", quiet="#a6abb5", grid="#34373e", edge="#565a63", paper="#17181c", sheet="#202227", accent="#a79ff2",
    soft="#262438", off="#6f747e", bad="#ff8a80", warning="#ffdda3", warning_paper="#33270f", warning_edge="#b9842c",
    J="#f2f3f5", L="#4aa8e0",  # the same blue, light enough to be read on a dark page
    K_text="#e87a2a", M_text="#12b886",
)  # fmt: skip


def inks(dark: bool) -> Inks:
    """The colours of a theme."""
    return DARK if dark else LIGHT


def block_colours(dark: bool) -> Mapping[str, str]:
    """The colour of each block of couplings, everywhere on the page."""
    ink = inks(dark)
    return MappingProxyType({"J": ink.J, "K": ink.K, "L": ink.L, "M": ink.M, "h": ink.quiet, "g": ink.quiet})


def block_letters(dark: bool) -> Mapping[str, str]:
    """The colour of the letters that name a block of couplings, or tell its numbers."""
    ink = inks(dark)
    return MappingProxyType({**block_colours(dark), "K": ink.K_text, "M": ink.M_text})


def css_variables() -> str:
    """All inks as variables of a style sheet: the light ones, and the dark ones below an element of class `dark`."""
    rules = []
    for selector, ink in ((":host", LIGHT), (".dark", DARK)):
        variables = " ".join(f"--{name.replace('_', '-')}: {colour};" for name, colour in asdict(ink).items())
        rules.append(f"{selector} {{ {variables} }}")
    return "\n".join(rules)


RISE_IN_DARK = 0.7  # the power of a coupling's size that a dark page shows


@cache
def diverging(dark: bool) -> tuple[str, ...]:
    """The scale of the heatmaps: blue, the paper at zero, red; uniform in lightness, safe for the colour-blind.

    colorcet's scales end in the middle in a grey or a pink of their own. They are shifted to the paper there, less and
    less towards both ends, so that zero is no colour. On a dark page small couplings would hardly be seen: there the
    scale rises faster near zero than it does towards its ends.
    """
    scale = [_rgb(colour) for colour in palette["CET_D4" if dark else "CET_D1A"]]
    half = len(scale) // 2
    middle, paper = scale[half], _rgb(inks(dark).paper)
    shades = []
    for k in range(-half, half + 1):  # as many on both sides of the middle
        size = (abs(k) / half) ** (RISE_IN_DARK if dark else 1.0)
        away = round(size * half)
        shade = scale[half - away] if k < 0 else scale[min(half + away, len(scale) - 1)]
        parts = (a + (1.0 - size) * (p - m) for a, p, m in zip(shade, paper, middle, strict=True))
        shades.append("#" + "".join(f"{min(255, max(0, round(part))):02x}" for part in parts))
    return tuple(shades)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return red, green, blue
