"""HiddenIsing behaves as scikit-learn's tools expect, as far as bins in order of time allow."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from hidviz import HiddenIsing, Recording, log_likelihood, random_couplings, simulate

TRUTH = random_couplings(4, 1, np.random.default_rng(0), bias=0.2)
STATES = simulate(TRUTH, 2000, np.random.default_rng(1), hidden="stochastic").recording.trials[0]
QUICK = {"n_hidden": 1, "starts": 1, "max_steps": 40}

DO_NOT_APPLY = {
    "check_positive_only_tag_during_fit": "-1 stands for silence only where all entries are ±1",
    "check_dtype_object": "our own words for what is no number",
    "check_estimators_empty_data_messages": "our own words for it",
    "check_fit2d_1sample": "our own words for it",
    "check_fit2d_predict1d": "our own words for it",
    "check_methods_sample_order_invariance": "rows are bins in order of time",
    "check_methods_subset_invariance": "rows are bins in order of time",
}


@pytest.mark.filterwarnings("ignore")  # the checks warn of what they skip
def test_scikit_learns_own_checks_pass():
    results = check_estimator(HiddenIsing(n_hidden=1, starts=1, max_steps=2, blocks=0), on_fail=None, on_skip=None)
    failed = {each["check_name"]: each["exception"] for each in results if each["status"] == "failed"}
    assert set(failed) <= set(DO_NOT_APPLY), failed
    assert sum(each["status"] == "passed" for each in results) > 35


def test_score_is_the_log_likelihood_per_bin_and_transform_the_posterior():
    model = HiddenIsing(**QUICK).fit(STATES)
    trial = Recording(STATES)
    assert model.score(STATES) == pytest.approx(log_likelihood(model.couplings_, trial) / 1999, rel=1e-9)
    hidden = model.transform(STATES)
    assert hidden.shape == (2000, 1)
    assert np.abs(hidden).max() <= 1.0
    several = model.transform([STATES[:500], STATES[500:]])
    assert [len(part) for part in several] == [500, 1500]


def test_counts_signs_and_tables_fit_alike():
    one = HiddenIsing(**QUICK).fit(STATES)
    for other in ((STATES > 0).astype(int) * 2, pd.DataFrame(STATES > 0, columns=list("abcd"))):
        found = HiddenIsing(**QUICK).fit(other)
        assert found.couplings_ == one.couplings_
    assert found.feature_names_in_.tolist() == list("abcd")


def test_scikit_learns_tools_take_it():
    model = HiddenIsing(**QUICK)
    assert clone(model).get_params() == model.get_params()
    scores = cross_val_score(model, STATES, cv=TimeSeriesSplit(n_splits=2))
    assert (scores < 0.0).all()
    assert np.isfinite(scores).all()
    with pytest.raises(ValueError, match="Invalid parameter 'units'"):
        model.set_params(units=3)
    with pytest.raises(ValueError, match="not fitted"):
        model.score(STATES)
    with pytest.raises(ValueError, match="spike times: bin them first"):
        model.fit({"a": [0.1, 0.2], "b": [0.15]})


def test_the_estimator_takes_what_is_the_same_in_all_trials_for_a_field():
    rng = np.random.default_rng(1)
    field = 1.5 * np.sin(np.arange(40) / 4.0)[:, None] * rng.choice([-1.0, 1.0], 3)
    trials = list(np.where(rng.random((40, 40, 3)) < 0.5 + 0.5 * np.tanh(field), 1, -1))
    bare = HiddenIsing(n_hidden=0, starts=1, max_steps=40).fit(trials)
    under = HiddenIsing(n_hidden=0, repeats=True, starts=1, max_steps=40).fit(trials)
    assert bare.external_field_ is None
    assert under.external_field_.shape == (39, 3)
    assert under.score(trials) > bare.score(trials) + 0.2
    with pytest.raises(ValueError, match="trials that all have T bins"):
        under.score(trials[0][:20])
    with pytest.raises(ValueError, match="20 trials or more"):
        HiddenIsing(n_hidden=0, repeats=True).fit(np.vstack(trials))
    with pytest.raises(ValueError, match="chosen on a held-out part"):
        HiddenIsing(n_hidden=0, repeats=True, blocks=0).fit(trials)
