"""The scan of `hidviz fit`: several numbers of hidden units, each row shown as it is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from hidviz.cli.terminal import Bar, Refused, say
from hidviz.experiments import Fitted, Scan, Settings, scan
from hidviz.network import Couplings, Recording, divide
from hidviz.version import __version__


def run_scan(recording: Recording, settings: Settings, hidden: Sequence[int], coupled: str) -> Fitted:
    """Scan, say the table, and give the model chosen with all of it.

    Args:
        recording: what to learn from.
        settings: of each fit; its penalty of 0 lets the scan choose.
        hidden: numbers of hidden units.
        coupled: "yes", "no" or "both": whether there is M.

    Raises:
        Refused: the settings are not those of a scan.
        ValueError: the recording is too short to be divided.
    """
    if settings.learner != "exact" or not settings.bias or not settings.blocks:
        raise Refused("A scan needs the exact learner, biases and held-out blocks: leave those options out.")
    bar, parts, table = Bar(), divide(recording, blocks=settings.blocks), None
    for table in scan(
        parts, hidden=hidden, hidden_hidden={"yes": (True,), "no": (False,), "both": (False, True)}[coupled],
        starts=settings.starts, penalty=settings.penalty or None, box=settings.box, max_steps=settings.max_steps,
        seed=settings.seed,
    ):  # fmt: skip
        left = f", about {table.seconds_left:.0f} s left" if table.seconds_left else ""
        bar.show(len(table.rows) / table.n, f"{table.doing}{left}")
    bar.close()
    assert table is not None
    say(table.in_words())
    chosen = table.chosen.couplings
    assert chosen is not None
    return Fitted(chosen, _summary(table, recording, settings, chosen))


def _summary(table: Scan, recording: Recording, settings: Settings, chosen: Couplings) -> dict[str, object]:
    return {
        "hidviz": __version__,
        "settings": {**asdict(settings), "n_hidden": chosen.n_hidden, "hidden_hidden": table.chosen.hidden_hidden},
        "names": [recording.name_of(unit) for unit in range(recording.n_visible)],
        "bin": recording.bin,
        "divided": table.how,
        "unit": "nats per bin",
        "penalty": table.penalty,
        "scan": [{key: _plain(value) for key, value in row.items()} for row in table.records()],
        "lag2": {"gain": table.lag2.mean, "gain_error": table.lag2.error},
        "chosen": table.sentence(),
        "lowest_bic": table.lowest_bic.name,
        "remarks": list(table.remarks),
    }


def _plain(value: object) -> object:
    """Numbers that JSON has no word for as null."""
    return None if isinstance(value, float) and not np.isfinite(value) else value
