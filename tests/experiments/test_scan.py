"""The scan: rows judged in pairs, the fewest hidden units within one error of the best, and the true number found."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Recording, Settings, divide, fit_recording, hide_unit, random_couplings, scan, simulate
from hidviz.background import return_value
from hidviz.evaluation.paired import Difference, block_costs, paired
from hidviz.experiments.lags import fit_lags
from hidviz.experiments.scan_speed import check_exact, learner_for
from hidviz.experiments.scan_table import Scan, ScanRow
from hidviz.learners import Infeasible, logistic_fit, prepare
from hidviz.ui.text.own_scan import rows_table
from tests.benchmarks.sparse import sparse_network


def simulated(n_hidden, seed, n_visible=5, n_bins=8000):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(seed), bias=0.2)
    return simulate(truth, n_bins, np.random.default_rng(seed + 100), hidden="stochastic").recording


def row(n_hidden, judged, hidden_hidden=False, bic=0.0):
    return ScanRow(n_hidden, hidden_hidden, None, 1, judged=np.array(judged), bic=bic)


def test_paired_errors_are_those_of_the_differences():
    one, other = np.array([1.0, 5.0, 9.0]), np.array([0.5, 4.4, 8.7])
    mean, error = paired(one, other)
    assert mean == pytest.approx(np.mean([0.5, 0.6, 0.3]))
    assert error == pytest.approx(np.std([0.5, 0.6, 0.3], ddof=1) / 3**0.5)
    assert Difference(0.2257, 0.0181).in_words() == "226 ± 18"


def test_the_fewest_units_within_one_paired_error_of_the_best_are_chosen():
    base = np.array([5.0, 7.0, 9.0, 6.0])
    rows = (row(0, base), row(1, base - 1.0), row(2, base - 1.0 - np.array([0.1, -0.1, 0.1, 0.0])), row(3, base - 0.9))
    table = Scan(rows, Difference(0.0, 0.0), 0.0, "", 4, "", 0.0)
    assert table.best is rows[2]
    assert table.chosen is rows[1]  # .025 ± .048 behind
    one = replace(rows[1], gain=Difference(1.0, 0.1))
    assert "not tried" not in replace(table, rows=(rows[0], one, *rows[2:])).sentence()
    assert replace(table, rows=(rows[0], one)).sentence().endswith("; more hidden units were not tried.")
    assert replace(table, rows=(*rows[:2], row(2, base - 1.2))).chosen.n_hidden == 2
    both = replace(
        table, rows=(rows[0], row(1, base - 1.0, hidden_hidden=True), row(1, base - 1.0 + [0.1, -0.1, 0, 0]))
    )
    assert not both.chosen.hidden_hidden


def test_rows_arrive_and_are_judged_on_what_was_not_learned():
    parts = divide(simulated(1, 3))
    tables = list(scan(parts, hidden=range(3), hidden_hidden=(False,), starts=2, max_steps=60))
    assert [len(table.rows) for table in tables] == sorted(len(table.rows) for table in tables)
    last = tables[-1]
    assert (last.doing, last.seconds_left, [each.n_hidden for each in last.rows]) == ("", 0.0, [0, 1, 2])
    assert any("start 2 of 2" in table.doing for table in tables)
    one = last.rows[1]
    assert one.judged == pytest.approx(block_costs(one.couplings, parts.judge))
    assert one.gain.mean == pytest.approx((last.rows[0].judged - one.judged).mean())
    assert one.gain.mean > 5 * one.gain.error > 0.0
    assert last.chosen is one
    assert last.lowest_bic is one
    assert "Chosen: 1 hidden unit" in last.in_words()
    assert [record["chosen"] for record in last.records()] == [False, True, False]


def test_a_model_that_would_take_too_long_has_a_reason():
    parts = divide(simulated(1, 3, n_bins=1000))
    last = list(scan(parts, hidden=(12,), hidden_hidden=(True,), starts=1))[-1]
    assert "4**12" in last.rows[1].note
    assert last.chosen.n_hidden == 0
    with pytest.raises(ValueError, match="between 0 and 16"):
        next(scan(parts, hidden=(20,)))


def test_few_bins_get_a_penalty():
    coins = Recording(np.where(np.random.default_rng(1).random((400, 6)) < 0.5, 1, -1))
    assert next(scan(divide(coins), hidden=())).penalty >= 1e-2  # coins: the less is learned, the better
    assert next(scan(divide(simulated(1, 3)), hidden=())).penalty == 0.0


@pytest.mark.slow
def test_the_true_number_of_hidden_units_is_found_in_nine_of_ten():
    right = right_bic = 0
    for seed in range(10):
        n_hidden = seed % 3
        parts = divide(simulated(n_hidden, 40 + seed, n_visible=6, n_bins=30_000))
        last = list(scan(parts, hidden=range(4), hidden_hidden=(False,), starts=3))[-1]
        right += last.chosen.n_hidden == n_hidden
        right_bic += last.lowest_bic.n_hidden == n_hidden
    assert right >= 9
    assert right_bic >= 9


@pytest.mark.slow
def test_a_model_that_is_too_large_to_be_summed_in_a_minute_is_sampled_and_judged_exactly():
    truth = random_couplings(4, 1, np.random.default_rng(3), bias=0.2, variance=2.0)
    parts = divide(simulate(truth, 3000, np.random.default_rng(3)).recording)
    assert learner_for(parts, 10, True, 300) == "gibbs"
    assert learner_for(parts, 10, False, 300) == learner_for(parts, 2, True, 300) == "exact"
    *_, table = scan(parts, hidden=(10,), hidden_hidden=(True,), starts=1)
    row = table.rows[1]
    assert row.sampled
    assert not row.note
    assert row.judged == pytest.approx(block_costs(row.couplings, parts.judge))
    assert np.isfinite([row.cost, row.aic, row.bic]).all()
    assert "10 hidden units with M, sampled" in table.in_words()
    assert "sampled)</th>" in rows_table(table)
    assert table.records()[1]["sampled"] is True


def test_a_model_that_nothing_could_judge_is_refused_before_it_is_fitted():
    truth = random_couplings(4, 1, np.random.default_rng(3), bias=0.2)
    parts = divide(simulate(truth, 2000, np.random.default_rng(3)).recording)
    *_, table = scan(parts, hidden=(12,), hidden_hidden=(True,), starts=1)
    assert "4**12 transitions a step" in table.rows[1].note
    assert not table.rows[1].judged.size


@pytest.fixture(scope="module")
def sparse():
    """A recording of a sparse network with one hidden unit, its parts, and the tables of a scan with an L1 penalty."""
    recording = simulate(sparse_network(6, 1, 0.3, seed=4), 3000, np.random.default_rng(5)).recording
    parts = divide(recording)
    return recording, parts, list(scan(parts, hidden=range(2), hidden_hidden=(False,), starts=1, l1="chosen"))


def test_an_l1_penalty_is_chosen_for_each_model_of_a_scan_as_for_a_single_fit(sparse):
    recording, parts, tables = sparse
    last = tables[-1]
    lag1, one = last.rows
    single = return_value(fit_recording(recording, Settings("exact", 1, starts=1, max_steps=300, l1="chosen")))
    assert one.couplings == single.couplings
    assert one.path.plain() == single.l1.plain() == last.records()[1]["l1"]
    assert one.gain.mean == pytest.approx(single.summary["gains"]["visible"])
    assert last.lag2.mean == pytest.approx(lag1.mean - single.summary["baselines_held_out"]["visible-lag2"], abs=1e-12)
    assert one.n_parameters == np.count_nonzero(one.couplings.vector(("J", "K", "L", "h", "g"))) < 6 * 9 + 1
    assert one.stop == tuple(single.summary["starts"])
    assert one.judged == pytest.approx(block_costs(one.couplings, parts.judge))
    assert any("1 hidden unit, L1 penalty" in table.doing for table in tables)
    assert f"{one.kept}" in last.in_words()
    assert f"<td>{one.kept}</td>" in rows_table(last)


def test_lag_1_and_lag_2_of_a_sparse_scan_have_an_l1_path_of_their_own(sparse):
    _, parts, tables = sparse
    stop = prepare("visible", parts.stop, n_hidden=0, bias=True)
    for lags, n in ((1, 36), (2, 72)):
        plain, found = fit_lags(parts, lags), fit_lags(parts, lags, l1="chosen")
        zeros, size = sum(found.path.n_zero.values()), found.path.n_kept[1]
        assert size == n
        assert n // 4 < zeros < n
        assert found.judged.mean() < plain.judged.mean()
        assert found.path.stop.min() < found.path.without
        np.testing.assert_array_equal(found.couplings.L, plain.couplings.L)
        if lags == 1:
            assert -stop(found.couplings).objective / stop.n_transitions == found.path.stop.min()
            assert tables[-1].rows[0].couplings == found.couplings


def test_the_paths_of_lag_1_and_lag_2_tell_how_far_they_are(sparse):
    _, parts, tables = sparse
    doing = list(dict.fromkeys(table.doing for table in tables))
    for name, path in (("lag 1", tables[-1].rows[0].path), ("lag 2", fit_lags(parts, 2, l1="chosen").path)):
        told = [each for each in doing if each.startswith(f"{name}, ")]
        assert told == [f"{name}, L1 penalty, strength {k + 1} of at most 16" for k in range(len(path.weights))]
    first = tables[0]  # until a path has ended, the fit that it begins at
    plain, *_ = scan(parts, hidden=())
    assert (first.rows[0].couplings, first.lag2) == (plain.rows[0].couplings, plain.lag2)
    assert (first.rows[0].kept, first.rows[0].l1) == ("", 0.0)


def test_a_sparse_scan_fits_each_lag_once_and_its_path_goes_on_from_there(monkeypatch):
    fitted = []

    def counted(recording, *, lags=1, **options):
        fitted.append((lags, recording.external_field is not None))
        return logistic_fit(recording, lags=lags, **options)

    monkeypatch.setattr("hidviz.experiments.lags.logistic_fit", counted)
    trials = simulated(0, 3, n_visible=3, n_bins=1200).trials[0].reshape(24, 50, 3)
    *_, last = scan(divide(Recording(tuple(trials))), hidden=(), l1=1e-3)
    assert [row.kept != "" for row in last.rows] == [True, True]
    assert sorted(fitted) == [(1, False), (1, True), (2, False)]


def test_a_sparse_scan_leaves_out_what_would_be_sampled():
    with pytest.raises(Infeasible, match="12 hidden units would be sampled"):
        check_exact("gibbs", 12)
    check_exact("exact", 12)
    coins = divide(simulated(0, 1, n_bins=400))
    with pytest.raises(ValueError, match="The L1 penalty"):
        next(scan(coins, hidden=(), l1=-1.0))


def test_a_unit_is_hidden_under_the_penalty_of_the_scan(sparse):
    _, parts, _ = sparse
    plain, strong = (hide_unit(parts, 3, hidden_hidden=False, starts=1, l1=l1) for l1 in (0.0, 10.0))
    assert abs(plain.r) > 0.3
    assert abs(strong.r) < 0.1  # no coupling is left that could tell: rounding alone
