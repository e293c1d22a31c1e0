"""The connection as the browser sees it: which session it belongs to, and whether the tab is being closed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import param

from hidviz.ui.components.base import Component


class Connection(Component):
    """Takes a lost connection up again, or says that the session is gone; shows nothing while all is well.

    Args:
        on_leave: called when the tab is closed or leads elsewhere: nobody will come back to this session.
    """

    born = param.String(doc="Told apart by this from a session that takes its place under the same name.")

    def __init__(self, on_leave: Callable[[], None], **params: Any) -> None:
        super().__init__(born=secrets.token_hex(16), **params)
        self._on_leave = on_leave

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "leave" in message:
            self._on_leave()
