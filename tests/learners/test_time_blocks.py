import numpy as np
import pytest

from hidviz.learners.parts.time_blocks import segments, side_by_side
from hidviz.network import Recording

LENGTHS = (5, 2, 60, 3, 31)


def recording(n_visible=3):
    rng = np.random.default_rng(1)
    return Recording([rng.choice([-1, 1], (length, n_visible)) for length in LENGTHS])


cut = pytest.mark.parametrize("cut", [False, True])


def bins(by_column, history):
    """(units, columns) → (bins, units) in the order of time."""
    return by_column.reshape(-1, history.n_steps, history.n_segments).transpose(2, 1, 0).reshape(-1, len(by_column))


@cut
def test_columns_hold_every_bin_once_and_what_follows_it(cut):
    data = recording()
    history = segments(data, cut=cut)
    states = np.concatenate(data.trials)
    following = np.concatenate([np.vstack([trial[1:], np.zeros_like(trial[:1])]) for trial in data.trials])
    n = len(states)
    np.testing.assert_array_equal(bins(history.states, history)[:n, :-1], states)
    np.testing.assert_array_equal(bins(history.states, history)[:n, -1], 1)
    np.testing.assert_array_equal(bins(history.doubled, history)[:n], 2 * following)
    np.testing.assert_array_equal(bins(history.states, history)[n:], 0)
    without = ~bins(history.doubled, history).any(axis=1)
    assert history.n_left_out == without.sum()
    assert (history.n_segments > 1) == cut


@cut
def test_blocks_cover_every_column_once(cut):
    history = segments(recording(), cut=cut)
    covered = [(steps, columns) for steps, columns in history.blocks()]
    columns = np.concatenate([np.arange(c.start, c.stop) for _, c in covered])
    np.testing.assert_array_equal(columns, np.arange(history.n_steps * history.n_segments))
    assert all((c.start, c.stop) == (s.start * history.n_segments, s.stop * history.n_segments) for s, c in covered)


@cut
@pytest.mark.parametrize("contraction", [0.5, 1.0], ids=["forgets", "remembers"])
def test_a_recursion_over_segments_is_the_recursion_over_trials(cut, contraction):
    """x(t+1) = s(t) - contraction · x(t), from 0 in every trial."""
    data = recording(2)
    history = segments(data, cut=cut)
    inputs = bins(history.states, history)[:, :2].reshape(history.n_segments, history.n_steps, 2).transpose(1, 2, 0)
    starting = {}
    for step, segment in history.starts:
        starting.setdefault(step, []).append(segment)

    def step(k, x, following):
        following[:] = -contraction * x + inputs[k]
        following[:, starting.get(k + 1, [])] = 0.0

    path = np.empty((history.n_steps + 1, 2, history.n_segments))
    side_by_side(step, path, starting=slice(1, None), ending=slice(None, -1))

    wanted = []
    for trial in data.trials:
        x = np.zeros(2)
        for s in trial[:-1]:
            wanted.append(x)
            x = -contraction * x + s
    np.testing.assert_allclose(history.in_time(path), wanted, atol=1e-12)
