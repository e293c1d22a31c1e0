"""What a tab beside Learn is: something to look at that follows the session while it is in front."""

from __future__ import annotations

from typing import Any, Protocol


class Tab(Protocol):
    """A tab. It is built once per session; `look` is called from the session's tick while the tab is in front."""

    key: str
    """Its name in a link."""

    title: str
    """Its name on the page."""

    layout: Any
    """What Panel shows."""

    def look(self) -> bool:
        """Take in what has changed since the last call, and draw it; whether anything was drawn."""
        ...

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        ...

    def close(self) -> None:
        """Give up whatever runs in the background."""
        ...
