import numpy as np
import pytest

from hidviz.numerics import join_segments

N_STEPS, N_SEGMENTS = 12, 7


def recursion(contraction):
    """x(t+1) = contraction · R x(t) + noise(t), with R a rotation: it forgets at that rate, or never."""
    rng = np.random.default_rng(1)
    R = contraction * np.array([[np.cos(1.0), -np.sin(1.0)], [np.sin(1.0), np.cos(1.0)]])
    noise = rng.normal(size=(N_STEPS, N_SEGMENTS, 2))
    return R, noise


def sequential(R, noise, start):
    states, x = [], start
    for bin_noise in noise.swapaxes(0, 1).reshape(-1, 2):
        x = R @ x + bin_noise
        states.append(x)
    return np.array(states).reshape(N_SEGMENTS, N_STEPS, 2).swapaxes(0, 1)


def differ(some, others):
    return np.abs(some - others).max(axis=1) > 1e-13


def solved(R, noise, start, **options):
    """The path, whether its seams agree, and the segments that were run in every call."""
    path, ran = np.empty((N_STEPS + 1, N_SEGMENTS, 2)), []
    path[0] = start

    def advance(steps, segments):
        ran.append((steps, np.arange(N_SEGMENTS)[segments].tolist()))
        for k in range(steps.start, steps.stop):
            path[k + 1, segments] = path[k, segments] @ R.T + noise[k, segments]

    advance(slice(0, N_STEPS), slice(None))
    return path[1:], join_segments(path, advance, differ, **options), ran


@pytest.mark.parametrize("contraction", [0.0, 0.1, 0.9, 1.0])
@pytest.mark.parametrize("stride", [1, 5, 12])
@pytest.mark.parametrize("one_by_one_after", [None, 0, 2])
def test_the_path_is_that_of_the_plain_recursion(contraction, stride, one_by_one_after):
    R, noise = recursion(contraction)
    start = np.array([1.0, -2.0])
    path, agree, _ = solved(R, noise, start, stride=stride, one_by_one_after=one_by_one_after)
    assert agree
    np.testing.assert_allclose(path, sequential(R, noise, start), atol=1e-11)


def test_time_may_run_the_other_way():
    R, noise = recursion(0.9)
    start = np.array([1.0, -2.0])
    path = np.empty((N_STEPS + 1, N_SEGMENTS, 2))
    path[0] = start
    turned = noise[:, ::-1]

    def advance(steps, segments):
        for k in range(steps.start, steps.stop):
            path[k + 1, segments] = path[k, segments] @ R.T + turned[k, segments]

    advance(slice(0, N_STEPS), slice(None))
    assert join_segments(path, advance, differ, stride=3, starting=slice(None, -1), ending=slice(1, None))
    np.testing.assert_allclose(path[1:, ::-1], sequential(R, noise, start), atol=1e-11)


def test_a_segment_that_meets_its_earlier_path_stops():
    R, noise = recursion(1e-4)  # 1e-16 after four steps
    _, _, ran = solved(R, noise, np.array([1.0, -2.0]), stride=4)
    assert [steps for steps, _ in ran[1:]] == [slice(0, 4), slice(4, 8)][: len(ran) - 1]
    assert all(0 not in segments for _, segments in ran[1:])  # the first one had the right start


def test_agreeing_seams_run_nothing_again():
    R, noise = recursion(0.0)
    path, _, _ = solved(R, noise, np.zeros(2), stride=1)
    again = np.concatenate([np.concatenate([np.zeros((1, 1, 2)), path[-1:, :-1]], axis=1), path])

    def never(_steps, _segments):
        raise AssertionError

    assert join_segments(again, never, differ, stride=1)


def test_a_recursion_that_does_not_forget_is_given_up_after_the_steps_allowed():
    R, noise = recursion(1.0)
    _, agree, ran = solved(R, noise, np.zeros(2), stride=1, most_steps=30)
    assert not agree
    assert len(ran) == 1 + 31
    _, agree, _ = solved(R, noise, np.zeros(2), stride=1, most_steps=N_STEPS * N_SEGMENTS)
    assert agree
