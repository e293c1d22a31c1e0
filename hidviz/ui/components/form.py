"""Form: a group of labelled fields in the browser, one component for all of them.

One component a field, each a React tree of its own, cost a third of the time in which the page opens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import param

from hidviz.ui.components.base import Component


class Form(Component):
    """Fields of five kinds: integer, number, text, choice, switch.

    Args:
        on_turn: called with the name of a field and what was typed, chosen or switched.
    """

    groups = param.List(doc="For each group its title, whether it is folded, and its rows of names.")
    fields = param.Dict(
        {}, doc="For each name its label, help, kind, when it acts; options of a choice, step of a number."
    )
    asides = param.Dict({}, doc="For the name of a choice, what stands behind each of its options.")
    values = param.Dict({}, doc="What every field shows.")
    errors = param.Dict({}, doc="For each name whose value was refused, why.")
    disabled = param.List([], doc="Names of the fields that cannot be used now.")

    def __init__(self, on_turn: Callable[[str, str | bool], None], **params: Any) -> None:
        super().__init__(**params)
        self._on_turn = on_turn

    def answer(self, names: Iterable[str], why: str) -> None:
        """Say under these fields why what they hold was refused, or, with nothing to say, that all is well."""
        told = dict.fromkeys(names, why)
        others = {name: earlier for name, earlier in self.errors.items() if name not in told}
        self.put(errors=others | told if why else others)

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if message.get("turned") in self.fields:
            self._on_turn(message["turned"], message["value"])
