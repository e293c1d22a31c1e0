"""Three parts of one recording: every bin in one of them at most, none across trials."""

from itertools import chain

import numpy as np
import pytest

from hidviz.network.divide import divide
from hidviz.network.recording import Recording


def numbered(n_bins, n_units=12):
    """A recording whose rows are the binary digits of their own number, to find them again."""
    digits = np.arange(n_bins)[:, None] >> np.arange(n_units) & 1
    return np.where(digits > 0, 1, -1)


def numbers(recording):
    return [((trial > 0) @ (1 << np.arange(trial.shape[1]))).tolist() for trial in recording.trials]


def test_blocks_in_turn_hold_every_bin_once():
    parts = divide(Recording(numbered(4001)))
    learn, stop, judge = (numbers(part) for part in parts[:3])
    assert (len(learn), len(stop), len(judge)) == (24, 8, 8)
    assert sorted(chain(*learn, *stop, *judge)) == list(range(4001))
    assert all(np.diff(block).tolist() == [1] * (len(block) - 1) for block in learn + stop + judge)
    assert {len(block) for block in judge} <= {100, 101}
    assert stop[0][0] == 300
    assert judge[0][0] == 400
    assert "40 blocks" in parts.how


def test_blocks_do_not_cross_trials():
    whole = numbered(4000)
    parts = divide(Recording([whole[:1500], whole[1500:1600], whole[1600:]]))
    for block in chain(*(numbers(part) for part in parts[:3])):
        assert not block[0] < 1500 <= block[-1]
        assert not block[0] < 1600 <= block[-1]


def test_many_trials_are_dealt_out_whole_and_names_kept():
    whole = numbered(2500)
    names = [f"u{k}" for k in range(12)]
    recording = Recording(np.split(whole, 25), names, 0.02)
    learn, stop, judge, how, by_trials = divide(recording)
    assert by_trials
    assert [len(part.trials) for part in (learn, stop, judge)] == [15, 5, 5]
    assert np.array_equal(stop.trials[0], whole[300:400])
    assert judge.names == tuple(names)
    assert judge.bin == 0.02
    assert "25 trials" in how


def test_a_short_recording_gets_fewer_blocks_and_a_shorter_one_a_sentence():
    assert [len(part.trials) for part in divide(Recording(numbered(120)))[:3]] == [6, 2, 2]
    with pytest.raises(ValueError, match="at least 10 bins"):
        divide(Recording(numbered(49)))
    with pytest.raises(ValueError, match="at least 5 blocks, got 2"):
        divide(Recording(numbered(500)), blocks=2)
