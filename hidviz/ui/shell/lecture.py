"""Lecture: what a link asks of the page for a class: to be larger, to hide some controls; and links to hand out."""

from __future__ import annotations

from collections.abc import Sequence

from hidviz.ui.components.teach_sheet import Magnifier, TeachSheet
from hidviz.ui.components.transport import Transport
from hidviz.ui.shell.address import Address
from hidviz.ui.state.link import HIDEABLE, View
from hidviz.ui.tabs.tab import TabHost
from hidviz.ui.text.handout import handout
from hidviz.ui.text.language import _
from hidviz.ui.text.lessons import LESSONS

ON, BACK = "ArrowRight", "ArrowLeft"
OF_TRANSPORT = ("s", "h", "r")  # keys of what is hidden with it


class Lecture:
    """How one page is prepared for a class.

    Args:
        view: what the link asked for.
        address: of the page.
        transport: the bar of the run.
        tabs: all tabs.
    """

    def __init__(self, view: View, address: Address, transport: Transport, tabs: TabHost) -> None:
        self._view, self._address, self._transport, self._tabs = view, address, transport, tabs
        self.magnifier = Magnifier(lecture=self.on, margin=0)
        self.sheet = TeachSheet(
            lambda lesson, hide, lock: address.for_class(lesson, hide, lock=lock),
            handout,
            lessons=[["", _("None: the page as it is")], *([key, _(lesson.title)] for key, lesson in LESSONS.items())],
            groups=[[name, _(hidden)] for name, hidden in HIDEABLE.items()],
            prepared=view.students.split(","),
            margin=0,
        )
        self._hide()

    @property
    def on(self) -> bool:
        """Whether the page is read from the back row."""
        return self._view.mode == "lecture"

    @property
    def locked(self) -> bool:
        """Whether what is hidden stays so."""
        return self._view.lock

    @property
    def hides_any(self) -> bool:
        """Whether anything is hidden."""
        return bool(self._view.hide)

    def hides(self, group: str) -> bool:
        """Whether a group of controls is hidden, a name in `HIDEABLE`."""
        return self._view.hides(group)

    def keys(self, keys: Sequence[str]) -> list[str]:
        """Those of these keys that the page listens to, and the arrows in a lecture."""
        held = OF_TRANSPORT if self.locked and self.hides("transport") else ()
        return [key for key in keys if key not in held] + ([ON, BACK] if self.on else [])

    def open(self, lesson: str, *, code_alone: bool = False) -> None:
        """Open the sheet, or close it.

        Args:
            lesson: the one under way; empty for none.
            code_alone: whether to show no more than a class needs to come along.
        """
        self.sheet.put(lesson=lesson, code_alone=code_alone)
        self.sheet.open ^= True

    def show_all(self) -> None:
        """Bring back what is hidden, unless that is locked."""
        if not self.locked:
            self._view = View(mode=self._view.mode)
            self._address.unhide()
            self._hide()

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.sheet.dark = dark

    def _hide(self) -> None:
        self._tabs.bar.visible = not self.hides("tabs")
        self._transport.bare = self.hides("transport")
