"""Pulse: a look at every session of the process, many times a second, and a turn for those in which something changed.

A look costs microseconds and holds no lock; a turn draws. So a hundred pages on which nothing happens cost next to
nothing, and learning has the time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

LOG = logging.getLogger(__name__)
PERIOD = 0.02  # seconds between two looks at a session


class Member(NamedTuple):
    """A session: whether something has changed in it, and what is then to be called."""

    stirred: Callable[[], bool]
    turn: Callable[[], object]


class Pulse:
    """Looks at its members from the event loop, as long as it has any.

    Args:
        period: seconds between two looks.
    """

    def __init__(self, period: float = PERIOD) -> None:
        self._period = period
        self._members: dict[object, Member] = {}
        self._loop: asyncio.AbstractEventLoop | None = None  # in which it beats

    def join(self, key: object, stirred: Callable[[], bool], turn: Callable[[], object]) -> None:
        """Look at one more session from now on; where no event loop runs, nobody does.

        Args:
            key: by which it leaves.
            stirred: whether something has changed; asked often, so it must be quick.
            turn: called whenever something has.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return
        self._members[key] = Member(stirred, turn)
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(self._period, self._beat, loop)

    def leave(self, key: object) -> None:
        """Look at a session no more."""
        self._members.pop(key, None)

    def _beat(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._loop is not loop:  # it beats elsewhere by now
            return
        for member in list(self._members.values()):
            try:
                if member.stirred():
                    member.turn()
            except Exception:  # one session that fails must not stop the others
                LOG.exception("looking at a session failed")
        if self._members:
            loop.call_later(self._period, self._beat, loop)
        else:
            self._loop = None
