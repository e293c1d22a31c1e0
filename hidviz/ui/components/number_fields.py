"""Number fields: numbers beside one another, written and read as everywhere on the page.

What cannot be read is answered under its field, in a sentence; the value before it stands until then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

from hidviz.ui.components.form import Form
from hidviz.ui.state.numbers import read_number, read_whole
from hidviz.ui.text.language import _


class NumberField(NamedTuple):
    """One of them: its label, what it is, its first value, whether it must be whole, and its bounds, if any."""

    label: str
    help: str
    value: float
    whole: bool = True
    bounds: tuple[float, float] | None = None


class NumberFields:
    """The fields, in one row.

    Args:
        fields: by name.
        on_change: called when a value has become another.
        width: of each field, pixels.
    """

    def __init__(
        self, fields: Mapping[str, NumberField], on_change: Callable[[], None] = lambda: None, *, width: int
    ) -> None:
        self._fields, self._on_change = dict(fields), on_change
        self.form = Form(
            self._turned,
            groups=[{"title": "", "folded": False, "rows": [list(fields)]}],
            fields={
                name: {"kind": "integer" if field.whole else "number", "label": field.label, "help": field.help,
                       "step": 1 if field.whole else 0.1}
                for name, field in fields.items()
            },
            values={name: field.value for name, field in fields.items()},
            sizing_mode="stretch_width", margin=(0, 8, 0, 0),
            styles={"flex": f"0 1 {len(fields) * (width + 16)}px", "min-width": "0"},
        )  # fmt: skip

    def __getitem__(self, name: str) -> Any:
        """The value of a field: a whole number where it must be one."""
        return self.form.values[name]

    @property
    def refused(self) -> bool:
        """Whether one of them holds what cannot be used."""
        return bool(self.form.errors)

    def show(self, **values: float) -> None:
        """Put values into fields, as if they had been typed; nobody is told."""
        self.form.put(values=self.form.values | values)
        self.form.answer(values, "")

    def bound(self, name: str, low: float, high: float) -> None:
        """Give a field other bounds; a value beyond them moves to the nearer one."""
        self._fields[name] = self._fields[name]._replace(bounds=(low, high))
        if not low <= self[name] <= high:
            self.show(**{name: min(max(self[name], low), high)})

    def answer(self, name: str, why: str) -> None:
        """Say at a field what is wrong with it, or, with nothing to say, that all is well."""
        self.form.answer([name], why)

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.form.dark = dark

    def _turned(self, name: str, text: str | bool) -> None:
        field = self._fields[name]
        try:
            value = (read_whole if field.whole else read_number)(str(text))
            low, high = field.bounds or (-inf, inf)
            if not low <= value <= high:
                raise ValueError(
                    _("must lie between {low:,} and {high:,}, got {value:,}.", low=low, high=high, value=value)
                )
        except ValueError as error:
            self.answer(name, f"{field.label} {error}")
            return
        changed = value != self[name]
        self.show(**{name: value})
        if changed:
            self._on_change()
