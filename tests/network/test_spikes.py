"""Spikes: bins are half-open, nothing crosses trials, and whatever holds spikes gives the same ones."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from hidviz import Spikes
from hidviz.network.spikes import Trial
from hidviz.network.spikes_from import spikes_from
from tests.recordings import SHIPPED, hippocampus

COUNTS = np.random.default_rng(1).poisson(0.3, (60, 4))


def of_times(*trains, start=0.0, stop=None):
    return Spikes(
        (Trial(tuple(np.array(train, float) for train in trains), start, stop),), (), tuple("abcd"[: len(trains)])
    )


def test_a_spike_on_an_edge_belongs_to_the_later_bin_however_the_edge_is_rounded():
    edges = np.arange(50) * 0.02  # k * 0.02 is below or above k/50 by rounding
    (counts,) = of_times(edges, stop=1.0).binned(0.02)
    assert counts[:, 0].tolist() == [1] * 50


def test_the_number_of_bins_forgives_rounding_and_drops_the_rest():
    assert Trial((), 0.0, 998.0).n_bins(0.02) == 49_900  # 998 // 0.02 is 49 899
    assert Trial((), 0.0, 1.05).n_bins(0.1) == 10
    assert Trial((np.array([0.95]),)).n_bins(0.1) == 10  # without an end the last spike keeps its bin


def test_nothing_is_counted_outside_a_trial():
    trials = tuple(Trial((np.array([0.5, 1.0, 1.99, 2.0, 3.2]),), a, b) for a, b in ((0.0, 1.0), (1.0, 2.05)))
    first, second = Spikes(trials, (), ("a",)).binned(0.5)
    assert first[:, 0].tolist() == [0, 1]
    assert second[:, 0].tolist() == [1, 1]


def test_the_shipped_recording_has_the_counts_it_was_published_with():
    recording = Spikes.of(hippocampus(np.inf)).within(0.0, 998.0)
    (counts,) = recording.binned(0.02)
    assert counts.shape == (49_900, 16)
    assert counts.sum() == 35_086
    shown = recording.preview(0.02)
    assert shown.lost.sum() / shown.n_spikes.sum() == pytest.approx(0.2295, abs=5e-5)
    assert any("23 % of the spikes" in remark and "5 ms would lose 5.5 %" in remark for remark in shown.remarks)
    assert SHIPPED.with_name("README.txt").read_text().startswith("hippocampus.mat")


@pytest.mark.parametrize(
    "given",
    [
        COUNTS,
        COUNTS.astype(float),
        COUNTS.tolist(),
        scipy.sparse.csr_matrix(COUNTS),
        scipy.sparse.csr_array(COUNTS),
        pd.DataFrame(COUNTS),
        pd.DataFrame(COUNTS).reset_index(),
        [COUNTS],
        COUNTS[None],
    ],
)
def test_whatever_holds_counts_gives_the_same(given):
    (counts,) = Spikes.of(given).counts
    np.testing.assert_array_equal(counts, COUNTS)


def test_signs_and_booleans_are_spikes_too():
    for given in (np.where(COUNTS > 0, 1, -1), COUNTS > 0):
        np.testing.assert_array_equal(Spikes.of(given).counts[0], COUNTS > 0)


def spike_train(times, stop):
    """Like a neo SpikeTrain in ms."""

    def seconds(values):
        return SimpleNamespace(rescale=lambda _: SimpleNamespace(magnitude=np.asarray(values, float)))

    return SimpleNamespace(times=seconds(times), t_start=seconds(0.0), t_stop=seconds(stop), name=None)


class Group(dict):
    """Like a pynapple TsGroup."""

    time_support = SimpleNamespace(values=np.array([[0.0, 50.0], [50.0, 100.0]]))


def test_whatever_holds_times_gives_the_same():
    trains = hippocampus()
    expected = Spikes.of(trains).within(0.0, 100.0).binned(0.02)[0]
    assert expected.sum() == 3845
    group = Group({k: SimpleNamespace(t=train) for k, train in enumerate(trains)})
    events = pd.DataFrame(
        [(t, k) for k, train in enumerate(trains) for t in train], columns=["spike_time", "unit"]
    ).sample(frac=1.0, random_state=1)
    segment = SimpleNamespace(spiketrains=[spike_train(train, 100.0) for train in trains])
    for given in (
        dict(enumerate(trains)), tuple(trains), group, events, segment.spiketrains, segment,
        SimpleNamespace(segments=[segment]),
    ):  # fmt: skip
        found = Spikes.of(given).within(0.0, 100.0).binned(0.02)
        np.testing.assert_array_equal(np.concatenate(found), expected)
    assert len(Spikes.of(group).binned(0.02)) == 2


def test_names_come_with_the_data():
    assert Spikes.of(pd.DataFrame(COUNTS, columns=list("wxyz"))).recording().names == tuple("wxyz")
    assert Spikes.of({"ca1": [0.1, 0.5], "ca3": [0.2]}).names == ("ca1", "ca3")
    assert Spikes.of(COUNTS, names="abcd").names == tuple("abcd")
    assert Spikes.of(COUNTS).names == ("u1", "u2", "u3", "u4")


def test_a_clock_is_left_out_and_gives_the_bin():
    frame = pd.DataFrame(COUNTS, columns=list("wxyz"))
    frame.insert(0, "time", 0.02 * np.arange(60))
    found = Spikes.of(frame)
    assert found.names == tuple("wxyz")
    assert found.bin == pytest.approx(0.02)
    assert 'Column "time" rises by the same step' in found.remarks[0]
    assert Spikes.of(np.column_stack([np.arange(60), COUNTS])).n_units == 4


def test_silent_and_constant_units_are_dropped_and_told():
    given = np.column_stack([COUNTS, np.zeros(60, int), np.ones(60, int)])
    found = Spikes.of(given)
    assert found.recording().names == ("u1", "u2", "u3", "u4")
    assert found.recording(drop=False).n_visible == 6
    remarks = " ".join(found.preview().remarks)
    assert "u5 never fires in 60 bins: dropped" in remarks
    assert "u6 fires in every one of 60 bins" in remarks


def test_what_looks_wrong_is_told():
    rng = np.random.default_rng(3)
    one = rng.random((4000, 3)) < 0.2
    assert any("in order of time" in remark for remark in Spikes.of(one).preview().remarks)
    slow = np.repeat(rng.random((1000, 3)) < 0.2, 4, axis=0)
    assert not any("in order of time" in remark for remark in Spikes.of(slow).preview().remarks)
    assert any("are 0 and 1 swapped" in remark for remark in Spikes.of(~slow).preview().remarks)
    twice = Spikes.of(np.column_stack([slow, slow[:, 0]])).preview()
    assert twice.duplicates == (("u1", "u4"),)
    nearly = slow[:, 0] ^ (rng.random(4000) < 0.005)
    assert any("sorted twice" in remark for remark in Spikes.of(np.column_stack([slow, nearly])).preview().remarks)
    fading = rng.random((4000, 3)) < np.linspace(0.3, 0.05, 4000)[:, None]
    assert any("drifts, and 2 more units" in remark for remark in Spikes.of(fading).preview().remarks)
    assert not any("drifts" in remark for remark in Spikes.of(one).preview().remarks)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (np.zeros((3, 300)), r"3 × 300: 300 units in 3 bins\? If time runs across, add --transpose"),
        (np.array([[0, 1], [1, -1], [0, 0]]), r"row 2, column 2 \(u2\): -1 among 0 and 1"),
        (np.array([[0, 0.5], [1, 1], [0, 0]]), r"row 1, column 2 \(u2\): .* got 0.5"),
        (np.array([[0, np.nan], [1, 1]]), "finite numbers, got NaN"),
        (np.zeros((4, 2), complex), "complex numbers"),
        (np.array([["a", "b"], ["c", "d"]]), "must hold ±1 or spike counts"),
        ({"a": [1000.0, 9000.0, 15000.0]}, "samples or milliseconds"),
        ({"a": [np.nan]}, "finite numbers"),
        ({}, "at least one unit"),
        (np.zeros((0, 3)), "at least 2 bins"),
    ],
)
def test_what_is_no_recording_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        Spikes.of(given)


def test_times_need_a_bin_and_counts_keep_theirs():
    with pytest.raises(ValueError, match="--bin 20ms"):
        of_times([0.1, 0.2]).recording()
    with pytest.raises(ValueError, match=r"in bins of 0\.02 s already"):
        Spikes.of(COUNTS, bin=0.02).recording(0.05)
    with pytest.raises(ValueError, match="at most 100,000,000"):
        of_times([0.1, 1000.0]).binned(1e-6)


def test_lists_of_whole_numbers_that_do_not_rise_are_bins_and_not_times():
    columns = {f"u{k}": COUNTS[:, k] for k in range(4)}
    for given in (columns, list(columns.values())):
        np.testing.assert_array_equal(Spikes.of(given).counts[0], COUNTS)
    assert Spikes.of([[0.1, 0.2], [0.15, 0.4]]).are_times
    assert Spikes.of({"a": [1, 2, 3], "b": [2, 5, 9]}).are_times


def test_a_recording_begins_at_0_unless_its_spikes_lie_elsewhere():
    assert Spikes.of({"a": [3.0, 4.5]}).trials[0].start == 0.0
    assert Spikes.of({"a": [-1.5, 4.5]}).trials[0].start == -2.0
    late = Spikes.of({"a": [1.6e9 + 0.25, 1.6e9 + 60.0]})
    assert late.trials[0].start == 1.6e9
    assert len(late.binned(0.5)[0]) == 121


def test_a_column_of_words_is_named():
    frame = pd.DataFrame(COUNTS, columns=list("wxyz"))
    frame["region"] = "ca1"
    with pytest.raises(ValueError, match='Column "region" must hold numbers'):
        Spikes.of(frame)


def test_a_bin_wider_than_the_recording_has_a_sentence():
    assert Spikes.of({"a": [0.1, 0.2]}).preview(100.0).n_bins == (1,)
    with pytest.raises(ValueError, match="at least 2 bins: take narrower"):
        Spikes.of({"a": [0.1, 0.2]}).recording(100.0)


def test_minus_one_stored_as_unsigned_bytes_is_not_taken_for_a_spike_count():
    given = np.array([[1, 255], [255, 1], [255, 255]], np.uint8)
    for array in (given, given.astype(float)):
        with pytest.raises(ValueError, match="got 255: it looks like -1 stored in an unsigned type"):
            spikes_from(array)
    assert spikes_from(np.array([[0, 255], [255, 1], [0, 0]], np.uint8)).n_units == 2
