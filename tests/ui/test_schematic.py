"""The schematic, the words of a path and the window of a raster: what is drawn, without a browser."""

from math import prod

import numpy as np
import pytest

from hidviz.evaluation.error_paths import excerpt_at, strongest_paths
from hidviz.learners.backprop import BACKPROP
from hidviz.network.couplings import Couplings, random_couplings
from hidviz.network.recording import Recording
from hidviz.ui.components.schematic import Schematic
from hidviz.ui.tabs.data import window
from hidviz.ui.text.error_path import Choice, factors, number, path_picture, shares_in_words, sums
from hidviz.ui.text.picture import block_of, network_picture, strongest_edges, unit_name


def network():
    return random_couplings(4, 2, np.random.default_rng(2), hidden_hidden=True)


def strength(couplings, edge):
    return np.block([[couplings.J, couplings.K], [couplings.L, couplings.M]])[edge.receiver, edge.sender]


def test_every_coupling_is_an_edge_of_its_block_strongest_first():
    couplings = network()
    edges, n_all = strongest_edges(couplings, 100)
    assert len(edges) == n_all == 36
    assert [edge.block for edge in edges].count("K") == 8
    assert [edge.block for edge in edges].count("M") == 4
    sizes = [abs(edge.strength) for edge in edges]
    assert sizes == sorted(sizes, reverse=True)
    assert all(edge.strength == strength(couplings, edge) for edge in edges)
    assert all(edge.block == block_of(edge.receiver, edge.sender, 4) for edge in edges)


def test_only_the_strongest_edges_are_kept_and_the_rest_is_counted():
    everything, _ = strongest_edges(network(), 100)
    few, n_all = strongest_edges(network(), 5)
    assert few == everything[:5]
    assert n_all == 36


def test_couplings_of_zero_are_no_edges():
    couplings = Couplings(J=np.eye(3), K=np.zeros((3, 1)), L=np.array([[0.0, -2.0, 0.0]]))
    edges, n_all = strongest_edges(couplings, 100)
    assert n_all == 4
    assert edges[0] == ("L", 3, 1, -2.0)


def test_a_chosen_hidden_unit_listens_in_the_first_step_and_speaks_in_the_second():
    picture = network_picture(network(), largest=1.0, n_edges=100, unit=4)
    assert picture.says == "All 11 couplings of hidden 1."
    assert {(link.receiver, link.block) for link in picture.links if link.row == 0} == {(4, "L"), (4, "M")}
    assert {(link.sender, link.block) for link in picture.links if link.row == 1} == {(4, "K"), (4, "M")}
    assert len(picture.links) == 12  # the self-coupling acts in both steps


def test_all_units_show_every_coupling_in_both_steps():
    picture = network_picture(network(), largest=1.0, n_edges=10)
    assert picture.says == "The 10 strongest of 36 couplings."
    assert [link.row for link in picture.links].count(0) == [link.row for link in picture.links].count(1) == 10


def test_a_unit_pressed_in_the_drawing_is_handed_on():
    chosen = []
    drawing = Schematic("Network", chosen.append)
    drawing.show(network_picture(network(), largest=1.0, n_edges=10))
    drawing._handle_msg({"choose": 3})
    drawing._handle_msg({"choose": None})
    assert chosen == [3, None]
    assert drawing.picture["selectable"]
    assert len(drawing.picture["links"]) == 20


def test_units_are_counted_from_one_and_hidden_ones_after_the_visible():
    assert [unit_name(unit, 3) for unit in (0, 2, 3)] == ["visible 1", "visible 3", "hidden 1"]


@pytest.fixture
def path():
    couplings = network()
    recording = Recording(np.where(np.random.default_rng(4).random((30, 4)) < 0.5, -1, 1))
    estimate = BACKPROP(recording, n_hidden=2, hidden_hidden=True)(couplings)
    seen = excerpt_at(couplings, recording, estimate.beliefs.hidden, 6, 20)
    return seen, strongest_paths(seen, 1, 2, 3)[0], estimate.gradient


@pytest.mark.parametrize("sender", [3, 4])
def test_the_factors_shown_multiply_to_what_the_path_adds(path, sender):
    seen, strongest, _ = path
    rows = factors(seen, strongest, Choice(receiver=1, sender=sender, t=6, q=2))
    state = seen.s[0, 3] if sender == 3 else seen.mu[0, 0]
    assert [row.bin for row in rows] == [10, 9, 9, 8, 8, 7, 7, 6]
    assert rows[-1].product == pytest.approx(strongest.product * state, rel=1e-12)
    assert prod(row.value for row in rows) == pytest.approx(rows[-1].product, rel=1e-12)


def test_a_path_has_one_unit_in_every_row_and_ends_at_the_error(path):
    seen, strongest, _ = path
    picture = path_picture(seen, strongest, Choice(receiver=1, sender=0, t=6, q=2))
    assert picture.rows == ("t", "t + 1", "t + 2", "t + 3", "t + 4")
    assert [mark.row for mark in picture.marks] == [0, 1, 2, 3, 4]
    assert [link.block for link in picture.links] == ["L", "M", "M", "K"]
    assert picture.links[0].receiver == 4 + 1
    assert picture.links[-1].receiver == strongest.source
    for before, after in zip(picture.links, picture.links[1:], strict=False):
        assert before.receiver == after.sender


def test_sums_lead_from_a_delay_to_the_gradient(path):
    seen, _, gradient = path
    choice = Choice(receiver=1, sender=0, t=6, q=2)
    lines = sums(seen, choice, gradient)
    assert lines[0][0] == "all 16 paths of delay 2"
    assert lines[2][1] == lines[1][1] * seen.s[0, 0]
    assert lines[3][1] == gradient.L[1, 0]
    assert shares_in_words(seen, choice).startswith("What each delay adds: q\u00a0=\u00a00: ")


def test_numbers_are_short_and_signed():
    assert [number(value) for value in (0.0, 1.0, -1.0, 0.12345, -123.0)] == ["0", "+1", "−1", "+0.123", "−123"]


def test_a_window_runs_across_trials_and_says_where_they_start():
    trials = [np.full((5, 2), sign) for sign in (1, -1, 1)]
    shown = window(Recording(trials), 3, 8)
    assert shown.begin == 3
    assert shown.starts == [5, 10]
    assert shown.s[:, 0].tolist() == [1, 1, -1, -1, -1, -1, -1, 1]
    assert window(Recording(trials), 5, 5).starts == []
    assert window(Recording(trials), 99, 4).begin == 11
    assert len(window(Recording(trials), 0, 100).s) == 15
