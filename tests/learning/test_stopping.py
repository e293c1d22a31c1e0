"""Why a run ends and what is told of it: the tolerance alone decides, and every remark comes with its cure."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from hidviz.experiments.experiment import Experiment
from hidviz.learners import prepare
from hidviz.learning.loop import learn
from hidviz.learning.remarks import Remark
from hidviz.learning.starts import random_start
from hidviz.learning.stopping import data_warnings
from hidviz.network.couplings import random_couplings
from hidviz.network.recording import Recording
from tests.toys import backprop, history, noisy


def problem(*, n_hidden=2, seed=3):
    truth, recording = history(n_hidden=n_hidden)
    learner = backprop(recording, n_hidden)
    start = random_start(truth.n_visible, n_hidden, np.random.default_rng(seed), learned=learner.learned)
    return learner, start


def last_of(learner, start, **options):
    return list(learn(learner, start, **options))[-1]


def remark(snapshot, kind):
    (found,) = [each for each in snapshot.remarks if each.kind == kind]
    return found


def runaway(start, size=4.5):
    return start.with_vector(np.where(np.arange(start.vector().size) == 0, size, start.vector()))


def lossy(learner):
    return replace(learner, evaluate=lambda c, b: replace(learner.evaluate(c, b), unconverged=3, residual=0.25))


def skewed(learner, *, has_e_step):
    """The same objective with a gradient that is off by a constant, so that its zero is no optimum."""

    def evaluate(couplings, beliefs):
        estimate = learner.evaluate(couplings, beliefs)
        off = estimate.gradient.vector(learner.learned) + 5.0
        return replace(estimate, gradient=estimate.gradient.with_vector(off, learner.learned))

    return replace(learner, evaluate=evaluate, held=evaluate if has_e_step else None)


@pytest.mark.parametrize("has_e_step", [False, True])
def test_a_run_that_finds_nothing_lower_is_stuck_at_its_gradient_and_never_converged(has_e_step):
    learner, start = problem()
    last = last_of(skewed(learner, has_e_step=has_e_step), start, max_steps=500)
    assert last.state == "stuck"
    assert last.largest_gradient > 1e-3
    told = remark(last, "stuck")
    assert told.sentence.startswith(f"Stuck at gradient {last.largest_gradient:.2g} nats per bin")
    assert (told.cure is not None) == has_e_step == ("E-step may jump" in told.sentence)
    assert "Converged" not in last.message


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 3])
def test_the_tolerance_alone_decides_whether_mean_field_has_converged(seed):
    knobs = {"n_visible": 5, "n_hidden": 2, "n_steps": 10, "model": "stochastic", "n_held_out": 0}
    *_, last = Experiment(**knobs, learner="mean-field", seed=seed).run()
    assert last.state == ("converged" if last.largest_gradient <= 1e-6 else "stuck")
    assert (last.state == "stuck") == (seed == 3)
    assert "few data" in {each.kind for each in last.remarks}


def test_a_converged_run_needs_no_cure():
    learner, start = problem()
    last = last_of(learner, start, penalty=0.01)
    assert [each.kind for each in last.remarks] == ["converged"]
    assert remark(last, "converged").cure is None


def test_every_end_but_convergence_offers_a_way_on():
    learner, start = problem()
    stopped = last_of(learner, start, held_out=problem()[0], patience=1, optimiser="gradient", rate=0.9, max_steps=4000)
    if stopped.state == "finished":
        assert dict(remark(stopped, "stopped").cure.knobs) == {"patience": None}
    assert dict(remark(last_of(learner, start, max_steps=3), "finished").cure.knobs) == {"max_steps": 6}
    diverged = last_of(learner, start, optimiser="gradient", rate=1e4, max_steps=20)
    assert dict(remark(diverged, "diverged").cure.knobs) == {"optimiser": "l-bfgs", "rate": None}


def test_a_learner_that_samples_is_never_sent_to_an_optimiser_that_cannot_take_it():
    truth, recording = history()
    learner = noisy(recording, truth.n_hidden)
    start = random_start(truth.n_visible, truth.n_hidden, np.random.default_rng(3), learned=learner.learned)
    cure = remark(last_of(learner, start, optimiser="adam", rate=1e4, max_steps=20), "diverged").cure
    assert dict(cure.knobs) == {"rate": pytest.approx(1e3)}
    assert last_of(learner, start, optimiser="adam", max_steps=20, **cure.knobs).step >= 0


def test_two_warnings_are_both_told_each_with_its_cure():
    learner, start = problem()
    first = next(learn(lossy(learner), runaway(start)))
    assert [each.kind for each in first.remarks] == ["runaway", "lost e-step"]
    assert "reached 4.5" in first.message
    assert "in 3 bins (residual 0.2)" in first.message
    assert dict(remark(first, "runaway").cure.knobs) == {"box": 2.0}
    assert dict(remark(first, "lost e-step").cure.knobs) == {"box": 0.7}


def test_a_box_that_is_there_already_is_no_cure():
    learner, start = problem()
    first = next(learn(lossy(learner), start, box=0.5))
    assert dict(remark(first, "lost e-step").cure.knobs) == {"learner": "gibbs"}


def test_two_transitions_are_said_to_be_few_before_and_after():
    recording = Recording(np.where(np.random.default_rng(0).random((3, 5)) < 0.5, -1, 1))
    learner = prepare("exact", recording, n_hidden=2, bias=False)
    start = random_start(5, 2, np.random.default_rng(1), learned=learner.learned)
    first, *_, last = learn(learner, start, max_steps=20)
    for snapshot in (first, last):
        assert "10 observed states for 45 parameters" in remark(snapshot, "few data").sentence
        assert remark(snapshot, "few data").cure.knobs == {"penalty": 0.01}


@pytest.mark.parametrize(
    ("silent", "words"),
    [
        ([1], "Visible unit 2 never changes"),
        ([0, 3], "2 units (1, 4) never change"),
        ([0, 1, 2, 3, 4], "No unit ever changes in these data"),
    ],
)
def test_units_that_never_change_are_said_before_and_after(silent, words):
    states = np.where(np.random.default_rng(0).random((300, 5)) < 0.5, -1, 1)
    states[:, silent] = -1
    learner = prepare("visible", Recording([states[:100], states[100:]]), n_hidden=0, bias=True)
    assert learner.unchanging == tuple(silent)
    start = random_start(5, 0, np.random.default_rng(1), learned=learner.learned)
    first, *_, last = learn(learner, start, penalty=0.1, max_steps=30)
    for snapshot in (first, last):
        assert words in remark(snapshot, "unchanging units").sentence


def test_good_data_call_for_no_remark():
    truth = random_couplings(5, 2, np.random.default_rng(0))
    states = np.where(np.random.default_rng(1).random((400, 5)) < 0.5, -1, 1)
    assert data_warnings(prepare("exact", Recording(states), n_hidden=truth.n_hidden)) == ()


def test_every_cure_is_one_that_an_experiment_can_take():
    learner, start = problem()
    ends = [
        last_of(learner, start, max_steps=0),
        last_of(learner, start, optimiser="gradient", rate=1e3, max_steps=20),
        next(learn(lossy(learner), runaway(start))),
        next(learn(lossy(learner), runaway(start), box=0.5)),
    ]
    cures = [each.cure for end in ends for each in end.remarks if each.cure is not None]
    assert len(cures) >= 5
    for cure in cures:
        replace(Experiment(), **cure.knobs)
        assert cure.label.strip()


def test_a_remark_travels_between_processes():
    learner, start = problem()
    first = next(learn(learner, runaway(start)))
    again = pickle.loads(pickle.dumps(first.remarks))
    assert again == first.remarks
    assert isinstance(again[0], Remark)
