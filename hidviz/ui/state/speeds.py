"""Speeds: how fast a run goes on. Drawing keeps its own pace, whatever the speed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hidviz.ui.text.language import N_


class Speed(NamedTuple):
    """How fast a run goes on: what it is called, least seconds a step, and whether it goes by half steps."""

    words: str
    seconds: float
    halves: bool = False


FASTEST = "fast"
SPEEDS: Mapping[str, Speed] = MappingProxyType(
    {
        FASTEST: Speed(N_("As fast as it goes"), 0.0),
        "second": Speed(N_("One step a second"), 1.0),
        "slow": Speed(N_("Slow motion"), 2.5, halves=True),
    }
)
