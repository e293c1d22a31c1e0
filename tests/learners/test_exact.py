import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hidviz.learners.exact import log_likelihood, prepare_independent
from hidviz.learners.protocol import Infeasible
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.recording import Recording
from tests.oracle import histories
from tests.oracle.slope import slope

ROUNDING = 1e-12  # sums of some hundred terms of order 1


def blocks(couplings):
    return {name: np.array(getattr(couplings, name)) for name in BLOCKS}


def noise(rng, n_bins, n_visible):
    return rng.choice(np.array([-1, 1], dtype=np.int8), (n_bins, n_visible))


@pytest.fixture
def case():
    rng = np.random.default_rng(1)
    trials = [noise(rng, 5, 3), noise(rng, 4, 3)]
    return random_couplings(3, 2, rng, bias=0.5), trials, Recording(trials)


def logistic_log_likelihood(trials, J, h):
    fields = np.concatenate([trial[:-1] @ J.T + h for trial in trials])
    return float(-np.logaddexp(0.0, -2.0 * np.concatenate([trial[1:] for trial in trials]) * fields).sum())


def test_likelihood_is_the_sum_over_all_hidden_histories(case):
    couplings, trials, recording = case
    expected = histories.log_likelihood(trials, **blocks(couplings))
    learner = prepare_independent(recording, n_hidden=2)
    assert learner(couplings).objective == pytest.approx(expected, rel=ROUNDING)
    assert log_likelihood(couplings, recording) == pytest.approx(expected, rel=ROUNDING)


def test_beliefs_are_the_magnetisations_over_all_hidden_histories(case):
    couplings, trials, recording = case
    beliefs = prepare_independent(recording, n_hidden=2)(couplings).beliefs
    expected = histories.magnetisations(trials, **blocks(couplings))
    np.testing.assert_allclose(beliefs.hidden, expected, atol=ROUNDING)


@pytest.mark.parametrize("scale", [1.0, 10.0, 400.0], ids=["products", "far tables", "logs"])
def test_gradient_is_the_slope(case, scale):
    couplings, _, recording = case
    scaled = Couplings(**{name: scale * block for name, block in blocks(couplings).items()})
    gradient = prepare_independent(recording, n_hidden=2, bias=True)(scaled).gradient
    free = {name: block for name, block in blocks(scaled).items() if name != "M"}
    expected = slope(lambda **moved: log_likelihood(Couplings(**moved), recording), free, step=1e-5)
    for name, block in expected.items():
        # central differences: step² from the third derivative, and rounding of a value of order `scale` over the step
        np.testing.assert_allclose(getattr(gradient, name), block, atol=1e-6 + 1e-9 * scale, err_msg=name)


@pytest.mark.parametrize("scale", [10.0, 50.0, 1000.0])
def test_couplings_of_any_size_give_the_sum_over_all_hidden_histories(case, scale):
    couplings, trials, recording = case
    scaled = Couplings(**{name: scale * block for name, block in blocks(couplings).items()})
    estimate = prepare_independent(recording, n_hidden=2)(scaled)
    expected = histories.log_likelihood(trials, **blocks(scaled))
    assert estimate.objective == pytest.approx(expected, rel=ROUNDING)
    means = histories.magnetisations(trials, **blocks(scaled))
    # fields of order `scale` are rounded before they are exponentiated
    np.testing.assert_allclose(estimate.beliefs.hidden, means, atol=ROUNDING * scale)


def test_large_couplings_of_a_large_network_stay_finite():
    rng = np.random.default_rng(2)
    drawn = random_couplings(10, 8, rng)
    couplings = Couplings(J=50.0 * drawn.J, K=50.0 * drawn.K, L=50.0 * drawn.L)
    estimate = prepare_independent(Recording(noise(rng, 300, 10)), n_hidden=8)(couplings)
    assert np.isfinite(estimate.objective)
    assert np.isfinite(estimate.gradient.vector()).all()
    assert np.abs(estimate.beliefs.hidden).max() <= 1.0 + ROUNDING


def test_repeated_data_weigh_as_often_as_they_occur():
    rng = np.random.default_rng(3)
    trial, couplings = noise(rng, 40, 4), random_couplings(4, 3, rng)
    once = prepare_independent(Recording(trial), n_hidden=3)(couplings)
    thrice = prepare_independent(Recording([trial] * 3), n_hidden=3)(couplings)
    assert thrice.objective == pytest.approx(3.0 * once.objective, rel=ROUNDING)
    np.testing.assert_allclose(thrice.gradient.vector(), 3.0 * once.gradient.vector(), atol=1e-11)
    np.testing.assert_allclose(thrice.beliefs.hidden, np.tile(once.beliefs.hidden, (3, 1)), atol=ROUNDING)


@pytest.mark.parametrize("n_visible", [2, 40], ids=["every state repeats", "no state repeats"])
def test_counting_triples_loses_nothing(n_visible):
    rng = np.random.default_rng(4)
    couplings = random_couplings(n_visible, 2, rng, variance=0.5, bias=0.3)
    trials = [noise(rng, 4, n_visible) for _ in range(20)]
    expected = histories.log_likelihood(trials, **blocks(couplings))
    assert log_likelihood(couplings, Recording(trials)) == pytest.approx(expected, rel=ROUNDING)


def test_present_states_with_very_many_triples_are_cut_without_loss():
    rng = np.random.default_rng(5)
    data, couplings = noise(rng, 30_000, 5), random_couplings(5, 2, rng)
    whole = prepare_independent(Recording(data), n_hidden=2)(couplings)
    halves = [prepare_independent(Recording(part), n_hidden=2)(couplings) for part in (data[:15_001], data[14_999:])]
    means = np.vstack([halves[0].beliefs.hidden, halves[1].beliefs.hidden[1:]])
    np.testing.assert_allclose(whole.beliefs.hidden, means, atol=ROUNDING)


def test_without_hidden_influence_it_is_the_lag_one_logistic_likelihood(case):
    couplings, trials, recording = case
    J, h = couplings.J, couplings.h
    expected = logistic_log_likelihood(trials, J, h)
    cut_off = Couplings(J=J, h=h, K=np.zeros((3, 2)), L=np.zeros((2, 3)))
    alone = Couplings(J=J, h=h, K=np.zeros((3, 0)), L=np.zeros((0, 3)))
    assert log_likelihood(cut_off, recording) == pytest.approx(expected, rel=ROUNDING)
    assert prepare_independent(recording, n_hidden=0)(alone).objective == pytest.approx(expected, rel=ROUNDING)


@settings(derandomize=True, max_examples=10, deadline=None)
@given(order=st.permutations(range(3)), signs=st.lists(st.sampled_from([-1.0, 1.0]), min_size=3, max_size=3))
def test_flips_and_relabellings_of_hidden_units_change_nothing_seen(order, signs):
    rng = np.random.default_rng(6)
    c = random_couplings(3, 3, rng, bias=0.5)
    recording = Recording(noise(rng, 50, 3))
    s = np.array(signs)
    turned = Couplings(J=c.J, h=c.h, K=c.K[:, order] * s, L=c.L[order] * s[:, None], g=c.g[order] * s)
    learner = prepare_independent(recording, n_hidden=3, bias=True)
    before, after = learner(c), learner(turned)
    assert after.objective == pytest.approx(before.objective, rel=1e-10)
    np.testing.assert_allclose(after.gradient.K, before.gradient.K[:, order] * s, atol=1e-10)
    np.testing.assert_allclose(after.gradient.L, before.gradient.L[order] * s[:, None], atol=1e-10)


def test_blocks_that_are_not_learned_have_no_gradient(case):
    couplings, _, recording = case
    gradient = prepare_independent(recording, n_hidden=2)(couplings).gradient
    assert not gradient.h.any()
    assert not gradient.g.any()
    assert not gradient.M.any()
    assert gradient.J.any()


def test_beliefs_are_left_out_of_very_long_recordings():
    rng = np.random.default_rng(7)
    recording = Recording(noise(rng, 2**19 + 2, 1))
    assert prepare_independent(recording, n_hidden=2)(random_couplings(1, 2, rng)).beliefs is None


def test_hidden_to_hidden_couplings_are_refused_with_what_to_do(case):
    couplings, _, recording = case
    with_m = Couplings(**blocks(couplings) | {"M": np.eye(2)})
    with pytest.raises(ValueError, match="hidden_hidden=True"):
        log_likelihood(with_m, recording)


def test_what_would_take_too_long_is_refused_with_its_number():
    recording = Recording(noise(np.random.default_rng(8), 10, 3))
    with pytest.raises(Infeasible, match=r"2\*\*17 hidden states a step.*at most 16 hidden units"):
        prepare_independent(recording, n_hidden=17)


def test_beliefs_are_handed_out_up_to_a_number_of_them(case, monkeypatch):
    couplings, _, recording = case
    for room, wanted in ((2 * recording.n_transitions, True), (2 * recording.n_transitions - 1, False)):
        monkeypatch.setattr("hidviz.learners.exact.BELIEF_NUMBERS", room)
        estimate = prepare_independent(recording, n_hidden=2)(couplings)
        assert (estimate.beliefs is not None) == wanted
    assert prepare_independent(recording, n_hidden=2).learned == ("J", "K", "L")
