"""Dashboard: transport bar, knobs, status and tabs, for a page or a notebook.

The page pulls. A pulse looks at the session; if something has changed, the page takes a turn, which draws one frame
inside one hold, at the pace of `hidviz.ui.state.frame_pacing`. The worker never touches anything here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
from panel.io import hold
from panel.io.state import set_curdoc

from hidviz.background import hand_back_memory
from hidviz.experiments import ABOUT_PRESETS, PRESETS, Experiment, preset_of, shipped_frame
from hidviz.learning import Cure, Remark
from hidviz.network import Gauge
from hidviz.ui.components.access import Access
from hidviz.ui.components.basic import BokehPatches, HelpSheet, Instrument, Notice
from hidviz.ui.components.glossary import Glossary
from hidviz.ui.shell.address import Address, shared_in_words
from hidviz.ui.shell.lecture import BACK, ON, Lecture
from hidviz.ui.shell.lesson_bar import LessonBar
from hidviz.ui.shell.sidebar import Sidebar
from hidviz.ui.shell.transport import TransportBar
from hidviz.ui.state.frame_pacing import Pace
from hidviz.ui.state.link import FRONT_TABS, TABS, Link, View
from hidviz.ui.state.my_data import Found, MyData
from hidviz.ui.state.opening import Opening
from hidviz.ui.state.pulse import Pulse
from hidviz.ui.state.session import Session
from hidviz.ui.tabs.learn import LearnTab
from hidviz.ui.tabs.makers import tab_makers
from hidviz.ui.tabs.tab import TabHost
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.help import help_html
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.status import remarks_of, sentences_of, state_of

FIRST = N_("A finished run of Fig. 3. Press Run to watch it being learned.")
AFTERWARDS = 3  # seconds after which what a session held has been found to be of no use
QUIET = 1.5  # seconds in which nothing was drawn, after which a tab is built before it is asked for
FEW = 3  # sessions of a process, above which none is: a class has other work for it
LOG = logging.getLogger(__name__)
KEYS = (" ", "s", "h", "r", "a", "u", "U", "?", *"123456789")

STAYS = """
:host { position: sticky; top: 0; z-index: 4; max-height: none !important; overflow: visible; }
@media (max-height: 420px) { :host { position: relative; } }
"""
UNBOUNDED = ":host { max-height: none !important; }"  # Panel bounds a Column by the window: the rest would lie over it


class Dashboard(pn.viewable.Viewer):  # type: ignore[misc]  # panel has no types
    """Everything on the page between the title bar and the edges.

    Args:
        link: what to open with; a finished run of the paper's Fig. 3 if left out.
    """

    _pulse = Pulse()  # one for all of the process

    def __init__(self, link: Link | None = None, **params: Any) -> None:
        super().__init__(**params)
        link = link or Link(Experiment())
        finished = shipped_frame("fig3") if link.experiment == Experiment() and link.step is None else None
        self.session = Session(link.experiment, finished)
        self.session.event = _(FIRST) if finished else ""
        self.own = MyData()
        self.on_preset: Callable[[str], None] = lambda _: None
        self._shown_knobs = link.experiment
        self._dirty = True
        self._ready = False  # whether the browser is connected, so that what it sends arrives
        self._turn_asked = False  # whether a turn has been asked for and not come yet
        self._pace, self._opening = Pace(), Opening()
        self._told: tuple[str, ...] = ()  # kinds of the remarks that are told
        self._remedy: Cure | None = None
        self._build(link.view)
        if link.notices:
            self._tell(_("This link could not be used in full; defaults stand in. ") + " ".join(link.notices))
        if link.view.lesson:
            self.lessons.begin(link.view.lesson)
        self.restyle(link.view.theme == "dark")
        if link.step is not None:
            self.session.run_to(link.step)
        self._draw()
        self._document = pn.state.curdoc
        if self._document is None:  # in a notebook
            self._pulse.join(self, self._stirred, self._turn)
        else:
            pn.state.onload(self._begin)
            pn.state.on_session_destroyed(self._leave)

    def _leave(self, context: Any) -> None:
        """The session has ended: end its work, and what is kept for ever: views of its notifications, unsent models."""
        self.close()
        context._document.models.flush_synced()
        for ref, view in list(pn.state._views.items()):
            if view[2] is context._document:
                del pn.state._views[ref]
        asyncio.get_running_loop().call_later(AFTERWARDS, hand_back_memory)

    def close(self) -> None:
        """End the worker, and be looked at no more."""
        self._pulse.leave(self)
        self._pace.end()
        self._opening.close()
        self.session.close()
        self.own.close()
        self.views.close()

    # Building, once

    def _build(self, view: View) -> None:
        session = self.session
        session.speed = view.speed or session.speed
        self.transport = TransportBar(session, self._act, lambda: self.address.show())
        self.sidebar = Sidebar(
            lambda: session.wanted,
            on_change=self._change,
            shown=lambda: session.frame,
            on_open=self._opening.open,
            on_refused=self._tell,
            on_reset=partial(self._act, self.reset),
        )
        large = view.mode == "lecture"
        self.learn = LearnTab(session, lambda: self.lessons.begin("hidden-twin"), large=large)
        self.lessons = LessonBar(
            session, self.own, lambda: self.learn.align_switch.value,
            on_begin=self._begun, on_change=self._show_knobs,
        )  # fmt: skip

        makers = tab_makers(
            session, self.own, self.learn, load=lambda frame: self._act(partial(session.load, frame)), go_to=self._go_to
        )
        dark, front = view.theme == "dark", TABS.index(view.tab)
        self.views = TabHost(
            makers, len(FRONT_TABS), front,
            dark=dark, large=large, on_front=lambda: self.address.show(),
        )  # fmt: skip
        self.address = Address(view, session, self.views, self.learn, self.lessons.run, on_travel=self._show_knobs)
        self.lecture = Lecture(view, self.address, self.transport.bar, self.views)
        self.learn.look_at(view.align, view.log, on_switch=self.address.show)
        self.instrument = Instrument(
            self._key, self.address.travel, self._say_shared, keys=self.lecture.keys(KEYS),
            sizing_mode="stretch_width", margin=0,
        )  # fmt: skip
        self.address.connect(self.instrument)
        self.access, self.glossary = Access(margin=0), Glossary(margin=0)
        self.notice = Notice(self._cure, sizing_mode="stretch_width", margin=0)
        self.help_sheet = HelpSheet(html=help_html(), margin=0)

    @property
    def main(self) -> Any:
        """The transport bar, the status line, and one tab in front."""
        return pn.Column(
            BokehPatches(margin=0), self.lecture.magnifier, self.access, self.glossary, self.notice, self.help_sheet,
            self.lecture.sheet,
            pn.Column(
                self.transport.bar, self.lessons.card, sizing_mode="stretch_width", margin=0, stylesheets=[STAYS],
            ),
            self.instrument, self.views.bar, *self.views.places, sizing_mode="stretch_width", margin=(4, 16),
            stylesheets=[UNBOUNDED, "@media (max-width: 700px) { :host { padding-bottom: 64px; } }"],  # the bottom bar
        )  # fmt: skip

    def __panel__(self) -> Any:
        return pn.Row(
            pn.Column(self.sidebar.layout, width=320, margin=0), self.main, sizing_mode="stretch_width", margin=0
        )

    # Acting

    def _act(self, act: Callable[[], None]) -> None:
        act()
        self._show_knobs()

    def reset(self) -> None:
        """Everything as on a fresh page: knobs, run, views and switches; a file still being read is left."""
        self._opening.close()
        self.session.reset(Experiment(), shipped_frame("fig3"))
        self.session.event = _(FIRST)
        self.lessons.run.leave()
        self.own.restore(Found())
        for part in (self.views, self.learn):
            part.reset()
        self._told = ()
        self._tell("")
        self._show_knobs()

    def _begun(self) -> None:
        """A lesson has begun: the tab that it teaches with comes to the front."""
        self.views.bar.active = TABS.index(self.lessons.tab)
        self.learn.look_at(align=False, log=self.learn.log_switch.value)
        self._show_knobs()

    def _change(self, **knobs: Any) -> None:
        self.session.change(**knobs)
        self._show_knobs()

    def _go_to(self, gauge: Gauge) -> None:
        self._act(lambda: self.session.apply(gauge, _("Another of the equivalent models: the cost stays.")))

    def _take_opened(self) -> None:
        """Show a run that was read from a file; a damaged one is answered with a sentence and changes nothing."""
        if (opened := self._opening.take()) is None:
            return
        self._tell(opened if isinstance(opened, str) else "")
        if not isinstance(opened, str):
            self._act(partial(self.session.open, opened))

    def choose_preset(self, name: str) -> None:
        """Take over a preset, as a fresh page with it would."""
        self.session.adopt(PRESETS[name])
        self.session.event = _(ABOUT_PRESETS[name].look_for)
        self._show_knobs()

    def _show_knobs(self) -> None:
        """Let form, menu and address say what the knobs are now."""
        self._shown_knobs = self.session.wanted
        self.sidebar.show()
        self.on_preset(preset_of(self.session.wanted))
        self.address.show()
        self._dirty = True

    def _say_shared(self, link: str, copied: bool) -> None:
        self.session.event = shared_in_words(link, copied)
        self._dirty = True

    def help(self) -> None:
        """Open or close the help sheet."""
        self.help_sheet.open ^= True

    def teach(self) -> None:
        """Open or close the sheet for teaching."""
        self.lecture.open(self.lessons.run.key)

    def show_code(self) -> None:
        """Show the class its code, or put it away."""
        self.lecture.open(self.lessons.run.key, code_alone=True)

    def _cure(self) -> None:
        if self._remedy is not None:
            self._change(**self._remedy.knobs)

    def _key(self, key: str) -> None:
        session, align = self.session, self.learn.align_switch
        if key.isdigit() and self.lessons.asks:
            self._act(partial(self.lessons.answer, int(key) - 1))
            return
        acts = {
            " ": session.pause if session.running else session.run,
            "s": session.step,
            "h": session.half_step,
            "r": session.rewind,
            "u": session.undo,
            "U": session.redo,
            "?": self.help,
            ON: self.lessons.go_on,
            BACK: self.lessons.run.go_back,
            "a": lambda: setattr(align, "value", not align.value),
        } | {str(unit + 1): lambda unit=unit: session.flip(unit) for unit in range(9)}
        self._act(acts[key])

    # Drawing, many times

    async def _begin(self) -> None:
        """The browser is there: draw for it, and from now on whenever something has changed."""
        self._pulse.join(self, self._stirred, self._ask_turn)
        self._turn()

    def _stirred(self) -> bool:
        """Whether there is something to draw, and the browser keeps up."""
        if self._turn_asked:
            return False
        if not (
            self._dirty
            or not self._ready
            or self.session.stirred
            or self._opening.stirred
            or self.views.front.stirred
            or self.transport.stirred
            or self.session.wanted != self._shown_knobs
        ):
            return self._rests
        return self._pace.allows(self.instrument.frame - self.instrument.drawn, asked=self._dirty)

    @property
    def _rests(self) -> bool:
        """Whether there is time for a tab that nobody has asked for yet, so that it is there when somebody does."""
        return self.views.unbuilt and self._pace.rests(QUIET, FEW)

    def _ask_turn(self) -> None:
        """Have the page drawn as soon as its document is free."""
        self._turn_asked = True
        self._document.add_next_tick_callback(self._turn)

    def _turn(self) -> None:
        """Draw; a picture that fails says so, and does not take the page with it."""
        self._turn_asked, self._dirty, self._ready = False, self._dirty or not self._ready, True
        try:
            with set_curdoc(self._document):
                self._draw()
        except Exception as error:
            LOG.exception("drawing failed")
            self._tell(_("This view could not be drawn ({error}). Rewind, or choose another preset.", error=error))

    def _draw(self) -> None:
        """One frame, if anything changed since the last one."""
        self._take_opened()
        if self.session.wanted != self._shown_knobs:  # an act of a tab's own, such as Undo, brought others back
            self._show_knobs()
        changed = self.session.poll() or self._dirty
        self._dirty = False
        with self._pace.drawing(), hold():
            if self.views.front.look() or changed or self.transport.stirred:
                self._draw_words()
            elif self._rests:
                self.views.build_ahead()
            else:
                return
            self._pace.sent()

    def _draw_words(self) -> None:
        session, frame = self.session, self.session.frame
        self._pace.running = session.running
        self.sidebar.draw(session)
        self.transport.draw()
        self.lessons.draw()
        for each in (self.learn.question, self.learn.lesson, self.learn.unit_title, self.learn.gauge_line):
            each.visible = not self.lessons.run.key  # a lesson asks for itself, and gives no answer away
        told = remarks_of(frame, session.failure)
        self._warn(told)
        state = state_of(
            frame,
            session.wanted,
            awaited=session.awaiting,
            running=session.running,
            ready=self._ready,
            steps_per_second=session.steps_per_second,
            error=sentences_of(told),
        )
        sentence = session.problem or session.event
        self.instrument.put(sentence=sentence, state=state, frame=self.instrument.frame + 1)
        self.access.event = sentence

    def _warn(self, remarks: tuple[Remark, ...]) -> None:
        """Say each kind of remark once, all that hold together, with the first cure beside them."""
        self._remedy = next((remark.cure for remark in remarks if remark.cure), None)
        told = tuple(each.sentence if each.kind in ("infeasible", "failed") else each.kind for each in remarks)
        if told == self._told:
            return
        self._tell(sentences_of(remarks))
        self._told = told
        self.notice.cure = of_engine(self._remedy.label) if self._remedy else ""

    def _tell(self, text: str) -> None:
        self.notice.put(text=text, cure="")

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self.address.restyle(dark)
        for part in (self.sidebar, self.transport, self.lessons, self.views, self.lecture):
            part.restyle(dark)
        self.notice.dark = self.help_sheet.dark = self.glossary.dark = dark
        self._dirty = True
