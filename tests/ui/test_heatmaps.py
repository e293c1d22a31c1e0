"""The letters of the blocks stand in them, where they hide little of what is drawn."""

import pytest

from hidviz.ui.plots.axes import NARROW, WIDE, enlarge
from hidviz.ui.plots.curves import Curves
from hidviz.ui.plots.heatmaps import HIDDEN, LETTER, Heatmap, Scale, letters_of
from hidviz.ui.theme import block_letters


@pytest.mark.parametrize(
    ("n_visible", "n_hidden", "expected"),
    [(18, 2, "JKL"), (10, 10, "JKLM"), (5, 0, ""), (140, 20, "JKLM"), (140, 1, "J"), (3, 3, "JKLM")],
)
def test_a_block_has_its_letter_where_there_is_room_for_it(n_visible, n_hidden, expected):
    letters = letters_of(Scale(n_visible, n_hidden, 1.0))
    assert "".join(each.block for each in letters) == expected
    for letter in letters:
        hidden = letter.block in "LM", letter.block in "KM"
        for place, below in zip((letter.y, letter.x), hidden, strict=True):
            assert (place >= n_visible) == below


def test_a_letter_hides_at_most_a_quarter_of_its_block():
    for n_visible in range(1, 60):
        for n_hidden in range(1, 30):
            scale = Scale(n_visible, n_hidden, 1.0)
            for letter in letters_of(scale):
                rows = n_hidden if letter.block in "LM" else n_visible
                columns = n_hidden if letter.block in "KM" else n_visible
                assert (LETTER * (n_visible + n_hidden)) ** 2 <= HIDDEN * rows * columns


def test_letters_follow_the_run_and_the_theme():
    heatmap = Heatmap("map")
    heatmap.fit(Scale(10, 10, 1.0))
    assert heatmap._letters.data["text"] == list("JKLM")
    heatmap.restyle(dark=True)
    assert heatmap._letters.data["color"] == [block_letters(dark=True)[block] for block in "JKLM"]
    heatmap.fit(Scale(10, 0, 1.0))
    assert heatmap._letters.data["text"] == []


def test_a_map_that_is_enlarged_again_keeps_its_room():
    plot, curves = Heatmap("a map").figure, Curves({"one": (1.0, "solid")}, "cost", "curves").figure
    for _ in range(2):
        enlarge(plot)
        enlarge(curves)
    assert (plot.min_border_right, curves.min_border_right) == (NARROW, WIDE)
