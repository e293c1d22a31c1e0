"""Advice on when to stop fits every learner and size, can be applied as it is, and leaves the paper's figures alone."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hidviz.experiments.experiment import Experiment
from hidviz.experiments.frame import Frame
from hidviz.experiments.presets import PRESETS
from hidviz.experiments.run import iter_run
from hidviz.experiments.stopping_advice import PATIENCE, SAMPLED_STEPS, advice
from hidviz.learners import LEARNERS

KNOBS = ("patience", "penalty", "box", "max_steps")
SIZES = ((5, 5), (8, 8), (10, 2), (18, 2), (80, 20), (80, 80))


def at(learner, n_visible, n_hidden, n_steps, **knobs):
    model = "continuous" if learner == "backprop" else "stochastic"
    return Experiment(
        n_visible=n_visible, n_hidden=n_hidden, n_steps=n_steps, learner=learner, model=model, **knobs
    )  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_and_size_has_its_advice_in_one_sentence(learner):
    for (n_visible, n_hidden), n_steps, n_held_out in product(SIZES, (10, 1000, 30_000, 1_000_000), (0, 10_000)):
        experiment = at(learner, n_visible, n_hidden, n_steps, n_held_out=n_held_out)
        given = advice(experiment)
        assert tuple(given.knobs) == KNOBS
        advised = replace(experiment, **given.knobs)
        assert advice(advised) == given
        assert given.reason.endswith(".")
        assert ". " not in given.reason


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name.startswith("mean-field")])
def test_mean_field_on_small_networks_is_stopped_on_held_out_data_and_else_held_in_a_box(learner):
    for n_visible, n_hidden in ((5, 5), (8, 8), (10, 2)):
        assert advice(at(learner, n_visible, n_hidden, 10_000)).knobs["patience"] == PATIENCE
        held = advice(at(learner, n_visible, n_hidden, 10_000, n_held_out=0)).knobs
        assert (held["patience"], held["penalty"], held["max_steps"]) == (None, 0.0, None)
        assert held["box"] > 1.0  # wider than any coupling of such a network


def test_large_networks_need_a_box_with_as_many_hidden_units_and_nothing_with_few():
    assert advice(at("mean-field", 80, 80, 10_000)).knobs["box"] == 0.7
    assert set(advice(at("mean-field", 80, 20, 10_000)).knobs.values()) == {None, 0.0}
    assert advice(at("mean-field", 80, 20, 1000)).knobs["box"] is not None


def test_few_data_are_stopped_and_plenty_of_data_are_left_to_converge():
    for learner in ("exact", "backprop"):
        assert advice(at(learner, 5, 5, 1000)).knobs["patience"] == PATIENCE
        assert set(advice(at(learner, 5, 5, 100_000)).knobs.values()) == {None, 0.0}
    unjudged = advice(at("exact", 5, 5, 1000, n_held_out=0)).knobs
    assert (unjudged["patience"], unjudged["penalty"]) == (None, 0.005)


def test_sampling_learners_shrink_their_steps():
    for n_visible, n_hidden in SIZES:
        knobs = advice(at("gibbs", n_visible, n_hidden, 1_000_000)).knobs
        assert (knobs["max_steps"], knobs["patience"], knobs["penalty"]) == (SAMPLED_STEPS, None, 0.0)
    assert advice(at("gibbs", 5, 5, 1000)).knobs["penalty"] > 0.0


def test_advice_follows_the_number_of_hidden_units_that_is_assumed():
    assert advice(at("mean-field", 80, 20, 10_000, n_hidden_assumed=80)).knobs["box"] == 0.7


def test_the_presets_of_the_paper_stop_as_advised_where_they_stop_at_all():
    for preset in PRESETS.values():
        if preset.patience is not None and set(advice(preset).knobs.values()) != {None, 0.0}:
            assert advice(preset).knobs["patience"] == preset.patience


@pytest.mark.slow
def test_advice_for_few_data_beats_learning_to_the_end():
    """Held-out costs averaged over four networks of five visible and five hidden units, 1000 bins."""
    ends = {"advised": [], "penalised": [], "plain": []}
    for seed in range(1, 5):
        plain = at("exact", 5, 5, 1000, seed=seed, max_steps=150)
        for kind, experiment in (
            ("advised", replace(plain, **advice(plain).knobs)),
            ("penalised", replace(plain, **advice(replace(plain, n_held_out=0)).knobs)),
            ("plain", plain),
        ):
            last = [item for item in iter_run(experiment) if isinstance(item, Frame)][-1].snapshot
            ends[kind].append(last.best.cost if kind == "advised" else last.held_out)
    advised, penalised, plain = (np.mean(costs) for costs in ends.values())
    assert advised < plain - 0.01
    assert penalised < plain - 0.01
