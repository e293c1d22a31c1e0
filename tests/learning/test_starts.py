"""Starts know of the truth exactly what their names say."""

import numpy as np
import pytest

from hidviz.learning.starts import mirrored_start, random_start, signed_start, true_start
from hidviz.network.couplings import BLOCKS, Couplings, random_couplings
from hidviz.network.gauge import Gauge, aligned, regauge


def truth(n_hidden=3, seed=0):
    return random_couplings(4, n_hidden, np.random.default_rng(seed), hidden_hidden=True, bias=1.0)


def start(n_hidden=3, seed=1, **settings):
    return random_start(4, n_hidden, np.random.default_rng(seed), **settings)


def test_a_random_start_has_the_size_asked_for():
    drawn = random_start(60, 40, np.random.default_rng(0), scale=0.3)
    for name in BLOCKS:
        block = getattr(drawn, name)
        assert np.std(block) == pytest.approx(0.3, rel=5 * (0.5 / block.size) ** 0.5)  # five standard errors


def test_blocks_that_are_not_learned_start_at_zero_and_leave_the_others_as_they_were():
    part, whole = start(learned=("J", "K", "L")), start()
    for name in ("M", "h", "g"):
        assert not getattr(part, name).any()
        assert getattr(whole, name).all()
    for name in ("J", "K", "L"):
        assert np.array_equal(getattr(part, name), getattr(whole, name))


def test_a_right_signed_start_takes_signs_from_the_truth_and_sizes_from_the_start():
    signed = signed_start(truth(), start())
    for name in BLOCKS:
        assert np.array_equal(np.sign(getattr(signed, name)), np.sign(getattr(truth(), name)))
        assert np.array_equal(np.abs(getattr(signed, name)), np.abs(getattr(start(), name)))


def test_signs_that_the_truth_does_not_have_are_left_alone():
    plain = Couplings(truth().J, truth().K, truth().L)
    signed = signed_start(plain, start())
    assert np.array_equal(signed.M, start().M)
    wide = signed_start(truth(2), start(3))
    assert np.array_equal(wide.K[:, 2], start(3).K[:, 2])
    assert np.array_equal(wide.L[2], start(3).L[2])
    assert np.array_equal(np.sign(wide.K[:, :2]), np.sign(truth(2).K))


def test_a_start_with_fewer_hidden_units_than_the_truth_takes_the_first_ones():
    assert np.array_equal(np.sign(signed_start(truth(3), start(2)).L), np.sign(truth(3).L[:2]))
    assert np.array_equal(true_start(truth(3), start(2)).K, truth(3).K[:, :2])
    assert np.array_equal(true_start(truth(3), start(2)).M, truth(3).M[:2, :2])
    assert true_start(truth(3), start(0)).n_hidden == 0


def test_a_mirrored_start_is_a_right_signed_one_with_every_hidden_unit_flipped():
    mirrored = mirrored_start(truth(), start())
    assert regauge(mirrored, Gauge([0, 1, 2], -np.ones(3))) == signed_start(truth(), start())
    assert np.array_equal(np.sign(mirrored.K), -np.sign(truth().K))
    assert np.array_equal(np.sign(mirrored.M), np.sign(truth().M))


def test_a_true_start_is_the_truth_with_room_to_spare():
    assert true_start(truth(), start()) == truth()
    assert aligned(true_start(truth(2), start(3)), truth(2)).n_hidden == 3
    assert not true_start(truth(2), start(3)).K[:, 2].any()
