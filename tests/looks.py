"""How the page looks, in a dozen scenes: where everything that has a name stands, and a small picture of each.

Both are kept in tests/looks, made anew by `python -m tests.screenshots`, and compared by tests/page/test_looks.py, so
that a change that moves or recolours things is seen. Letters come with the page, so places are nearly the same on every
machine; how a figure is painted is not, so pictures are compared coarsely.
"""

import io
import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from tests.pages import settled, until

KEPT = Path(__file__).with_name("looks")
NEAR = 5  # pixels by which a place or a size may differ: two lines of text that wrap by another pixel are not a change
CELL = 20  # pixels of the page in one of the small picture
APART = 40  # of 255, by which a cell differs that is seen to
SHARE = 0.03  # of the cells that may


class Scene(NamedTuple):
    """What to open, in a window of which size, and a text that is there once all is."""

    query: str
    width: int
    height: int
    text: str = ""


SCENES = {
    "learn": Scene("", 1400, 900),
    "learn-dark": Scene("?theme=dark", 1400, 900),
    "learn-800": Scene("", 800, 900),
    "learn-390": Scene("?theme=dark", 390, 844),
    "symmetry": Scene("?tab=equivalent", 1400, 900, "nearest to the truth"),
    "data-dark": Scene("?tab=data&theme=dark", 1400, 900),
    "inspect": Scene("?tab=inspector", 1400, 900),
    "my-data": Scene("?tab=mydata", 1400, 900, "An example: 16 units"),
    "my-data-390": Scene("?tab=mydata", 390, 844, "An example: 16 units"),
    "restarts-dark-800": Scene("?tab=restarts&theme=dark", 800, 900, "8 of 8 starts"),
    "scores-dark": Scene("?tab=scores&theme=dark", 1400, 900, "predicts held-out data best"),
    "lesson": Scene("?lesson=hidden-twin", 1280, 720, "step 1 of 7"),
    "lecture-dark": Scene("?mode=lecture&lesson=hidden-twin&hide=settings&theme=dark", 1920, 1080, "step 1 of 7"),
}

# The box of everything that is seen and has a name, in whatever shadow; of equal names each has its number.
BOXES = """() => {
  const found = {}, count = {}
  const kept = "button, select, input, section, [role=heading], [role=tab], [role=img], [role=group], li.unit"
  const named = (it) => (it.getAttribute("aria-label") ?? (it.labels?.[0] ?? it).textContent).trim()
  const look = (root) => { for (const it of root.querySelectorAll("*")) {
    if (it.shadowRoot) { look(it.shadowRoot) }
    if (!it.matches(kept) || !it.checkVisibility({ visibilityProperty: true })) { continue }
    const { x, y, width, height } = it.getBoundingClientRect()
    const name = named(it).replace(/[0-9.,]+ (ms|s) a step/, "").replace(/\\s+/g, " ").slice(0, 48)
    if (!name || width * height < 16) { continue }
    const what = `${it.getAttribute("role") ?? it.tagName.toLowerCase()}: ${name}`
    count[what] = (count[what] ?? 0) + 1
    found[count[what] > 1 ? `${what} #${count[what]}` : what] = [x, y + scrollY, width, height].map(Math.round)
  } }
  look(document.body)
  return found
}"""


def seen(tab, scene):
    """Where everything stands, and the small picture, once nothing moves any more."""
    tab.emulate_media(reduced_motion="reduce")
    if scene.text:
        tab.get_by_text(scene.text).first.wait_for()
    until(tab, lambda: not tab.get_by_text("Loading", exact=True).is_visible(), "the tab")
    tab.evaluate("document.fonts.ready")
    tab.wait_for_timeout(2_000)  # the figures have no event for having been drawn
    boxes = settled(tab, BOXES)
    picture = Image.open(io.BytesIO(tab.screenshot())).convert("RGB")
    return boxes, picture.resize((scene.width // CELL, scene.height // CELL), Image.Resampling.BOX)


def keep(name, boxes, picture):
    """Store how a scene looks."""
    KEPT.mkdir(exist_ok=True)
    lines = [f"{json.dumps(what)}: {json.dumps(box)}" for what, box in sorted(boxes.items())]
    (KEPT / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    picture.save(KEPT / f"{name}.png")


def kept(name):
    """What is stored of a scene."""
    boxes = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    return boxes, Image.open(KEPT / f"{name}.png").convert("RGB")


def differences(before, now):
    """What has come, gone or moved, each in a line, and the picture if it is another one."""
    (was, picture), (boxes, shown) = before, now
    told = [f"gone: {what} {was[what]}" for what in sorted(was.keys() - boxes.keys())]
    told += [f"new: {what} {boxes[what]}" for what in sorted(boxes.keys() - was.keys())]
    for what in sorted(was.keys() & boxes.keys()):
        if max(abs(one - other) for one, other in zip(was[what], boxes[what], strict=True)) > NEAR:
            told.append(f"moved: {what} {was[what]} → {boxes[what]}")
    apart = np.abs(np.asarray(picture, int) - np.asarray(shown, int)).max(axis=2) > APART
    if apart.mean() > SHARE:
        told.append(f"another picture: {apart.mean():.0%} of it")
    return told
