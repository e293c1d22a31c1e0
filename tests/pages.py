"""What tests of the page have in common: opening it, pressing, typing, and waiting for what must then be true."""

import json
import re
import shutil
import time
from contextlib import contextmanager

from hidviz.experiments.bundle import load_bundle

OURS = ("http://localhost:", "ws://localhost:", "data:", "blob:")
FLAGS = [
    f"--{flag}"
    for flag in (
        "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
        "disable-component-update", "disable-sync",
    )
]  # fmt: skip
CONNECTING = 120  # seconds for a page to open on a busy machine
NARROW = 900  # pixels of width below which a page opens without its knobs

KNOWN = "Bokeh.documents[0]._all_models.size"  # how many models the browser has

# A function of JavaScript: every element under a root, those inside components too.
ALL = """const all = (root) => [...root.querySelectorAll("*")].flatMap((node) =>
    [node, ...(node.shadowRoot ? all(node.shadowRoot) : [])])"""

# What the server says comes late, by the milliseconds of `window.late`.
LATE = """
const { set } = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage")
Object.defineProperty(WebSocket.prototype, "onmessage", { set(heard) {
    const hear = (event) => { if (this.onmessage && this.readyState === WebSocket.OPEN) { heard.call(this, event) } }
    set.call(this, heard && ((event) => setTimeout(hear, window.late ?? 0, event)))
} })
"""


def launched(playwright):
    """A headless Chromium that asks for nothing by itself: the one on the PATH, else Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome")
    path = next((path for name in names if (path := shutil.which(name))), None)
    return playwright.chromium.launch(executable_path=path, args=FLAGS)


@contextmanager
def visiting(browser, server):
    """A function that opens the page in a fresh browser profile; any page error or outside request fails at the end.

    The function takes a query, a size, another server, a script that runs before the page's own, and a list that takes
    in what is said in the console.
    """
    faults, contexts = [], []

    def opened(query="", *, width=1400, height=900, at=None, before="", heard=None):
        context = browser.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        tab.on("console", lambda said: faults.append(f"console: {said.text}") if said.type == "error" else None)
        if heard is not None:
            tab.on("console", lambda said: heard.append((said.type, said.text)))
        tab.add_init_script(before)
        tab.on("request", lambda seen: None if seen.url.startswith(OURS) else faults.append(f"outside: {seen.url}"))
        tab.goto((at or server).url + query, timeout=1000 * CONNECTING)
        tab.locator("#hidviz-status").wait_for(state="attached", timeout=1000 * CONNECTING)
        wait_for(tab, lambda now: now["ready"], "the connection", CONNECTING)
        if width < NARROW:  # its knobs are put away as soon as it answers
            opened_drawer = tab.get_by_role("button", name="Close drawer", exact=True)
            until(tab, lambda: opened_drawer.count() == 0, "the knobs to be put away")
        return tab

    try:
        yield opened
    finally:
        for context in contexts:
            context.close()
    assert not faults, faults


def state(tab):
    """What the page says of itself in numbers."""
    return json.loads(tab.locator("#hidviz-status").get_attribute("data-state"))


def wait_for(tab, condition, what, seconds=90):
    """The state of the page once it meets a condition."""
    deadline = time.monotonic() + seconds
    while not condition(now := state(tab)):
        assert time.monotonic() < deadline, f"waited in vain for {what}: {now}"
        tab.wait_for_timeout(30)
    return now


def until(tab, condition, what, seconds=90):
    """Wait for anything that can be asked."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        tab.wait_for_timeout(30)


def press(tab, name):
    tab.get_by_role("button", name=name, exact=True).click()


def enter(tab, label, text):
    """Type into a field in the place of what it holds."""
    field = tab.get_by_label(label, exact=True).first
    field.click()
    field.press("Control+a")
    field.type(text)
    field.press("Enter")


def choose(tab, label, option):
    """Take an option of a menu; what a knob does is part of its name, after its label."""
    menu = tab.get_by_role("combobox", name=re.compile(rf"^{re.escape(label)}")).first
    if menu.evaluate("(menu) => menu.tagName") == "SELECT":
        titled = re.compile(rf"^{re.escape(option)}( · |$)")  # some options say more behind their title
        menu.select_option(menu.locator("option").filter(has_text=titled).first.get_attribute("value"))
        return
    menu.click()
    offered = tab.locator("[role=listbox], [role=menu]")
    offered.get_by_text(re.compile(rf"^{re.escape(option)}(\W|$)")).first.click()  # or the first that begins so
    offered.first.wait_for(state="detached")  # until then it holds the focus


def show_knobs(tab):
    """Let the knobs be seen where a narrow page has put them away."""
    away = tab.get_by_role("button", name="Open drawer", exact=True)
    if away.count():
        away.click()


def front(tab, title):
    """Bring a tab of the page to the front."""
    tab.get_by_role("tab", name=title, exact=True).click()


def settled(tab, place, *arguments):
    """Where something is, once it has stopped moving."""
    before = None
    while (at := tab.evaluate(place, *arguments)) != before:
        before = at
        tab.wait_for_timeout(200)
    return at


def rest_at(tab, step):
    """Rewind, make exactly this many steps, and rest there."""
    press(tab, "Rewind")
    wait_for(tab, lambda now: now["step"] == 0 and not now["running"], "step 0")
    for _ in range(step):
        press(tab, "Step")
    return wait_for(tab, lambda now: now["step"] == step and not now["running"], f"step {step}")


def exported(tab, folder):
    """The bundle that Export hands out: its path, and what it holds."""
    with tab.expect_download(timeout=90_000) as download:
        press(tab, "Export")
    path = folder / "run.zip"
    download.value.save_as(path)
    return path, load_bundle(path)
