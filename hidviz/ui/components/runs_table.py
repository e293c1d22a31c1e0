"""Table of runs: the numbers behind a scatter, for the keyboard and for a screen reader."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import param

from hidviz.experiments import Restarts, Start
from hidviz.ui.components.base import Component
from hidviz.ui.text.language import N_, _

ERRORS = (N_("K unaligned"), N_("K aligned"), N_("L unaligned"), N_("L aligned"))
COLUMNS = (N_("Start"), N_("Step"), N_("Cost"), N_("Above best"), *ERRORS, N_("Hidden units"), N_("State"))


class RunsTable(Component):
    """A table of runs; pressing the button of a row calls the function given with the number of its start."""

    columns = param.List(doc="Names of the columns.")
    runs = param.List(doc="For each row: key (number of the start), cells as texts, exact numbers as JSON, colour.")
    shown = param.Integer(0, doc="The start that the page shows; 0 for none.")

    def __init__(self, on_load: Callable[[int], None], **params: Any) -> None:
        super().__init__(columns=list(map(_, COLUMNS)), **params)
        self._on_load = on_load

    def _handle_msg(self, message: dict[str, Any]) -> None:
        if "load" in message:
            self._on_load(int(message["load"]))


def rows_of(table: Restarts, colours: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a table of starts, with a colour for each gauge."""
    return [_row(start, table.lowest, colours[start.gauge]) for start in table.starts]


def _row(start: Start, lowest: float, colour: str) -> dict[str, Any]:
    found, aligned = start.rms, start.aligned
    errors = [f"{error[block]:.4f}" for block in "KL" for error in (found, aligned)]
    above = f"{start.cost - lowest:.1e}" if start.cost > lowest else "0"
    cells = [str(start.index), f"{start.step:,}", f"{start.cost:.6f}", above, *errors]
    exact = {"cost": start.cost, "rms": found, "rms_aligned": aligned}
    return {
        "key": start.index,
        "cells": [*cells, start.gauge or _("none"), _(start.state)],
        "exact": json.dumps(exact),
        "colour": colour,
    }
