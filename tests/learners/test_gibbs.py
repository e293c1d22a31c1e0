import numpy as np
import pytest
from scipy.stats import chi2

from hidviz.background.checkpoint import paced
from hidviz.learners.gibbs import GIBBS
from hidviz.learners.parts.gibbs_sweep import blocks_of_bins
from hidviz.learners.protocol import Beliefs
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.recording import Recording
from tests.oracle import sampling
from tests.oracle.slope import slope


def blocks(couplings):
    return {name: getattr(couplings, name) for name in BLOCKS}


def tiny(*, hidden_hidden, seed=0, n_visible=3, n_hidden=2, bias=0.4):
    return random_couplings(
        n_visible, n_hidden, np.random.default_rng(seed), variance=2.0, hidden_hidden=hidden_hidden, bias=bias
    )


def noise(n_bins, n_units, seed=1):
    return np.random.default_rng(seed).choice([-1.0, 1.0], (n_bins, n_units))


def cut(hidden, trials):
    """The hidden states of each trial."""
    return np.split(hidden, np.cumsum([len(trial) - 1 for trial in trials])[:-1])


def oracle_objective(couplings, trials, hidden):
    parts = cut(hidden, trials)
    return sum(
        sampling.complete_log_likelihood(*blocks(couplings).values(), s, sigma)
        for s, sigma in zip(trials, parts, strict=True)
    )


def learner_and_trials(*, hidden_hidden, lengths=(6, 2, 9), n_visible=3, n_hidden=2, **options):
    trials = [noise(n_bins, n_visible, seed) for seed, n_bins in enumerate(lengths)]
    learner = GIBBS(Recording(trials), n_hidden=n_hidden, hidden_hidden=hidden_hidden, bias=True, **options)
    return learner, trials


both = pytest.mark.parametrize("hidden_hidden", [False, True])


@both
def test_objective_is_the_log_probability_of_data_and_sample(hidden_hidden):
    learner, trials = learner_and_trials(hidden_hidden=hidden_hidden)
    couplings = tiny(hidden_hidden=hidden_hidden)
    estimate = learner(couplings)
    assert set(np.unique(estimate.beliefs.hidden)) == {-1.0, 1.0}
    assert np.isclose(
        estimate.objective, oracle_objective(couplings, trials, estimate.beliefs.hidden), rtol=1e-13, atol=0
    )


@both
def test_gradient_is_the_slope_at_the_sample(hidden_hidden):
    learner, trials = learner_and_trials(hidden_hidden=hidden_hidden)
    couplings = tiny(hidden_hidden=hidden_hidden)
    estimate = learner(couplings)
    expected = slope(
        lambda **moved: oracle_objective(Couplings(**moved), trials, estimate.beliefs.hidden), blocks(couplings)
    )
    for name in learner.learned:  # central differences: step² and rounding / step, both below 1e-8
        np.testing.assert_allclose(getattr(estimate.gradient, name), expected[name], atol=1e-7, err_msg=name)


def test_blocks_not_learned_act_but_have_no_slope():
    couplings = tiny(hidden_hidden=True)
    trials = [noise(9, 3)]
    estimate = GIBBS(Recording(trials), n_hidden=2)(couplings)
    assert np.isclose(estimate.objective, oracle_objective(couplings, trials, estimate.beliefs.hidden), rtol=1e-13)
    for name in ("M", "h", "g"):
        assert not getattr(estimate.gradient, name).any()


@both
def test_long_data_in_blocks_count_every_bin(hidden_hidden):
    learner, trials = learner_and_trials(hidden_hidden=hidden_hidden, lengths=(4500, 4300))
    couplings = tiny(hidden_hidden=hidden_hidden)
    estimate = learner(couplings)
    assert np.isclose(estimate.objective, oracle_objective(couplings, trials, estimate.beliefs.hidden), rtol=1e-12)


@both
def test_a_sweep_moves_with_the_probabilities_of_gibbs_sampling(hidden_hidden):
    """Many copies of one trial, all in one state: after a sweep they are spread as the transition matrix says."""
    n_copies, s = 20_000, noise(5, 3, seed=4)
    couplings = tiny(hidden_hidden=hidden_hidden)
    every, probability, _ = sampling.posterior(*blocks(couplings).values(), s)
    times = [0, 2, 1, 3] if hidden_hidden else [0, 1, 2, 3]
    matrix = sampling.sweep_matrix(probability, every, [(t, a) for t in times for a in range(2)])
    np.testing.assert_allclose(probability @ matrix, probability, atol=1e-14)

    begin = 77
    start = Beliefs(np.tile(every[begin], (n_copies, 1)))
    learner = GIBBS(Recording([s] * n_copies), n_hidden=2, hidden_hidden=hidden_hidden)
    after = learner(couplings, start).beliefs.hidden.reshape(n_copies, -1)
    code = (after > 0) @ 2 ** np.arange(8)[::-1]
    seen, expected = np.bincount(code, minlength=256), n_copies * matrix[begin]
    rare = expected < 5.0
    seen, expected = (np.append(x[~rare], x[rare].sum()) for x in (seen, expected))
    statistic = np.sum((seen - expected) ** 2 / expected)
    assert 1e-4 < chi2.sf(statistic, len(seen) - 1) < 1 - 1e-4


@both
def test_long_runs_reach_the_posterior_means(hidden_hidden):
    """Copies of a trial are independent, so their scatter is the error of their mean."""
    n_copies, s = 400, noise(6, 3, seed=2)
    couplings = tiny(hidden_hidden=hidden_hidden, seed=3)
    every, probability, _ = sampling.posterior(*blocks(couplings).values(), s)
    exact = np.tensordot(probability, every, axes=1)
    learner = GIBBS(Recording([s] * n_copies), n_hidden=2, hidden_hidden=hidden_hidden)
    estimate, total = learner(couplings), 0.0
    for step in range(150):
        estimate = learner(couplings, estimate.beliefs)
        if step >= 50:
            total = total + estimate.beliefs.hidden / 100
    means = total.reshape(n_copies, 5, 2)
    z = (means.mean(axis=0) - exact) / (means.std(axis=0, ddof=1) / n_copies**0.5)
    assert np.abs(z).max() < 3.5  # ten numbers: passed by chance in 0.5 % of seeds
    assert np.abs(z).max() > 0.1


@both
def test_the_average_gradient_is_the_slope_of_the_log_likelihood(hidden_hidden):
    n_copies, s = 1000, noise(4, 3, seed=5)
    couplings = tiny(hidden_hidden=hidden_hidden, seed=6)
    expected = slope(
        lambda **moved: sampling.posterior(*(moved[name] for name in BLOCKS), s)[2], blocks(couplings), step=1e-4
    )
    learner = GIBBS(Recording([s] * n_copies), n_hidden=2, hidden_hidden=hidden_hidden, bias=True)
    estimate, gradients = learner(couplings), []
    for _ in range(120):
        estimate = learner(couplings, estimate.beliefs)
        gradients.append(estimate.gradient.vector(learner.learned) / n_copies)
    batches = np.mean(np.split(np.array(gradients[20:]), 10), axis=1)  # ten sweeps: longer than the chains remember
    error = batches.std(axis=0, ddof=1) / 10**0.5
    z = (batches.mean(axis=0) - np.concatenate([expected[name].ravel() for name in learner.learned])) / error
    assert np.abs(z).max() < 5.0  # Student, nine degrees of freedom, thirty numbers
    assert np.sqrt(np.mean(z**2)) < 1.6


@both
@pytest.mark.parametrize("signs", [(-1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, -1.0, -1.0)])
def test_flipped_hidden_units_draw_the_flipped_sample(hidden_hidden, signs):
    signs = np.array(signs)
    learner, _ = learner_and_trials(hidden_hidden=hidden_hidden, n_hidden=3, lengths=(40, 30))
    J, K, L, M, h, g = blocks(tiny(hidden_hidden=hidden_hidden, n_hidden=3)).values()
    plain = Couplings(J, K, L, M, h, g)
    flipped = Couplings(J, K * signs, signs[:, None] * L, signs[:, None] * M * signs, h, signs * g)
    start = learner(plain).beliefs
    one, other = learner(plain, start), learner(flipped, Beliefs(start.hidden * signs, start.sweeps))
    assert np.array_equal(one.beliefs.hidden * signs, other.beliefs.hidden)
    assert not np.array_equal(one.beliefs.hidden, start.hidden)
    assert np.isclose(one.objective, other.objective, rtol=1e-13)
    np.testing.assert_allclose(one.gradient.K * signs, other.gradient.K, atol=1e-12)


def test_the_same_call_gives_the_same_sample_and_touches_nothing():
    learner, _ = learner_and_trials(hidden_hidden=True, lengths=(50,))
    couplings = tiny(hidden_hidden=True)
    start = learner(couplings).beliefs
    before = start.hidden.copy()
    one, again = learner(couplings, start), learner(couplings, start)
    assert np.array_equal(start.hidden, before)
    assert np.array_equal(one.beliefs.hidden, again.beliefs.hidden)
    assert one.gradient == again.gradient
    assert (start.sweeps, one.beliefs.sweeps) == (1, 2)
    kept = one.beliefs.hidden.copy()
    learner(couplings, one.beliefs)
    assert np.array_equal(one.beliefs.hidden, kept)


def test_other_seeds_and_other_sweeps_draw_other_samples():
    couplings, samples = tiny(hidden_hidden=False), []
    for seed in (0, 1):
        learner, _ = learner_and_trials(hidden_hidden=False, lengths=(50,), seed=seed)
        start = Beliefs(np.ones((49, 2)))
        samples += [
            learner(couplings, start).beliefs.hidden,
            learner(couplings, Beliefs(start.hidden, 7)).beliefs.hidden,
        ]
    assert len({sample.tobytes() for sample in samples}) == 4


def test_several_sweeps_a_step_are_counted():
    learner, _ = learner_and_trials(hidden_hidden=True, sweeps_per_step=3)
    assert learner(tiny(hidden_hidden=True)).beliefs.sweeps == 3


def test_without_hidden_units_it_is_the_visible_model():
    trials = [noise(30, 3)]
    couplings = Couplings(tiny(hidden_hidden=False).J, np.zeros((3, 0)), np.zeros((0, 3)))
    estimate = GIBBS(Recording(trials), n_hidden=0)(couplings)
    H = trials[0][:-1] @ couplings.J.T
    assert np.isclose(estimate.objective, np.sum(trials[0][1:] * H - np.logaddexp(H, -H)), rtol=1e-13)
    np.testing.assert_allclose(estimate.gradient.J, (trials[0][1:] - np.tanh(H)).T @ trials[0][:-1], atol=1e-12)


@both
def test_many_units_in_strong_fields_do_not_overflow(hidden_hidden):
    rng = np.random.default_rng(8)
    couplings = random_couplings(300, 20, rng, variance=16.0, hidden_hidden=hidden_hidden)
    trials = [noise(20, 300), noise(30, 300, seed=2)]
    estimate = GIBBS(Recording(trials), n_hidden=20, hidden_hidden=hidden_hidden)(couplings)
    assert np.isclose(estimate.objective, oracle_objective(couplings, trials, estimate.beliefs.hidden), rtol=1e-12)


def test_certain_hidden_units_are_found_at_once():
    """One hidden unit that drives all visible ones by 20 must have the sign that they show."""
    s = np.repeat(noise(40, 1), 5, axis=1)
    couplings = Couplings(np.zeros((5, 5)), np.full((5, 1), 20.0), np.zeros((1, 5)))
    estimate = GIBBS(Recording(s), n_hidden=1)(couplings)
    assert np.array_equal(estimate.beliefs.hidden, s[1:, :1])


def test_runaway_couplings_are_refused_with_their_number():
    learner, _ = learner_and_trials(hidden_hidden=False)
    couplings = Couplings(np.full((3, 3), 100.0), np.zeros((3, 2)), np.zeros((2, 3)))
    with pytest.raises(ValueError, match="below 170, these couplings allow 300"):
        learner(couplings)


@pytest.mark.parametrize("strength", [170.0, 170.5])
def test_fields_up_to_170_are_sampled(strength):
    learner, _ = learner_and_trials(hidden_hidden=False)
    J = np.diag([strength, 0.0, 0.0])
    couplings = Couplings(J, np.zeros((3, 2)), np.zeros((2, 3)))
    if strength > 170.0:
        with pytest.raises(ValueError, match="these couplings allow 170: they have run away"):
            learner(couplings)
    else:
        assert np.isfinite(learner(couplings).objective)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize(("n", "n_rows"), [(5, 3), (4097, 3), (9000, 33), (300, 10_000)])
def test_every_bin_is_in_one_block_and_even_ones_come_first(n, n_rows, step):
    bins = [np.arange(n)[block] for block in blocks_of_bins(n, n_rows, step)]
    wanted = np.concatenate([np.arange(first, n, step) for first in range(step)])
    assert np.array_equal(np.concatenate(bins), wanted)
    assert max(len(block) for block in bins) <= 4096


def test_one_sweep_with_seed_0_is_made_where_nothing_is_asked_for():
    couplings = tiny(hidden_hidden=False)
    plain, asked = (
        learner_and_trials(hidden_hidden=False, **options)[0](couplings).beliefs
        for options in ({}, {"seed": 0, "sweeps_per_step": 1})
    )
    assert np.array_equal(plain.hidden, asked.hidden)
    assert (plain.sweeps, GIBBS(Recording(noise(5, 3)), n_hidden=2).learned) == (1, ("J", "K", "L"))


@pytest.mark.parametrize("options", [{"seed": -1}, {"sweeps_per_step": 0}])
def test_options_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="Seed must be"):
        GIBBS(Recording(noise(5, 3)), n_hidden=2, **options)


def test_a_pause_is_offered_while_it_works():
    learner, _ = learner_and_trials(hidden_hidden=True, lengths=(50,))
    calls = []
    with paced(lambda: calls.append(1)):
        learner(tiny(hidden_hidden=True))
    assert len(calls) >= 5
