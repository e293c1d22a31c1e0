"""Tab "Scores": is this the right model, and how well are its couplings known?

A press takes the fit that the page shows at that moment, running or paused, and judges it in the background. The two
tables are HTML with captions and headings, so that they can be read by keyboard and screen reader.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np
import panel_material_ui as pmui
from panel.io import hold

from hidviz.background import Runner
from hidviz.evaluation import ErrorBars, Judgement, compare_errors, judge
from hidviz.experiments import Frame, shipped_scores
from hidviz.learners import LEARNERS
from hidviz.network import Couplings
from hidviz.numerics import Array
from hidviz.ui.components.basic import Button, Buttons
from hidviz.ui.layout import heading, line, sentence, table_pane
from hidviz.ui.state.changes import Changes
from hidviz.ui.state.error_bar_worker import COPIES, measuring_of
from hidviz.ui.state.session import Session
from hidviz.ui.text.engine import of_engine
from hidviz.ui.text.language import N_, _
from hidviz.ui.text.scores import bars_in_words, table_of, table_of_bars, verdict_of
from hidviz.ui.theme import block_colours, inks

IDLE = N_(
    "Score the fit that the Learn tab shows on data it has not seen, beside models without "
    "hidden units; or ask how precisely the data determine each of its couplings."
)
SHOWN = N_("An example, the finished run of Fig. 3:")
MOVED = N_("The page has moved on since: press again to score what it shows now.")


class Switches(TypedDict):
    """Which optional blocks were learned."""

    hidden_hidden: bool
    bias: bool


@dataclass(frozen=True, eq=False)
class Subject:
    """What a press is about: the frame shown then."""

    frame: Frame

    @property
    def fits(self) -> dict[str, Couplings]:
        """The couplings shown, and those that a run would report if they are others."""
        snapshot = self.frame.snapshot
        found = {_("This fit, step {step:,}", step=snapshot.step): snapshot.couplings}
        if snapshot.best is not None and snapshot.best.couplings != snapshot.couplings:
            found[_("Best held-out, step {step:,}", step=snapshot.best.step)] = snapshot.best.couplings
        elif snapshot.best is None and snapshot.average is not None:
            found[_("Average of the last steps")] = snapshot.average[0]
        return found

    @property
    def switches(self) -> Switches:
        """Which optional blocks were learned."""
        learned = self.frame.setup.learner.learned
        return Switches(hidden_hidden="M" in learned, bias="h" in learned)

    @property
    def penalties(self) -> dict[str, Array]:
        """The weights of the penalty that each of them was learned with."""
        penalty, learned = self.frame.snapshot.penalty, self.frame.setup.learner.learned
        return {name: penalty.vector(couplings, learned) for name, couplings in self.fits.items()}

    def judging(self) -> Iterator[Judgement]:
        """The table of models, one more each time."""
        data, experiment = self.frame.data, self.frame.experiment
        return judge(
            self.fits, data.recording, np.random.default_rng(experiment.seed), learner=experiment.learner,
            held_out=data.held_out, truth=data.truth, model=experiment.model,
            penalties=self.penalties, **self.switches,
        )  # fmt: skip


class ScoresTab:
    """The tab; see `hidviz.ui.tabs.tab.Tab`.

    Args:
        session: whose fit is judged.
    """

    key = "scores"
    title = N_("Scores")

    def __init__(self, session: Session) -> None:
        self._session = session
        self._judge: Runner[Judgement] = Runner()
        self._bars: Runner[float | ErrorBars] = Runner()
        self._judged: Subject | None = None
        self._measured: Subject | None = None
        self._changes = Changes()
        self._dark = False
        self._build()

    # The contract of a tab

    @property
    def stirred(self) -> bool:
        """Whether the judging has come further, or the page shows something else."""
        return self._changes.stirred(*self._seen)

    @property
    def _seen(self) -> tuple[object, ...]:
        return self._judge.version, self._bars.version, self._dark, self._session.frame

    def look(self) -> bool:
        """Take in how far the judging has come, and whether the page still shows what was judged."""
        changed = self._changes.due(*self._seen)
        if changed is None:
            return False
        with hold():
            if any(changed[:3]):
                self._draw_judgement()
                self._draw_bars()
                self._draw_state()
            self._draw_notice()
        return True

    def restyle(self, dark: bool) -> None:
        """Colours for a theme."""
        self._dark = self.buttons.dark = dark

    def close(self) -> None:
        """Give up whatever is being judged."""
        self._judge.stop()
        self._bars.stop()

    # Building, once

    def _build(self) -> None:
        self.buttons = Buttons(
            Button(_("Score this fit"), "play", _("Training and held-out cost, AIC and BIC, beside the baselines"),
                   self.judge, True),
            Button(_("Error bars"), "bars", _("How precisely the data determine each coupling"), self.measure),
            columns=0, margin=0,
        )  # fmt: skip
        self.stop = pmui.Button(label=_("Cancel"), variant="outlined", disabled=True, on_click=self._cancel, margin=0)
        self.progress = pmui.LinearProgress(
            value=0, variant="determinate", visible=False, sizing_mode="stretch_width", margin=(4, 0)
        )
        self.status, self.notice = sentence(_(IDLE)), sentence(style="italic")
        self.table, self.bars = table_pane(), table_pane()
        self.verdict, self.known = sentence(), sentence()
        self.models = pmui.Column(
            heading(_("Which model?")), self.table, self.verdict, sizing_mode="stretch_width", margin=(12, 0),
            visible=False,
        )  # fmt: skip
        self.couplings = pmui.Column(
            heading(_("How well are its couplings known?")), self.bars, self.known, sizing_mode="stretch_width",
            margin=(12, 0), visible=False,
        )  # fmt: skip
        head = line(self.buttons, self.stop)
        self.layout = pmui.Column(
            head, self.progress, self.status, self.notice, self.models, self.couplings,
            sizing_mode="stretch_width", margin=(8, 0),
        )  # fmt: skip

    # Acting

    def judge(self) -> None:
        """Judge the fit shown now."""
        subject = self._subject()
        if subject is not None:
            self._judged = subject
            self.models.visible = False  # what stands there is of another fit
            self._judge.start(subject.judging())

    def measure(self) -> None:
        """Work out the error bars of the fit shown now."""
        subject = self._subject()
        if subject is None:
            return
        if LEARNERS[subject.frame.experiment.learner].copies:
            self.status.object = _(COPIES)
            return
        self._measured = subject
        self._bars.start(measuring_of(subject.frame))

    def _subject(self) -> Subject | None:
        frame = self._session.frame
        if frame is None:
            self.status.object = _("There is no fit to score yet: wait for the first step, or press Run.")
            return None
        return Subject(frame)

    def _cancel(self, _: Any) -> None:
        self.close()

    # Drawing

    def _draw_judgement(self) -> None:
        judgement = self._judge.latest
        if judgement is None and self._judged is None:
            judgement = shipped_scores()
        if judgement is not None:
            self.models.visible = True
            self.table.object = table_of(judgement, inks(self._dark).accent)
            self.verdict.object = "" if judgement.doing else verdict_of(judgement)

    def _draw_bars(self) -> None:
        bars, subject = self._bars.latest, self._measured
        if isinstance(bars, ErrorBars) and subject is not None:
            comparison = compare_errors(bars, subject.frame.snapshot.couplings, subject.frame.data.truth)
            self.couplings.visible = True
            self.bars.object = table_of_bars(comparison, block_colours(self._dark), subject.frame.snapshot.step)
            self.known.object = bars_in_words(bars, subject.frame.snapshot.state == "converged")

    def _draw_state(self) -> None:
        judgement, bars = self._judge.latest, self._bars.latest
        parts, fractions = [], []
        if not self._judge.ended:
            doing = of_engine(judgement.doing) if judgement else _("the truth")
            parts.append(_("Scoring: {doing} …", doing=doing))
            fractions.append(len(judgement.candidates) / judgement.n if judgement else 0.0)
        if not self._bars.ended:
            parts.append(_("Working out error bars …"))
            fractions.append(bars if isinstance(bars, float) else 0.0)
        for runner, what, cut in (
            (self._judge, _("Scoring"), judgement is not None and bool(judgement.doing)),
            (self._bars, _("Error bars"), isinstance(bars, float)),
        ):
            if runner.failure:
                parts.append(str(runner.failure))
            elif runner.ended and cut:
                parts.append(_("{what} cancelled.", what=what))
        started = self._judged is not None or self._measured is not None
        self.status.object = " ".join(parts) or ("" if started else f"{_(IDLE)} {_(SHOWN)}")
        self.progress.visible = bool(fractions)
        self.progress.value = round(100 * min(fractions, default=0.0))
        self.stop.disabled = not fractions
        self.buttons.disabled = [
            name
            for name, runner in ((_("Score this fit"), self._judge), (_("Error bars"), self._bars))
            if not runner.ended
        ]  # fmt: skip

    def _draw_notice(self) -> None:
        frame = self._session.frame
        subjects = [each for each in (self._judged, self._measured) if each is not None]
        moved = frame is not None and any(each.frame.snapshot is not frame.snapshot for each in subjects)
        self.notice.object = _(MOVED) if moved else ""
