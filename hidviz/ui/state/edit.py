"""Edit: other couplings that the worker evaluates, and what is done to the run until their frame has come.

The frame shown meanwhile is the one before. An act on it would lose the edit, so it waits for its turn.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Act = Callable[[], None]
P = ParamSpec("P")


@dataclass(frozen=True)
class Edit:
    """An edit whose frame has not come yet.

    Args:
        event: what was done, as a sentence without its end.
        cost: before it, in nats per bin.
        held: acts that wait for the frame, in order.
        knobs: values to which they turn knobs.
    """

    event: str
    cost: float
    held: tuple[Act, ...] = ()
    knobs: Mapping[str, Any] = field(default_factory=dict)

    def holding(self, act: Act, **knobs: Any) -> Edit:
        """The same with one more act that waits."""
        return Edit(self.event, self.cost, (*self.held, act), {**self.knobs, **knobs})


class Holds(Protocol):
    """Whoever may have an edit under way."""

    def holds(self, act: Act, **knobs: Any) -> bool:
        """Whether one is: then the act, which turns these knobs, is performed when the edited frame comes."""


Holder = TypeVar("Holder", bound=Holds)


def in_turn(act: Callable[Concatenate[Holder, P], None]) -> Callable[Concatenate[Holder, P], None]:
    """Decorate an act on the frame shown: while an edit is under way, it waits for the edited frame."""

    @functools.wraps(act)
    def acting(self: Holder, /, *args: P.args, **kwargs: P.kwargs) -> None:
        if not self.holds(functools.partial(acting, self, *args, **kwargs)):
            act(self, *args, **kwargs)

    return acting
