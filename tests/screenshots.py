"""Pictures of the page for the README, and how it looks in its tests: `python -m tests.screenshots [NAME …]`."""

import sys

from playwright.sync_api import sync_playwright

from tests.looks import SCENES, keep, seen
from tests.pages import launched, visiting
from tests.server import ROOT, Server

PICTURES = {"page.png": "", "page-dark.png": "?theme=dark"}
FOLDER = ROOT / "assets" / "screenshots"


def take(names):
    """Take the pictures, and keep the scenes of these names; all of them if there are none."""
    server = Server()
    try:
        with sync_playwright() as playwright:
            chromium = launched(playwright)
            for name, scene in SCENES.items():
                if not names or name in names:
                    with visiting(chromium, server) as opened:
                        tab = opened(scene.query, width=scene.width, height=scene.height)
                        keep(name, *seen(tab, scene))
                    print(name)
            for name, query in PICTURES.items():
                if not names or name in names:
                    with visiting(chromium, server) as opened:
                        tab = opened(query, width=1280, height=720)
                        seen(tab, SCENES["learn"])  # which waits until all is drawn
                        tab.screenshot(path=FOLDER / name)
                    print(name)
            chromium.close()
    finally:
        server.stop()


if __name__ == "__main__":
    take(sys.argv[1:])
