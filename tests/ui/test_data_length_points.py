"""Points that were computed here take the place of shipped ones; the others stay."""

import pandas as pd
import pytest

from hidviz.sweeps import FIGURES
from hidviz.ui.tabs.data_length_points import completed, own_points, shipped_points


def points(keys, value):
    frame = pd.DataFrame({"key": keys, "cost": [value] * len(keys)})
    return frame, frame.assign(step=0)


def test_what_was_computed_here_takes_the_place_of_what_was_shipped():
    shown, over_steps = completed(points(["b"], 1.0), points(["a", "b", "c"], 2.0))
    assert dict(zip(shown["key"], shown["cost"], strict=True)) == {"b": 1.0, "a": 2.0, "c": 2.0}
    assert sorted(over_steps["key"]) == ["a", "b", "c"]


def test_either_alone_is_shown_as_it_is_and_neither_is_an_empty_table():
    alone = points(["a"], 1.0)
    assert completed(alone, None) is alone
    assert completed(None, alone) is alone
    assert completed(None, None)[0].empty


def test_shipped_points_are_those_of_the_experiments_asked_for():
    sweep = FIGURES["4"].sweep(quick=True)
    found, _ = shipped_points("figure4", sweep)
    assert 0 < found["key"].nunique() <= len(sweep.experiments)
    assert shipped_points("no such figure", sweep) is None
    assert shipped_points("figure4", None) is None


def test_nothing_computed_is_no_table():
    assert own_points({}, FIGURES["4"].sweep(quick=True)) is None


@pytest.mark.parametrize("name", FIGURES)
def test_one_point_computed_here_stands_among_the_shipped_ones_of_its_figure(name):
    sweep = FIGURES[name].sweep()
    table, over_steps = shipped_points(sweep.name, sweep)
    key = table["key"].iloc[0]
    own = table[table["key"] == key].assign(seconds=-1.0), over_steps[over_steps["key"] == key]
    shown, steps_shown = completed(own, (table, over_steps))
    assert set(shown.loc[shown["seconds"] == -1.0, "key"]) == {key}
    assert len(shown) == len(table)
    assert sorted(steps_shown["key"]) == sorted(over_steps["key"])
