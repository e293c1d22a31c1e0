import numpy as np
import pytest

from hidviz import LEARNERS, Couplings, Infeasible, Recording, fit, random_couplings, random_start, simulate
from hidviz.evaluation.model_comparison import find_evidence, judge
from tests.oracle import histories, sampling


def case(n_visible=4, n_hidden=2, n_bins=(400, 300), *, model="stochastic", bias=0.0):
    """A truth, a recording, and held-out data."""
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(1), variance=2.0, bias=bias)
    data = [simulate(truth, n, np.random.default_rng(k), hidden=model)[0] for k, n in enumerate(n_bins)]
    return truth, *data


def judged(*arguments, **settings):
    *_, last = judge(*arguments, np.random.default_rng(0), **settings)
    return last


def logistic_cost(W, senders, following):
    """Nats per bin of independent units in the fields W @ sender, written out."""
    H = senders @ W.T
    return float(np.mean(np.sum(np.logaddexp(H, -H) - following * H, axis=1)))


@pytest.mark.parametrize("bias", [False, True])
def test_the_table_holds_truth_fits_and_baselines_and_grows_one_by_one(bias):
    truth, recording, held_out = case(bias=0.3 * bias)
    settings = {"learner": "exact", "truth": truth, "bias": bias}
    tables = list(judge({"A": truth, "B": truth}, recording, np.random.default_rng(0), held_out=held_out, **settings))
    assert [len(table.candidates) for table in tables] == [0, 1, 2, 3, 4, 5]
    assert [table.doing for table in tables] == ["Truth", "A", "B", *(c.name for c in tables[-1].candidates[3:]), ""]
    assert {table.n for table in tables} == {5}
    assert [c.kind for c in tables[-1].candidates] == ["truth", "fit", "fit", "baseline", "baseline"]
    assert [c.n_parameters for c in tables[-1].candidates] == [0, *((38, 38, 20, 36) if bias else (32, 32, 16, 32))]
    assert all(c.held_out.exact and not c.note for c in tables[-1].candidates)
    true, same = tables[-1].candidates[:2]
    assert (true.training, true.held_out) == (same.training, same.held_out)
    assert true.criteria is None


def test_costs_are_the_exact_likelihood_and_criteria_count_parameters():
    truth, recording, held_out = case(3, 2, (6, 5))
    fitted = judged({"Fit": truth}, recording, learner="exact", held_out=held_out).candidates[0]
    blocks = {name: getattr(truth, name) for name in "JKLMhg"}
    for evidence, data in ((fitted.training, recording), (fitted.held_out, held_out)):
        exact = histories.log_likelihood([trial.astype(float) for trial in data.trials], **blocks)
        assert np.isclose(evidence.log_likelihood, exact, rtol=1e-12)
        assert np.isclose(evidence.cost, -exact / data.n_transitions, rtol=1e-12)
    assert np.isclose(fitted.criteria.aic, fitted.criteria.cost + 21)
    assert np.isclose(fitted.criteria.bic, fitted.criteria.cost + 10.5 * np.log(5))


def test_baselines_stand_at_their_optimum():
    """The optimum found anew by plain gradient ascent; the baselines carry a penalty of 1e-5."""
    _, recording, _ = case()
    one, two = judged({}, recording, learner="exact").candidates
    past, present, following, _ = (each.astype(float) for each in recording.transitions())
    for candidate, senders in ((one, present), (two, np.column_stack([present, past]))):
        W = np.zeros((4, senders.shape[1]))
        for _ in range(3000):
            W += 0.12 * (following - np.tanh(senders @ W.T)).T @ senders / len(senders)
        expected = logistic_cost(W, senders, following)
        assert expected - 1e-9 <= candidate.training.cost < expected + 1e-5


def test_continuous_units_are_judged_by_back_propagation():
    truth, recording, held_out = case(model="continuous")
    table = judged(
        {"Fit": truth}, recording, learner="backprop", held_out=held_out, truth=truth, model="continuous"
    )  # fmt: skip
    expected = LEARNERS["backprop"](held_out, n_hidden=2)(truth).objective
    assert all(np.isclose(c.held_out.log_likelihood, expected, rtol=1e-12) for c in table.candidates[:2])


def test_visible_fits_are_judged_as_what_they_are():
    _, recording, _ = case()
    for learner, n_hidden, place in (("visible", 0, 1), ("visible-lag2", 4, 2)):
        start = random_start(4, n_hidden, np.random.default_rng(0), learned=("J", "K"))
        if n_hidden:
            start = Couplings(start.J, start.K, np.eye(4))
        found = fit(LEARNERS[learner](recording, n_hidden=n_hidden), start).couplings
        table = judged({"Fit": found}, recording, learner=learner)
        same = table.candidates[place]
        assert np.isclose(table.candidates[0].training.cost, same.training.cost, atol=1e-5)  # but for the penalty
        assert table.candidates[0].n_parameters == same.n_parameters
    assert table.best is None
    assert table.candidates[0].held_out is None


def test_beyond_exact_sums_the_likelihood_is_sampled_and_covers_the_exact_one():
    truth, recording, _ = case(5, 3, (300, 2), bias=0.3)
    trial = recording.trials[0].astype(float)
    exact = sampling.independent_bins(truth.J, truth.K, truth.L, truth.h, truth.g, trial)[0].sum()
    found = find_evidence(truth, recording, np.random.default_rng(0), affordable=0.0)
    assert not found.exact
    assert found.cost_error == found.standard_error / found.n_transitions
    assert 0.0 < found.standard_error < 3.0
    assert abs(found.log_likelihood - exact) < 4.0 * found.standard_error


def test_more_units_than_can_be_summed_over_are_sampled_however_few_the_bins():
    couplings = random_couplings(3, 20, np.random.default_rng(0))
    recording = Recording(np.random.default_rng(1).choice([-1, 1], (10, 3)))
    assert not find_evidence(couplings, recording, np.random.default_rng(0)).exact


def test_what_cannot_be_judged_is_said_in_its_row_and_the_others_go_on():
    couplings = random_couplings(3, 12, np.random.default_rng(0), hidden_hidden=True)
    recording = Recording(np.random.default_rng(1).choice([-1, 1], (50, 3)))
    table = judged({"Fit": couplings}, recording, learner="gibbs", held_out=recording, hidden_hidden=True)
    assert table.candidates[0].training is None
    assert "4**12" in table.candidates[0].note
    assert table.candidates[0].n_parameters == 9 + 72 + 144
    assert table.best.kind == "baseline"
    with pytest.raises(Infeasible, match="importance sampling"):
        find_evidence(couplings, recording, np.random.default_rng(0))
    long = Recording(np.ones((200_000, 50), np.int8))
    with pytest.raises(Infeasible, match="199,999 transitions"):
        find_evidence(random_couplings(50, 800, np.random.default_rng(0)), long, np.random.default_rng(0))


def test_hidden_units_beat_two_lags_which_beat_one():
    """Ten visible and two hidden units, 3000 bins: the order that held-out data must show."""
    truth = random_couplings(10, 2, np.random.default_rng(3))
    recording, held_out = (simulate(truth, 3000, np.random.default_rng(seed))[0] for seed in (4, 5))
    learner = LEARNERS["exact"](recording, n_hidden=2)
    start = random_start(10, 2, np.random.default_rng(6), scale=0.2, learned=learner.learned)
    table = judged(
        {"Fit": fit(learner, start, max_steps=60).couplings}, recording, learner="exact", held_out=held_out, truth=truth
    )
    true, found, one, two = (each.held_out.cost for each in table.candidates)
    assert true < found < true + 0.05
    assert found < two < one
    assert table.best.name == "Fit"
    training = [each.training.cost for each in table.candidates]
    assert training[1] < training[0]  # a fit explains its own data better than the truth does


def test_the_effective_number_of_parameters_stands_beside_theirs():
    """At the truth and for lag 1 about N; with the weight of a penalty less; with M, none."""
    truth = random_couplings(4, 1, np.random.default_rng(4))
    recording, _ = simulate(truth, 6000, np.random.default_rng(1))
    fits = {"Free": truth, "Held": truth}
    table = judged(fits, recording, learner="exact", penalties={"Held": np.full(24, 0.05)})
    free, held, lag1, _ = (each.criteria for each in table.candidates)
    assert free.n_effective == pytest.approx(24, rel=0.1)
    assert held.n_effective < free.n_effective - 3.0
    assert lag1.n_effective == pytest.approx(16, rel=0.1)
    assert free.tic == pytest.approx(free.aic - free.n_parameters + free.n_effective, rel=1e-12)
    coupled = Couplings(truth.J, truth.K, truth.L, np.full((1, 1), 0.3))
    table = judged({"M": coupled}, recording, learner="exact", hidden_hidden=True)
    assert table.candidates[0].criteria.n_effective is None
    assert table.candidates[0].criteria.tic is None
