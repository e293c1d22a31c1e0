"""Stills: a finished page of figures as SVG and PNG, drawn by a headless Chromium.

Bokeh draws in a browser, so a file that is not a page needs one: Playwright, and a Chromium on the PATH or its own.
Where they are missing there is the page itself.
"""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

from hidviz.ui.theme import LIGHT

SCRIPT = (Path(__file__).parents[1] / "components" / "stills.js").read_text(encoding="utf-8")

_DRAW = """async ([script, style]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })))
  return [await module.svg(module.shown(), style), await module.png(module.shown(), style)]
}"""


class NoBrowser(RuntimeError):
    """There is no browser to draw with; the message says what to install."""


def chromium() -> str | None:
    """Path of a Chromium on the PATH; None leaves it to Playwright to find its own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def stills(page: Path) -> tuple[str, bytes]:
    """Draw all figures of a page.

    Args:
        page: a file as of `overlays.html`.

    Returns:
        The picture as SVG text and as the bytes of a PNG.

    Raises:
        NoBrowser: Playwright or a Chromium is missing.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise NoBrowser("SVG and PNG need a browser: pip install playwright, and a Chromium.") from error
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            raise NoBrowser(
                "SVG and PNG need a Chromium: install the package chromium, or run playwright install chromium."
            ) from error
        tab = browser.new_page(viewport={"width": 1400, "height": 1200})
        tab.goto(page.resolve().as_uri())
        tab.wait_for_function("window.Bokeh?.documents?.length && Bokeh.documents.every((d) => d.is_idle)")
        svg, png = tab.evaluate(_DRAW, [SCRIPT, {"paper": LIGHT.paper}])
        browser.close()
    return svg, base64.b64decode(png.partition(",")[2])
