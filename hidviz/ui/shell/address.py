"""Address: it says what the knobs are and how the page is looked at; the page goes where the browser goes back to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hidviz.experiments import Experiment
from hidviz.ui.components.basic import Instrument
from hidviz.ui.state.lesson_run import LessonRun
from hidviz.ui.state.link import HIDEABLE, TABS, View, read_query, write_link
from hidviz.ui.state.session import Session
from hidviz.ui.state.speeds import FASTEST
from hidviz.ui.tabs.learn import LearnTab
from hidviz.ui.tabs.tab import TabHost
from hidviz.ui.text.language import ENGLISH, _
from hidviz.ui.text.lessons import LESSONS


class Address:
    """The address of one page, and links to its run.

    Args:
        view: what the link that opened the page said of how to look at it; what does not change stays in the address.
        session: whose knobs and run it leads to.
        tabs: of which one is in front.
        learn: the tab whose switches are in the address.
        lessons: of which one may be under way.
        on_travel: called after the page has gone where the browser went.
    """

    def __init__(
        self,
        view: View,
        session: Session,
        tabs: TabHost,
        learn: LearnTab,
        lessons: LessonRun,
        *,
        on_travel: Callable[[], None],
    ) -> None:
        self._given, self._session, self._tabs, self._learn, self._on_travel = view, session, tabs, learn, on_travel
        self._lessons = lessons
        self._bar: Instrument | None = None
        self._journey = 0  # the last one of the browser's that is answered

    def connect(self, bar: Instrument) -> None:
        """Write to this part of the page from now on; what the browser has already stays."""
        self._bar = bar
        self.show()

    @property
    def view(self) -> View:
        """How the page is looked at now."""
        learn, speed = self._learn, self._session.speed
        return replace(
            self._given, tab=self._tabs.key, align=learn.align_switch.value, log=learn.log_switch.value,
            lesson=self._lessons.key, speed="" if speed == FASTEST else speed,
        )  # fmt: skip

    def query(self, experiment: Experiment | None = None, step: int | None = None) -> str:
        """The query string that leads back to knobs and view, starting with ? unless it is empty.

        Args:
            experiment: the knobs; as they stand when left out.
            step: to run up to.
        """
        text = write_link(self._session.wanted if experiment is None else experiment, step=step, view=self.view)
        return f"?{text}" if text else ""

    def show(self) -> None:
        """Let the browser have the address of what is looked at now."""
        if self._bar is not None:
            self._bar.address = [self.query(), self._journey]

    def restyle(self, dark: bool) -> None:
        """The theme is part of the address."""
        if dark != (self._given.theme == "dark"):
            self._given = replace(self._given, theme="dark" if dark else "")
            self.show()

    def unhide(self) -> None:
        """Nothing is hidden any more."""
        self._given = replace(self._given, hide="", lock=False)
        self.show()

    def for_class(self, lesson: str, hide: Sequence[str], *, lock: bool) -> tuple[str, str]:
        """Links to teach with: the lecturer's, and that of the class, which does not have what is hidden.

        Args:
            lesson: to begin with; empty for none.
            hide: groups of controls, names of `HIDEABLE`.
            lock: whether the class cannot bring them back.
        """
        experiment = Experiment() if lesson in LESSONS else self._session.wanted  # a lesson brings its own knobs
        shown = View(lesson=lesson if lesson in LESSONS else "", theme=self._given.theme, language=self._given.language)
        hidden = ",".join(group for group in HIDEABLE if group in hide)
        theirs = replace(shown, hide=hidden, lock=lock and bool(hidden))
        prepared = f"{hidden},lock" if theirs.lock else hidden
        mine = replace(shown, mode="lecture", hide="settings", students=prepared)
        first, second = (write_link(experiment, view=view) for view in (mine, theirs))
        return f"?{first}", f"?{second}" if second else ""

    def share(self) -> None:
        """Make a link to the run that is shown, at this very step."""
        frame = self._session.frame
        if self._bar is not None:
            self._bar.share(self.query(frame.experiment, frame.snapshot.step) if frame else self.query())

    def translated(self, name: str) -> str:
        """The query of the page as it stands, in another language."""
        self._given = replace(self._given, language="" if name == ENGLISH else name)
        frame = self._session.frame
        if frame is None or (frame.experiment == Experiment() and self._session.finished):  # a fresh page has that run
            return self.query()
        return self.query(frame.experiment, frame.snapshot.step or None)

    def travel(self, query: str, journey: int) -> None:
        """Show what this query says, in the colours of now, and answer the journey that led there.

        Args:
            query: where the browser has gone, back or forward.
            journey: how many times it has gone so far.
        """
        try:
            self._go_to(query)
        finally:
            self._journey = journey
            self._on_travel()

    def _go_to(self, query: str) -> None:
        link = read_query(query)
        stays = {name: getattr(self._given, name) for name in ("theme", "mode", "hide", "lock", "language", "students")}
        self._given = replace(link.view, **stays)
        self._session.adopt(link.experiment)
        self._session.speed = link.view.speed or FASTEST
        if link.step is not None:
            self._session.run_to(link.step)
        self._tabs.bar.active = TABS.index(link.view.tab)
        self._learn.look_at(link.view.align, link.view.log)


def shared_in_words(link: str, copied: bool) -> str:
    """What became of a link that was asked for."""
    what = _("Copied a link to this run") if copied else _("This browser copies nothing here; the link to this run")
    return f"{what}: {link}"
