"""The command line: which commands there are, and how each of them ends.

Exit codes: 0 done; 1 something failed on the way, and what was finished is kept; 2 the request cannot be carried out.
"""

from __future__ import annotations

import argparse
import errno
from collections.abc import Callable, Sequence

from hidviz import __version__
from hidviz.cli import claims, figure, fit, look, serve
from hidviz.cli.terminal import FAILED, REFUSED, Refused, finish, prepare, say

TEACHING = """\
examples:
  hidviz serve                                 open the page at http://localhost:5006/hidviz
  hidviz figure 4 --quick --out results        a part of Fig. 4 in a minute: table, figure, settings
  hidviz figure 5 --out results                all of Fig. 5; stop it with Ctrl-C, and
                                               the same command goes on where it was
  hidviz figure 6 --scheduler tcp://host:8786 --out results
                                               on a Dask cluster (pip install hidviz[cluster])
  hidviz claims                                what the figures say of the paper's claims
  hidviz look session.nwb --bin 20ms           rates, what binning loses, and what looks wrong
  hidviz fit spikes.csv --hidden 3 --out fit.npz
                                               couplings of your own recording

`hidviz COMMAND --help` explains each.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; gives the exit code.

    Args:
        arguments: what follows the name of the program; `sys.argv` if None.
    """
    prepare()
    try:
        given = _parser().parse_args(arguments)
        act: Callable[[argparse.Namespace], int] = given.act
        return act(given)
    except Refused as error:
        say(f"hidviz: {error}")
        return REFUSED
    except KeyboardInterrupt:
        say("\nhidviz: interrupted.")
        return FAILED
    except MemoryError as error:
        say(f"hidviz: there is not enough memory ({error or 'none is left'}): take fewer bins or units.")
        return FAILED
    except OSError as error:
        say(f"hidviz: {_in_words(error)}")
        return FAILED
    except ValueError as error:
        say(f"hidviz: {error}")
        return FAILED
    finally:
        finish()


def _in_words(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        where = f" for {error.filename}" if error.filename else ""
        return f"there is no room left on the disk{where}; what was finished is kept. Make room, and call it again."
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hidviz",
        description="See a network being inferred when some of its units are hidden.",
        epilog=TEACHING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"hidviz {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in (serve, figure, claims, look, fit):
        command.add(commands)
    return parser
