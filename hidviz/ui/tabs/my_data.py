"""Tab "My data": a recording of your own, from the file to how many hidden units there are and whether they are real.

Steps follow one another down the page, each there once the one before it has something to show. All work is done by the
runners of `MyData`; this draws what they have found.
"""

from __future__ import annotations

import panel as pn
from panel.io import hold

from hidviz.background import Runner
from hidviz.ui.layout import heading
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.my_data import WIDTH, MyData
from hidviz.ui.state.own_files import OUR_SOURCE, Looked, iter_look
from hidviz.ui.tabs.my_data_checks import ChecksSection
from hidviz.ui.tabs.my_data_export import ExportSection
from hidviz.ui.tabs.my_data_file import FileSection
from hidviz.ui.tabs.my_data_preview import PreviewSection
from hidviz.ui.tabs.my_data_scan import ScanSection
from hidviz.ui.text.language import N_, _

TITLES = (
    N_("What was recorded"),
    N_("How many hidden units?"),
    N_("Can it be relied on, and what is it?"),
    N_("Take it with you"),
)
PERIOD = 0.2  # seconds between drawings
SAMPLE = N_("An example: 16 units of a hippocampus, the first 10 s. Try ours takes all 998 s of it.")


class MyDataTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        data: the session's own recording.
    """

    key = "mydata"
    title = N_("My data")

    def __init__(self, data: MyData) -> None:
        self.data = data
        self._sampler: Runner[Looked] = Runner()  # of what is to be seen before anything is chosen
        self._sampler.start(iter_look(OUR_SOURCE, WIDTH))
        self._changes = Changes()
        self._drawn: Looked | None = None
        self.file = FileSection(self.data)
        self.preview = PreviewSection(self.data.bin_by, WIDTH)
        self.scan = ScanSection(self.data)
        self.checks = ChecksSection(self.data, self._changes.spoil)
        self.export = ExportSection(self.data, self.checks)
        self._titles = [heading(_(title)) for title in TITLES]
        for title in self._titles:
            title.param.update(visible=False, margin=(16, 0, 0, 0))
        of_preview, of_scan, of_checks, of_export = self._titles
        self.layout = pn.Column(
            heading(_("Your recording")), self.file.layout,
            of_preview, self.preview.layout, self.preview.drawing,
            of_scan, self.scan.layout,
            of_checks, self.checks.layout,
            of_export, self.export.layout,
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether more was read or learned."""
        return self._changes.stirred(*self._seen, period=PERIOD)

    @property
    def _seen(self) -> tuple[object, ...]:
        data = self.data
        return (data.looked, data.reading, data.problem), data.version, self._sampler.version

    def look(self) -> bool:
        """Take in what was read and learned, and draw it."""
        data, seen = self.data, self._seen
        data.poll()
        if self._changes.due(*seen, period=PERIOD) is None:
            return False
        with hold():
            self.file.show()
            for part in (self.scan, self.checks, self.export):
                part.show()
            for title, there in zip(self._titles, (data.looked, data.looked, data.scanned, data.scanned), strict=True):
                title.visible = there is not None
            self.preview.look_at(data.width)
            if data.looked is None:
                self._drawn, self.preview.layout.visible = None, False
                if self._sampler.latest is not None:
                    self.preview.draw_raster(self._sampler.latest, _(SAMPLE))
            elif data.looked is not self._drawn:
                self._drawn = data.looked
                self.preview.show(data.looked)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._changes.spoil()
        for part in (self.file, self.preview, self.scan, self.checks):
            part.restyle(dark)

    def close(self) -> None:
        """Give up whatever is under way; the data go with the session."""
        self._sampler.stop()
        self.data.close()
