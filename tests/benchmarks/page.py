"""The page in a browser: how soon it can be used, how often it draws, what a frame costs, how soon a press is answered.

    python -m tests.benchmarks.page [--seconds 10] [--slower 6] [--quick]

Starts `panel serve app.py` on a free port of this machine, and drives a headless Chromium on the same cores. Opening is
from asking for the page to the moment at which it answers; the first visit of a new browser, which compiles, is told
apart from the next ones; then each tab is gone to at once, after the page was left alone, and again. While a run of
Fig. 3 by gradient ascent goes on, frames are those that the browser has drawn, and a press is timed inside it, from the
click to the status that says so. A frame's cost on the server is the processor time of the thread that draws, encodes
and sends; learning has a thread of its own. All of it again at 160 units, and once with a browser whose processor is
slowed down; and steps again while a process spins on each of the other cores.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.benchmarks.busy import busy
from tests.benchmarks.load import Server, serving
from tests.benchmarks.table import head, heading, line
from tests.pages import ALL, KNOWN, launched

VISITS = 4
NOBODY = nullcontext()
PRESSES = 24
RUNS = {  # at a rate at which none of them comes to its end meanwhile
    "18 + 2 units, T = 10 000": "?opt=gradient&rate=0.01",
    "140 + 20 units, T = 200": "?nv=140&nh=20&T=200&out=0&opt=gradient&rate=0.01",
}

# Counts what the status line is told, and times a press until the status line agrees.
WATCH = """(status) => {
  window.seen = () => ({ frames: window.frames, ...JSON.parse(status.dataset.state) })
  window.frames = 0
  new MutationObserver(() => window.frames++).observe(status, { attributeFilter: ["data-state"] })
  %ALL%
  window.press = (name, running) => new Promise((answered, failed) => {
    setTimeout(() => failed(new Error(`${name} was not answered within a minute: ${status.dataset.state}`)), 60_000)
    const button = all(document).find((node) => node.tagName === "BUTTON" && node.textContent.trim() === name)
    const begin = performance.now()
    const watch = new MutationObserver(() => {
      if (JSON.parse(status.dataset.state).running === running) {
        watch.disconnect()
        requestAnimationFrame(() => answered((performance.now() - begin) / 1000))
      }
    })
    watch.observe(status, { attributeFilter: ["data-state"] })
    button.click()
  })
}""".replace("%ALL%", ALL)

# Seconds from a click on the name of a tab until what is below it has been drawn.
SWITCH = """(title) => new Promise((there) => {
  %ALL%
  const tab = all(document).find((node) => node.role === "tab" && node.textContent.trim() === title)
  const skeleton = tab.getRootNode().querySelector(".skeleton")
  const begin = performance.now()
  const look = () => {
    if (!skeleton.hidden || !Bokeh.index.roots[0].is_idle) { requestAnimationFrame(look); return }
    requestAnimationFrame(() => requestAnimationFrame(() => there((performance.now() - begin) / 1000)))
  }
  tab.click()
  requestAnimationFrame(look)
})""".replace("%ALL%", ALL)
TABS = ("Symmetry", "Data", "Inspect", "My data", "Restarts", "Data length", "Compare", "Scores")


class Live(NamedTuple):
    """What a run in a browser showed: rates a second, milliseconds a frame, seconds for each press."""

    frames: float
    steps: float
    cost: float
    presses: np.ndarray


def opened(browser: Browser | BrowserContext, url: str) -> tuple[Page, float]:
    """The page in a new profile, or in one that may know it, and the seconds until it answers."""
    new = browser.new_context(viewport={"width": 1400, "height": 900}) if isinstance(browser, Browser) else browser
    tab = new.new_page()
    tab.set_default_timeout(120_000)
    begin = time.monotonic()
    tab.goto(url)
    tab.locator('#hidviz-status[data-state*="\\"ready\\": true"]').wait_for(state="attached")
    return tab, time.monotonic() - begin


def drawing_time(server: Server) -> float:
    """Processor seconds so far of the server's first thread, which draws."""
    fields = Path(f"/proc/{server.process}/task/{server.process}/stat").read_text(encoding="ascii").rpartition(")")[2]
    return sum(int(ticks) for ticks in fields.split()[11:13]) / os.sysconf("SC_CLK_TCK")


def live(tab: Page, server: Server, seconds: float) -> Live:
    """Run, watch for some seconds, then press Pause and Run in turn."""
    tab.locator("#hidviz-status").evaluate(WATCH)
    tab.evaluate("() => window.press('Run', true)")
    tab.wait_for_timeout(2_000)
    begin, used, before = time.monotonic(), drawing_time(server), tab.evaluate("() => window.seen()")
    tab.wait_for_timeout(1_000 * seconds)
    elapsed, used = time.monotonic() - begin, drawing_time(server) - used
    after = tab.evaluate("() => window.seen()")
    frames = after["frames"] - before["frames"]
    presses = []
    for _ in range(PRESSES // 2):
        for name, running in (("Pause", False), ("Run", True)):
            presses.append(tab.evaluate("([name, running]) => window.press(name, running)", [name, running]))
            tab.wait_for_timeout(300)
    tab.context.close()
    return Live(
        frames / elapsed, (after["step"] - before["step"]) / elapsed, 1_000 * used / max(frames, 1), np.array(presses)
    )


def _slowed(tab: Page, factor: float) -> None:
    session: Any = tab.context.new_cdp_session(tab)
    session.send("Emulation.setCPUThrottlingRate", {"rate": factor})


def openings(browser: Browser, n_visits: int) -> tuple[list[float], list[float]]:
    """Seconds of so many visits to a server just started, each by a new browser, then by the last of them again."""
    seconds, again = [], []
    with serving() as server:
        for left in reversed(range(n_visits)):
            tab, taken = opened(browser, server.url)
            seconds.append(taken)
            for _ in range(0 if left else n_visits):
                tab.close()
                tab, taken = opened(tab.context, server.url)
                again.append(taken)
            tab.context.close()
    return seconds, again


def switches(browser: Browser) -> dict[str, dict[str, float]]:
    """Seconds to each tab on a page on which nothing runs: at once, after the page was left alone, and again."""
    found = {}
    with serving() as server:
        for when in ("at once", "after a rest"):
            tab, _ = opened(browser, server.url)
            tab.wait_for_timeout(2_000)
            if when == "after a rest":
                _rested(tab)
            found[when] = {title: tab.evaluate(SWITCH, title) for title in TABS}
            found["again"] = {title: tab.evaluate(SWITCH, title) for title in TABS}
            tab.context.close()
    return found


def _rested(tab: Page) -> None:
    """Wait until nothing more is built."""
    known, before = tab.evaluate(KNOWN), 0
    while known > before:
        tab.wait_for_timeout(5_000)
        known, before = tab.evaluate(KNOWN), known


def _print_switches(browser: Browser) -> None:
    print(head(["to a tab, s", *TABS]))
    for when, seconds in switches(browser).items():
        print(line([when, *(f"{seconds[title]:.2f}" for title in TABS)]))
    print()


def _print_opening(browser: Browser, n_visits: int) -> None:
    (first, *then), again = openings(browser, n_visits)
    print(
        f"opening: first {first:.2f} s, then {np.median(then):.2f} s in new browsers (median of {n_visits - 1}), "
        f"{np.median(again):.2f} s in one that knows the page\n"
    )


def _print_run(browser: Browser, name: str, query: str, slower: float, seconds: float) -> None:
    seen, beside = (run_in(browser, query, slower, seconds, others) for others in (NOBODY, busy()))
    presses = [f"{part:.2f}" for part in np.quantile(seen.presses, [0.5, 0.95, 1.0])]
    rates = [f"{seen.frames:.1f}", f"{seen.steps:.0f}", f"{beside.steps:.0f}"]
    print(line([name, *rates, f"{seen.cost:.1f}", *presses]), flush=True)


def run_in(
    browser: Browser, query: str, slower: float, seconds: float, others: AbstractContextManager[None] = NOBODY
) -> Live:
    """A run in a browser that is so many times slower, while others keep the machine busy."""
    with serving() as server:  # a server of its own: a session lives on for a while after its tab
        tab, _ = opened(browser, server.url + query)
        if slower > 1.0:
            _slowed(tab, slower)
        with others:
            return live(tab, server, seconds)


def main(arguments: list[str] | None = None) -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.page", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="how long each run is watched")
    parser.add_argument("--slower", type=float, default=6.0, help="how many times slower the last browser is")
    parser.add_argument("--quick", action="store_true", help="two visits and one run: does it run?")
    options = parser.parse_args(arguments)
    runs = [(name, query, 1.0) for name, query in RUNS.items()]
    runs.append((f"18 + 2 units, browser {options.slower:g} times slower", next(iter(RUNS.values())), options.slower))

    print(f"{heading()}\n")
    with sync_playwright() as playwright:
        browser = launched(playwright)
        _print_opening(browser, 2 if options.quick else VISITS)
        if not options.quick:
            _print_switches(browser)
        print(
            head(
                [
                    "a run",
                    "frames/s",
                    "steps/s",
                    "other cores busy",
                    "server, ms a frame",
                    "press, s: median",
                    "95 %",
                    "worst",
                ]
            )
        )
        for name, query, slower in runs[:1] if options.quick else runs:
            _print_run(browser, name, query, slower, options.seconds)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
