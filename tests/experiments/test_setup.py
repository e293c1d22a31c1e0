"""Costs beside learning: baselines without hidden units, and sampled where exact sums are out of reach."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from hidviz.evaluation.baselines import baselines
from hidviz.evaluation.importance_sampling import predicted_seconds, sampler
from hidviz.evaluation.likelihood import log_likelihood
from hidviz.evaluation.model_comparison import judge
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import UNDER_WAY, iter_resumed, iter_run
from hidviz.experiments.setup import with_baselines
from hidviz.learners import LEARNERS
from hidviz.network.couplings import random_couplings
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate

SMALL = Experiment(n_visible=5, n_hidden=2, n_steps=400, n_held_out=300, max_steps=3, model="stochastic")
LARGE = replace(SMALL, n_visible=12, n_hidden=30, n_steps=60, n_held_out=50, learner="gibbs", max_steps=30)


def frames(experiment):
    return [item for item in iter_run(experiment) if isinstance(item, Frame)]


@pytest.mark.parametrize("bias", [0.0, 0.3])
def test_baselines_are_those_of_the_table_of_scores(bias):
    experiment = replace(SMALL, learner="exact", bias=bias)
    data = frames(experiment)[0].data
    found = baselines(data.recording, data.held_out, bias=bias > 0.0)
    *_, table = judge({}, data.recording, np.random.default_rng(0), learner="exact", held_out=data.held_out,
                      bias=bias > 0.0)  # fmt: skip
    assert [found.lag1, found.lag2] == pytest.approx(
        [candidate.held_out.cost for candidate in table.candidates], rel=1e-12
    )
    assert found.lag1 != found.lag2


def test_a_run_finds_baselines_once_after_its_first_frame():
    run = frames(replace(SMALL, learner="exact"))
    assert run[0].setup.baselines is None
    assert run[1].setup.baselines == baselines(run[0].data.recording, run[0].data.held_out)
    assert all(frame.setup is run[1].setup for frame in run[1:])
    again = list(iter_resumed(run[2]))
    assert again[-1].setup is run[1].setup
    assert frames(replace(SMALL, learner="exact", n_held_out=0))[-1].setup.baselines is None


def test_costly_baselines_wait_until_a_run_is_under_way_and_say_so(monkeypatch):
    monkeypatch.setattr("hidviz.experiments.run.AFFORDABLE", 0.0)
    run = list(iter_run(replace(SMALL, learner="gibbs", max_steps=UNDER_WAY + 2)))
    begin = next(place for place, item in enumerate(run) if isinstance(item, Frame))
    said = run.pop(begin + UNDER_WAY + 1)
    assert said.what == "Learning without hidden units, to compare"
    assert [frame.setup.baselines is None for frame in run[begin:]] == [*[True] * (UNDER_WAY + 1), False, False]


def test_a_baseline_that_the_penalty_alone_keeps_finite_is_found_and_said():
    first = frames(SMALL)[0]
    constant = replace(first.data, recording=Recording(np.ones((50, 5), np.int8)))
    found = with_baselines(constant, first.setup, bias=False).baselines
    assert np.isfinite([found.lag1, found.lag2]).all()
    assert len(found.remarks) == 5
    assert "unit 1 can be predicted perfectly" in found.remarks[0]


# Sampled costs


def test_an_exact_cost_is_not_sampled():
    for learner in ("gibbs", "mean-field", "exact"):
        frame = frames(replace(SMALL, learner=learner))[-1]
        assert frame.setup.sampler is None
        assert len(frame.sampled) == 0


def test_hidden_to_hidden_couplings_are_not_sampled():
    assert frames(replace(LARGE, hidden_hidden=True, max_steps=1))[0].setup.sampler is None


def test_costs_out_of_reach_are_sampled_at_some_steps_and_at_the_end(monkeypatch):
    monkeypatch.setattr(sys.modules["hidviz.evaluation.importance_sampling"], "SHARE", 0.95)
    run = frames(LARGE)
    last = run[-1]
    every = last.setup.sampler.every
    assert (last.setup.exact, last.setup.held_out) == (None, None)
    assert 1 < every < 30
    columns = [f"{name}{ending}" for name in ("cost", "held_out") for ending in ("", "_error", "_fewest")]
    assert last.sampled.names == ("step", *columns)
    assert last.sampled["step"].tolist() == [*range(every, 30, every), 30]
    for frame in run:
        assert len(frame.sampled) == sum(last.sampled["step"] <= frame.snapshot.step)
    assert (last.sampled["cost_error"] > 0.0).all()
    again = list(iter_resumed(run[every + 1]))[-1]
    for name in last.sampled.names:
        assert np.array_equal(again.sampled[name], last.sampled[name])


def test_sampled_costs_cover_the_exact_ones():
    """Twenty networks, so that the spread of the deviations, in standard errors, is known to about a sixth."""
    deviations = []
    for seed in range(20):
        couplings = random_couplings(5, 4, np.random.default_rng(seed), bias=0.3)
        recording, _ = simulate(couplings, 200, np.random.default_rng(seed))
        judged = sampler({"cost": recording}, n_hidden=4, seed=seed, step_seconds=1e-3).row(couplings, 7)
        exact = -log_likelihood(couplings, recording) / recording.n_transitions
        deviations.append((judged["cost"] - exact) / judged["cost_error"])
    assert np.sqrt(np.mean(np.square(deviations))) == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize(("n_visible", "n_hidden"), [(80, 20), (80, 80), (20, 20)])
def test_sampling_is_seldom_enough_to_take_less_than_a_fifth_of_the_time(n_visible, n_hidden):
    """By the predictions: no clock is asked."""
    couplings = random_couplings(n_visible, n_hidden, np.random.default_rng(0))
    recording, _ = simulate(couplings, 50, np.random.default_rng(1))
    size = (n_visible, n_hidden, 49)
    step = LEARNERS["gibbs"].seconds(*size, False)
    estimate = LEARNERS["mean-field"].seconds(*size, False) + predicted_seconds(*size)
    for names in (["cost"], ["cost", "held_out"]):
        every = sampler(dict.fromkeys(names, recording), n_hidden=n_hidden, seed=1, step_seconds=step).every
        share = len(names) * estimate / (len(names) * estimate + every * step)
        assert 0.1 < share < 0.2


def test_too_long_an_estimate_is_left_out():
    recording = Recording(np.ones((200_000, 60), np.int8))
    assert sampler({"cost": recording}, n_hidden=40, seed=1, step_seconds=1.0) is None
