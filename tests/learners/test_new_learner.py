"""A new learner is one file and one line: what it says of itself is all that the other floors need."""

import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hidviz.learners
from hidviz.background import return_value
from hidviz.evaluation.model_comparison import judge
from hidviz.experiments.bundle import load_bundle, save_bundle
from hidviz.experiments.experiment import Experiment
from hidviz.experiments.fit_recording import Settings, fit_recording
from hidviz.experiments.frame import Frame
from hidviz.experiments.run import iter_run
from hidviz.experiments.stopping_advice import advice
from hidviz.learners import LEARNERS, Infeasible, Learner, Method, prepare
from hidviz.learners.protocol import Estimate
from hidviz.network.couplings import BLOCKS, Couplings, block_shapes, learned_blocks
from hidviz.sweeps.measurement import measure, predicted_seconds

ROOT = Path(__file__).parents[2]


def prepare_toy(recording, *, n_hidden, hidden_hidden=False, bias=False, seed=0, stretch=1.0):
    """Least squares of s(t+1) on s(t), as if hidden units were not there, with a little noise in the gradient."""
    data = recording.transitions()
    past, following = data.present.astype(float), data.following.astype(float)
    learned = learned_blocks(n_hidden, hidden_hidden=hidden_hidden, bias=bias)
    nothing = {name: np.zeros(shape) for name, shape in block_shapes(recording.n_visible, n_hidden).items()}
    noise = np.random.default_rng(seed).normal(0.0, 1e-3, nothing["J"].shape)

    def evaluate(couplings, beliefs):  # noqa: ARG001
        error = following - past @ couplings.J.T
        blocks = nothing | {"J": stretch * (error.T @ past + noise)}
        return Estimate(-0.5 * float((error**2).sum()), Couplings(**blocks))

    return Learner(evaluate, recording.n_visible, n_hidden, recording.n_transitions, learned)


TOY = Method(
    name="toy",
    title="Least squares",
    prepare=prepare_toy,
    hidden="stochastic",
    objective="minus half the sum of squares",
    likelihood=False,
    summary="A toy. It forgets the hidden units.",
    equations=(r"\Delta J = \sum_t [s(t+1) - J s(t)]\, s(t)^\top",),
    seconds=lambda n_visible, n_hidden, n_transitions, hidden_hidden: 1e-8 * n_visible**2 * n_transitions,  # noqa: ARG005
)


@pytest.fixture
def toy(monkeypatch):
    """The experiment of a learner that nothing in the package has heard of."""
    monkeypatch.setitem(hidviz.learners._METHODS, "toy", TOY)
    return Experiment(
        n_visible=4, n_hidden=2, n_steps=300, n_held_out=200, model="stochastic", learner="toy", max_steps=5
    )  # fmt: skip


def test_it_runs_as_an_experiment_judged_by_the_exact_likelihood(toy):
    frames = [item for item in iter_run(toy) if isinstance(item, Frame)]
    assert [frame.snapshot.step for frame in frames][:2] == [0, 1]
    assert frames[-1].snapshot.cost < frames[0].snapshot.cost
    setup = frames[-1].setup
    assert TOY.judge == "exact"
    assert setup.learner.n_hidden == setup.held_out.n_hidden == setup.exact.n_hidden == 2
    at = frames[-1].snapshot.couplings
    exact = prepare("exact", frames[-1].data.held_out, n_hidden=2)
    assert frames[-1].snapshot.held_out == pytest.approx(exact.per_bin(exact(at)), rel=1e-12)
    assert frames[-1].sampled.names == ()


def test_its_seed_is_the_experiments(toy):
    data = next(item for item in iter_run(toy) if isinstance(item, Frame)).data
    at = toy.starting_point(data.truth)
    one, same, other = (replace(toy, seed=seed).prepare(data).learner(at).gradient for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_it_is_measured(toy):
    measurement = measure(replace(toy, patience=2))
    assert set(measurement.errors) == {"J", "K", "L"}
    assert measurement.objective != measurement.cost
    assert measurement.held_out is not None
    assert predicted_seconds(toy) > 0.0


def test_the_advice_is_not_that_for_mean_field(toy):
    told = advice(replace(toy, max_steps=None))
    assert "Least squares" in told.reason
    assert "ean field" not in told.reason
    assert told.knobs["patience"] is not None
    unjudged = advice(replace(toy, n_held_out=0))
    assert unjudged.knobs["penalty"] == "learned"
    assert unjudged.knobs["patience"] is None


def test_a_recording_is_fitted_by_it(toy):
    data = next(item for item in iter_run(toy) if isinstance(item, Frame)).data
    found = return_value(fit_recording(data.recording, Settings(learner="toy", n_hidden=1, starts=1, max_steps=3)))
    assert found.summary["held_out"] is not None


def test_it_stands_in_the_table_of_models(toy):
    frame = [item for item in iter_run(toy) if isinstance(item, Frame)][-1]
    rng = np.random.default_rng(0)
    *_, table = judge({"Toy": frame.snapshot.couplings}, frame.data.recording, rng, learner="toy")
    candidate = next(each for each in table.candidates if each.name == "Toy")
    assert candidate.training.exact
    assert candidate.n_parameters == 4 * 4 + 2 * 4 * 2


@pytest.mark.slow
def test_the_menu_of_the_page_is_made_from_the_registry():
    """In a process of its own, where it is registered before the page is imported, as one line in the registry is."""
    script = (
        "import hidviz.learners; from tests.learners.test_new_learner import TOY\n"
        "hidviz.learners._METHODS['toy'] = TOY\n"
        "from hidviz.ui.state.knobs import Knobs; print(Knobs.param.learner.names['Least squares'])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.stdout == "toy\n", done.stderr


def test_the_note_beside_the_menu_knows_it(toy):
    from hidviz.ui.components.learner_note import LearnerNote

    note = LearnerNote(lambda **_: None)
    note.show(toy)
    assert note.summary.startswith(TOY.summary)
    assert "minus half the sum of squares" in note.summary
    assert note.equations == list(TOY.equations)


def test_a_run_of_it_is_kept_and_opened(toy, tmp_path):
    frame = [item for item in iter_run(toy) if isinstance(item, Frame)][-1]
    save_bundle(tmp_path / "run.zip", frame)
    assert load_bundle(tmp_path / "run.zip").experiment == toy


@pytest.mark.usefixtures("toy")
def test_a_prepared_one_travels_as_what_it_was_prepared_from():
    recording = hidviz.Recording(np.where(np.random.default_rng(0).random((50, 4)) < 0.5, -1, 1))
    learner = LEARNERS["toy"](recording, n_hidden=2, bias=True, stretch=2.0)
    again = pickle.loads(pickle.dumps(learner))
    at = Couplings(**{name: 0.1 + np.zeros(shape) for name, shape in block_shapes(4, 2).items()})
    assert again.learned == learner.learned
    assert again(at).objective == learner(at).objective
    for block in BLOCKS:
        assert np.array_equal(getattr(again(at).gradient, block), getattr(learner(at).gradient, block))


def test_what_it_cannot_do_is_refused_by_its_own_words(toy):
    def refuse(*_, **__):
        raise Infeasible("A toy is for small networks.")

    hidviz.learners._METHODS["toy"] = replace(TOY, prepare=refuse)
    with pytest.raises(Infeasible, match="for small networks"):
        next(item for item in iter_run(toy) if isinstance(item, Frame))
