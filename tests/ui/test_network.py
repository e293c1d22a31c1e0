"""The living drawing: what it is sent, when, and what a press does."""

import json

import numpy as np

from hidviz import Couplings, Recording, random_couplings, simulate
from hidviz.network import flip, regauge
from hidviz.ui.components.network import BINS, FAINT, Network


def world(n_visible=6, n_hidden=2, n_bins=200):
    truth = random_couplings(n_visible, n_hidden, np.random.default_rng(1))
    return truth, simulate(truth, n_bins, np.random.default_rng(2)).recording


def shown(couplings, recording, **params):
    network = Network(lambda _: None, **params)
    network.show(couplings, recording, largest=1.0, running=False)
    return network


def drawn(network, *blocks):
    return [json.loads(network.couplings)[block] for block in blocks]


def test_it_draws_the_column_of_K_and_the_row_of_L_of_the_chosen_unit():
    truth, recording = world()
    network = shown(truth, recording, chosen=1)
    K, L = drawn(network, "K", "L")
    np.testing.assert_allclose(K, truth.K[:, 1], atol=5e-5)
    np.testing.assert_allclose(L, truth.L[1], atol=5e-5)


def test_a_flip_changes_the_sign_of_all_it_draws_of_that_unit_and_of_nothing_else():
    truth, recording = world()
    network = shown(truth, recording)
    K, L, J = drawn(network, "K", "L", "J")
    network.show(regauge(truth, flip(2, 0)), recording, largest=1.0, running=False)
    assert drawn(network, "K", "L", "J") == [[-value for value in K], [-value for value in L], J]


def test_couplings_among_visible_units_are_the_strongest_and_none_is_a_units_own():
    truth, recording = world(n_visible=20)
    network = shown(truth, recording)
    off = np.abs(truth.J[~np.eye(20, dtype=bool)])
    (J,) = drawn(network, "J")
    assert len(J) == FAINT
    assert all(receiver != sender for receiver, sender, _ in J)
    assert min(abs(value) for *_, value in J) >= np.sort(off)[-FAINT] - 1e-3
    assert all(abs(truth.J[i, j] - value) < 1e-3 for i, j, value in J)


def test_data_are_sent_once_a_recording_and_only_some_bins():
    truth, recording = world()
    network, sent = shown(truth, recording), []
    assert network.states == ["".join("1" if s > 0 else "0" for s in row) for row in recording.trials[0][:BINS]]
    network.param.watch(lambda event: sent.append(event.name), ["states", "couplings"])
    network.show(truth, recording, largest=1.0, running=True)
    assert sent == []
    network.show(truth, Recording(-recording.trials[0]), largest=1.0, running=True)
    assert sent == ["states"]


def test_fewer_hidden_units_than_the_one_chosen_choose_the_last_one():
    truth, recording = world()
    network = shown(truth, recording, chosen=1)
    network.show(Couplings(truth.J, truth.K[:, :1], truth.L[:1]), recording, largest=1.0, running=False)
    assert (network.n_hidden, network.chosen) == (1, 0)
    network.show(Couplings(truth.J, truth.K[:, :0], truth.L[:0]), recording, largest=1.0, running=False)
    assert [network.n_hidden, *drawn(network, "K", "L")] == [0, [], []]


def test_only_a_hidden_unit_that_there_is_can_be_chosen():
    chosen = []
    network = Network(chosen.append)
    network.show(*world(), largest=1.0, running=False)
    for unit in (1, 2, -1):
        network._handle_msg({"choose": unit})
    assert chosen == [1]
