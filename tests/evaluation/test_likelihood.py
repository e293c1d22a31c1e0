import numpy as np
import pytest

from hidviz import Recording, log_likelihood, prepare, random_couplings, simulate


@pytest.mark.parametrize("hidden_hidden", [False, True])
@pytest.mark.parametrize("hidden", ["continuous", "stochastic"])
def test_it_is_the_one_that_each_learner_climbs(hidden, hidden_hidden):
    couplings = random_couplings(4, 2, np.random.default_rng(1), hidden_hidden=hidden_hidden, bias=0.3)
    recording = simulate(couplings, 60, np.random.default_rng(2), hidden=hidden).recording
    name = {"continuous": "backprop", "stochastic": "exact"}[hidden]
    learner = prepare(name, recording, n_hidden=2, hidden_hidden=hidden_hidden, bias=True)
    assert log_likelihood(couplings, recording, hidden=hidden) == pytest.approx(learner(couplings).objective, rel=1e-12)


def test_other_numbers_of_units_and_unknown_kinds_are_refused():
    couplings = random_couplings(3, 1, np.random.default_rng(1))
    recording = Recording(np.ones((5, 2)))
    with pytest.raises(ValueError, match="3 visible units, the data have 2"):
        log_likelihood(couplings, recording)
    with pytest.raises(ValueError, match="'continuous' or 'stochastic'"):
        log_likelihood(random_couplings(2, 1, np.random.default_rng(1)), recording, hidden="binary")
