"""Networks without hidden units: slopes, optima and what happens when there is none."""

import numpy as np
import pytest

from hidviz.learners.visible import VISIBLE, VISIBLE_LAG2, logistic_fit
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.network.simulation import simulate
from tests.oracle.logistic import best_rows
from tests.oracle.slope import slope


def coins(n_bins, n_units, seed=1):
    return np.where(np.random.default_rng(seed).random((n_bins, n_units)) < 0.5, -1, 1)


def history(n_bins=1500, n_visible=4, n_hidden=3, seed=0):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), bias=0.3)
    return simulate(truth, n_bins, np.random.default_rng(seed + 1)).recording


def trials():
    """Two trials, cut from one history."""
    (whole,) = history().trials
    return Recording([whole[:900], whole[900:]])


def copies(n_visible, rng):
    J, K = rng.normal(0.0, 0.5, (2, n_visible, n_visible))
    return Couplings(J=J, K=K, L=np.eye(n_visible), h=rng.normal(0.0, 0.3, n_visible))


@pytest.mark.parametrize("lags", [1, 2])
def test_without_being_asked_for_there_is_no_bias(lags):
    recording = Recording(coins(200, 4))
    assert not logistic_fit(recording, lags=lags).couplings.h.any()
    assert "h" not in (VISIBLE, VISIBLE_LAG2)[lags - 1](recording, n_hidden=4 * (lags - 1)).learned


@pytest.mark.parametrize("method", [VISIBLE, VISIBLE_LAG2], ids=["lag 1", "lag 2"])
def test_gradient_is_the_slope(method):
    n_hidden = 4 if method is VISIBLE_LAG2 else 0
    start = copies(4, np.random.default_rng(2))
    if not n_hidden:
        start = Couplings(J=start.J, K=np.zeros((4, 0)), L=np.zeros((0, 4)), h=start.h)
    evaluate = method(Recording([coins(30, 4), coins(2, 4, 2)]), n_hidden=n_hidden, bias=True)
    moving = {name: getattr(start, name) for name in evaluate.learned}
    fixed = {"K": start.K, "L": start.L}
    expected = slope(lambda **moved: evaluate(Couplings(**{**fixed, **moved})).objective, moving)
    gradient = evaluate(start).gradient
    for name in evaluate.learned:  # central differences with a step of 1e-5
        np.testing.assert_allclose(getattr(gradient, name), expected[name], rtol=0, atol=1e-7)
    for name in {"J", "K", "L", "M", "h", "g"} - set(evaluate.learned):
        assert not getattr(gradient, name).any()


def test_lag_two_is_lag_one_when_the_past_is_not_used():
    recording = trials()
    start = copies(4, np.random.default_rng(2))
    now = Couplings(J=start.J, K=np.zeros((4, 0)), L=np.zeros((0, 4)))
    both = Couplings(J=start.J, K=np.zeros((4, 4)), L=np.eye(4))
    one, two = VISIBLE(recording, n_hidden=0)(now), VISIBLE_LAG2(recording, n_hidden=4)(both)
    assert one.objective == pytest.approx(two.objective, rel=1e-13)
    np.testing.assert_allclose(one.gradient.J, two.gradient.J, rtol=0, atol=1e-11)


def test_no_past_reaches_across_trials():
    start = copies(4, np.random.default_rng(2))
    parts = [coins(n, 4, seed=n) for n in (2, 9, 30)]
    together = VISIBLE_LAG2(Recording(parts), n_hidden=4)(start).objective
    apart = sum(VISIBLE_LAG2(Recording(part), n_hidden=4)(start).objective for part in parts)
    assert together == pytest.approx(apart, rel=1e-13)
    (s,) = Recording(parts[0]).trials
    H = start.h + start.J @ s[0]
    alone = VISIBLE_LAG2(Recording(s), n_hidden=4)(start).objective
    assert alone == pytest.approx(float(np.sum(s[1] * H - np.logaddexp(H, -H))), rel=1e-13)


@pytest.mark.parametrize("penalty", [0.0, 0.01])
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("lags", [1, 2])
def test_newton_finds_the_optimum_of_a_general_optimiser(lags, bias, penalty):
    recording = trials()
    data = recording.transitions()
    parts = [data.present, np.ones((recording.n_transitions, int(bias))), *([data.previous] * (lags == 2))]
    weights = [penalty] * 4 + [min(penalty, 1e-6)] * bias + [penalty] * 4 * (lags == 2)  # biases are free
    rows, best = best_rows(np.hstack(parts).astype(float), data.following.astype(float), np.array(weights))
    fitted = logistic_fit(recording, lags=lags, bias=bias, penalty=penalty).couplings
    found = np.hstack([fitted.J, *([fitted.h[:, None]] * bias), *([fitted.K] * (lags == 2))])
    np.testing.assert_allclose(found, rows, rtol=0, atol=1e-6)  # the general optimiser's own tolerance
    method = VISIBLE_LAG2 if lags == 2 else VISIBLE
    evaluate = method(recording, n_hidden=4 * (lags - 1), bias=bias)
    assert evaluate(fitted).objective == pytest.approx(best, rel=1e-8)  # of first order in the error with a penalty


def test_gradient_vanishes_at_the_fit_of_a_long_recording():
    # 40 000 bins: longer than the sample from which the curvature is taken.
    recording = history(40_000, 6, 2)
    fitted = logistic_fit(recording, lags=2, bias=True).couplings
    slopes = VISIBLE_LAG2(recording, n_hidden=6, bias=True)(fitted).gradient
    assert np.abs(slopes.vector()).max() / recording.n_transitions < 1e-7  # the last step of Newton's method


def test_a_network_without_hidden_units_is_recovered():
    truth = random_couplings(5, 0, np.random.default_rng(7), bias=0.2)
    recording = simulate(truth, 20_001, np.random.default_rng(8)).recording
    fitted = logistic_fit(recording, bias=True).couplings
    # Fisher information per bin is mean (1 - tanh²) of about a half, so an entry errs by about sqrt(2 / 20 000).
    assert np.abs(fitted.vector(("J", "h")) - truth.vector(("J", "h"))).max() < 5.0 * np.sqrt(2.0 / 20_000)


def test_a_penalty_on_couplings_leaves_rates_as_they_are():
    rng = np.random.default_rng(5)
    s = np.where(rng.random((20_000, 4)) < [0.01, 0.05, 0.2, 0.6], 1, -1)
    for lags in (1, 2):
        fitted = logistic_fit(Recording(s), lags=lags, bias=True, penalty=1.0).couplings
        field = fitted.h + s[1:-1] @ fitted.J.T + (s[:-2] @ fitted.K.T if lags == 2 else 0.0)
        assert np.tanh(field).mean(axis=0) == pytest.approx(s[2:].mean(axis=0), abs=1e-3)  # two bins of 20 000 apart
        assert np.abs(fitted.J).max() < 0.01


def test_a_unit_that_never_fires_has_a_finite_bias_under_a_penalty():
    s = np.where(np.random.default_rng(5).random((500, 3)) < [0.0, 0.5, 0.5], 1, -1)
    found = logistic_fit(Recording(s), bias=True, penalty=1e-3)
    assert found.held == (0,)
    assert -12.0 < found.couplings.h[0] < -3.0


def test_perfectly_predicted_states_are_refused_unless_penalised():
    clock = np.where(np.arange(40)[:, None] % 2, 1, -1) * np.ones((1, 2), int)
    with pytest.raises(ValueError, match="predicted perfectly"):
        logistic_fit(Recording(clock))
    fitted = logistic_fit(Recording(clock), penalty=1e-3).couplings
    assert (fitted.J < 0.0).all()


def test_only_the_unit_that_can_be_predicted_is_told_to_be_held_by_the_penalty():
    (s,) = history().trials
    silenced = s.copy()
    silenced[1:, 2][s[:-1, 0] > 0] = -1  # unit 2 is silent after every spike of unit 0
    found = logistic_fit(Recording(silenced), bias=True, penalty=1e-5)
    assert found.held == (2,)
    assert found.couplings.J[2, 0] < -1.0
    assert logistic_fit(Recording(s), bias=True, penalty=1e-5).held == ()
    with pytest.raises(ValueError, match="couplings to unit 3"):
        logistic_fit(Recording(silenced), bias=True)


def test_a_sparse_recording_has_an_optimum():
    # Units that fire in one bin of a hundred, and one input in a thousand that matters.
    rng = np.random.default_rng(5)
    s = np.where(rng.random((20_000, 4)) < 0.01, 1, -1)
    s[1:, 1][(s[:-1, 0] > 0) & (rng.random(19_999) < 0.5)] = 1
    fitted = logistic_fit(Recording(s), lags=2, bias=True, penalty=1e-5).couplings
    slopes = VISIBLE_LAG2(Recording(s), n_hidden=4, bias=True)(fitted).gradient.vector(("J", "K", "h"))
    weights = np.repeat([1e-5, 1e-6], [32, 4])
    optimum = slopes / 19_999 - weights * fitted.vector(("J", "K", "h"))
    assert np.abs(optimum).max() < 1e-9


def test_silent_units_do_not_disturb_the_fit_of_the_others():
    (s,) = history().trials
    silent = np.hstack([s, s[:, :1]])  # a duplicate: only the sum of its couplings is known
    fitted = logistic_fit(Recording(silent)).couplings
    alone = logistic_fit(Recording(s)).couplings
    np.testing.assert_allclose(fitted.J[:4, 0] + fitted.J[:4, 4], alone.J[:, 0], rtol=0, atol=1e-6)
    np.testing.assert_allclose(fitted.J[:4, 1:4], alone.J[:, 1:], rtol=0, atol=1e-6)


def test_wrong_numbers_of_hidden_units_are_refused_with_the_right_one():
    with pytest.raises(ValueError, match="n_hidden must be 0, got 2"):
        VISIBLE(history(50), n_hidden=2)
    with pytest.raises(ValueError, match="n_hidden must be 4, the number of visible units, got 2"):
        VISIBLE_LAG2(history(50), n_hidden=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"lags": 3}, "lags must be 1 or 2"), ({"penalty": -1.0}, "penalty"), ({"penalty": np.nan}, "penalty")],
)
def test_options_out_of_range_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        logistic_fit(history(50), **options)
