"""The command line: serve the page, make a figure of the paper, fit a recording."""

from hidviz.cli.main import main
from hidviz.cli.terminal import DONE, FAILED, REFUSED

__all__ = ["DONE", "FAILED", "REFUSED", "main"]
