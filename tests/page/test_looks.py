"""The page looks as it did: in a dozen scenes nothing has come, gone or moved, and no colour is another one."""

import pytest

from tests.looks import SCENES, differences, kept, seen
from tests.pages import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# Moves the first element that matches, in whatever shadow.
MOVE = """([selector, style]) => {
  const look = (root) => root.querySelector(selector) ??
    [...root.querySelectorAll("*")].map((it) => it.shadowRoot && look(it.shadowRoot)).find(Boolean)
  const found = look(document)
  if (found) { Object.assign(found.style, style) }
  return Boolean(found)
}"""


@pytest.mark.parametrize("name", SCENES)
def test_nothing_has_moved_and_no_colour_is_another(open_page, name):
    scene = SCENES[name]
    tab = open_page(scene.query, width=scene.width, height=scene.height)
    told = differences(kept(name), seen(tab, scene))
    assert not told, "if this is meant: python -m tests.screenshots\n" + "\n".join(told)


def test_a_card_that_moves_by_twelve_pixels_or_loses_its_colours_is_noticed(open_page):
    scene = SCENES["learn"]
    tab = open_page(scene.query, width=scene.width, height=scene.height)
    until(tab, lambda: tab.evaluate(MOVE, ["li.unit", {"transform": "translateX(12px)"}]), "the card")
    told = differences(kept("learn"), seen(tab, scene))
    assert any("moved" in each and "Flip hidden unit 1" in each for each in told), told
    assert len(told) <= 3, "and nothing else is"
    assert tab.evaluate(MOVE, ["li.unit", {"transform": ""}])
    assert tab.evaluate(MOVE, ["body", {"filter": "invert(1)"}])
    assert any("another picture" in each for each in differences(kept("learn"), seen(tab, scene)))


def test_a_button_that_is_gone_is_noticed(open_page):
    scene = SCENES["lesson"]
    tab = open_page(scene.query, width=scene.width, height=scene.height)
    until(tab, lambda: tab.evaluate(MOVE, ["button.leave", {"display": "none"}]), "the button")
    assert [each for each in differences(kept("lesson"), seen(tab, scene)) if each.startswith("gone")]
