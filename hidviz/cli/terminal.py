"""The terminal: what commands say and how they end, whatever they are connected to.

Standard output gets what a command has written; everything else goes to standard error. Either may be missing (cron),
closed (a pipe that nobody reads), or know ASCII alone: none of it stops the work.
"""

from __future__ import annotations

import codecs
import os
import sys
import time
from typing import TextIO

DONE, FAILED, REFUSED = 0, 1, 2

_PLAIN = {"±": "+-", "×": "x", "·": "-", "…": "...", "–": "-", "−": "-", "²": "^2", "≤": "<=", "≥": ">=", "µ": "u"}


class Refused(Exception):
    """The request cannot be carried out; the message says why and what to do."""


def prepare() -> None:
    """Let every text be written, spelled out where the terminal lacks a letter."""
    codecs.register_error("hidviz", _spelled)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="hidviz")


def report(text: str) -> None:
    """Write to standard output."""
    _write(sys.stdout, text + "\n")


def say(text: str) -> None:
    """Write to standard error."""
    _write(sys.stderr, text + "\n")


def finish() -> None:
    """Write out what is held back, so that a pipe that is closed goes unnoticed at the end too."""
    _write(sys.stdout, "")
    _write(sys.stderr, "")


class Bar:
    """A line of progress on standard error: redrawn in a terminal, else written now and then."""

    WIDTH, PERIOD = 30, 10.0  # characters; seconds between lines where nobody can redraw

    def __init__(self) -> None:
        self._live = sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()
        self._spoken = -self.PERIOD

    def show(self, fraction: float, what: str) -> None:
        """Say how far it has come."""
        now = time.monotonic()
        if not self._live and now - self._spoken < self.PERIOD:
            return
        self._spoken = now
        done = round(self.WIDTH * fraction)
        line = f"[{'#' * done}{'.' * (self.WIDTH - done)}] {what}"
        _write(sys.stderr, f"\r{line:78}" if self._live else line + "\n")

    def close(self) -> None:
        """End the line."""
        if self._live:
            say("")


def _write(stream: TextIO | None, text: str) -> None:
    if stream is None or stream.closed:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        # Nobody reads it, or its disk is full. What Python still holds back would fail once more at exit: let it go.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def _spelled(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letters = error.object[error.start : error.end]
    spelled = "".join(_PLAIN.get(letter, letter.encode("ascii", "backslashreplace").decode()) for letter in letters)
    return spelled, error.end
