"""Remarks: what there is to say of a run; the kind is for programs, the sentence for users, the cure for both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

State = Literal["learning", "converged", "stuck", "diverged", "finished"]
RemarkKind = Literal[
    "converged",
    "stuck",
    "diverged",
    "stopped",
    "finished",
    "runaway",
    "lost e-step",
    "open scale",
    "few data",
    "unchanging units",
    "infeasible",
    "failed",
]  # the last two are no ends of learning: they are for whoever cannot begin or go on


@dataclass(frozen=True)
class Cure:
    """What can be done about a remark.

    Args:
        label: a few words, as on a button.
        knobs: values of the Experiment's knobs, the keywords of `learn` among them.
    """

    label: str
    knobs: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "knobs", MappingProxyType(dict(self.knobs)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Cure, (self.label, dict(self.knobs))


@dataclass(frozen=True)
class Remark:
    """Something that a user should know about a run.

    Args:
        kind: what it is about; two remarks of one kind say the same thing, perhaps with other numbers.
        sentence: what to tell.
        cure: what can be done about it, as far as knobs can; else None.
    """

    kind: RemarkKind
    sentence: str
    cure: Cure | None = None
