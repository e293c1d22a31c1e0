"""Colours: what is read has the contrast that reading takes."""

import pytest

from hidviz.ui.theme import DARK, LIGHT, block_letters, diverging


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_the_letters_of_all_blocks_have_the_contrast_of_text(dark):
    ink = DARK if dark else LIGHT
    for paper in (ink.paper, ink.soft):
        for colour in (*block_letters(dark).values(), ink.text, ink.quiet, ink.accent, ink.bad):
            high, low = sorted((luminance(colour), luminance(paper)), reverse=True)
            assert (high + 0.05) / (low + 0.05) >= 4.5, (colour, paper)


@pytest.mark.parametrize("dark", [False, True])
def test_zero_has_no_colour_and_a_larger_coupling_is_seen_better(dark):
    shades, paper = diverging(dark), (DARK if dark else LIGHT).paper
    half = len(shades) // 2
    assert shades[half] == paper
    for side in (shades[half::-1], shades[half:]):
        contrasts = [abs(luminance(shade) - luminance(paper)) for shade in side[::8]]
        assert contrasts == sorted(contrasts)


def test_small_couplings_are_seen_on_a_dark_page_as_well():
    def contrast(dark, size):
        shades, paper = diverging(dark), (DARK if dark else LIGHT).paper
        high, low = sorted((luminance(shades[round((1 + size) * (len(shades) // 2))]), luminance(paper)), reverse=True)
        return (high + 0.05) / (low + 0.05)

    for size in (0.2, -0.2):
        assert contrast(True, size) > 0.9 * contrast(False, size), size
