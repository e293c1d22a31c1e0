"""Serving: the page on a port of this machine, without an app file."""

from __future__ import annotations

import panel as pn

from hidviz.ui.page import page


def serve(*, port: int = 5006, address: str = "localhost", show: bool = False) -> None:
    """Serve the page until interrupted.

    Args:
        port: to listen on; 0 for any free one.
        address: to listen on; "localhost" is reached from this machine alone, "0.0.0.0" from everywhere.
        show: whether to open a browser.
    """
    pn.serve(
        {"hidviz": page},
        port=port,
        address=address,
        show=show,
        title={"hidviz": "hidviz"},
        location=False,  # the page keeps its address itself: see Instrument
        websocket_origin=None if address == "localhost" else "*",
        unused_session_lifetime_milliseconds=15_000,
        check_unused_sessions_milliseconds=5_000,
        verbose=True,
    )
