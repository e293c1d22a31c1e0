"""Changes: whether a tab has to draw, the one rule for all of them.

A tab looks at the session many times a second. It draws what has changed since it drew last (`seen`), or what its own
switches, menus or colours have made old (`stale`); where drawing takes its time, only every so often (`due`).
"""

from __future__ import annotations

import time
from collections.abc import Callable


class Changes:
    """What a tab has drawn, and whether it has to draw again.

    Args:
        clock: seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: tuple[object, ...] | None = None
        self._drawn_at = -float("inf")
        self._stale = False

    def spoil(self, *_: object) -> None:
        """What was drawn is no longer how it should look; may be given to whatever tells of an event."""
        self._stale = True

    def due(self, *seen: object, period: float = 0.0) -> tuple[bool, ...] | None:
        """Which of these things have changed since the last drawing; None if there is nothing to draw, or not yet.

        Whoever is told of a change draws it: it counts as drawn from then on.

        Args:
            *seen: all that the drawing depends on, compared as immutable values are, in the same order each time. The
                version of what a worker makes is read before what it made: if that has grown in between, this is drawn
                once too often, while the other way round the last of it would never be drawn.
            period: seconds that must lie between two drawings, unless what was drawn is stale.
        """
        if not self.stirred(*seen, period=period):
            return None
        before = self._seen
        self._seen, self._stale, self._drawn_at = seen, False, self._clock()
        return tuple(before is None or now != then for now, then in zip(seen, before or seen, strict=True))

    def stirred(self, *seen: object, period: float = 0.0) -> bool:
        """Whether `due` would tell of something; asking changes nothing."""
        if self._stale:
            return True
        return seen != self._seen and self._clock() - self._drawn_at >= period
