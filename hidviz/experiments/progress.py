"""Progress: how far work has come that must be done before there is anything to show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How far a preparation has come.

    Args:
        what: a few words about what is being done.
        fraction: done, from 0 to 1.
    """

    what: str
    fraction: float
