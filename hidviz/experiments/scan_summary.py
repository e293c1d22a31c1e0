"""A scan in plain values: what a file beside its couplings says of it, whoever made it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hidviz.experiments.fit_recording import fingerprint
from hidviz.experiments.scan_table import Scan
from hidviz.network import Recording
from hidviz.version import __version__


def scan_summary(table: Scan, recording: Recording, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that is worth knowing of a scan, plain enough for JSON; what is not known is null.

    Args:
        table: the scan.
        recording: what it learned from, all parts of it.
        settings: of the fits; the model chosen is added to them.
    """
    chosen = table.chosen
    return {
        "hidviz": __version__,
        "settings": {
            **settings,
            "n_hidden": chosen.n_hidden,
            "hidden_hidden": chosen.hidden_hidden,
            "repeats": chosen.driven,
        },
        "names": [recording.name_of(unit) for unit in range(recording.n_visible)],
        "bin": recording.bin,
        "data": fingerprint(recording),
        "divided": table.how,
        "unit": "nats per bin",
        "penalty": table.penalty,
        "l1": chosen.path and chosen.path.plain(),
        "scan": [{key: _plain(value) for key, value in row.items()} for row in table.records()],
        "lag2": {"gain": _plain(table.lag2.mean), "gain_error": _plain(table.lag2.error)},
        "chosen": table.sentence(),
        "lowest_bic": table.lowest_bic.name,
        "remarks": list(table.remarks),
    }


def _plain(value: object) -> object:
    """Numbers that JSON has no word for as null."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
