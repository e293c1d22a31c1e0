"""An external field is what a recorded unit does that nothing acts on: every learner must see the two alike."""

import pickle

import numpy as np
import pytest

from hidviz.background import return_value
from hidviz.evaluation import error_bars, log_likelihood
from hidviz.evaluation.effective_parameters import effective_parameters_of_rows, score_products
from hidviz.evaluation.importance_sampling import sampled_log_likelihood
from hidviz.experiments.sparse import sparse_couplings
from hidviz.learners import LEARNERS, hidden_posterior, logistic_fit, prepare
from hidviz.network import Recording, simulate
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings

NV, NH, BINS = 4, 2, 12
every_learner = pytest.mark.parametrize("name", LEARNERS)
plain_and_full = pytest.mark.parametrize("full", [False, True], ids=["plain", "with M and biases"])


def recordings(n_trials=3):
    """The same bins twice: under an external field, and with the unit that makes it in sight."""
    rng = np.random.default_rng(1)
    clock, strength = rng.choice([-1, 1], BINS), rng.normal(0.0, 0.8, NV)
    trials = rng.choice([-1, 1], (n_trials, BINS, NV), p=[0.6, 0.4])
    seen = [np.column_stack([trial, clock]) for trial in trials]
    return Recording(trials, external_field=np.outer(clock[:-1], strength)), Recording(seen), strength


def with_the_unit(couplings, strength, copies=False):
    """A network with one more visible unit, last, which acts with this strength and is acted on by nothing."""
    grown = {name: getattr(couplings, name) for name in BLOCKS}
    grown["J"] = np.block([[couplings.J, strength[:, None]], [np.zeros((1, NV + 1))]])
    grown["K"] = np.vstack([couplings.K, np.zeros((1, couplings.n_hidden))])
    grown["L"] = np.column_stack([couplings.L, np.zeros(couplings.n_hidden)])
    grown["h"] = np.append(couplings.h, 0.0)
    if copies:  # one copy more, of the unit
        grown["K"], grown["L"] = np.column_stack([grown["K"], np.zeros(NV + 1)]), np.eye(NV + 1)
        grown["M"], grown["g"] = np.zeros((NV + 1,) * 2), np.zeros(NV + 1)
    return Couplings(**grown)


def drawn(name, full):
    n_hidden = LEARNERS[name].units(NV, NH)
    found = random_couplings(
        NV, n_hidden, np.random.default_rng(2), variance=0.4, hidden_hidden=full and not LEARNERS[name].copies,
        bias=0.3 * full,
    )  # fmt: skip
    if LEARNERS[name].copies:
        return Couplings(found.J, found.K, np.eye(NV), h=found.h)
    return found


@every_learner
@plain_and_full
def test_every_learner_says_the_same_of_both(name, full):
    driven, seen, strength = recordings()
    method, at = LEARNERS[name], drawn(name, full)
    options = {"hidden_hidden": full and method.hidden != "none", "bias": full}
    one = prepare(name, driven, n_hidden=method.units(NV, NH), **options)(at)
    two = prepare(name, seen, n_hidden=method.units(NV + 1, NH), **options)(with_the_unit(at, strength, method.copies))
    assert one.objective == pytest.approx(two.objective + driven.n_transitions * np.log(2.0), rel=1e-9)
    for block in BLOCKS:
        expected = getattr(two.gradient, block)[tuple(slice(n) for n in getattr(at, block).shape)]
        np.testing.assert_allclose(getattr(one.gradient, block), expected, atol=1e-6)
    if one.beliefs is not None:
        np.testing.assert_allclose(one.beliefs.hidden, two.beliefs.hidden, atol=1e-6)


@pytest.mark.parametrize("name", [name for name in LEARNERS if not LEARNERS[name].stochastic])
@plain_and_full
def test_the_gradient_is_the_slope_under_an_external_field(name, full):
    driven, _, _ = recordings()
    method, at = LEARNERS[name], drawn(name, full)
    at = at.with_vector(0.5 * at.vector()) if not method.copies else at  # else an E-step may have no fixed point
    tight = {"tolerance": 1e-12, "max_sweeps": 5000} if "tolerance" in method.options else {}
    learner = prepare(
        name, driven, n_hidden=method.units(NV, NH), hidden_hidden=full and method.hidden != "none", bias=full, **tight
    )
    start, theta = learner(at), at.vector(learner.learned)
    along = np.random.default_rng(3).normal(size=theta.size)

    def slope(step):
        ends = [learner(at.with_vector(theta + sign * step * along, learner.learned), start.beliefs)
                for sign in (1, -1)]  # fmt: skip
        return (ends[0].objective - ends[1].objective) / (2.0 * step)

    expected = (4.0 * slope(5e-5) - slope(1e-4)) / 3.0  # without the third derivative
    assert start.gradient.vector(learner.learned) @ along == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_learner
def test_no_field_and_a_field_of_zeros_are_the_same_and_it_travels(name):
    driven, _, _ = recordings()
    bare, nothing = driven.with_external_field(None), driven.with_external_field(np.zeros((BINS - 1, NV)))
    at, n_hidden = drawn(name, False), LEARNERS[name].units(NV, NH)
    one, two = (prepare(name, each, n_hidden=n_hidden)(at) for each in (bare, nothing))
    assert one.objective == pytest.approx(two.objective, rel=1e-9)
    np.testing.assert_allclose(one.gradient.vector(), two.gradient.vector(), atol=1e-6)
    learner = prepare(name, driven, n_hidden=n_hidden)
    again = pickle.loads(pickle.dumps(learner))
    assert again(at).objective == learner(at).objective != one.objective


@plain_and_full
def test_likelihoods_and_posteriors_are_those_of_the_unit_in_sight(full):
    driven, seen, strength = recordings()
    at = drawn("exact", full)
    grown, less = with_the_unit(at, strength), driven.n_transitions * np.log(2.0)
    for hidden in ("stochastic", "continuous"):
        assert log_likelihood(at, driven, hidden=hidden) == pytest.approx(
            log_likelihood(grown, seen, hidden=hidden) + less, rel=1e-12
        )
    one, two = hidden_posterior(at, driven), hidden_posterior(grown, seen)
    np.testing.assert_allclose(one.smoothed, two.smoothed, atol=1e-12)
    np.testing.assert_array_equal(one.path, two.path)
    if not full:
        rng, start = np.random.default_rng(4), np.zeros((driven.n_transitions, NH))
        sampled = sampled_log_likelihood(at, driven, start, rng)
        exact = log_likelihood(at, driven)
        assert abs(sampled.log_likelihood - exact) < 5.0 * sampled.standard_error


@pytest.mark.parametrize("hidden", ["stochastic", "continuous"])
@plain_and_full
def test_error_bars_follow_from_the_curvature_under_the_field(hidden, full):
    driven, _, _ = recordings(n_trials=40)
    name = {"stochastic": "exact", "continuous": "backprop"}[hidden]
    at = drawn(name, full)
    learner = prepare(name, driven, n_hidden=NH, hidden_hidden=full, bias=True)
    theta, step = at.vector(learner.learned), 1e-4
    curvature = np.array(
        [
            (learner(at.with_vector(theta - step * axis, learner.learned)).gradient.vector(learner.learned)
             - learner(at.with_vector(theta + step * axis, learner.learned)).gradient.vector(learner.learned))
            for axis in np.eye(len(theta))
        ]
    ) / (2.0 * step)  # fmt: skip
    bars = error_bars(at, driven, hidden=hidden, hidden_hidden=full, bias=True)
    np.testing.assert_allclose(bars.eigenvalues, np.linalg.eigvalsh(0.5 * (curvature + curvature.T)), atol=2e-4)


def test_error_bars_without_hidden_units_are_those_of_the_curvature():
    driven, _, _ = recordings(n_trials=40)
    at = drawn("visible", True)
    learner = prepare("visible", driven, n_hidden=0, bias=True)
    theta, step = at.vector(learner.learned), 1e-4
    second = [
        learner(at.with_vector(theta - step * axis, learner.learned)).gradient.vector(learner.learned)
        - learner(at.with_vector(theta + step * axis, learner.learned)).gradient.vector(learner.learned)
        for axis in np.eye(len(theta))
    ]
    expected = np.linalg.eigvalsh(np.array(second) / (2.0 * step))
    np.testing.assert_allclose(error_bars(at, driven, bias=True).eigenvalues, expected, atol=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 1e-2])
@pytest.mark.parametrize("lags", [1, 2])
def test_the_best_network_without_hidden_units_has_no_slope_left(lags, penalty):
    driven, _, _ = recordings(n_trials=60)
    found = logistic_fit(driven, lags=lags, bias=True, penalty=penalty).couplings
    name = {1: "visible", 2: "visible-lag2"}[lags]
    learner = prepare(name, driven, n_hidden=found.n_hidden, bias=True)
    rise = learner(found).gradient
    for block in set(learner.learned) - {"h"}:
        left = getattr(rise, block) / driven.n_transitions - penalty * getattr(found, block)
        assert np.abs(left).max() < 1e-7
    sparse = sparse_couplings(driven, 0.0, start=found)
    if lags == 1 and not penalty:
        np.testing.assert_allclose(sparse.J, found.J, atol=1e-5)


def test_effective_parameters_see_the_field():
    driven, seen, strength = recordings(n_trials=60)
    found = logistic_fit(driven, bias=True).couplings
    told = effective_parameters_of_rows(found, driven, lags=1, bias=True)
    assert told != pytest.approx(
        effective_parameters_of_rows(found, driven.with_external_field(None), lags=1, bias=True), rel=1e-3
    )
    assert told == pytest.approx(NV * (NV + 1), rel=0.3)  # a model that is nearly true has as many as it has entries
    at = drawn("exact", False)
    grown, n_pairs = with_the_unit(at, strength), NV * NH
    for hidden in ("stochastic", "continuous"):
        one = return_value(score_products(at, driven, hidden=hidden, bias=False))
        two = return_value(score_products(grown, seen, hidden=hidden, bias=False))
        of_K = one[NV**2 : NV**2 + n_pairs, NV**2 : NV**2 + n_pairs]
        first = (NV + 1) ** 2
        np.testing.assert_allclose(of_K, two[first : first + n_pairs, first : first + n_pairs], atol=1e-9)


def test_a_simulation_under_a_field_is_that_of_the_unit_in_sight():
    field = np.array([[8.0, -8.0], [-8.0, 8.0], [8.0, 8.0]])
    quiet = Couplings(np.zeros((2, 2)), np.zeros((2, 0)), np.zeros((0, 2)))
    for n_bins in (20, 30_000):  # bin after bin, and in segments side by side
        states = simulate(quiet, n_bins, np.random.default_rng(1), external_field=field).recording.trials[0]
        expected = np.sign(field)[np.arange(n_bins - 1) % 3]
        assert (states[1:] == expected).mean() > 0.9999
    with pytest.raises(ValueError, match=r"must have shape \(period, 2\)"):
        simulate(quiet, 20, np.random.default_rng(1), external_field=np.zeros((3, 4)))


def test_a_field_that_does_not_match_the_trials_is_refused():
    states = np.ones((5, 2))
    for field in (np.zeros((5, 2)), np.zeros((4, 3)), np.zeros(4)):
        with pytest.raises(ValueError, match="An external field must have shape"):
            Recording([states, states], external_field=field)
    with pytest.raises(ValueError, match="trials of 4, 5 bins"):
        Recording([states, states[1:]], external_field=np.zeros((4, 2)))
    with pytest.raises(ValueError, match="must be finite"):
        Recording(states, external_field=np.full((4, 2), np.nan))
    kept = pickle.loads(pickle.dumps(Recording([states], external_field=np.ones((4, 2)))))
    assert kept.external_field.tolist() == np.ones((4, 2)).tolist()
    assert not kept.external_field.flags.writeable
    assert kept.with_trials([states, states]).external_field is not None
