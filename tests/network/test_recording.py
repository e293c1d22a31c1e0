"""A recording accepts only ±1 states, and its transitions never cross from one trial to the next."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from hidviz.network.recording import Recording


def states(n_bins, n_units, seed=0):
    return np.where(np.random.default_rng(seed).random((n_bins, n_units)) < 0.5, -1, 1)


def test_a_trial_is_copied_and_read_only():
    given = states(5, 2).astype(np.int8)
    recording = Recording(given)
    given[0] = 0
    (trial,) = recording.trials
    assert np.abs(trial).min() == 1
    with pytest.raises(ValueError, match="read-only"):
        trial[0] = 1


def test_one_array_is_one_trial_and_a_stack_is_several():
    assert len(Recording(states(6, 2)).trials) == 1
    assert len(Recording(states(6, 2).reshape(3, 2, 2)).trials) == 3
    assert len(Recording(trial for trial in (states(6, 2), states(4, 2).tolist())).trials) == 2


def test_numbers_of_bins_and_transitions_add_up_over_trials():
    recording = Recording([states(6, 3), states(2, 3)])
    assert (recording.n_visible, recording.n_bins, recording.n_transitions) == (3, 8, 6)


def test_transitions_pair_each_state_with_its_past_and_future():
    s = states(5, 3)
    previous, present, following, starts = Recording(s).transitions()
    assert np.array_equal(present, s[:-1])
    assert np.array_equal(following, s[1:])
    assert np.array_equal(previous, np.vstack([np.zeros(3), s[:-2]]))
    assert starts.tolist() == [0]
    assert previous.dtype == present.dtype == following.dtype == np.int8


def test_no_transition_crosses_from_one_trial_to_the_next():
    trials = [states(n_bins, 2, seed=n_bins) for n_bins in (4, 2, 3)]
    whole = Recording(trials).transitions()
    assert whole.starts.tolist() == [0, 3, 4]
    for k, trial in enumerate(trials):
        rows = slice(whole.starts[k], whole.starts[k] + len(trial) - 1)
        alone = Recording(trial).transitions()
        for name in ("previous", "present", "following"):
            assert np.array_equal(getattr(whole, name)[rows], getattr(alone, name))


@pytest.mark.parametrize(
    ("trials", "sentence"),
    [
        ([], "at least one trial, got none"),
        (states(1, 3), r"Trial 1 must have shape \(T, Nv\), T >= 2 and Nv >= 1, got \(1, 3\): time runs down"),
        (np.zeros((4, 0)), r"got \(4, 0\)"),
        ([states(4, 2), states(4, 2)[0]], r"Trial 2 must have shape .* got \(2,\)"),
        ([states(4, 2), states(4, 3)], r"same units, got trials of \[2, 3\] units"),
        ([states(4, 2), 0 * states(4, 2)], r"Trial 2 must hold only \+1 \(spike\) and -1 \(silence\), got 0"),
        (np.array([[0, 3], [1, 2], [0, 0]]), r"got 0: turn spike counts x into np.where\(x > 0, 1, -1\)"),
        (3 * states(4, 2), "got -?3: if these are spike counts, find out first what its negative"),
        (np.full((4, 2), np.nan), "got nan"),
        (np.full((4, 2), 0.9), "got 0.9"),
        (np.full((4, 2), 257), "got 257"),
        (states(4, 2) > 0, "got False"),
    ],
)
def test_what_is_no_recording_is_refused_with_what_to_do(trials, sentence):
    with pytest.raises(ValueError, match=sentence):
        Recording(trials)


def test_a_table_is_one_trial():
    given = states(6, 3)
    table = pd.DataFrame(given, columns=["a", "b", "c"])
    for trials in (table, [table], table.astype(object)):
        assert np.array_equal(Recording(trials).trials[0], given)


@pytest.mark.parametrize(
    "trials", [states(6, 1)[:, 0], pd.Series(states(6, 1)[:, 0]), [1, -1, 1], np.int8(1), 5, "±1", None]
)
def test_what_has_no_two_axes_is_refused_with_the_shape_that_is_wanted(trials):
    with pytest.raises(ValueError, match=r"needs an array \(T, Nv\) or a sequence of them, got .* x\[:, None\]"):
        Recording(trials)


def test_a_mask_is_never_lost_in_silence():
    given = np.ma.masked_array(states(6, 3), mask=np.zeros((6, 3), bool))
    assert np.array_equal(Recording(given).trials[0], given.data)
    given[2, 1] = np.ma.masked
    with pytest.raises(ValueError, match="got 1 masked: leave those bins out"):
        Recording(given)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64])
def test_minus_one_in_an_unsigned_type_is_recognised(kind):
    given = states(6, 3).astype(np.int64).astype(kind)
    with pytest.raises(ValueError, match=r"it looks like -1 stored in an unsigned type, x.astype\(np.int8\) brings it"):
        Recording(given)


def test_missing_states_are_not_to_be_made_silent():
    given = states(6, 3).astype(float)
    given[3, 0] = np.nan
    with pytest.raises(ValueError, match="got nan: leave bins with a missing state out") as refusal:
        Recording(given)
    assert "np.where" not in str(refusal.value)


@pytest.mark.parametrize(
    "trials", [states(4, 2).astype(complex), states(4, 2).astype(str), np.array([["a", None], [1, 2]])]
)
def test_what_holds_no_numbers_is_refused(trials):
    with pytest.raises(ValueError, match="must hold numbers"):
        Recording(trials)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_is_the_same_and_read_only(again):
    recording = Recording([states(5, 2), states(4, 2)], names=("a", "b"), bin=0.01)
    other = again(recording)
    assert (other.names, other.bin) == (recording.names, recording.bin)
    for one, two in zip(recording.trials, other.trials, strict=True):
        assert np.array_equal(one, two)
        assert not two.flags.writeable


def test_units_that_never_change_are_found_over_all_trials():
    first, second = states(5, 4), states(4, 4)
    first[:, 1] = second[:, 1] = 1
    first[:, 2], second[:, 2] = 1, -1
    assert 1 in Recording([first, second]).unchanging
    assert 2 not in Recording([first, second]).unchanging
