import numpy as np
import pytest

from hidviz import Recording, log_likelihood, random_couplings, simulate
from hidviz.network import BLOCKS
from tests.oracle import continuous, histories


@pytest.mark.parametrize("hidden_hidden", [False, True])
@pytest.mark.parametrize("hidden", ["continuous", "stochastic"])
def test_it_is_the_sum_over_all_that_the_hidden_units_could_have_done(hidden, hidden_hidden):
    couplings = random_couplings(3, 2, np.random.default_rng(1), hidden_hidden=hidden_hidden, bias=0.3)
    trials = [simulate(couplings, n, np.random.default_rng(n), hidden=hidden).recording.trials[0] for n in (5, 3)]
    literal = {"continuous": continuous.log_likelihood, "stochastic": histories.log_likelihood}[hidden]
    expected = literal(trials, **{name: getattr(couplings, name) for name in BLOCKS})
    assert log_likelihood(couplings, Recording(trials), hidden=hidden) == pytest.approx(expected, rel=1e-12)


def test_other_numbers_of_units_and_unknown_kinds_are_refused():
    couplings = random_couplings(3, 1, np.random.default_rng(1))
    recording = Recording(np.ones((5, 2)))
    with pytest.raises(ValueError, match="3 visible units, the data have 2"):
        log_likelihood(couplings, recording)
    with pytest.raises(ValueError, match="'continuous' or 'stochastic'"):
        log_likelihood(random_couplings(2, 1, np.random.default_rng(1)), recording, hidden="binary")
