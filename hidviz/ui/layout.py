"""Layout: headings, and items that share a row as long as there is room."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import panel as pn
import panel_material_ui as pmui

TABLE_CSS = """
div.scroll { max-height: 420px; overflow: auto; }
table { border-collapse: collapse; font-size: 15px; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-size: 14px; padding: 4px max(0px, 100% - 100vw + 40px) 4px 0; }
th, td { padding: 3px 16px 3px 0; text-align: right; white-space: nowrap; }
th[scope=row], thead th:first-child { text-align: left; }
th { font-weight: 600; }
table.narrow th { white-space: normal; }
thead th { position: sticky; top: 0; background: var(--panel-background-color, canvas);
  border-bottom: 1px solid currentColor; }
tr.best > * { font-weight: 600; }
tr.best th { box-shadow: inset 4px 0 0 var(--best); padding-left: 10px; }
tr.best td.held span { color: var(--best); padding-left: 6px; }
"""
SWIPED = """
@media (max-width: 700px) {
  :host { flex-wrap: nowrap !important; overflow-x: auto; scroll-snap-type: x mandatory; }
}
"""
ROW = """
@media (max-width: 700px) {
  :host { flex-wrap: nowrap !important; }
}
"""
LARGE = """
@media (max-width: 700px) {
  :host { flex: 0 0 76vw !important; max-width: 76vw !important; scroll-snap-align: start; }
}
"""
MAPS = """
@media (max-width: 700px) {
  :host { flex: 0 0 auto !important; min-width: calc(3 * 76vw + 32px) !important; }
}
"""
UNDER = """
@media (max-width: 700px) {
  :host { position: sticky !important; left: 0; width: calc(100vw - 32px) !important;
    margin: 14px 0 0 calc(-76vw - 16px) !important; }
}
"""


class Html(pn.pane.HTML):  # type: ignore[misc]  # panel has no types
    """HTML that may change with every frame: Panel works out all other properties anew, at seven times the price."""

    def _update(self, ref: str, model: Any) -> None:  # noqa: ARG002
        model.update(**self._process_param_change({"object": self.object}))


def words(html: str = "", *, size: int = 15, weight: int = 400, **layout: Any) -> Any:
    """A piece of text."""
    styles = {"font-size": f"{size}px", "font-weight": str(weight), "line-height": "1.5"}
    return Html(html, styles=styles | layout.pop("styles", {}), **({"margin": 0} | layout))


def sentence(text: str = "", *, weight: int = 400, style: str = "normal", **layout: Any) -> Any:
    """A sentence or more of Markdown."""
    look = {"fontSize": 15, "fontWeight": weight, "fontStyle": style}
    return pmui.Typography(text, sx=look, **({"margin": (2, 0)} | layout))


def table_pane(**layout: Any) -> Any:
    """A place for a table as HTML, all with one look; the row of class `best` is marked."""
    return Html("", stylesheets=[TABLE_CSS], sizing_mode="stretch_width", **({"margin": (4, 0)} | layout))


def heading(text: str) -> Any:
    """The title of a plot or a table."""
    return words(titling(text), size=17, weight=600)


def titling(text: str) -> str:
    """A title as HTML, which whoever hears the page can go to."""
    return f'<div role="heading" aria-level="2">{text}</div>' if text else ""


def flexible(item: Any, basis: int) -> Any:
    """The item, growing and shrinking in its row from a width of `basis` pixels."""
    item.styles = {"flex": f"1 1 {basis}px", "min-width": "0"}
    return item


def titled(title: str, plot: Any, beside: Any = None) -> Any:
    """A Bokeh figure as wide as its place, under its title, with something at the other end of the title's line."""
    head = heading(title)
    if beside is not None:
        head = line(head, beside, styles={"justify-content": "space-between", "min-height": "28px"})  # that of a switch
    return pn.Column(
        head, pn.pane.Bokeh(plot, sizing_mode="stretch_width", margin=0), sizing_mode="stretch_width", margin=0
    )


def square(title: str, plot: Any) -> Any:
    """A Bokeh figure that keeps its proportions, under its title."""
    return pn.Column(heading(title), pn.pane.Bokeh(plot, sizing_mode="scale_width", max_width=318, margin=0), margin=0)


def row(*items: Any, basis: int) -> Any:
    """Items side by side, wrapping where they would become narrower than `basis` pixels."""
    return line(*[flexible(item, basis) for item in items], styles={"align-items": "flex-start"})


def maps(*squares: Any) -> Any:
    """Square figures side by side, of one size also where the last wraps; on a phone in one row that is swiped."""
    shown = row(*squares, basis=160)
    shown.stylesheets = [SWIPED]
    for each in squares:
        each.styles = each.styles | {"max-width": "calc(50% - 8px)"}
        each.stylesheets = [LARGE]
    return shown


def beside(drawing: Any, squares: Any, under: Any, *, large: bool = False) -> Any:
    """A drawing, three maps beside it, and a line under these; on a phone the drawing and the maps are swiped.

    Where letters are large and height is scarce, what would be under the maps stands at their right if there is room.
    """
    squares.stylesheets, under.stylesheets = [ROW], [UNDER]
    rest = pn.Column(squares, under, margin=0, stylesheets=[MAPS])
    if large:
        squares.styles = dict(squares.styles) | {"flex": "0 1 560px", "width": "auto"}
        under.styles = dict(under.styles) | {"flex": "1 1 280px", "min-width": "0", "width": "auto"}
        rest = line(squares, under)
    drawing.styles = {"flex": "1 1 200px", "max-width": "300px"}
    rest.styles = dict(rest.styles or {}) | {"flex": "4 1 520px", "min-width": "0"}
    drawing.stylesheets = [*drawing.stylesheets, LARGE]
    shown = line(drawing, rest, styles={"align-items": "flex-start"})
    shown.stylesheets = [SWIPED]
    return shown


def line(*items: Any, styles: Mapping[str, str] = MappingProxyType({})) -> Any:
    """Items side by side as far as there is room; a Row, since a FlexBox costs ten times as much to open."""
    shared = {"display": "flex", "flex-wrap": "wrap", "gap": "8px 16px", "align-items": "center"}
    return Wrapping(*items, styles=shared | dict(styles), sizing_mode="stretch_width", margin=0)


class Wrapping(pn.Row):  # type: ignore[misc]  # panel has no types
    """A row whose items wrap: it needs the room of the widest of them, where Panel would ask for that of all."""

    _direction = "vertical"


def offer(select: Any, options: Mapping[str, Any]) -> None:
    """Let a menu offer these options, the present one kept if it is among them; nothing happens if it does already."""
    if dict(select.options) != dict(options):
        kept = select.value if select.value in options.values() else next(iter(options.values()))
        select.param.update(options=dict(options), value=kept)
