"""Couplings are safe to share, easy to get right, and random ensembles are what the paper says."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest

from hidviz.network.couplings import BLOCKS, Couplings, block_shapes, largest_field, learned_blocks, random_couplings
from hidviz.network.gauge import Gauge


def sample(n_visible=4, n_hidden=2, seed=0, **settings):
    return random_couplings(n_visible, n_hidden, np.random.default_rng(seed), **settings)


def test_arrays_are_copied_and_read_only():
    J = np.eye(3)
    couplings = Couplings(J, np.zeros((3, 1)), np.zeros((1, 3)))
    J[0, 0] = 7.0
    assert couplings.J[0, 0] == 1.0
    for name in BLOCKS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(couplings, name)[...] = 0.0
    with pytest.raises(AttributeError):
        couplings.J = J


def test_blocks_left_out_are_zero():
    couplings = Couplings([[0.5]], [[1, 2]], [[3], [4]])
    assert (couplings.n_visible, couplings.n_hidden) == (1, 2)
    assert couplings.L.dtype == np.float64
    for name in ("M", "h", "g"):
        assert getattr(couplings, name).shape == block_shapes(1, 2)[name]
        assert not getattr(couplings, name).any()


def test_a_network_may_have_no_hidden_units():
    assert Couplings(np.eye(2), np.zeros((2, 0)), np.zeros((0, 2))).n_hidden == 0


@pytest.mark.parametrize(
    ("blocks", "sentence"),
    [
        ({"J": np.zeros((2, 3))}, r"J must be a square matrix \(Nv, Nv\) with Nv >= 1, got shape \(2, 3\)"),
        ({"J": np.zeros((0, 0))}, "with Nv >= 1"),
        ({"K": np.zeros(3)}, r"K must be a matrix \(Nv, Nh\), got shape \(3,\)"),
        ({"K": np.zeros((2, 3))}, r"K must have shape \(3, 3\) .* got \(2, 3\): rows are receivers"),
        ({"L": np.zeros((3, 2))}, r"L must have shape \(2, 3\) for 3 visible and 2 hidden units, got \(3, 2\)"),
        ({"M": np.zeros((1, 1))}, r"M must have shape \(2, 2\)"),
        ({"h": np.zeros(2)}, r"h must have shape \(3,\)"),
        ({"g": np.zeros((2, 1))}, r"g must have shape \(2,\)"),
        ({"L": np.full((2, 3), np.nan)}, "L must hold finite numbers, got nan"),
        ({"g": [0.0, np.inf]}, "g must hold finite numbers, got inf"),
    ],
)
def test_a_wrong_block_is_named_with_what_must_hold(blocks, sentence):
    right = {"J": np.zeros((3, 3)), "K": np.zeros((3, 2)), "L": np.zeros((2, 3))}
    with pytest.raises(ValueError, match=sentence):
        Couplings(**(right | blocks))


def test_equality_is_by_content():
    assert sample() == sample()
    assert sample() != sample(seed=1)
    assert sample() != sample(n_hidden=1)
    assert sample() != "couplings"


@pytest.mark.parametrize("blocks", [BLOCKS, ("J", "K", "L"), ("M", "J")])
def test_vectors_round_trip_bit_by_bit(blocks):
    couplings, other = sample(hidden_hidden=True, bias=1.0), sample(seed=1, hidden_hidden=True, bias=1.0)
    vector = couplings.vector(blocks)
    moved = other.with_vector(vector, blocks)
    for name in BLOCKS:
        assert np.array_equal(getattr(moved, name), getattr(couplings if name in blocks else other, name))
    assert np.array_equal(moved.vector(blocks), vector)


def test_a_vector_reads_row_by_row_in_the_order_asked():
    couplings = Couplings([[1, 2], [3, 4]], np.asfortranarray([[5, 6], [7, 8]]), [[9, 10], [11, 12]])
    assert couplings.vector(("K", "J")).tolist() == [5, 6, 7, 8, 1, 2, 3, 4]


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_vector_of_the_wrong_length_is_refused(length):
    with pytest.raises(ValueError, match=f"Blocks J, K, L hold 32 numbers, got a vector of {length}"):
        sample().with_vector(np.zeros(length), ("J", "K", "L"))


def test_only_the_blocks_asked_for_are_learned():
    assert learned_blocks(2) == ("J", "K", "L")
    assert learned_blocks(2, hidden_hidden=True, bias=True) == BLOCKS
    assert learned_blocks(0, hidden_hidden=True, bias=True) == ("J", "h")


@pytest.mark.parametrize("n_hidden", [0, 1, 3])
def test_the_largest_field_is_that_of_the_worst_state(n_hidden):
    drawn = sample(3, n_hidden, hidden_hidden=True, bias=1.0)
    fields = [
        np.concatenate([drawn.J @ s + drawn.K @ sigma + drawn.h, drawn.L @ s + drawn.M @ sigma + drawn.g])
        for s in product((-1.0, 1.0), repeat=3)
        for sigma in product((-1.0, 1.0), repeat=n_hidden)
    ]
    assert np.abs(fields).max() <= largest_field(drawn) * (1 + 1e-15)
    # with either sign of each bias one state reaches it
    assert np.abs(fields).max() >= largest_field(drawn) - 2 * max(np.abs(drawn.vector(("h", "g"))))


def test_random_couplings_have_the_variance_of_the_papers_ensembles():
    couplings = random_couplings(200, 100, np.random.default_rng(3), variance=2.0, hidden_hidden=True, bias=0.5)
    expected = {"J": 2 / 200, "K": 2 / 100, "L": 2 / 200, "M": 2 / 100, "h": 0.25, "g": 0.25}
    for name, variance in expected.items():
        block = getattr(couplings, name)
        # five standard errors of the sample variance and mean of n normal numbers
        assert np.var(block) == pytest.approx(variance, rel=5 * (2 / block.size) ** 0.5)
        assert abs(block.mean()) < 5 * (variance / block.size) ** 0.5


def test_every_block_has_a_stream_of_its_own():
    plain, full = sample(), sample(hidden_hidden=True, bias=1.0)
    assert not plain.M.any()
    assert not plain.h.any()
    assert full.M.all()
    assert full.g.all()
    for name in ("J", "K", "L"):
        assert np.array_equal(getattr(plain, name), getattr(full, name))


def test_a_larger_variance_scales_the_same_draw():
    assert np.allclose(sample(variance=4.0).vector(), 2.0 * sample(variance=1.0).vector(), rtol=1e-15)


def test_two_draws_from_one_generator_differ():
    rng = np.random.default_rng(0)
    assert random_couplings(3, 1, rng) != random_couplings(3, 1, rng)


@pytest.mark.parametrize(
    ("sizes", "settings", "sentence"),
    [
        ((0, 1), {}, "at least 1 visible and 0 hidden units, got 0 and 1"),
        ((2, -1), {}, "got 2 and -1"),
        ((2, 1), {"variance": -1.0}, "must not be negative, got -1.0"),
        ((2, 1), {"bias": -0.5}, "must not be negative, got 1.0 and -0.5"),
        ((2, 1), {"variance": np.nan}, "must hold finite numbers"),
    ],
)
def test_impossible_ensembles_are_refused(sizes, settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        random_couplings(*sizes, np.random.default_rng(0), **settings)


@pytest.mark.parametrize("rng", [0, None, np.random.RandomState(0), np.random.SeedSequence(1)])
def test_what_is_no_generator_is_refused_with_how_to_make_one(rng):
    with pytest.raises(ValueError, match=r"rng must be a numpy.random.Generator, got .*np.random.default_rng\(seed\)"):
        random_couplings(3, 1, rng)


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_is_as_frozen_as_the_original(again):
    couplings, gauge = sample(), Gauge([1, 0], [1.0, -1.0])
    assert again(couplings) == couplings
    assert again(gauge) == gauge
    for array in (*(getattr(again(couplings), name) for name in BLOCKS), again(gauge).order, again(gauge).signs):
        assert not array.flags.writeable
