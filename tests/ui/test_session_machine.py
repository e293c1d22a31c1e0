"""All acts of a session in any order, also while a run is being made: what is shown is one run of one experiment.

The session does its work in `poll`, one item a call, so that every example is the same every time. What is done before
the frame of an edit has come waits for it; then the frames to undo to are the session's own, at the knobs expected.
"""

import io
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from urllib.parse import parse_qs

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from hidviz import Experiment, Gauge, load_bundle, save_bundle
from hidviz.experiments.experiment import LIVE
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_run
from hidviz.ui.state.link import read_link, write_link
from hidviz.ui.state.session import Session

SMALL = Experiment(n_visible=3, n_hidden=2, n_steps=20, n_held_out=10)
OTHERS = (replace(SMALL, seed=7, n_visible=4, max_steps=2), replace(SMALL, learner="visible", max_steps=1))
TURNS = st.sampled_from(
    [
        {"n_visible": 4}, {"n_steps": 30}, {"seed": 2}, {"n_hidden": 1}, {"model": "stochastic"},
        {"learner": "mean-field"}, {"start_index": 3}, {"n_hidden_assumed": 3}, {"penalty": 0.1}, {"box": 0.5},
        {"optimiser": "momentum"}, {"max_steps": 2}, {"max_steps": None},
        {"learner": "exact", "model": "stochastic", "n_hidden": 40, "n_hidden_assumed": None},  # refused
    ]
)  # fmt: skip


@cache
def last_frame(experiment):
    return [item for item in iter_run(experiment) if isinstance(item, Frame)][-1]


@cache
def true_couplings(experiment):
    return experiment.truth()


class Acts(RuleBasedStateMachine):
    """The session beside what it should be: the knobs shown, those awaited, and the frames that undo leads to."""

    @initialize(experiment=st.sampled_from([None, *OTHERS]))
    def opened(self, experiment):
        frame = experiment and last_frame(experiment)
        self.session = Session(experiment or SMALL, frame, threads=False)
        self.shown, self.awaited = experiment, None if experiment else SMALL
        self.past, self.future = [], []
        self.held = None  # acts that wait, while the frame of an edit does
        self.turned = {}  # knobs that they turn

    @property
    def wanted(self):
        return self.awaited or replace(self.shown, **self.turned)

    def drop(self):
        self.held, self.turned = None, {}

    def does(self, act, **details):
        """Do to what is expected what is done to the session, or remember it until the frame of an edit comes."""
        if self.held is not None:
            self.held.append((act, details))
            self.turned |= details if act == "turn" else {}
        elif act == "turn":
            self.shown = replace(self.shown, **details)
        elif act in ("edit", "regauge"):
            if act == "edit" or self.shown.n_hidden_learned == details["n"]:
                self.past, self.future = [*self.past, SimpleNamespace(experiment=self.shown)], []
            self.held = [] if act == "edit" else None
        elif act == "travel":
            whence, whither = (self.past, self.future) if details["back"] else (self.future, self.past)
            if whence:
                whither.append(SimpleNamespace(experiment=self.shown))
                self.shown = whence.pop().experiment

    def release(self):
        """The frame of an edit has come: what was held is done, and held again after the next edit."""
        held = self.held
        self.drop()
        for act, details in held:
            self.does(act, **details)
        history = self.session._history
        for expected, found in ((self.past, history.past), (self.future, history.future)):
            assert [each.experiment for each in expected] == [each.experiment for each in found]
        self.past, self.future = list(history.past), list(history.future)

    @rule()
    def look(self):
        edit = self.session._edit
        self.session.poll(0.0)
        if self.session._edit is not edit:
            self.release()
        if self.awaited and not self.session.awaiting:
            self.shown, self.awaited = self.awaited, None
            self.past, self.future = [], []

    @rule()
    def rest(self):
        for _ in range(6):
            self.look()

    @rule(act=st.sampled_from(["run", "pause", "step", "half_step"]))
    def transport(self, act):
        failed, ended = self.session.problem, self.session.finished
        if act == "run" and self.held:
            return  # it may begin anew: see test_acts.py
        getattr(self.session, act)()
        if self.held is not None:
            if act != "run":
                self.does(act)
        elif self.shown and not self.awaited and ((act == "run" and ended) or (act != "pause" and failed)):
            self.awaited = self.shown

    @rule(act=st.sampled_from(["rewind", "new_start", "new_data", "run_to"]))
    def begin(self, act):
        wanted = self.wanted
        self.drop()
        getattr(self.session, act)(*([2] if act == "run_to" else []))
        self.awaited = {
            "new_start": replace(wanted, start_index=wanted.start_index + 1),
            "new_data": replace(wanted, seed=wanted.seed + 1),
        }.get(act, wanted)

    @rule(knobs=TURNS)
    def turn(self, knobs):
        before = self.wanted
        wanted, lost = replace(before, **knobs), self.awaited or self.session.problem
        self.session.change(**knobs)
        if wanted != before and (lost or not knobs.keys() <= LIVE):
            self.awaited = wanted
            self.drop()
        elif wanted != before:
            self.does("turn", **knobs)

    @precondition(lambda self: self.shown)
    @rule(act=st.sampled_from(["flip", "swap", "apply"]))
    def regauge(self, act):
        before = self.session.frame
        if before.snapshot.couplings.n_hidden < 2:
            return
        n = before.snapshot.couplings.n_hidden
        gauge = Gauge([*range(1, n), 0], [-1.0] * n)
        getattr(self.session, act)(*{"flip": [1], "swap": [0, 1], "apply": [gauge, "moved"]}[act])
        if self.held is None:
            self.past, self.future = [*self.past, before], []
        else:
            self.does("regauge", n=n)
        assert self.session.frame.snapshot.cost == before.snapshot.cost

    @precondition(lambda self: self.shown)
    @rule(value=st.floats(-1.0, 1.0))
    def edit(self, value):
        before = self.session.frame
        self.session.set_coupling("J", 0, 1, value)
        if self.held is None:
            self.past, self.future = [*self.past, before], []
            self.held = []
        else:
            self.does("edit")
        self.awaited = None

    @rule(experiment=st.sampled_from(OTHERS))
    def load(self, experiment):
        if self.shown:
            self.past, self.future = [*self.past, self.session.frame], []
        self.drop()
        self.session.load(last_frame(experiment))
        self.shown, self.awaited = experiment, None

    @rule(experiment=st.sampled_from(OTHERS))
    def open(self, experiment):
        file = io.BytesIO()
        save_bundle(file, last_frame(experiment))
        file.seek(0)
        self.drop()
        self.session.open(load_bundle(file))
        self.awaited = experiment

    @precondition(lambda self: self.shown)
    @rule(back=st.booleans())
    def travel(self, back):
        whence, whither = (self.past, self.future) if back else (self.future, self.past)
        before = self.session.frame
        (self.session.undo if back else self.session.redo)()
        if self.held is not None:
            self.does("travel", back=back)
            assert self.session.frame is before
            return
        if not whence:
            assert self.session.frame is before
            return
        whither.append(before)
        frame = whence.pop()
        assert self.session.frame is frame
        self.shown, self.awaited = frame.experiment, None

    @rule(experiment=st.sampled_from(OTHERS))
    def reset(self, experiment):
        self.drop()
        self.session.reset(experiment, last_frame(experiment))
        self.shown, self.awaited = experiment, None
        self.past, self.future = [], []

    @invariant()
    def knobs_and_frame_are_those_that_were_asked_for(self):
        session = self.session
        assert session.wanted == self.wanted
        assert (session._edit is None) == (self.held is None)
        assert session.awaiting == (self.awaited is not None)
        assert (session.frame.experiment if session.frame else None) == self.shown
        assert session.n_undo == (len(self.past), len(self.future))

    @invariant()
    def what_is_shown_is_one_run_of_one_experiment(self):
        frame = self.session.frame
        if frame is None:
            return
        experiment, data, couplings = frame.experiment, frame.data, frame.snapshot.couplings
        assert data.truth == true_couplings(replace(experiment, learner="visible"))
        assert (data.recording.n_bins, data.recording.n_visible) == (experiment.n_steps, experiment.n_visible)
        assert (couplings.n_visible, couplings.n_hidden) == (experiment.n_visible, experiment.n_hidden_learned)
        assert frame.trace["cost"][-1] == frame.snapshot.cost

    @invariant()
    def what_is_exported_and_linked_is_that_run(self):
        frame = self.session.frame
        if frame is None:
            return
        file = io.BytesIO()
        save_bundle(file, frame)
        file.seek(0)
        bundle = load_bundle(file)
        assert (bundle.experiment, bundle.couplings) == (frame.experiment, frame.snapshot.couplings)
        text = write_link(frame.experiment, step=frame.snapshot.step)
        assert read_link(parse_qs(text, keep_blank_values=True)).experiment == frame.experiment

    def teardown(self):
        if not hasattr(self, "session"):
            return
        for _ in range(30):
            self.look()
        assert not self.session.awaiting or self.session.problem
        self.knobs_and_frame_are_those_that_were_asked_for()
        self.what_is_shown_is_one_run_of_one_experiment()
        self.session.close()


TestSession = Acts.TestCase
TestSession.settings = settings(
    derandomize=True, max_examples=25, stateful_step_count=25, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
