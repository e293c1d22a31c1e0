"""A strict floating point for every test, and for the page a real server and a real browser."""

import os
from pathlib import Path

import numpy as np
import pytest

from tests.pages import launched, visiting
from tests.server import Server

np.seterr(all="raise", under="ignore")


def pytest_runtest_logreport(report):
    """Keep a list of the tests that ran, where one is asked for: `tests.ran` compares it with all there are."""
    path = os.environ.get("HIDVIZ_TESTS_RAN")
    if not path or "PYTEST_XDIST_WORKER" in os.environ:  # its controller hears of it too
        return
    skipped = report.outcome == "skipped"
    if report.when == "call" or skipped:
        reason = report.longrepr[2].removeprefix("Skipped: ") if isinstance(report.longrepr, tuple) else ""
        with Path(path).open("a", encoding="utf-8") as file:
            file.write("\t".join([report.outcome, report.nodeid, " ".join(reason.split())]) + "\n")


@pytest.fixture(scope="session")
def browser():
    """Chromium: the one on the PATH, else Playwright's own; without either a reason, which in CI is a failure."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            chromium = launched(playwright)
        except Error as error:
            reason = f"no Chromium: install the package chromium, or run playwright install chromium ({error})"
            if os.environ.get("HIDVIZ_REQUIRE_BROWSER"):
                pytest.fail(reason)
            pytest.skip(reason)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def server():
    """One server for all page tests."""
    running = Server()
    yield running
    running.stop()


@pytest.fixture
def open_page(browser, server):
    """A function that opens the page in a fresh browser profile; any page error or outside request fails the test."""
    with visiting(browser, server) as opened:
        yield opened


@pytest.fixture(scope="module")
def opened(browser, server):
    """The same for tests that share what they have opened: it closes after the last one of a file, and fails there."""
    with visiting(browser, server) as opened:
        yield opened
