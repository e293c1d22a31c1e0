"""What was found of an own recording as one .zip: arrays, tables, settings with a hash of the data, and the command.

    model.npz       J, K, L, M, h, g of the model (rows receive, columns send), its hidden units' posterior, and h(t)
    couplings.csv   the same by name: block, to, from, value; of two halves, where they were fitted; under an L1 penalty
                    the strongest that each outlives
    scan.csv        the rows of the scan
    hidden.csv      units hidden in turn, where that was done
    settings.json   settings, gains with their errors, SHA-256 of the files, and the same without a page

The recording itself is not in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import panel_material_ui as pmui

from hidviz.experiments import ScanRow, couplings_table, scan_summary
from hidviz.learners import Infeasible, hidden_posterior
from hidviz.network import BLOCKS, aligned, learned_blocks
from hidviz.ui.state.own_checks import Checked
from hidviz.ui.state.own_scan import Scanned
from hidviz.ui.text.language import _
from hidviz.ui.text.my_data import command_words

SCAN_COLUMNS = (
    "n_hidden", "hidden_hidden", "repeats", "n_parameters", "judged", "gain", "gain_error", "step", "step_error", "aic",
    "bic", "chosen", "message", "note",
)  # fmt: skip


def results_button(found: Callable[[], tuple[Scanned, ScanRow, Checked | None] | None]) -> Any:
    """The button Export results.

    Args:
        found: the scan, the model to hand out, and its checks; None while there is nothing.
    """

    async def exported() -> io.BytesIO:
        button.param.update(data=None, loading=True)  # else a file equal to the last one would not be handed out again
        try:
            now = found()
            return io.BytesIO() if now is None else io.BytesIO(await asyncio.to_thread(packed, *now))
        finally:
            button.loading = False

    button = pmui.FileDownload(
        label=_("Export results"), callback=exported, filename="hidviz-results.zip", margin=(4, 0)
    )
    button.variant = "outlined"  # given to the constructor, it is taken for a deprecated button_style
    return button


def packed(scanned: Scanned, row: ScanRow, checked: Checked | None) -> bytes:
    """The .zip.

    Args:
        scanned: the scan.
        row: the model that is handed out.
        checked: its checks, as far as they are there.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model.npz", _arrays(scanned, row))
        archive.writestr("couplings.csv", _couplings(scanned, row, checked))
        archive.writestr("scan.csv", _scan(scanned))
        if checked is not None and checked.hidden:
            archive.writestr("hidden.csv", _table([asdict(each) | {"is_the_unit": each.is_the_unit}
                                                   for each in checked.hidden]))  # fmt: skip
        archive.writestr("settings.json", _settings(scanned, row))
    return content.getvalue()


def _arrays(scanned: Scanned, row: ScanRow) -> bytes:
    assert row.couplings is not None
    arrays = {name: getattr(row.couplings, name) for name in BLOCKS}
    if row.n_hidden:
        with contextlib.suppress(Infeasible):  # then the couplings alone
            recording = scanned.recording.with_external_field(row.external_field)
            arrays["posterior"] = hidden_posterior(row.couplings, recording).smoothed
    if row.external_field is not None:
        arrays["external_field"] = row.external_field
    arrays["names"] = np.array(_names(scanned))
    arrays["trial_lengths"] = np.array([len(trial) for trial in scanned.recording.trials])
    content = io.BytesIO()
    np.savez(content, **arrays)
    return content.getvalue()


def _couplings(scanned: Scanned, row: ScanRow, checked: Checked | None) -> str:
    assert row.couplings is not None
    names, blocks = _names(scanned), learned_blocks(row.n_hidden, hidden_hidden=row.hidden_hidden, bias=True)
    outlives = None if row.path is None else row.path.outlives
    table = couplings_table(row.couplings, names, outlives=outlives, blocks=blocks)
    if checked is not None and checked.row is row and checked.halves is not None:
        for name, half in (("first_half", checked.halves.first), ("second_half", checked.halves.second)):
            table[name] = couplings_table(aligned(half, row.couplings), names, blocks=blocks)["value"]
    return str(table.to_csv(index=False))


def _scan(scanned: Scanned) -> str:
    return _table([{name: row[name] for name in SCAN_COLUMNS} for row in scanned.table.records()])


def _table(rows: list[dict[str, Any]]) -> str:
    import pandas as pd

    return str(pd.DataFrame(rows).to_csv(index=False))


def _settings(scanned: Scanned, row: ScanRow) -> str:
    source, plan = scanned.looked.source, scanned.plan
    told = scan_summary(scanned.table, scanned.recording, asdict(plan)) | {
        "exported": {
            "n_hidden": row.n_hidden,
            "hidden_hidden": row.hidden_hidden,
            "repeats": row.driven,
            "l1": row.path and row.path.plain(),
        },
        "files": list(source.names),
        "files_sha256": source.digest,
        "read_as": asdict(source.how),
        "complete": scanned.complete,
        "command": command_words(*scanned.command),
    }
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _names(scanned: Scanned) -> list[str]:
    return [scanned.recording.name_of(unit) for unit in range(scanned.recording.n_visible)]
