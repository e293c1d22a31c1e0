"""Pictures of the page as it opens, for the README: `python -m tests.screenshots [FOLDER]`."""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.pages import launched, state, until
from tests.server import ROOT, Server

PICTURES = {"page.png": "", "page-dark.png": "?theme=dark"}
SIZE = {"width": 1280, "height": 720}


def take(folder):
    """Take each picture, once the page has its connection and its figures."""
    server = Server()
    try:
        with sync_playwright() as playwright:
            chromium = launched(playwright)
            for name, query in PICTURES.items():
                tab = chromium.new_context(viewport=SIZE).new_page()
                tab.goto(server.url + query)
                tab.locator("#hidviz-status").wait_for(state="attached")
                until(tab, lambda tab=tab: state(tab)["ready"], "the connection")
                until(tab, lambda tab=tab: tab.locator(".bk-Canvas").count() >= 5, "the figures")
                tab.wait_for_timeout(2_000)  # the figures have no event for having been drawn
                tab.screenshot(path=folder / name)
                print(folder / name)
            chromium.close()
    finally:
        server.stop()


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "screenshots")
