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
from hidviz.ui.tabs.my_data_file import FileSection
from hidviz.ui.tabs.my_data_preview import PreviewSection

SAMPLE = "What it is about: 16 units of a hippocampus, the first 10 s. Try ours takes all 998 s of it."


class MyDataTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`."""

    key = "mydata"
    title = "My data"

    def __init__(self) -> None:
        self.data = MyData()
        self._sampler: Runner[Looked] = Runner()  # of what is to be seen before anything is chosen
        self._sampler.start(iter_look(OUR_SOURCE, WIDTH))
        self._changes = Changes()
        self.file = FileSection(self.data)
        self.preview = PreviewSection(self.data.bin_by, WIDTH)
        self._of_preview = heading("What was recorded")
        self._of_preview.visible = False
        self.layout = pn.Column(
            heading("Your recording"), self.file.layout, self._of_preview, self.preview.layout, self.preview.drawing,
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip

    # The contract of a tab

    def look(self) -> bool:
        """Take in what was read and learned, and draw it."""
        self.data.poll()
        changed = self._changes.due(self.data.looked, self.data.version, self.data.problem, self._sampler.version)
        if changed is None:
            return False
        with hold():
            self.file.show()
            if self.data.looked is not None:
                self._of_preview.visible = True
                self.preview.show(self.data.looked)
            elif self._sampler.latest is not None:
                self.preview.draw_raster(self._sampler.latest, SAMPLE)
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        for part in (self.file, self.preview):
            part.restyle(dark)

    def close(self) -> None:
        """Give up whatever is under way; the data go with the session."""
        self._sampler.stop()
        self.data.close()
