"""What is told of the hidden states: on request, where the run rests, once for equivalent models."""

import time
from dataclasses import replace

import pytest

from hidviz import Experiment
from hidviz.evaluation import replica_theory
from hidviz.experiments import Frame
from hidviz.experiments.run import iter_run
from hidviz.network import flip, regauge
from hidviz.ui.state.telling import Telling

SMALL = Experiment(
    n_visible=6, n_hidden=2, n_steps=400, n_held_out=0, model="stochastic", learner="exact", max_steps=3
)  # fmt: skip


@pytest.fixture(scope="module")
def frames():
    return [item for item in iter_run(SMALL) if isinstance(item, Frame)]


def settled(telling, frame):
    for _ in range(500):
        if telling.told is not None:
            return telling.told
        time.sleep(0.01)
    raise AssertionError(telling.in_words(frame, running=False))


def with_couplings(frame, couplings):
    return replace(frame, snapshot=replace(frame.snapshot, couplings=couplings))


def test_nothing_is_worked_out_unasked_or_while_the_run_goes_on(frames):
    telling = Telling()
    before = telling.version
    telling.follow(frames[-1], running=False, wanted=False)
    telling.follow(frames[-1], running=True, wanted=True)
    assert telling.version == before
    assert "where the run rests" in telling.in_words(frames[-1], running=True)


def test_it_belongs_to_a_step_and_a_flip_asks_for_nothing_anew(frames):
    telling, last = Telling(), frames[-1]
    telling.follow(last, running=False, wanted=True)
    told = settled(telling, last)
    assert f"step {last.snapshot.step}" in telling.in_words(last, running=False)
    assert f"{told.wrong:.1%}" in telling.in_words(last, running=False)
    turned = with_couplings(last, regauge(last.snapshot.couplings, flip(2, 1)))
    telling.follow(turned, running=False, wanted=True)
    assert telling.told is told
    telling.follow(frames[1], running=False, wanted=True)
    assert settled(telling, frames[1]).wrong != told.wrong
    telling.follow(frames[1], running=False, wanted=False)
    assert telling.told is None
    telling.stop()


def test_a_learner_without_hidden_units_says_so():
    frame = next(item for item in iter_run(replace(SMALL, learner="visible")) if isinstance(item, Frame))
    telling = Telling()
    telling.follow(frame, running=False, wanted=True)
    assert telling.told is None
    assert telling.in_words(frame, running=False) == "This learner has no hidden units, so it tells nothing of them."


@pytest.mark.parametrize(
    ("knobs", "says"),
    [({}, True), ({"hidden_hidden": True, "learner": "mean-field"}, True), ({"learner": "backprop"}, True),
     ({"model": "continuous"}, False), ({"bias": 0.3}, False), ({"variance": 0.0}, False)],
)  # fmt: skip
def test_replica_theory_is_told_where_it_speaks_of_such_networks(knobs, says):
    experiment = replace(SMALL, **knobs)
    *_, frame = (item for item in iter_run(replace(experiment, max_steps=1)) if isinstance(item, Frame))
    telling = Telling()
    telling.follow(frame, running=False, wanted=True)
    settled(telling, frame)
    words = telling.in_words(frame, running=False)
    telling.stop()
    if says:
        theory = replica_theory(experiment.variance, 1 / 3, hidden_hidden=experiment.hidden_hidden)
        assert f"Replica theory gives {theory.wrong_signs:.1%} with the true couplings" in words
    else:
        assert "Replica theory" not in words
