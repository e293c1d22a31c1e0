"""`hidviz serve`: open the page."""

from __future__ import annotations

import argparse
from typing import Any

from hidviz.cli.terminal import DONE, Refused


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser("serve", help="open the page", description="Serve the page, until Ctrl-C.")
    parser.add_argument("--port", type=int, default=5006, help="port to listen on (default: 5006; 0: any free one)")
    parser.add_argument(
        "--address", default="localhost", help="address to listen on (default: localhost, this machine alone)"
    )
    parser.add_argument("--show", action="store_true", help="open a browser too")
    parser.set_defaults(act=act)


def act(given: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if not 0 <= given.port <= 65535:
        raise Refused(f"--port must lie between 0 and 65535, got {given.port}.")
    from hidviz.ui.serve import serve

    try:
        serve(port=given.port, address=given.address, show=given.show)
    except OSError as error:
        raise Refused(
            f"The page cannot listen at {given.address}, port {given.port}: {error.strerror or error}. Choose another "
            "--port or --address."
        ) from error
    return DONE
