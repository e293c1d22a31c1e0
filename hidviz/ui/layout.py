"""Layout: headings, and items that share a row as long as there is room."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui


def heading(text: str) -> Any:
    """The title of a plot or a table."""
    return pmui.Typography(text, sx={"fontSize": 17, "fontWeight": 600}, margin=0)


def flexible(item: Any, basis: int) -> Any:
    """The item, growing and shrinking in its row from a width of `basis` pixels."""
    item.styles = {"flex": f"1 1 {basis}px", "min-width": "0"}
    return item


def titled(title: str, plot: Any, beside: Any = None) -> Any:
    """A Bokeh figure as wide as its place, under its title, with something at the other end of the title's line."""
    head = heading(title)
    if beside is not None:
        head = pn.FlexBox(
            head, beside, justify_content="space-between", align_items="center", sizing_mode="stretch_width"
        )
    return pmui.Column(
        head, pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0), sizing_mode="stretch_width", margin=0
    )


def square(title: str, plot: Any) -> Any:
    """A Bokeh figure that keeps its proportions, under its title."""
    return pmui.Column(
        heading(title), pn.pane.Bokeh(plot, sizing_mode="scale_width", max_width=318, margin=0), margin=0
    )


def row(*items: Any, basis: int) -> Any:
    """Items side by side, wrapping where they would become narrower than `basis` pixels."""
    return pn.FlexBox(*[flexible(item, basis) for item in items], gap="16px", sizing_mode="stretch_width")
