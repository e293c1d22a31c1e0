"""The steps of L-BFGS, length by length: along a path whose costs and slopes are given one by one."""

import numpy as np
import pytest

from hidviz.learning.optimisers import OPTIMISERS, Memory, Point, Schedule, _quasi_newton, largest_gradient

INF = np.inf


def searched(along, *, start=0.0):
    """The lengths tried, the one taken, and the memory, of a first step from cost `start` and slope -1.

    Args:
        along: length → (cost, slope) there; what is tried and not given is no better than the start.
        start: the cost there.
    """
    tried = []

    def evaluate(theta, _):
        tried.append(float(theta[0]))
        cost, slope = along(tried[-1]) if callable(along) else along.get(tried[-1], (INF, 0.0))
        return Point(theta, cost, np.array([slope]), None)

    point = Point(np.zeros(1), start, np.array([-1.0]), None)
    found, memory, evaluations = OPTIMISERS["l-bfgs"].step(evaluate, point, Memory(), Schedule(rate=1.0))
    assert evaluations == len(tried)
    return tried, None if found is point else float(found.theta[0]), memory


@pytest.mark.parametrize(
    ("along", "tried"),
    [
        pytest.param({1.0: (-0.5, 0.0)}, [1.0], id="low enough and flat enough"),
        pytest.param({1.0: (-0.5, -0.9)}, [1.0], id="just flat enough"),
        pytest.param({1.0: (-1e-4, 0.0)}, [1.0], id="just low enough"),
        pytest.param({1.0: (-0.5, -0.91), 2.0: (-1.0, 0.5)}, [1.0, 2.0], id="too steep: twice as far"),
        pytest.param({1.0: (-1.0, -1.0), 2.0: (-2.0, -1.0), 4.0: (-2.5, 0.0)}, [1.0, 2.0, 4.0], id="and again"),
        pytest.param({1.0: (INF, 0.0), 0.1: (-0.1, 0.0)}, [1.0, 0.1], id="infinite: a tenth"),
        pytest.param({1.0: (1.0, 2.0), 0.25: (-0.1, 0.0)}, [1.0, 0.25], id="too high: the bottom of a parabola"),
        pytest.param({1.0: (19.0, 2.0), 0.1: (-0.1, 0.0)}, [1.0, 0.1], id="far too high: a tenth"),
        pytest.param({1.0: (-1e-5, 0.0), 0.5: (-0.3, 0.0)}, [1.0, 0.5], id="hardly lower: half"),
        pytest.param(
            {1.0: (-1.0, -1.0), 2.0: (0.0, 1.0), 1.25: (-1.1, 0.0)},
            [1.0, 2.0, 1.25],
            id="a parabola from the lower end",
        ),
        pytest.param(
            {1.0: (-1.0, -1.0), 2.0: (INF, 0.0), 1.1: (-1.1, -1.0), 1.55: (-1.2, 0.0)},
            [1.0, 2.0, 1.1, 1.55],
            id="too steep between two ends: their middle",
        ),
    ],
)
def test_the_lengths_that_are_tried(along, tried):
    found = searched(along)
    assert found[0] == pytest.approx(tried, rel=1e-12)
    assert found[1] == found[0][-1]


def test_a_slope_that_never_ends_is_followed_for_twenty_lengths():
    tried, taken, memory = searched(lambda x: (-x, -1.0))
    assert tried == [2.0**k for k in range(20)]
    assert taken == tried[-1]
    assert memory.vectors == (), "no curvature was seen"


def test_where_nothing_is_lower_twenty_lengths_are_tried():
    tried, taken, _ = searched({})
    assert np.allclose(tried, 0.1 ** np.arange(20), rtol=1e-9)
    assert taken is None


def test_a_cost_that_is_the_same_to_the_last_digit_is_not_lower():
    tried, taken, _ = searched(lambda _: (1e20, 0.0), start=1e20)
    assert (len(tried), taken) == (20, None)


def test_what_is_remembered_of_a_step_is_where_it_went_and_how_the_slope_changed():
    _, _, memory = searched({1.0: (-0.5, -0.25)})
    assert [vector.tolist() for vector in memory.vectors] == [[1.0], [0.75]]
    assert memory.steps == 1


@pytest.mark.parametrize(("gradient", "step"), [((3.0, -1.0), (-0.75, 0.25)), ((0.3, -0.1), (-0.3, 0.1))])
def test_the_first_step_is_no_longer_than_one_in_all(gradient, step):
    tried = []

    def evaluate(theta, _):
        tried.append(theta)
        return Point(theta, -10.0, np.zeros(2), None)

    point = Point(np.zeros(2), 0.0, np.array(gradient), None)
    OPTIMISERS["l-bfgs"].step(evaluate, point, Memory(), Schedule(rate=1.0))
    assert tried[0] == pytest.approx(np.array(step), rel=1e-15)


def test_at_the_bottom_nothing_is_tried():
    point = Point(np.zeros(2), 0.0, np.zeros(2), None)
    pairs = (np.ones(2), np.ones(2))
    for memory in (Memory(), Memory(vectors=pairs)):
        found, after, evaluations = OPTIMISERS["l-bfgs"].step(None, point, memory, Schedule(rate=1.0))
        assert found is point
        assert (after.vectors, after.steps, evaluations) == ((), 1, 0)


def test_the_direction_is_that_of_the_matrix_which_the_pairs_make():
    """BFGS updates of a scaled unit matrix, written with matrices."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(4, 4))
    curvature, gradient = square @ square.T + np.eye(4), rng.normal(size=4)
    steps = rng.normal(size=(3, 4))
    changes = steps @ curvature
    inverse = np.eye(4) * (steps[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y in zip(steps, changes, strict=True):
        without = np.eye(4) - np.outer(s, y) / (s @ y)
        inverse = without @ inverse @ without.T + np.outer(s, s) / (s @ y)
    pairs = tuple(vector for pair in zip(steps, changes, strict=True) for vector in pair)
    assert np.allclose(_quasi_newton(gradient, pairs), inverse @ gradient, rtol=1e-12)
    assert np.array_equal(_quasi_newton(gradient, ()), gradient)


# An L1 penalty


@pytest.mark.parametrize(
    ("theta", "gradient", "weight", "box", "largest"),
    [
        (0.3, 0.5, 1.0, None, 1.5),
        (-0.3, 0.5, 1.0, None, 0.5),
        (0.0, 1.7, 1.0, None, 0.7),
        (0.0, -1.7, 1.0, None, 0.7),
        (0.0, 0.9, 1.0, None, 0.0),
        (0.0, 0.9, 0.0, None, 0.9),
        (-0.3, 0.9, 0.0, None, 0.9),
        (0.3, -1.7, 1.0, 0.3, 0.0),
        (0.3, -0.9, 1.0, 0.3, 0.1),
        (-0.3, 1.7, 1.0, 0.3, 0.0),
        (-0.3, 1.7, 0.0, 0.3, 0.0),
        (-0.3, -1.7, 0.0, 0.3, 1.7),
    ],
)
def test_the_largest_gradient_is_what_is_left_of_the_slope(theta, gradient, weight, box, largest):
    point = Point(np.array([theta]), 0.0, np.array([gradient]), None)
    assert largest_gradient(point, box, np.array([weight])) == pytest.approx(largest, abs=1e-15)
    assert largest_gradient(Point(np.zeros(0), 0.0, np.zeros(0), None)) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_step_with_an_l1_penalty_stays_on_its_side_of_zero(sign):
    """Entries held at zero, leaving it, stopped by it, free to cross it, and stopped by the box; and their mirror."""
    theta, gradient = sign * np.array([0.0, 0.0, 0.1, 0.1, -0.5]), sign * np.array([0.5, -1.5, 1.0, 1.0, 3.0])
    weights = np.array([1.0, 1.0, 1.0, 0.0, 1.0])
    tried = []

    def evaluate(theta, _):
        tried.append(theta)
        return Point(theta, -10.0, np.zeros(5), None)

    OPTIMISERS["l-bfgs"].step(
        evaluate, Point(theta, 0.0, gradient, None), Memory(), Schedule(rate=1.0, box=0.6, l1=weights)
    )
    slope = np.array([0.0, -0.5, 2.0, 1.0, 2.0])
    length = 1.0 / np.abs(slope).sum()
    assert sign * tried[0] == pytest.approx(np.array([0.0, 0.5 * length, 0.0, 0.1 - length, -0.6]), rel=1e-12)
