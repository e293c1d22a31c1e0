"""What a tab is, and the host of all tabs: it builds each at the latest when it comes forward, and shows that one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import panel as pn
from panel.io import hold

from hidviz.ui.components.basic import TabBar
from hidviz.ui.components.network import Network
from hidviz.ui.plots.axes import enlarge
from hidviz.ui.text.language import _

MAP = 226  # pixels of the page, magnified, that a map may have
BESIDE, DRAWING = 178, 178  # that it and the network may have: then a lesson, these and the curves are in sight at once


class Tab(Protocol):
    """A tab, built when it first comes forward or before.

    While it is in front, the page asks often whether it is `stirred`, and lets it `look` if so. Figures are drawn in
    `look` alone: a widget's callback may come where the document is not locked.
    """

    key: str
    """Its name in a link."""

    title: str
    """Its name on the page."""

    layout: Any
    """What Panel shows."""

    @property
    def stirred(self) -> bool:
        """Whether `look` would find something to draw; asked often, so it must be quick."""
        ...

    def look(self) -> bool:
        """Take in what has changed since the last call, and draw it; whether anything was drawn."""
        ...

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ...

    def close(self) -> None:
        """Give up whatever runs in the background."""
        ...


Maker = tuple[type[Tab], Callable[[], Tab]]
"""The class of a tab, and a function that builds it."""


class TabHost:
    """All tabs of one session: the row of their names, and the one in front. Others are built when wanted, or ahead.

    Args:
        makers: for each tab its class, and a function that builds it.
        n_first: how many of them are of the first rank.
        active: the place of the one that comes first.
        dark: whether to begin in dark colours.
        large: whether figures are read from far away.
        on_front: called after another tab has come forward.
    """

    def __init__(
        self,
        makers: Sequence[Maker],
        n_first: int,
        active: int,
        *,
        dark: bool,
        on_front: Callable[[], None],
        large: bool = False,
    ) -> None:
        self._makers, self._large = makers, large
        self._dark = dark
        self._on_front = on_front
        self._built: dict[int, Tab] = {}
        self.bar = TabBar(
            titles=[_(kind.title) for kind, _make in makers], n_first=n_first, active=active,
            sizing_mode="stretch_width", margin=(2, 0, 0, 0),
        )  # fmt: skip
        self.places = [pn.Column(sizing_mode="stretch_width", margin=0) for _ in makers]
        self.bar.param.watch(self._come_forward, "active")
        self._show()
        self.restyle(dark)

    @property
    def front(self) -> Tab:
        """The tab in front."""
        return self._built[self.bar.active]

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of all tabs in a link, in order."""
        return tuple(kind.key for kind, _ in self._makers)

    @property
    def key(self) -> str:
        """The name of the tab in front in a link."""
        return self.front.key

    @property
    def unbuilt(self) -> bool:
        """Whether the row of tabs is shown and some of them have not been built."""
        return bool(self.bar.visible) and len(self._built) < len(self.places)

    def build_ahead(self) -> None:
        """Build the first tab that has not been in front yet, out of sight."""
        self._build(min(set(range(len(self.places))) - set(self._built)))

    def reset(self) -> None:
        """As if no tab but the first had ever been built."""
        self.bar.active = 0
        for place in [place for place in self._built if place]:
            self._built.pop(place).close()
            self.places[place].clear()

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = self.bar.dark = dark
        with hold():  # which also lets figures be changed where the document is not locked
            for tab in self._built.values():
                self._paint(tab)

    def close(self) -> None:
        """Give up whatever runs in the background."""
        for tab in self._built.values():
            tab.close()

    def _paint(self, tab: Tab) -> None:
        tab.restyle(self._dark)
        if self._large:
            networks = tab.layout.select(Network)
            for pane in tab.layout.select(pn.pane.Bokeh):
                enlarge(pane.object)
                if pane.max_width:
                    pane.max_width = BESIDE if networks else MAP
            for network in networks:
                network.large = True
                network.styles = dict(network.styles) | {"max-width": f"{DRAWING}px"}

    def _come_forward(self, _: Any) -> None:
        self._show()
        self._on_front()

    def _show(self) -> None:
        """Build the tab in front and send it to the browser, if that has not been done; hide the others."""
        active = self.bar.active
        if active not in self._built:
            self._build(active)
        for k, place in enumerate(self.places):
            place.visible = k == active
        self.bar.shown = active

    def _build(self, place: int) -> None:
        tab = self._built[place] = self._makers[place][1]()
        self._paint(tab)
        self.places[place].append(tab.layout)
