"""Transport bar: the acts on the run as a whole, at what speed it goes on, and its numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from hidviz.learners import LEARNERS
from hidviz.ui.components.basic import Button
from hidviz.ui.components.transport import Transport
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.session import Session
from hidviz.ui.state.speeds import SPEEDS
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.status import READABLE, reading

HALF = N_("Half step")


class TransportBar:
    """The bar over the tabs, shown whatever else is hidden.

    Args:
        session: whose run it is.
        acting: wraps an act, so that the page is drawn after it.
        on_speed: called after another speed was chosen.
    """

    def __init__(
        self, session: Session, acting: Callable[[Callable[[], None]], None], on_speed: Callable[[], None]
    ) -> None:
        def button(name: str, icon: str, text: str, act: Callable[[], None]) -> Button:
            return Button(name, icon, text, partial(acting, act))

        def choose(name: str) -> None:
            session.speed = name
            on_speed()

        self._session, self._changes = session, Changes()
        self.bar: Any = Transport(
            (
                button(
                    _("Run"), "play", _("Learn, step after step; a run that has ended starts over (space)"), session.run
                ),
                button(_("Pause"), "pause", _("Stop here and keep everything (space)"), session.pause),
            ),
            (
                button(_("Step"), "step", _("One step of the optimiser (s)"), session.step),
                button(
                    _(HALF),
                    "half",
                    _("E-step: update ⟨σ⟩ given the data; M-step: update couplings (h)"),
                    session.half_step,
                ),
                button(_("Rewind"), "rewind", _("Back to the same start on the same data (r)"), session.rewind),
            ),
            (
                button(_("New start"), "start", _("Another random start on the same data"), session.new_start),
                button(_("New data"), "data", _("Another true network and its data"), session.new_data),
            ),
            {name: _(speed.words) for name, speed in SPEEDS.items()},
            choose,
            speed=session.speed,
            sizing_mode="stretch_width",
            margin=0,
        )

    @property
    def stirred(self) -> bool:
        """Whether numbers of a run that goes on were held back, and those shown could be read by now."""
        return self._session.running and self._changes.stirred(*self._seen, period=READABLE)

    @property
    def _seen(self) -> tuple[object, ...]:
        return self._session.frame, self._session.progress, self._session.running

    def draw(self) -> None:
        """What can be pressed now, and the numbers."""
        session = self._session
        running, progress = session.running, session.progress
        halves = bool(LEARNERS[session.wanted.learner].phases)
        self.bar.put(running=running, speed=session.speed, absent=[] if halves else [_(HALF)])
        due = self._changes.due(*self._seen, period=READABLE * running) is not None
        if due or not running:
            self.bar.put(
                text=of_engine(progress.what) + " …"
                if progress
                else reading(session.frame, session.steps_per_second, running),
                percent=round(100 * progress.fraction) if progress else -1,
            )

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.bar.dark = dark
