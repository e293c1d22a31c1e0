"""`hidviz serve`: open the page, in one process or in several that share a port."""

from __future__ import annotations

import argparse
import os
import socket
import sys
from typing import Any

from hidviz.background import PROCESS, RUN, parse_size, process_limit, supervise
from hidviz.cli.terminal import DONE, FAILED, Refused, report

TEACHING = """\
examples:
  hidviz serve                                 this machine alone, at http://localhost:5006/hidviz
  hidviz serve --address 0.0.0.0 --num-procs 2 --allow-origin class.example.org:5006
                                               a class, by that name; two processes share the port
  hidviz serve --allow-origin hidviz.example.org
                                               behind a proxy that is reached by that name

The page is at /hidviz; /healthz answers whoever watches over the server. A run outlives a lost connection by two
minutes. A run that would take more memory than it may is refused with the number of bins that fit; the limits are also
read from HIDVIZ_MEMORY and HIDVIZ_RUN_MEMORY. SIGTERM ends runs, sweeps and sessions in order.
"""


def add(commands: Any) -> None:
    """Tell the parser of this command."""
    parser = commands.add_parser(
        "serve",
        help="open the page",
        description="Serve the page, until Ctrl-C.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=5006, help="port to listen on (default: 5006; 0: any free one)")
    parser.add_argument(
        "--address", default="localhost", help="address to listen on (default: localhost, this machine alone)"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="HOST[:PORT]",
        help="a name under which browsers reach the page, beside the address itself; may be given again",
    )  # fmt: skip
    parser.add_argument(
        "--prefix", type=_path, default="", metavar="/PATH",
        help="what the path begins with, behind a proxy that hands /PATH on: the page is at /PATH/hidviz",
    )  # fmt: skip
    parser.add_argument("--num-procs", type=int, default=1, metavar="N", help="processes that share the port")
    parser.add_argument(
        "--memory", type=_size, metavar="SIZE",
        help="memory that all runs of all processes may use, such as 8G (default: three quarters of the machine's)",
    )  # fmt: skip
    parser.add_argument(
        "--run-memory", type=_size, metavar="SIZE",
        help="memory that the run of one session may use, such as 500M (default: half of what its process may use)",
    )  # fmt: skip
    parser.add_argument("--show", action="store_true", help="open a browser too")
    parser.add_argument(
        "--inherit", type=int, help=argparse.SUPPRESS
    )  # the socket of the process that started this one
    parser.set_defaults(act=act)


def act(given: argparse.Namespace) -> int:
    """Serve until interrupted."""
    if not 0 <= given.port <= 65535:
        raise Refused(f"--port must lie between 0 and 65535, got {given.port}.")
    if not 1 <= given.num_procs <= 64:
        raise Refused(f"--num-procs must lie between 1 and 64, got {given.num_procs}.")
    if given.run_memory is not None:
        os.environ[RUN] = str(given.run_memory)
    if given.inherit is None and (given.memory is not None or given.num_procs > 1):
        os.environ[PROCESS] = str((given.memory or process_limit()) / given.num_procs)
    try:
        return _several(given) if given.num_procs > 1 else _one(given)
    except OSError as error:
        raise Refused(
            f"The page cannot listen at {given.address}, port {given.port}: {error.strerror or error}. Choose another "
            "--port or --address."
        ) from error


def _size(text: str) -> float:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _path(text: str) -> str:
    parts = [part for part in text.split("/") if part]
    if not all(part.replace("-", "").replace("_", "").replace(".", "").isalnum() for part in parts):
        raise argparse.ArgumentTypeError(f"must be a path of letters and digits such as /class, got {text!r}")
    return "".join(f"/{part}" for part in parts)


def _one(given: argparse.Namespace) -> int:
    from hidviz.ui.serve import serve

    inherited = None if given.inherit is None else socket.socket(fileno=given.inherit)
    if inherited is not None:
        inherited.setblocking(False)
    serve(
        port=given.port, address=given.address, show=given.show, origins=given.allow_origin, prefix=given.prefix,
        inherited=inherited,
    )  # fmt: skip
    return DONE


def _several(given: argparse.Namespace) -> int:
    """Listen here, and let processes that inherit the socket serve whoever comes."""
    if sys.platform == "win32":
        raise Refused("--num-procs shares one port between processes, which Windows cannot: leave it out.")
    family = socket.AF_INET6 if ":" in given.address else socket.AF_INET
    with socket.create_server((given.address, given.port), family=family, backlog=128) as listening:
        port = listening.getsockname()[1]
        report(f"hidviz is at http://{given.address}:{port}{given.prefix}/hidviz, in {given.num_procs} processes")
        origins = [word for origin in given.allow_origin for word in ("--allow-origin", origin)]
        return DONE if supervise(
            [sys.executable, "-m", "hidviz", "serve", "--port", str(port), "--address", given.address,
             "--prefix", given.prefix, "--inherit", str(listening.fileno()), *origins],
            given.num_procs, inherited=[listening.fileno()],
        ) == 0 else FAILED  # fmt: skip
