"""Advice on when to stop fits every learner and size, can be applied as it is, and leaves the paper's figures alone."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from hidviz.evaluation import rms_errors
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.presets import PRESETS
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


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_penalty_is_learned_but_where_mean_field_takes_it_along_and_a_bare_box_never_set(learner):
    for (n_visible, n_hidden), n_steps, n_held_out in product(SIZES, (10, 1000, 30_000, 1_000_000), (0, 10_000)):
        knobs = advice(at(learner, n_visible, n_hidden, n_steps, n_held_out=n_held_out)).knobs
        crowded = LEARNERS[learner].family == "mean-field" and n_visible < 4 * n_hidden
        held = crowded and n_steps > 1000 and knobs["patience"] is None
        assert knobs["penalty"] == (pytest.approx(n_hidden / 1000) if held else "learned")
        assert knobs["box"] is None


@pytest.mark.parametrize("learner", [name for name in LEARNERS if name.startswith("mean-field")])
def test_mean_field_on_small_networks_keeps_the_best_held_out_step(learner):
    for n_visible, n_hidden in ((5, 5), (8, 8), (10, 2)):
        assert advice(at(learner, n_visible, n_hidden, 10_000)).knobs["patience"] == PATIENCE
        assert advice(at(learner, n_visible, n_hidden, 10_000, n_held_out=0)).knobs["patience"] is None


def test_likelihoods_are_left_to_converge_under_a_learned_penalty_however_few_the_data():
    for learner in ("backprop", "exact", "visible"):
        for n_steps in (300, 100_000):
            assert advice(at(learner, 5, 5, n_steps)).knobs["patience"] is None


def test_sampling_learners_shrink_their_steps():
    for n_visible, n_hidden in SIZES:
        knobs = advice(at("gibbs", n_visible, n_hidden, 1_000_000)).knobs
        assert (knobs["max_steps"], knobs["patience"]) == (SAMPLED_STEPS, None)


def test_the_presets_keep_the_settings_of_the_paper():
    """The paper names no penalty: what it did stays one press away."""
    assert {preset.penalty for preset in PRESETS.values()} == {0.0}


@pytest.mark.slow
def test_mean_field_that_nothing_else_stops_is_held_however_long_the_data():
    """K of one network of 30 + 10 units, whose variance is .1, under the advice and under a penalty that is learned."""
    ends = {}
    for n_steps, penalty in ((3000, None), (3000, "learned"), (10_000, None)):
        plain = at("mean-field", 30, 10, n_steps, n_held_out=0, max_steps=200)
        knobs = advice(plain).knobs
        *_, last = replace(plain, penalty=penalty or knobs["penalty"]).run()
        ends[n_steps, penalty] = rms_errors(last.couplings, plain.truth(), align=True)["K"] ** 2
    assert ends[10_000, None] < ends[3000, None] < 0.01
    assert ends[3000, "learned"] > 0.05


@pytest.mark.slow
def test_advice_for_few_data_beats_learning_to_the_end():
    """Held-out costs averaged over four networks of five visible and five hidden units, 1000 bins."""
    ends = {"advised": [], "plain": []}
    for seed in range(1, 5):
        plain = at("exact", 5, 5, 1000, seed=seed, max_steps=150)
        for kind, experiment in (("advised", replace(plain, **advice(plain).knobs)), ("plain", plain)):
            *_, last = experiment.run()
            ends[kind].append(last.held_out)
    advised, plain = (np.mean(costs) for costs in ends.values())
    assert advised < plain - 0.01
