"""Files: recordings come in whole, or a sentence says what is wrong with them."""

from pathlib import Path

import numpy as np
import pytest

from hidviz.network.read_recording import read_recording, states

SPIKES = (np.random.default_rng(1).random((50, 4)) < 0.3).astype(int) * 2  # counts 0 and 2
SIGNS = np.where(SPIKES > 0, 1, -1)


def written(path, array):
    if path.suffix == ".npz":
        np.savez(path, *array)
    elif path.suffix == ".npy":
        np.save(path, array)
    else:
        np.savetxt(path, array, delimiter=",", fmt="%d")
    return path


@pytest.mark.parametrize("data", [SPIKES, SIGNS, SPIKES > 0, SIGNS.astype(float)])
def test_counts_and_signs_read_alike(tmp_path, data):
    found = read_recording([written(tmp_path / "a.npy", data)])
    np.testing.assert_array_equal(found.trials[0], SIGNS)


def test_every_kind_of_file_gives_the_same_trials(tmp_path):
    one = read_recording([written(tmp_path / "a.npz", [SPIKES[:20], SPIKES[20:]])])
    other = read_recording([written(tmp_path / "b.csv", SPIKES[:20]), written(tmp_path / "c.npy", SPIKES[20:])])
    assert len(one.trials) == 2
    for mine, yours in zip(one.trials, other.trials, strict=True):
        np.testing.assert_array_equal(mine, yours)


def test_a_line_of_names_is_passed_over(tmp_path):
    path = tmp_path / "named.csv"
    path.write_text("unit 1,unit 2\n0,1\n1,0\n0,0\n")
    np.testing.assert_array_equal(read_recording([path]).trials[0], [[-1, 1], [1, -1], [-1, -1]])


def test_units_down_the_rows_are_turned(tmp_path):
    found = read_recording([written(tmp_path / "a.npy", SPIKES.T)], transpose=True)
    np.testing.assert_array_equal(found.trials[0], SIGNS)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros(5), r"an array \(T, Nv\)"),
        (np.zeros((1, 5)), "at least 2 time bins"),
        (np.zeros((3, 500)), "at most 200 units, got 500 columns"),
        (np.array([[0.5, 1.0], [0.0, 1.0]]), "spike counts 0, 1, 2 …, got 0.5"),
        (np.array([[-1, 0], [1, 1]]), "got -1"),
        (np.array([[np.nan, 0.0], [1.0, 1.0]]), "finite numbers"),
        (np.array([["a", "b"], ["c", "d"]]), "must hold numbers"),
    ],
)
def test_what_is_no_recording_is_refused(array, sentence):
    with pytest.raises(ValueError, match=sentence):
        states(array)


def test_a_bad_file_is_named(tmp_path):
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK nothing")
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}], dtype=object), allow_pickle=True)
    for path in (broken, pickled, tmp_path / "absent.npy", Path("a.xlsx")):
        with pytest.raises(ValueError, match=path.name):
            read_recording([path])
    with pytest.raises(ValueError, match="bad.npy: must hold ±1"):  # noqa: RUF043
        read_recording([written(tmp_path / "bad.npy", np.full((3, 3), 0.5))])
