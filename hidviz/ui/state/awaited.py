"""Awaited: a run of which nothing can be shown yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hidviz.experiments import Experiment, Frame, Progress


@dataclass(frozen=True)
class Awaited:
    """A run that was begun and of which nothing has been shown yet.

    Args:
        experiment: its knobs.
        begin: makes its items, from the first on.
    """

    experiment: Experiment
    begin: Callable[[], Iterator[Progress | Frame]]
