"""The points of a sweep that there are: those that ship with hidviz, and those that were computed here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import pandas as pd

from hidviz.experiments import ASSETS
from hidviz.sweeps import Measurement, Results, Sweep, key_of, load, table, traces

Points = tuple[pd.DataFrame, pd.DataFrame]  # the table of measurements, and their values over the steps


def shipped_points(name: str, sweep: Sweep | None) -> Points | None:
    """Those of a sweep's experiments that ship with the figure of this name; None without any."""
    results = _shipped(name) if sweep else None
    if results is None or sweep is None:
        return None
    found = results.table[results.table["key"].isin([key_of(experiment) for experiment in sweep.experiments])]
    return None if found.empty else (found, results.traces)


def own_points(computed: Mapping[str, Measurement], sweep: Sweep | None) -> Points | None:
    """Those of a sweep's experiments that were computed here; None without any."""
    keys = [key_of(experiment) for experiment in sweep.experiments] if sweep else []
    found = [computed[key] for key in keys if key in computed]
    return (table(found), traces(found)) if found else None


def completed(own: Points | None, shipped: Points | None) -> Points:
    """What was computed here, and for all other experiments what was shipped."""
    parts = [part for part in (own, shipped) if part is not None]
    if len(parts) < 2:
        return parts[0] if parts else (table([]), traces([]))
    known = set(parts[0][0]["key"])
    mine, others = ([*part] for part in parts)
    rest = [each[~each["key"].isin(known)] for each in others]
    joined = [pd.concat([a, b], ignore_index=True) if len(b) else a for a, b in zip(mine, rest, strict=True)]
    return joined[0], joined[1]


@lru_cache(maxsize=8)
def _shipped(name: str) -> Results | None:
    try:
        return load(ASSETS, name)
    except FileNotFoundError:
        return None
