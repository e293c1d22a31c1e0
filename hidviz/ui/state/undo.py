"""History: what can be undone and redone, as one immutable value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")

DEPTH = 50  # operations that can be undone


@dataclass(frozen=True)
class History(Generic[Item]):
    """States before the present one, and states that were left by undoing.

    Args:
        past: to go back to, newest last.
        future: to go forward to again, nearest last.
    """

    past: tuple[Item, ...] = ()
    future: tuple[Item, ...] = ()

    def remembering(self, present: Item, depth: int = DEPTH) -> History[Item]:
        """The history after something is done to the present state; what was undone before is gone.

        Args:
            present: the state.
            depth: how many states to remember, the present one included.
        """
        return History((*self.past, present)[-depth:], ())

    def undone(self, present: Item) -> tuple[Item, History[Item]]:
        """The state before the present one, and the history as seen from there.

        Raises:
            IndexError: there is none.
        """
        return self.past[-1], History(self.past[:-1], (*self.future, present))

    def redone(self, present: Item) -> tuple[Item, History[Item]]:
        """The state that was left last by undoing, and the history as seen from there.

        Raises:
            IndexError: there is none.
        """
        return self.future[-1], History((*self.past, present), self.future[:-1])
