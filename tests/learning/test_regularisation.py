"""A learned penalty is the evidence's own: against dense matrices, on every learner, through every kind of step."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from hidviz.background import return_value
from hidviz.evaluation.errors import mean_square_errors
from hidviz.evaluation.information import information
from hidviz.learners import BIAS_PENALTY, LEARNERS, prepare
from hidviz.learning import learn
from hidviz.learning.regularisation import Penalty, changed_pairs, first_penalty, updated
from hidviz.learning.starts import random_start
from hidviz.network import Recording, random_couplings, simulate


def problem(name="exact", n_visible=5, n_hidden=2, n_bins=600, variance=1.0, seed=1, **switches):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), variance=variance,
                             hidden_hidden=switches.get("hidden_hidden", False))  # fmt: skip
    hidden = "continuous" if name == "backprop" else "stochastic"
    recording = simulate(truth, n_bins, np.random.default_rng([seed, 1]), hidden=hidden).recording
    assumed = {"visible": 0, "visible-lag2": n_visible}.get(name, n_hidden)
    learner = prepare(name, recording, n_hidden=assumed, **switches)
    return (
        truth,
        recording,
        learner,
        random_start(n_visible, assumed, np.random.default_rng(2), learned=learner.learned),
    )


def end(learner, start, **settings):
    *_, last = learn(learner, start, **settings)
    return last


@pytest.mark.parametrize("name", ["exact", "backprop", "visible", "visible-lag2"])
def test_the_couplings_determined_are_those_of_the_dense_matrix(name):
    """One update against γ_b = N_b - α_b tr Σ_bb from the whole information matrix; signs sample the trace."""
    _, recording, learner, start = problem(name)
    last = end(learner, start, penalty=5 / 600, tolerance=1e-8)
    theta = last.couplings.vector(learner.learned)
    if name.startswith("visible"):
        gradients = [
            [
                learner(last.couplings.with_vector(theta + sign * step, learner.learned)).gradient.vector(
                    learner.learned
                )
                for sign in (-1, 1)
            ]
            for step in 1e-4 * np.eye(theta.size)
        ]
        H = np.array([(before - after) / 2e-4 for before, after in gradients])
    else:
        hidden = LEARNERS[name].hidden
        H = return_value(information(last.couplings, recording, hidden=hidden))
    begun = first_penalty("learned", learner)
    alpha = learner.n_transitions * begun.vector(last.couplings, learner.learned)
    covariance = np.diag(np.linalg.inv(H + np.diag(alpha)))
    at = 0
    found, evaluations = updated(begun, learner, last.couplings, last.estimate, last.step)
    for block in learner.learned:
        size = getattr(last.couplings, block).size
        part = slice(at, at + size)
        dense = size - float(alpha[part] @ covariance[part])
        assert found.determined[block] == pytest.approx(dense, abs=0.06 * size), block
        at += size
    assert 0 < evaluations < 31 * 5


def test_the_weights_end_where_the_evidence_is_stationary():
    """The fixed point of the update, with every quantity from the dense matrix."""
    _, recording, learner, start = problem(n_bins=2000)
    last = end(learner, start, penalty="learned")
    assert last.state == "converged"
    assert last.penalty.settled
    H = return_value(information(last.couplings, recording))
    n, c = learner.n_transitions, last.couplings
    alpha = n * last.penalty.vector(c, learner.learned)
    covariance = np.split(np.diag(np.linalg.inv(H + np.diag(alpha))), np.cumsum([c.J.size, c.K.size]))
    senders = dict(zip("JKL", (5, 2, 5), strict=True))
    determined, squares = {}, {}
    for block, part in zip("JKL", covariance, strict=True):
        determined[block] = part.size - n * last.penalty.weights[block] * part.sum()
        squares[block] = np.sum(getattr(c, block) ** 2)
    common = senders["J"] * squares["J"] / determined["J"]
    for block, part in zip("JKL", covariance, strict=True):
        wanted = (determined[block] + part.size) / (squares[block] + part.size * common / senders[block])
        assert n * last.penalty.weights[block] == pytest.approx(wanted, rel=0.08)


def test_a_block_is_held_as_far_as_it_is_undetermined_and_J_always():
    """Of continuous units: at many bins K and L are let go, to a fiftieth at most; at few they are not."""
    kept = {}
    for n_bins in (150, 20_000):
        _, _, learner, start = problem("backprop", n_visible=8, n_bins=n_bins, variance=4.0)
        last = end(learner, start, penalty="learned")
        usual = {"J": 8, "K": 2, "L": 8}
        kept[n_bins] = {b: last.penalty.weights[b] * learner.n_transitions * 4.0 / usual[b] for b in "JKL"}
    assert min(kept[150].values()) > 0.4
    assert 0.5 < kept[20_000]["J"] < 2.0
    assert 0.01 < kept[20_000]["K"] < 0.1
    assert 0.01 < kept[20_000]["L"] < 0.1


def test_blocks_of_random_hidden_units_keep_their_weight():
    _, _, learner, start = problem("exact", n_visible=8, n_bins=20_000, variance=4.0)
    last = end(learner, start, penalty="learned")
    for block, senders in (("J", 8), ("K", 2), ("L", 8)):
        assert 0.4 < last.penalty.weights[block] * learner.n_transitions * 4.0 / senders < 2.5


def test_a_block_with_a_flat_direction_is_held_however_long_the_data_are():
    """Two visible units that are one: of their L the data know only the sum."""
    _, recording, _, start = problem("backprop", n_visible=8, n_bins=20_000, variance=4.0)
    states = recording.trials[0].copy()
    states[:, 7] = states[:, 6]
    learner = prepare("backprop", Recording(states), n_hidden=2)
    last = end(learner, start, penalty="learned")
    kept = {b: last.penalty.weights[b] * learner.n_transitions * 4.0 / n for b, n in (("K", 2), ("L", 8))}
    assert kept["L"] > 0.1  # few signs sample it
    assert kept["K"] < 0.1
    assert np.ptp(last.couplings.L[:, 6:], axis=1).max() < 1e-3


@pytest.mark.slow
def test_strong_couplings_are_not_shortened_where_the_data_determine_them():
    """18 + 2 units of g² = 4: L is as near the truth as without a penalty, J and K are nearer."""
    ratios = []
    for seed in range(1, 9):
        truth, _, learner, start = problem("backprop", 18, 2, 3000, variance=4.0, seed=seed)
        errors = [
            mean_square_errors(end(learner, start, penalty=choice, max_steps=600).couplings, truth, align=True)
            for choice in ("learned", 0.0)
        ]
        ratios.append([np.log(errors[0][block] / errors[1][block]) for block in "JKL"])
    J, K, L = np.mean(ratios, axis=0)
    assert J < 0.0
    assert K < 0.0
    assert np.log(1.1) > L  # the truth's own variances: 1.3


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_learns_it_and_states_it(name):
    _, _, learner, start = problem(name, n_visible=4, n_hidden=1, n_bins=80)
    last = end(learner, start, penalty="learned", max_steps=60)
    blocks = [block for block in learner.learned if block in "JKLM"]
    assert list(last.penalty.weights) == blocks
    assert last.penalty.updates > 0
    for block in blocks:
        if name != "mean-field-naive":  # it loses its E-step before there is anything to learn
            assert 0.0 < last.penalty.determined[block] <= getattr(last.couplings, block).size
        assert 0.0 < last.penalty.weights[block] < 10.0
    assert last.cost > 0.0


def test_hidden_to_hidden_couplings_have_a_weight_and_biases_none():
    _, _, learner, start = problem("backprop", n_bins=500, hidden_hidden=True, bias=True)
    last = end(learner, start, penalty="learned")
    assert set(last.penalty.weights) == {"J", "K", "L", "M"}
    assert last.state == "converged"


@pytest.mark.parametrize("optimiser", ["momentum", "l-bfgs"])
def test_convergence_needs_slope_and_weights_settled(optimiser):
    _, _, learner, start = problem("backprop", n_visible=4, n_hidden=1, n_bins=300)
    last = end(learner, start, penalty="learned", optimiser=optimiser, rate=0.5, tolerance=1e-5, max_steps=3000)
    assert last.state == "converged"
    assert last.penalty.settled
    weights = last.penalty.vector(last.couplings, learner.learned)
    slope = weights * last.couplings.vector(learner.learned)
    slope -= last.estimate.gradient.vector(learner.learned) / learner.n_transitions
    assert np.abs(slope).max() <= 1e-5
    assert last.penalty.updates > 1


def test_memory_is_corrected_exactly_when_a_weight_changes():
    """On a quadratic, differences of gradients at new weights are what the correction makes of the old ones."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    A, steps = A @ A.T + np.eye(4), rng.normal(size=(3, 4))
    old, new = np.full(4, 0.5), np.array([0.1, 2.0, 0.5, 0.0])
    pairs = tuple(v for x in steps for v in (x, A @ x + old * x))
    corrected = changed_pairs(pairs, new - old)
    for x, y in zip(corrected[::2], corrected[1::2], strict=True):
        assert np.allclose(y, A @ x + new * x, rtol=1e-12)
    assert len(corrected) == 6
    assert changed_pairs(pairs, np.full(4, -1e3)) == ()


def test_a_fixed_penalty_is_as_it_was_and_a_learned_one_starts_at_fields_of_order_one():
    _, _, learner, _ = problem()
    assert set(first_penalty(0.25, learner).weights.values()) == {0.25}
    begun = first_penalty("learned", learner)
    assert set(begun.weights.values()) == {5 / learner.n_transitions}
    assert not begun.settled


@pytest.mark.parametrize("name", ["exact", "mean-field", "visible"])
def test_a_fixed_penalty_leaves_biases_free(name):
    """Under a penalty that allows no couplings a unit keeps its rate: h = artanh of its mean state."""
    rng = np.random.default_rng(4)
    recording = Recording(np.where(rng.random((3000, 4)) < [0.02, 0.1, 0.5, 0.9], 1, -1))
    n_hidden = 0 if name == "visible" else 1
    learner = prepare(name, recording, n_hidden=n_hidden, bias=True)
    assert first_penalty(100.0, learner).weights["h"] == BIAS_PENALTY
    assert first_penalty(1e-9, learner).weights["h"] == 1e-9
    start = random_start(4, n_hidden, np.random.default_rng(2), learned=learner.learned)
    last = end(learner, start, penalty=100.0, tolerance=1e-9, max_steps=500)
    assert np.abs(last.couplings.vector(("J", "K", "L"))).max() < 1e-2
    rates = recording.trials[0][1:].mean(axis=0)
    assert np.tanh(last.couplings.h) == pytest.approx(rates, abs=0.02)


def test_a_run_resumes_with_the_weights_it_had_and_changes_them_only_if_asked():
    _, _, learner, start = problem("backprop")
    course = list(learn(learner, start, penalty="learned", max_steps=40))
    middle = next(s for s in course if s.penalty.updates == 1)
    again = list(learn(learner, middle, penalty="learned", max_steps=40))
    assert again[0] is middle
    assert again[-1].cost == course[-1].cost
    assert again[-1].penalty == course[-1].penalty
    fixed = next(learn(learner, middle, penalty=0.01))
    assert fixed.penalty == Penalty(dict.fromkeys(learner.learned, 0.01))
    assert replace(middle, penalty=fixed.penalty).couplings == fixed.couplings


def coarse(learner, step=1.0):
    """An objective known to so many nats only, as one whose E-step jumps: searches along a line soon find nothing."""

    def evaluate(couplings, beliefs):
        estimate = learner.evaluate(couplings, beliefs)
        return replace(estimate, objective=step * round(estimate.objective / step))

    return replace(learner, evaluate=evaluate)


def test_a_run_that_finds_nothing_lower_learns_its_weights_before_it_is_stuck():
    """It begins with weights that are four to ten times too large, and would end with them."""
    _, _, learner, start = problem(variance=4.0, n_bins=3000)
    stuck, smooth = (end(each, start, penalty="learned") for each in (coarse(learner), learner))
    assert (stuck.state, smooth.state) == ("stuck", "converged")
    assert stuck.penalty.settled
    for block, weight in smooth.penalty.weights.items():
        assert stuck.penalty.weights[block] == pytest.approx(weight, rel=0.3)


def test_patience_is_not_spent_before_the_weights_are_settled():
    truth, _, learner, start = problem("backprop", n_visible=6, n_bins=300)
    unseen = simulate(truth, 2000, np.random.default_rng(9), hidden="continuous").recording
    held_out = prepare("backprop", unseen, n_hidden=2)
    course = list(learn(learner, start, penalty="learned", held_out=held_out, patience=2))
    assert course[-1].penalty.settled
    assert any(s.step >= max(s.best.step, s.penalty.since) + 2 for s in course if not s.penalty.settled)


def test_an_unknown_word_is_refused():
    _, _, learner, start = problem()
    with pytest.raises(ValueError, match="or 'learned', got 'much'"):
        next(learn(learner, start, penalty="much"))


def test_a_penalty_travels_between_processes():
    _, _, learner, _ = problem()
    penalty = first_penalty("learned", learner)
    assert pickle.loads(pickle.dumps(penalty)) == penalty


def test_undetermined_couplings_stay_finite_where_the_likelihood_has_no_maximum():
    truth, _, learner, start = problem(n_visible=5, n_hidden=5, n_bins=150)
    plain = end(learner, start, max_steps=150)
    learned = end(learner, start, penalty="learned")
    assert np.abs(plain.couplings.vector()).max() > 4.0
    assert np.abs(learned.couplings.vector()).max() < 3.0
    errors = [mean_square_errors(each.couplings, truth, align=True) for each in (plain, learned)]
    assert all(errors[1][block] < errors[0][block] for block in "JKL")


@pytest.mark.slow
def test_many_data_outweigh_what_is_learned():
    """At large T the weights act on the error as 1/T does: both fits have the same error, and it is the 1/T one."""
    truth, _, learner, start = problem(n_visible=5, n_hidden=2, n_bins=300_000)
    fits = [end(learner, start, penalty=choice).couplings for choice in (0.0, "learned")]
    for block in "JKL":
        plain, learned = (mean_square_errors(each, truth, align=True)[block] for each in fits)
        assert learned < 1.1 * plain, block
