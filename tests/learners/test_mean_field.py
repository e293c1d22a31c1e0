from dataclasses import replace

import numpy as np
import pytest

from hidviz.learners import LEARNERS
from hidviz.learners.mean_field import (
    MEAN_FIELD,
    MEAN_FIELD_GAUSSIAN,
    MEAN_FIELD_NAIVE,
    MEAN_FIELD_SAME_TIME,
    MEAN_FIELD_SECOND_ORDER,
)
from hidviz.learners.protocol import Beliefs
from hidviz.learning import learn
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate
from tests.oracle import meanfield as oracle
from tests.oracle.histories import log_likelihood as by_histories
from tests.oracle.slope import slope

METHODS = {
    "naive": MEAN_FIELD_NAIVE,
    "lowest": MEAN_FIELD,
    "gaussian": MEAN_FIELD_GAUSSIAN,
    "second": MEAN_FIELD_SECOND_ORDER,
}
# The quadrature is right to 5e-7 a field; the others differ from the oracle by rounding alone.
PRECISION = {"naive": 1e-12, "lowest": 1e-12, "second": 1e-12, "gaussian": 5e-7}

theories = pytest.mark.parametrize("theory", METHODS)
with_and_without_m = pytest.mark.parametrize("hidden_hidden", [False, True], ids=["M=0", "M"])
with_and_without_same_time = pytest.mark.parametrize("same_time", [False, True], ids=["", "same-time"])


def recording(n_visible, lengths, seed=3):
    rng = np.random.default_rng(seed)
    return Recording([rng.choice([-1, 1], (length, n_visible)) for length in lengths])


def network(n_visible=3, n_hidden=2, *, hidden_hidden, seed=5, variance=0.8):
    rng = np.random.default_rng(seed)
    return random_couplings(n_visible, n_hidden, rng, variance=variance, hidden_hidden=hidden_hidden, bias=0.3)


def blocks_of(couplings):
    return {name: getattr(couplings, name) for name in BLOCKS}


def per_trial(hidden, trials):
    return np.split(hidden, np.cumsum([len(trial) - 1 for trial in trials])[:-1])


def prepared(theory, data, n_hidden, *, hidden_hidden=True, **options):
    return METHODS[theory](data, n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=True, **options)


@theories
@with_and_without_m
@with_and_without_same_time
def test_objective_is_the_sum_over_bins_and_units(theory, hidden_hidden, same_time):
    data, couplings = recording(4, (7, 2, 5)), network(4, 3, hidden_hidden=hidden_hidden)
    estimate = prepared(theory, data, 3, same_time=same_time)(couplings)
    mu = per_trial(estimate.beliefs.hidden, data.trials)
    wanted = oracle.objective(data.trials, mu, theory, same_time, **blocks_of(couplings))
    n_fields = data.n_transitions * (4 + 3)
    assert estimate.objective == pytest.approx(wanted, abs=n_fields * PRECISION[theory])


@theories
@with_and_without_m
def test_settled_magnetisations_obey_the_equations(theory, hidden_hidden):
    data, couplings = recording(4, (9, 2, 6)), network(4, 3, hidden_hidden=hidden_hidden)
    estimate = prepared(theory, data, 3)(couplings)
    hidden = estimate.beliefs.hidden
    answers = oracle.answers(data.trials, per_trial(hidden, data.trials), theory, **blocks_of(couplings))
    assert np.abs(answers - hidden).max() < 1e-8 + 10 * PRECISION[theory]
    assert estimate.residual <= 1e-8
    assert estimate.unconverged == 0


@theories
@with_and_without_m
def test_objective_is_stationary_in_the_magnetisations_with_the_same_time_term(theory, hidden_hidden):
    data, couplings = recording(3, (4, 3)), network(3, 2, hidden_hidden=hidden_hidden)
    estimate = prepared(theory, data, 2, same_time=True, tolerance=1e-11)(couplings)

    def value(mu):
        return oracle.objective(data.trials, per_trial(mu, data.trials), theory, True, **blocks_of(couplings))

    by_differences = slope(value, {"mu": estimate.beliefs.hidden}, step=1e-6)["mu"]
    # differences of A, of size 10, over 1e-6 are good to 1e-8; the quadrature to 5e-7 a field, 5 fields a unit
    assert np.abs(by_differences).max() < 1e-7 + 10 * PRECISION[theory]


@theories
@with_and_without_m
@with_and_without_same_time
def test_gradient_is_the_slope(theory, hidden_hidden, same_time):
    data, couplings = recording(3, (6, 2, 4)), network(3, 2, hidden_hidden=hidden_hidden)
    learner = prepared(theory, data, 2, same_time=same_time, tolerance=1e-11)
    settled = learner(couplings)

    def value(**moved):
        return learner(replace(couplings, **moved), settled.beliefs).objective

    by_differences = slope(value, blocks_of(couplings))
    for name in BLOCKS:
        np.testing.assert_allclose(getattr(settled.gradient, name), by_differences[name], atol=1e-6, err_msg=name)


def test_blocks_that_are_not_learned_have_no_gradient():
    learner = MEAN_FIELD(recording(3, (20,)), n_hidden=2)
    gradient = learner(network(hidden_hidden=True)).gradient
    assert learner.learned == ("J", "K", "L")
    for name in ("M", "h", "g"):
        assert not getattr(gradient, name).any()


@theories
def test_repeated_bins_are_settled_once_with_the_same_result(theory):
    data, couplings = recording(2, (150, 70)), network(2, 2, hidden_hidden=False)
    once = METHODS[theory](data, n_hidden=2, bias=True, tolerance=1e-11)(couplings)
    each = METHODS[theory](data, n_hidden=2, hidden_hidden=True, bias=True, tolerance=1e-11)(couplings)
    assert once.objective == pytest.approx(each.objective, rel=1e-12)
    np.testing.assert_allclose(once.beliefs.hidden, each.beliefs.hidden, atol=1e-9)
    for name in ("J", "K", "L", "h", "g"):
        ours, theirs = getattr(once.gradient, name), getattr(each.gradient, name)
        np.testing.assert_allclose(ours, theirs, atol=1e-7)  # 218 bins, each settled to 1e-11, times the curvature


def test_trials_do_not_touch():
    data, couplings = recording(3, (40, 30)), network(hidden_hidden=True)
    both = prepared("lowest", data, 2, tolerance=1e-11)(couplings)
    apart = [prepared("lowest", Recording(trial), 2, tolerance=1e-11)(couplings) for trial in data.trials]
    assert both.objective == pytest.approx(sum(estimate.objective for estimate in apart), rel=1e-12)
    np.testing.assert_allclose(both.gradient.vector(), sum(estimate.gradient.vector() for estimate in apart), atol=1e-8)


@pytest.mark.parametrize("theory", ["lowest", "second"])
def test_long_recordings_are_settled_across_their_stretches(theory):
    data, couplings = recording(5, (600,)), network(5, 3, hidden_hidden=True)
    estimate = prepared(theory, data, 3)(couplings)
    answers = oracle.answers(
        [data.trials[0][500:530]], [estimate.beliefs.hidden[500:529]], theory, **blocks_of(couplings)
    )
    inside = slice(1, -1)  # the ends of the piece miss a neighbour; row 512 is a seam
    assert np.abs(answers - estimate.beliefs.hidden[500:529])[inside].max() < 1e-8 + 10 * PRECISION[theory]
    assert estimate.unconverged == 0


@pytest.mark.slow
@theories
@with_and_without_m
def test_strong_networks_converge(theory, hidden_hidden):
    rng = np.random.default_rng(1)
    couplings = random_couplings(12, 12, rng, variance=1.0, hidden_hidden=hidden_hidden)
    data = recording(12, (80,))
    estimate = METHODS[theory](data, n_hidden=12, hidden_hidden=hidden_hidden)(couplings)
    assert estimate.unconverged == 0
    assert estimate.residual <= 1e-8


def test_bins_left_open_are_counted_not_hidden():
    couplings, data = network(8, 8, hidden_hidden=False, variance=4.0), recording(8, (50,))
    learner = MEAN_FIELD(data, n_hidden=8, max_sweeps=2)
    estimate = learner(couplings)
    assert estimate.unconverged > 0
    assert estimate.residual > 1e-8
    assert np.isfinite(estimate.gradient.vector()).all()


@theories
def test_a_warm_start_returns_what_it_was_given(theory):
    learner, couplings = (
        prepared(theory, recording(4, (60,)), 3),
        network(4, 3, hidden_hidden=True),
    )
    first = learner(couplings)
    before = first.beliefs.hidden.copy()
    again = learner(couplings, first.beliefs)
    np.testing.assert_allclose(again.beliefs.hidden, before, atol=1e-15)  # arctanh and back
    np.testing.assert_array_equal(first.beliefs.hidden, before)
    assert again.objective == pytest.approx(first.objective, rel=1e-14)


@with_and_without_same_time
@pytest.mark.parametrize("lengths", [(2,), (3,), (2, 2)], ids=str)
def test_a_handful_of_bins_is_enough(lengths, same_time):
    """Neighbouring bins take turns in an ascent; of so few, or where few are left open, one turn has none."""
    data, couplings = recording(4, lengths), network(4, 3, hidden_hidden=True, variance=9.0)
    for seed in range(5):
        beliefs = Beliefs(hidden=np.random.default_rng(seed).uniform(-0.9, 0.9, (data.n_transitions, 3)))
        estimate = prepared("lowest", data, 3, same_time=same_time)(couplings, beliefs if seed else None)
        mu = per_trial(estimate.beliefs.hidden, data.trials)
        wanted = oracle.objective(data.trials, mu, "lowest", same_time, **blocks_of(couplings))
        assert estimate.objective == pytest.approx(wanted, abs=1e-9)


@theories
@with_and_without_m
def test_enormous_couplings_give_finite_numbers(theory, hidden_hidden):
    small = network(4, 3, hidden_hidden=hidden_hidden)
    couplings = Couplings(**{name: 300.0 * block for name, block in blocks_of(small).items()})
    learner = prepared(theory, recording(4, (12,)), 3, same_time=False, max_sweeps=100)
    for beliefs in (None, Beliefs(hidden=np.ones((11, 3)))):
        estimate = learner(couplings, beliefs)
        assert np.isfinite(estimate.objective)
        assert np.isfinite(estimate.gradient.vector()).all()
        assert np.abs(estimate.beliefs.hidden).max() < 1.0


@theories
def test_without_hidden_units_it_is_the_logistic_likelihood(theory):
    data = recording(3, (9, 5))
    couplings = Couplings(J=network(hidden_hidden=False).J, K=np.zeros((3, 0)), L=np.zeros((0, 3)))
    estimate = METHODS[theory](data, n_hidden=0)(couplings)
    fields = [trial[:-1] @ couplings.J.T for trial in data.trials]
    wanted = sum((trial[1:] * H - np.logaddexp(H, -H)).sum() for trial, H in zip(data.trials, fields, strict=True))
    assert estimate.objective == pytest.approx(wanted, rel=1e-12)
    assert estimate.beliefs.hidden.shape == (12, 0)


@theories
def test_without_couplings_from_hidden_units_it_is_the_exact_likelihood(theory):
    data = recording(3, (5,))
    couplings = replace(network(hidden_hidden=False), K=np.zeros((3, 2)))
    estimate = prepared(theory, data, 2, hidden_hidden=False)(couplings)
    assert estimate.objective == pytest.approx(by_histories(data.trials, **blocks_of(couplings)), abs=1e-9)


def test_options_out_of_range_are_refused():
    with pytest.raises(ValueError, match=r"tolerance > 0 and max_sweeps >= 1, got 0\.0 and 500"):
        MEAN_FIELD(recording(2, (4,)), n_hidden=1, tolerance=0.0)
    with pytest.raises(ValueError, match="got 1e-08 and 0"):
        MEAN_FIELD(recording(2, (4,)), n_hidden=1, max_sweeps=0)
    assert MEAN_FIELD(recording(2, (4,)), n_hidden=1, max_sweeps=1).learned == ("J", "K", "L")


def test_bins_left_open_are_counted_where_transitions_recur_too():
    estimate = MEAN_FIELD(recording(2, (400,)), n_hidden=2, max_sweeps=1)(network(2, hidden_hidden=False))
    assert 64 < estimate.unconverged <= 399, "there are 64 kinds of transition"


def test_the_same_time_term_is_there_where_it_is_asked_for():
    data, couplings = recording(3, (9,)), network(hidden_hidden=False)
    asked = MEAN_FIELD(data, n_hidden=2, same_time=True)(couplings)
    assert asked.objective == MEAN_FIELD_SAME_TIME(data, n_hidden=2)(couplings).objective
    assert asked.objective != MEAN_FIELD(data, n_hidden=2)(couplings).objective


def shrinkage(theory, hidden_hidden, draws=10):
    """By how much the root-mean-square error of A against log P[s] shrinks when K and M are halved."""
    sizes = []
    for strength in (0.1, 0.05):
        errors = []
        for seed in range(draws):
            rng = np.random.default_rng(100 + seed)
            unit = random_couplings(6, 3, rng, hidden_hidden=hidden_hidden)
            couplings = replace(unit, K=strength * unit.K, M=strength * unit.M)
            trial = rng.choice([-1, 1], (6, 6))
            learner = METHODS[theory](Recording(trial), n_hidden=3, hidden_hidden=hidden_hidden, tolerance=1e-12)
            exact = oracle.log_likelihood(trial, **blocks_of(couplings))
            errors.append(learner(couplings).objective - exact)
        sizes.append(np.sqrt(np.mean(np.square(errors))))
    return sizes[0] / sizes[1]


@pytest.mark.parametrize(
    ("theory", "hidden_hidden", "power"),
    [
        ("naive", False, 2),
        ("naive", True, 2),
        ("lowest", True, 2),
        ("gaussian", True, 2),
        ("second", True, 3),
        ("lowest", False, 3),
        ("gaussian", False, 3),
    ],
)
def test_error_shrinks_with_the_promised_power_of_the_couplings(theory, hidden_hidden, power):
    # the next power of the couplings, .1 at most, moves the ratio by up to a fifth
    assert shrinkage(theory, hidden_hidden) == pytest.approx(2.0**power, rel=0.2)


def test_objective_is_no_bound_on_the_likelihood():
    above = []
    for seed in range(10):
        couplings, data = network(4, 3, hidden_hidden=False, seed=seed), recording(4, (6,), seed)
        exact = oracle.log_likelihood(data.trials[0], **blocks_of(couplings))
        above.append(prepared("lowest", data, 3, hidden_hidden=False)(couplings).objective - exact)
    assert min(above) < -1e-4
    assert max(above) > 1e-4


def test_forward_weights_and_all_histories_agree():
    couplings, trial = network(hidden_hidden=True), recording(3, (5,)).trials[0]
    blocks = blocks_of(couplings)
    assert oracle.log_likelihood(trial, **blocks) == pytest.approx(by_histories([trial], **blocks), abs=1e-12)


def test_couplings_grow_without_end_in_those_that_say_so_and_in_no_other():
    """From the true couplings, which the others hardly leave: K grows by 10 % in them."""
    truth = random_couplings(12, 2, np.random.default_rng(1))
    observed = simulate(truth, 600, np.random.default_rng(10), hidden="stochastic").recording
    grown = set()
    for name, method in LEARNERS.items():
        if method.hidden == "stochastic" and not method.likelihood:
            steps = learn(method.prepare(observed, n_hidden=2), truth, optimiser="momentum", rate=0.1, max_steps=30)
            if any(np.abs(step.couplings.K).max() > 1.25 * np.abs(truth.K).max() for step in steps):
                grown.add(name)
    assert grown == {name for name, method in LEARNERS.items() if method.runs_away}
