"""Optimisers lower costs of known shape, and L-BFGS ends where SciPy's does, box or no box."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from hidviz.learning.optimisers import OPTIMISERS, Memory, Point, Schedule, largest_gradient


def rosenbrock(theta):
    x, y = theta[:-1], theta[1:]
    slope = np.zeros_like(theta)
    slope[:-1] = -400.0 * x * (y - x**2) - 2.0 * (1.0 - x)
    slope[1:] += 200.0 * (y - x**2)
    return float((100.0 * (y - x**2) ** 2 + (1.0 - x) ** 2).sum()), slope


def logistic(n_rows=200, n_columns=12, seed=0):
    """Cost per row of a logistic regression with unequal columns: convex, and badly scaled."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns)) * np.geomspace(0.2, 5.0, n_columns)
    signs = np.where(rng.random(n_rows) < 1.0 / (1.0 + np.exp(-2.0 * rows @ rng.normal(size=n_columns))), 1.0, -1.0)

    def cost(theta):
        field = signs * (rows @ theta)
        excess = np.exp(-2.0 * np.abs(field))
        value = np.log1p(excess) + np.abs(field) - field
        error = 2.0 * np.where(field > 0.0, excess, 1.0) / (1.0 + excess)
        return float(value.mean()), -(signs * error) @ rows / n_rows

    return cost


def descend(name, cost, start, *, n_steps=400, tolerance=1e-9, **schedule):
    """The points from a start to the end, their number of evaluations included."""
    rule = OPTIMISERS[name]
    schedule = Schedule(**({"rate": rule.default_rate} | schedule))

    def evaluate(theta, near):
        return Point(theta, *cost(theta), near.extra + 1)

    points, memory, total = [Point(start, *cost(start), 1)], Memory(), 1
    while largest_gradient(points[-1], schedule.box) > tolerance and len(points) <= n_steps:
        found, memory, evaluations = rule.step(evaluate, points[-1], memory, schedule)
        if found is points[-1]:
            break
        points.append(found)
        total += evaluations
    return points, total


PROBLEMS = {"rosenbrock": (rosenbrock, np.full(6, -0.7)), "logistic": (logistic(), np.full(12, 0.1))}


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("box", [None, 0.6, 0.05])
def test_lbfgs_ends_where_scipy_does(problem, box):
    cost, start = PROBLEMS[problem]
    start = start if box is None else np.clip(start, -box, box)
    points, _ = descend("l-bfgs", cost, start, box=box)
    bounds = None if box is None else [(-box, box)] * len(start)
    best = minimize(
        cost, start, jac=True, method="L-BFGS-B", bounds=bounds,
        options={"ftol": 0.0, "gtol": 1e-10, "maxiter": 2000, "maxfun": 5000},
    )  # fmt: skip
    # the gap to the optimum is at most gradient² · n / (2 · least curvature), far below this
    assert points[-1].cost == pytest.approx(best.fun, abs=1e-10)
    if box is not None:
        assert max(np.abs(point.theta).max() for point in points) <= box


@pytest.mark.parametrize("problem", PROBLEMS)
@pytest.mark.parametrize("box", [None, 0.6, 0.05])
def test_lbfgs_never_raises_the_cost_and_seldom_evaluates_twice(problem, box):
    cost, start = PROBLEMS[problem]
    start = start if box is None else np.clip(start, -box, box)
    points, evaluations = descend("l-bfgs", cost, start, box=box, tolerance=1e-6)
    assert np.diff([point.cost for point in points]).max() < 0.0
    assert evaluations <= 1.5 * len(points) + 5


@pytest.mark.parametrize("seed", range(10))
def test_lbfgs_with_a_box_finds_the_constrained_optimum_of_random_quadratics(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(15, 15)) * np.geomspace(0.1, 2.0, 15)
    curvature, pull = root.T @ root / 15 + 1e-2 * np.eye(15), rng.normal(size=15)
    points, _ = descend("l-bfgs", lambda x: (0.5 * x @ curvature @ x - pull @ x, curvature @ x - pull),
                        np.zeros(15), box=0.3)  # fmt: skip
    theta, gradient = points[-1].theta, points[-1].gradient
    # the conditions of optimality: no slope inside, and on the box every slope pushes outward
    inside = np.abs(theta) < 0.3
    assert np.abs(gradient[inside]).max(initial=0.0) < 1e-6  # the cost, of order 1, is known to 1e-16: a root of that
    assert (theta[~inside] * gradient[~inside] <= 0.0).all()
    assert 0 < inside.sum() < 15


def test_lbfgs_solves_a_round_bowl_in_a_few_steps():
    points, _ = descend("l-bfgs", lambda x: (0.5 * float(x @ x), x), np.arange(1.0, 6.0), tolerance=1e-12)
    assert len(points) <= 5


def test_lbfgs_steps_back_from_where_the_cost_is_infinite():
    def barrier(x):
        return (float(-np.log(x).sum() + x.sum()), 1.0 - 1.0 / x) if (x > 0.0).all() else (np.inf, np.zeros_like(x))

    points, _ = descend("l-bfgs", barrier, np.array([1e-3, 30.0, 2.0]))
    assert np.allclose(points[-1].theta, 1.0, atol=1e-6)


def test_lbfgs_gives_back_the_same_point_when_nothing_is_lower():
    cost, _ = PROBLEMS["logistic"]
    point = Point(np.zeros(12), *cost(np.zeros(12)), None)
    liar = Point(point.theta, point.cost - 1.0, point.gradient, None)  # claims a cost that nothing near attains

    def evaluate(theta, near):  # noqa: ARG001
        return Point(theta, *cost(theta), None)

    memory = Memory(vectors=(np.ones(12), np.ones(12)), steps=3)
    found, after, evaluations = OPTIMISERS["l-bfgs"].step(evaluate, liar, memory, Schedule(rate=1.0))
    assert found is liar
    assert after.vectors == ()
    assert evaluations > 20  # the search along the remembered direction counts too


def test_lbfgs_remembers_ten_steps_at_most():
    cost, start = PROBLEMS["rosenbrock"]
    point, memory = Point(start, *cost(start), None), Memory()
    for _ in range(15):
        point, memory, _ = OPTIMISERS["l-bfgs"].step(
            lambda theta, _: Point(theta, *cost(theta), None), point, memory, Schedule(rate=1.0)
        )
    assert len(memory.vectors) == 20
    assert memory.steps == 15


def test_gradient_ascent_is_the_papers_rule():
    cost, start = PROBLEMS["logistic"]
    points, evaluations = descend("gradient", cost, start, rate=0.05, n_steps=3)
    for before, after in itertools.pairwise(points):
        assert np.array_equal(after.theta, before.theta - 0.05 * before.gradient)
    assert evaluations == len(points)


def test_momentum_keeps_nine_tenths_of_its_last_step():
    cost, start = PROBLEMS["logistic"]
    points, _ = descend("momentum", cost, start, rate=0.05, n_steps=4)
    steps = [after.theta - before.theta for before, after in itertools.pairwise(points)]
    for k in range(1, len(steps)):
        assert np.allclose(steps[k], 0.9 * steps[k - 1] - 0.05 * points[k].gradient, rtol=0.0, atol=1e-15)


def test_the_first_step_of_adam_is_the_rate_in_every_entry():
    cost, start = PROBLEMS["logistic"]
    points, _ = descend("adam", cost, start, rate=0.01, n_steps=1, horizon=10**9)
    moved = points[1].theta - start
    assert np.allclose(moved, -0.01 * np.sign(points[0].gradient), rtol=1e-4)  # 1e-8 beside the size of a gradient


def test_the_steps_of_adam_decay_to_a_fiftieth():
    def tilted(theta):  # a constant slope, so that the size of a step is the rate
        return float(theta.sum()), np.ones_like(theta)

    points, _ = descend("adam", tilted, np.zeros(2), rate=0.1, n_steps=30, horizon=20)
    steps = -np.diff([point.theta[0] for point in points])
    assert steps[0] == pytest.approx(0.1 * 20 / 21)
    assert np.diff(steps[:20]).max() < 0.0
    assert np.allclose(steps[21:], 0.1 * 0.02)


def test_adam_divides_a_mean_slope_by_a_mean_size():
    """Both are weighted means of all slopes so far, of which nine tenths and 99 hundredths are kept at each step."""
    cost, start = PROBLEMS["logistic"]
    points, _ = descend("adam", cost, start, rate=0.01, n_steps=6, horizon=4)
    slopes = np.array([point.gradient for point in points[:-1]])
    for k in range(1, len(points)):
        ages = np.arange(k)[::-1]
        mean = np.average(slopes[:k], axis=0, weights=0.9**ages)
        size = np.sqrt(np.average(slopes[:k] ** 2, axis=0, weights=0.99**ages))
        rate = 0.01 * max(1.0 - k / 5.0, 0.02)
        moved = points[k].theta - points[k - 1].theta
        assert np.allclose(moved, -rate * mean / (size + 1e-8), rtol=1e-9, atol=0.0)


def test_what_is_used_where_nothing_is_asked_for():
    assert {name: (rule.default_rate, rule.uses_rate) for name, rule in OPTIMISERS.items()} == {
        "l-bfgs": (1.0, False), "gradient": (0.2, True), "momentum": (0.1, True), "adam": (0.03, True)
    }  # fmt: skip
    assert " at 0x" not in repr(OPTIMISERS), "a function has nothing to say"
    assert Schedule(rate=1.0) == Schedule(rate=1.0, box=None, horizon=800, l1=None)
    assert (Memory().vectors, Memory().scales, Memory().steps) == ((), (), 0)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_counts_its_steps(name):
    cost, start = PROBLEMS["logistic"]
    point, memory = Point(start, *cost(start), None), Memory()
    for n in range(1, 4):
        point, memory, evaluations = OPTIMISERS[name].step(
            lambda theta, _: Point(theta, *cost(theta), None), point, memory, Schedule(rate=0.01)
        )
        assert memory.steps == n
        assert evaluations == 1 or name == "l-bfgs"


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_reaches_the_bottom_of_a_bowl(name):
    curvature = np.array([0.5, 1.0, 2.0])
    points, _ = descend(name, lambda x: (0.5 * float(curvature @ x**2), curvature * x), np.ones(3), n_steps=1000)
    assert points[-1].cost < 1e-4


@pytest.mark.parametrize("name", OPTIMISERS)
def test_every_optimiser_keeps_to_the_box_and_stops_pushing_against_it(name):
    points, _ = descend(name, lambda x: (-float(x.sum()), -np.ones(2)), np.array([0.0, 0.45]), box=0.5, rate=0.05)
    assert max(np.abs(point.theta).max() for point in points) == 0.5
    assert largest_gradient(points[-1], 0.5) == 0.0
    assert largest_gradient(points[-1]) == 1.0


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_step_leaves_the_point_and_the_memory_it_started_from_alone(name):
    cost, start = PROBLEMS["logistic"]
    point, memory = Point(start.copy(), *cost(start), None), Memory()
    for _ in range(3):
        kept = [array.copy() for array in (point.theta, point.gradient, *memory.vectors, *memory.scales)]
        old, old_memory = point, memory
        point, memory, _ = OPTIMISERS[name].step(
            lambda theta, _: Point(theta, *cost(theta), None), point, memory, Schedule(rate=0.01)
        )
        for array, copy in zip((old.theta, old.gradient, *old_memory.vectors, *old_memory.scales), kept, strict=True):
            assert np.array_equal(array, copy)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_memory_moves_with_the_space_it_lives_in(name):
    """Flip and permute the space after some steps: the rest of the path is the flipped and permuted path."""
    cost, start = PROBLEMS["logistic"]
    order, signs = np.random.default_rng(0).permutation(12), np.resize([1.0, -1.0], 12)

    def move(vector):
        return vector[order] * signs

    def mirrored(theta):
        back = np.empty(12)
        back[order] = theta * signs
        value, gradient = cost(back)
        return value, move(gradient)

    schedule = Schedule(rate=0.01)
    point, memory = Point(start, *cost(start), None), Memory()

    def step(function, point, memory):
        return OPTIMISERS[name].step(lambda theta, _: Point(theta, *function(theta), None), point, memory, schedule)

    for _ in range(5):
        point, memory, _ = step(cost, point, memory)
    image = Point(move(point.theta), point.cost, move(point.gradient), None)
    image_memory = memory.moved(move)
    for _ in range(10):
        point, memory, _ = step(cost, point, memory)
        image, image_memory, _ = step(mirrored, image, image_memory)
        assert np.allclose(image.theta, move(point.theta), rtol=0.0, atol=1e-11)  # sums in another order
