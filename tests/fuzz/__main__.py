"""Press, type, switch and cut at random, and see that the page survives: `python -m tests.fuzz SEED EVENTS`.

After every so many events: no page error, no console error, no traceback in the server's log, no request that leaves
this machine, no number that is not finite; the page has its connection, or offers to reload; Run works; and what Export
hands out is one run of one experiment. The same seed draws the same events.
"""

import argparse
import contextlib
import json
import math
import re
import sys
import tempfile
import time
from collections import deque
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

from hidviz.experiments import load_bundle
from hidviz.ui.text.language import LANGUAGES, translations
from tests.fuzz.events import drawn, play
from tests.pages import OURS, launched, state
from tests.server import Server

EVERY = 50
KEPT = 20_000  # messages of the server, of which those about a model that an error names are printed
# What Bokeh and Tornado say of a socket that closes while it is being opened or written to
FOREIGN = re.compile(
    r"(?:Uncaught exception GET \S*/ws|error handling message)(?:(?!Traceback).)*Traceback(?:(?!Traceback).)*"
    r"assert self\._session is not None.*?AssertionError|"
    r"Task exception was never retrieved\s+future: [^\n]*WebSocketClosedError\(\)>.*?"
    r"tornado\.websocket\.WebSocketClosedError",
    re.DOTALL,
)
# What Bokeh says in the browser's console of a line that is cut while the page is being opened or taken up again
CUT = re.compile(r"Lost websocket connection, \d+|Failed to repull session Disconnected|Could not open websocket")
COMING = 120  # seconds for what must come, on a busy machine

CUTTABLE = """(() => {
  const open = [], Real = window.WebSocket
  window.WebSocket = class extends Real { constructor(...given) { super(...given); open.push(this) } }
  window.cutSockets = () => { for (const socket of open.splice(0)) socket.close() }
})()"""


class Broken(Exception):
    """What must hold and does not."""


def expect(holds, what):
    if not holds:
        raise Broken(what)


def waited(tab, condition, what):
    deadline = time.monotonic() + COMING
    while True:
        try:
            if condition():
                return
        except Error:
            pass  # under way to another page
        expect(time.monotonic() < deadline, f"waited in vain for {what}: {said(tab)}")
        tab.wait_for_timeout(100)


def said(tab):
    """What the page says of itself."""
    try:
        return tab.locator("#hidviz-status").get_attribute("data-state")
    except Error as error:
        return str(error)


def finite(value):
    if isinstance(value, dict):
        return all(finite(each) for each in value.values())
    if isinstance(value, list):
        return all(finite(each) for each in value)
    return not isinstance(value, float) or math.isfinite(value)


def wrong(kind, text):
    """Whether this line of the browser's console tells of a fault."""
    return kind == "error" and not CUT.search(text)


def named(tab, text):
    """The button of this text, whatever language the page has been given."""
    texts = "|".join(re.escape(translations(language).gettext(text)) for language in LANGUAGES)
    return tab.get_by_role("button", name=re.compile(f"^({texts})$"))


def connected(tab):
    """The page has its session, if need be after its own offer to reload."""

    def back():
        reload = named(tab, "Reload")
        if reload.count() and reload.first.is_visible():
            reload.first.click()
        return tab.locator("#hidviz-status").count() and state(tab)["ready"]

    waited(tab, back, "the connection")


def check(tab, faults, server, folder):
    """Raise Broken if one of the invariants does not hold."""
    for _ in range(2):  # a sentence about a term, then the sheet below it
        tab.keyboard.press("Escape")
    connected(tab)
    log = FOREIGN.sub("", server.log)
    said = "a traceback in the server's log:\n" + log[-3000:] if "Traceback" in log else ""
    expect(not faults and not said, "; ".join([*faults[:5], *([said] if said else [])]))
    expect(finite(state(tab)), f"a number that is not finite: {state(tab)}")
    runs(tab)
    exports(tab, folder)


def fronted(tab):
    """The first tab comes to the front, below a sheet too that was asked for last and comes late."""
    tab.keyboard.press("Escape")
    tab.get_by_role("tab").first.click(timeout=2_000)
    return True


def runs(tab):
    """Run goes on, or says why it cannot: it has ended, or the sentence beside it tells of a problem."""
    waited(tab, lambda: fronted(tab), "the first tab")
    paused(tab)
    button = named(tab, "Run")

    def ready():
        return bool(button.count()) and button.first.is_enabled()

    def excused():
        now = state(tab)
        return now.get("state", "learning") != "learning" or now["error"]

    waited(tab, lambda: ready() or excused(), "Run to be pressed")  # a change of language opens the page anew
    before = state(tab)
    if not ready():
        return
    button.first.click(timeout=20_000)
    waited(
        tab,
        lambda: state(tab)["step"] != before["step"] or state(tab).get("state") != "learning" or state(tab)["error"],
        "a step after Run",
    )
    paused(tab)


def paused(tab):
    """Press Pause where there is something to pause, and wait until it rests: it may also end by itself meanwhile."""
    pause = named(tab, "Pause")

    def rests():
        if state(tab)["running"] and pause.count():
            pause.first.click(timeout=5_000)
        return not state(tab)["running"]

    waited(tab, rests, "a pause")


def exports(tab, folder):
    """The exported run opens again, which checks that its arrays are those of its knobs."""
    button = named(tab, "Export")
    if not button.count() or not button.first.is_visible() or not button.first.is_enabled():
        return
    with tab.expect_download(timeout=1000 * COMING) as download:
        button.first.click(timeout=20_000)
    path = folder / "run.zip"
    download.value.save_as(path)
    bundle = load_bundle(path)
    shown = state(tab)
    expect(bundle.experiment.seed == shown["seed"], f"seed {shown['seed']} is shown, {bundle.experiment.seed} exported")


def about(error, received):
    """Of the messages received, the newest last, what stands around the name of a model that an error tells of."""
    for name in re.findall(r"\bp\d+\b", error):
        for number, message in enumerate(received):
            if isinstance(message, str) and '"PULL-DOC-REPLY"' in message:
                yield f"{number} of {len(received)}: a document"
            for found in re.finditer(f'"{name}"', message) if isinstance(message, str) else ():
                yield f"{number} of {len(received)}: … {message[max(0, found.start() - 300) : found.end() + 300]} …"


def fuzz(seed, n_events, *, every=EVERY, say=print):
    """Play the events of a seed; True if every invariant held."""
    faults, done, received = [], [], deque(maxlen=KEPT)
    server = Server("--unused-session-lifetime", "120000")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        chromium = launched(playwright)
        tab = chromium.new_context(accept_downloads=True).new_page()
        tab.set_default_timeout(5_000)
        tab.add_init_script(CUTTABLE)
        tab.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        tab.on("websocket", lambda line: line.on("framereceived", lambda message: received.append(message)))
        tab.on("console", lambda said: faults.append(f"console: {said.text}") if wrong(said.type, said.text) else None)
        tab.on("request", lambda seen: None if seen.url.startswith(OURS) else faults.append(f"outside: {seen.url}"))
        tab.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        try:
            tab.goto(server.url, timeout=1000 * COMING)
            connected(tab)
            for number, event in enumerate(drawn(seed, n_events), 1):
                done.append([number, *event, play(tab, server.url, event)])
                if number % every == 0 or number == n_events:
                    check(tab, faults, server, Path(folder))
                    say(f"seed {seed}: {number} events, all well")
        except (Broken, Error, ValueError) as error:
            say(f"seed {seed}: after event {len(done)}: {error}")
            for each in done[-every:]:
                say("  " + json.dumps(each)[:200])
            for text in about(str(error), received):
                say("  received: " + text)
            picture = Path(tempfile.gettempdir()) / f"hidviz-fuzz-{seed}.png"
            with contextlib.suppress(Error):
                tab.screenshot(path=picture)
                say(f"  how it looks: {picture}")
            return False
        finally:
            chromium.close()
            server.stop()
    return True


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("seed", type=int)
    parser.add_argument("events", type=int)
    parser.add_argument("--every", type=int, default=EVERY, help="check after so many events (default: %(default)s)")
    given = parser.parse_args(words)
    return 0 if fuzz(given.seed, given.events, every=given.every) else 1


if __name__ == "__main__":
    sys.exit(main())
