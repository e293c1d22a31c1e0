"""Layout: headings, and items that share a row as long as there is room."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import panel as pn


def words(html: str = "", *, size: int = 15, weight: int = 400, **layout: Any) -> Any:
    """A piece of text."""
    styles = {"font-size": f"{size}px", "font-weight": str(weight), "line-height": "1.5"}
    return pn.pane.HTML(html, styles=styles | layout.pop("styles", {}), **({"margin": 0} | layout))


def heading(text: str) -> Any:
    """The title of a plot or a table."""
    return words(text, size=17, weight=600)


def flexible(item: Any, basis: int) -> Any:
    """The item, growing and shrinking in its row from a width of `basis` pixels."""
    item.styles = {"flex": f"1 1 {basis}px", "min-width": "0"}
    return item


def titled(title: str, plot: Any, beside: Any = None) -> Any:
    """A Bokeh figure as wide as its place, under its title, with something at the other end of the title's line."""
    head = heading(title)
    if beside is not None:
        head = line(head, beside, styles={"justify-content": "space-between"})
    return pn.Column(
        head, pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0), sizing_mode="stretch_width", margin=0
    )


def square(title: str, plot: Any) -> Any:
    """A Bokeh figure that keeps its proportions, under its title."""
    return pn.Column(heading(title), pn.pane.Bokeh(plot, sizing_mode="scale_width", max_width=318, margin=0), margin=0)


def row(*items: Any, basis: int) -> Any:
    """Items side by side, wrapping where they would become narrower than `basis` pixels."""
    return line(*[flexible(item, basis) for item in items], styles={"align-items": "flex-start"})


def line(*items: Any, styles: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Items side by side as far as there is room; a Row, since a FlexBox costs ten times as much to open."""
    shared = {"display": "flex", "flex-wrap": "wrap", "gap": "8px 16px", "align-items": "center"}
    return pn.Row(*items, styles=shared | dict(styles), sizing_mode="stretch_width", margin=0)
