"""Every row of the table is the run that its start number names, and all starts are treated alike."""

from dataclasses import replace

import numpy as np
import pytest

from hidviz import Beliefs, Experiment, Infeasible
from hidviz.evaluation.equivalent_models import gauge_label
from hidviz.experiments.frame import Frame
from hidviz.experiments.progress import Progress
from hidviz.experiments.restarts import TURN, Restarts, check_room, restarts
from hidviz.experiments.run import iter_resumed, iter_run, with_knobs

SMALL = Experiment(n_visible=6, n_hidden=2, n_steps=600, n_held_out=200, seed=4)


def tables(experiment, n, data=None):
    return [item for item in restarts(experiment, n, data) if isinstance(item, Restarts)]


def frames(experiment):
    return [item for item in iter_run(experiment) if isinstance(item, Frame)]


@pytest.mark.parametrize(
    "knobs",
    [
        {"max_steps": 20},
        {"optimiser": "gradient", "rate": 0.5, "max_steps": 7},
        {"box": 0.05, "max_steps": 12},
        {"patience": 2},
        {"model": "stochastic", "learner": "exact", "max_steps": 8},
        {"model": "stochastic", "learner": "gibbs", "max_steps": 6},
    ],
    ids=str,
)
def test_row_is_the_run_of_that_start_number_bit_for_bit(knobs):
    experiment = replace(SMALL, **knobs)
    last = tables(experiment, 3)[-1]
    for start in last.starts:
        alone = frames(start.experiment)[-1]
        assert start.experiment == replace(experiment, start_index=start.index)
        assert start.frame.snapshot.couplings == alone.snapshot.couplings
        assert (start.cost, start.step, start.state) == (alone.snapshot.cost, alone.snapshot.step, alone.snapshot.state)
        assert start.gauge == gauge_label(alone.gauge)
        for name in alone.trace.names:
            assert np.array_equal(start.frame.trace[name], alone.trace[name])
        assert start.rms["K"] == alone.trace["rms_K"][-1]
        assert start.aligned["L"] == alone.trace["aligned_L"][-1]


def test_all_starts_have_ended_at_the_end_and_the_best_are_counted():
    last = tables(replace(SMALL, max_steps=25), 4)[-1]
    costs = np.array([start.cost for start in last.starts])
    assert [start.index for start in last.starts] == [1, 2, 3, 4]
    assert last.n_ended == last.n == 4
    assert last.lowest == costs.min()
    assert last.n_best() == (costs <= costs.min() + 1e-6).sum()
    assert last.n_best(within=np.inf) == 4


def test_starts_take_turns():
    for table in tables(replace(SMALL, max_steps=20), 4):
        steps = [start.step for start in table.starts if start.state == "learning"]
        assert max(steps, default=0) - min(steps, default=0) <= TURN


def test_a_table_once_seen_never_changes():
    def numbers(table):
        return [(start.step, start.cost) for start in table.starts]

    run = restarts(replace(SMALL, max_steps=6), 2)
    seen = [(table, numbers(table)) for table in run if isinstance(table, Restarts)]
    assert all(numbers(table) == then for table, then in seen)


def test_data_are_made_once_and_given_data_are_taken():
    first = list(restarts(replace(SMALL, max_steps=2), 2))
    data = first[-1].starts[0].frame.data
    assert isinstance(first[0], Progress)
    assert all(start.frame.data is data for start in first[-1].starts)
    again = tables(replace(SMALL, max_steps=2), 2, data)[-1]
    assert again.starts[1].frame.data is data
    assert again.starts[1].cost == first[-1].starts[1].cost


def test_a_row_can_be_gone_on_with():
    row = tables(replace(SMALL, max_steps=5), 2)[-1].starts[1]
    further = [*iter_resumed(with_knobs(row.frame, max_steps=9))][-1]
    assert further.snapshot.cost == frames(replace(row.experiment, max_steps=9))[-1].snapshot.cost


@pytest.mark.parametrize("n", [0, 65, 2.0, True])
def test_number_of_starts_out_of_range_is_refused(n):
    with pytest.raises(ValueError, match="from 1 to 64"):
        restarts(SMALL, n)


def test_too_much_memory_is_refused_with_the_number_that_fits():
    frame = next(item for item in iter_run(SMALL) if isinstance(item, Frame))
    vast = Beliefs(np.broadcast_to(0.0, (10**6, 2)))  # 16 MB of one and the same zero
    snapshot = replace(frame.snapshot, estimate=replace(frame.snapshot.estimate, beliefs=vast))
    check_room(replace(frame, snapshot=snapshot), 31)
    with pytest.raises(Infeasible, match="take at most 31 starts"):
        check_room(replace(frame, snapshot=snapshot), 64)


@pytest.mark.slow
def test_at_figure_3_all_starts_reach_the_same_cost():
    last = tables(Experiment(), 6)[-1]
    assert last.n_best() == 6
    assert len({start.gauge for start in last.starts}) > 1
    assert max(start.aligned["K"] for start in last.starts) < 0.1
