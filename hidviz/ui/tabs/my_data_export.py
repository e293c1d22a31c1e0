"""What to take away from My data: one .zip, and the same without a page."""

from __future__ import annotations

from html import escape

import panel as pn

from hidviz.experiments import ScanRow
from hidviz.ui.export.own_results import results_button
from hidviz.ui.layout import line, words
from hidviz.ui.state.my_data import MyData
from hidviz.ui.state.own_checks import Checked
from hidviz.ui.state.own_scan import Scanned
from hidviz.ui.tabs.my_data_checks import ChecksSection
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.my_data import command_words

WHAT = N_(
    "One .zip with the couplings and the posterior (model.npz), couplings by name "
    "(couplings.csv), the rows of the scan (scan.csv), and settings with a hash of your data "
    "(settings.json); the data themselves are not in it."
)


class ExportSection:
    """The section.

    Args:
        data: the session's own recording.
        checks: where the model to hand out is chosen.
    """

    def __init__(self, data: MyData, checks: ChecksSection) -> None:
        self._data, self._checks = data, checks
        self.command = words(sizing_mode="stretch_width")
        self.layout = pn.Column(
            line(results_button(self._found)), words(_(WHAT), sizing_mode="stretch_width"), self.command,
            sizing_mode="stretch_width", margin=0, visible=False,
        )  # fmt: skip

    def show(self) -> None:
        """Say how the same is done without a page."""
        scanned = self._data.scanned
        self.layout.visible = scanned is not None
        if scanned is not None:
            self.command.object = (
                f"{_('The same without a page:')}<br>"
                f'<code style="overflow-wrap:anywhere">{escape(command_words(*scanned.command))}</code>'
            )

    def _found(self) -> tuple[Scanned, ScanRow, Checked | None] | None:
        scanned, place = self._data.scanned, self._checks.row
        if scanned is None or not 0 <= place < len(scanned.table.rows):
            return None
        row, checked = scanned.table.rows[place], self._data.checked
        return scanned, row, checked if checked is not None and checked.row is row else None
