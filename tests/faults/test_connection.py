"""A line that is cut, held silent, or whose server dies: the run goes on where it was, or there is a way back to it."""

import pytest

from tests.faults.proxy import Line
from tests.faults.servers import Serving
from tests.pages import LATE, enter, press, rest_at, state, until, wait_for

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUERY = "?nv=8&nh=2&T=500&out=100&opt=gradient&rate=0.001"  # learns on and on


@pytest.fixture(scope="module")
def line():
    """A line to a server."""
    passing = Line()
    serving = Serving("--allow-origin", f"localhost:{passing.port}")
    passing.target = serving.port
    yield passing
    serving.stop()
    passing.close()


@pytest.fixture
def visit(browser):
    """A function that opens the page through a line; a page error, or a request to elsewhere, fails at the end."""
    contexts, faults = [], []

    def visiting(port, query=QUERY, before=""):
        context = browser.new_context(viewport={"width": 1400, "height": 900})
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(60_000)
        tab.add_init_script(before)
        tab.on("pageerror", lambda error: faults.append(f"page error: {error}"))
        ours = ("http://localhost:", "ws://localhost:", "data:", "blob:")
        tab.on("request", lambda seen: None if seen.url.startswith(ours) else faults.append(f"outside: {seen.url}"))
        tab.goto(f"http://localhost:{port}/hidviz{query}")
        tab.locator("#hidviz-status").wait_for(state="attached", timeout=120_000)
        wait_for(tab, lambda now: now["ready"], "the connection", 120)
        return tab

    yield visiting
    for context in contexts:
        context.close()
    assert faults == []


def alert(tab):
    return tab.locator("#hidviz-connection")


TAKEN_UP = """() => {
    const { socket } = window.hidvizPage.connection
    return socket?.readyState === WebSocket.OPEN && !socket.before
}"""


def cut_and_mend(tab, line):
    """Cut the line until the page says so, and wait until it is taken up again."""
    tab.evaluate("window.hidvizPage.connection.socket.before = true")
    line.cut()
    alert(tab).wait_for(timeout=15_000)
    line.mend()
    until(tab, lambda: tab.evaluate(TAKEN_UP) and alert(tab).count() == 0, "the line to be taken up again", 30)


@pytest.mark.parametrize(
    ("running", "seconds", "silent"),
    [
        *((running, *cut) for running in (True, False) for cut in ((0, False), (5, False), (25, False), (25, True))),
        (True, 90, False),  # a run outlives two minutes
    ],
)
def test_a_line_that_was_cut_is_taken_up_again_where_it_was(running, seconds, silent, visit, line):
    tab = visit(line.port)
    before = rest_at(tab, 3)
    if running:
        press(tab, "Run")
        before = wait_for(tab, lambda now: now["running"] and now["step"] > 5, "some steps")
    tab.evaluate("window.hidvizPage.connection.socket.before = true")
    line.cut(silent=silent)
    if seconds:
        alert(tab).wait_for(timeout=15_000)
        said = "does not answer yet" if silent else "connection to the server is lost"
        assert said in alert(tab).inner_text()
        tab.wait_for_timeout(1000 * seconds)
    line.mend()
    until(tab, lambda: tab.evaluate(TAKEN_UP) and alert(tab).count() == 0, "the line to be taken up again", 30)
    if running:
        wait_for(tab, lambda now: now["running"] and now["step"] > before["step"] + 5, "the run to have gone on")
        press(tab, "Pause")
    else:
        assert {**state(tab), "ready": True} == before | {"ready": True}
    there = wait_for(tab, lambda now: not now["running"], "a pause")["step"]
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == there + 1, "one more step")
    assert alert(tab).count() == 0


def test_a_line_that_falls_silent_is_noticed_though_the_clock_is_set_back_meanwhile(visit, line):
    tab = visit(line.port, before="const told = Date.now; Date.now = () => told() - (window.back ?? 0)")
    rest_at(tab, 3)
    tab.evaluate("window.back = 3_600_000")
    line.cut(silent=True)
    alert(tab).wait_for(timeout=30_000)
    line.mend()
    until(tab, lambda: alert(tab).count() == 0, "the line to be taken up again", 30)
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 4, "one more step")


def test_a_server_that_is_slow_to_answer_is_waited_for_and_not_asked_for_everything_again_and_again(visit, line):
    tab = visit(line.port, before=LATE)
    rest_at(tab, 3)
    tab.evaluate("window.hidvizPage.connection.socket.before = true; window.late = 12_000")
    alert(tab).wait_for(timeout=30_000)
    until(tab, lambda: alert(tab).count() == 0, "an answer", 30)
    assert tab.evaluate("window.hidvizPage.connection.socket.before"), "the line is the one that was"
    line.cut()
    line.mend()
    until(tab, lambda: tab.evaluate(TAKEN_UP) and alert(tab).count() == 0, "the line to be taken up again", 60)
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 4, "one more step")


def test_where_the_browser_goes_while_there_is_no_line_the_page_goes_once_there_is_one(visit, line):
    tab = visit(line.port)
    enter(tab, "Seed", "8")
    wait_for(tab, lambda now: now["seed"] == 8 and not now["awaited"], "seed 8")
    until(tab, lambda: "seed=8" in tab.url, "the seed in the address")
    tab.evaluate("window.hidvizPage.connection.socket.before = true")
    line.cut()
    alert(tab).wait_for(timeout=15_000)
    tab.go_back()
    tab.wait_for_timeout(500)
    line.mend()
    until(tab, lambda: tab.evaluate(TAKEN_UP) and alert(tab).count() == 0, "the line to be taken up again", 30)
    wait_for(tab, lambda now: now["seed"] == 1 and not now["awaited"], "seed 1")
    tab.go_forward()
    wait_for(tab, lambda now: now["seed"] == 8 and not now["awaited"], "seed 8 again")


def test_a_server_that_was_killed_and_started_again_leaves_a_way_back(visit):
    first = Serving()
    tab = visit(first.port)
    before = rest_at(tab, 4)
    first.kill()
    alert(tab).wait_for(timeout=15_000)
    alert(tab).get_by_role("button", name="Reload").click()
    until(tab, lambda: "does not answer yet" in alert(tab).inner_text(), "a sentence")
    second = Serving(port=first.port)
    try:
        until(tab, lambda: "has ended" in alert(tab).inner_text(), "the way back", 30)
        assert "at step 4" in alert(tab).inner_text()
        said = []
        tab.on("console", lambda heard: said.append(heard.text) if heard.type == "error" else None)
        alert(tab).get_by_role("button", name="Reload").click()
        tab.wait_for_function("!document.getElementById('hidviz-connection')")
        tab.locator("#hidviz-status").wait_for(state="attached", timeout=60_000)
        again = wait_for(tab, lambda now: now["step"] == 4 and not now["running"], "step 4", 60)
        assert said == [], "the server was asked for what it has"
        assert again["cost"] == pytest.approx(before["cost"], abs=1e-12)
    finally:
        second.stop()


LOSING = """(() => {
    let left = %d
    const Real = window.WebSocket
    window.WebSocket = class extends Real {
        send(message) {
            if (left && String(message).includes("document_ready")) {
                left -= 1
                this.close()
            } else { super.send(message) }
        }
    }
})()"""


@pytest.mark.parametrize("n_lost", [1, 2])
def test_a_line_that_is_lost_while_the_page_says_that_it_is_there_leaves_no_dead_page(n_lost, visit, line):
    tab = visit(line.port, before=LOSING % n_lost)
    assert rest_at(tab, 3)["step"] == 3


PATCHED_WHILE_PULLING = """async () => {
    const { connection } = window.hidvizPage, { session } = connection
    const patch = (number) => ({ msgtype: () => "PATCH-DOC", reqid: () => "of this test", msgid: () => `p${number}` })
    const before = patch(1), after = patch(1e12), handled = [], { handle } = session
    const meant = (message) => message === before || message === after
    session.handle = (message) => meant(message) ? handled.push(message.msgid()) : handle.call(session, message)
    const pulled = new Promise((done, failed) => connection._repull_session_doc(done, failed))
    for (const each of [before, after]) { connection._steady_state_handler(each) }
    const meanwhile = handled.length
    await pulled
    await new Promise((done) => setTimeout(done))
    connection._steady_state_handler(before)
    session.handle = handle
    return [meanwhile, handled]
}"""


def test_what_changed_before_the_document_that_is_asked_for_is_in_it_and_what_did_after_comes_after_it(visit, line):
    tab = visit(line.port)
    assert tab.evaluate(PATCHED_WHILE_PULLING) == [0, ["p1000000000000"]]
    assert rest_at(tab, 2)["step"] == 2


TORN = """async () => {
    const { connection } = window.hidvizPage, { session } = connection
    const patch = { msgtype: () => "PATCH-DOC", reqid: () => "of this test", msgid: () => "p1000000000000" }
    const handled = [], { handle } = session
    session.handle = (message) => message === patch ? handled.push(message) : handle.call(session, message)
    connection._pull_doc_json = () => Promise.reject(new Error("the line is gone again"))
    const ended = new Promise((done) => connection._repull_session_doc(done, done))
    connection._steady_state_handler(patch)
    await ended
    await new Promise((done) => setTimeout(done))
    delete connection._pull_doc_json
    session.handle = handle
    return handled.length
}"""


def test_what_came_before_a_document_that_never_came_is_not_applied_to_the_old_one(visit, line):
    assert visit(line.port).evaluate(TORN) == 0


# From `window.hold` on the next answer with the document is held back, and what comes after it is not.
OVERTAKING = """(() => {
    const { set } = Object.getOwnPropertyDescriptor(WebSocket.prototype, "onmessage")
    Object.defineProperty(WebSocket.prototype, "onmessage", { set(heard) {
        let holding = false
        set.call(this, (event) => {
            const header = typeof event.data === "string" && event.data.startsWith('{"msgid"') ? event.data : ""
            if (header) { holding = window.hold && header.includes("PULL-DOC-REPLY") }
            if (holding) {
                (window.held ??= []).push(() => heard.call(this, event))
            } else {
                if (window.held && header.includes("PATCH-DOC")) { window.overtaken = true }
                heard.call(this, event)
            }
        })
    } })
})()"""


def test_an_update_that_overtakes_the_document_that_is_asked_for_again_is_not_lost(visit, line):
    tab = visit(line.port, before=OVERTAKING)
    rest_at(tab, 2)
    tab.evaluate("window.hold = true")
    tab.evaluate("window.hidvizPage.connection.socket.before = true")
    line.cut()
    alert(tab).wait_for(timeout=15_000)
    line.mend()
    tab.wait_for_function("window.held?.length >= 3")
    tab.keyboard.press("s")
    tab.wait_for_function("window.overtaken")
    tab.wait_for_timeout(500)  # the step is made, and what it changes is here
    tab.evaluate("window.hold = false; window.held.forEach((event) => event())")
    until(tab, lambda: tab.evaluate(TAKEN_UP) and alert(tab).count() == 0, "the line to be taken up again", 30)
    assert wait_for(tab, lambda now: not now["running"], "rest")["step"] == 3


def test_what_is_done_while_there_is_no_line_is_no_error(visit, line):
    tab, said = visit(line.port), []
    tab.on("console", lambda heard: said.append(heard.text) if heard.type == "error" else None)
    tab.evaluate("""() => {
        const { connection } = window.hidvizPage, { socket } = connection
        const early = { readyState: WebSocket.CONNECTING, send() { throw new Error("still connecting") } }
        for (const none of [null, early]) {
            connection.socket = none
            connection.send({ send(socket) { socket.send("") } })
        }
        connection.socket = socket
    }""")
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 1, "a step")
    assert said == []


def test_a_menu_that_was_open_when_the_line_was_cut_does_not_lie_over_the_page(visit, line):
    tab = visit(line.port)
    rest_at(tab, 2)
    tab.get_by_role("combobox", name="Preset").click()
    tab.get_by_role("listbox").wait_for()
    cut_and_mend(tab, line)
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 3, "one more step")
    tab.get_by_role("combobox", name="Preset").click()
    tab.get_by_role("listbox").wait_for()


CHANGED_AT_ONCE = """(() => {
    const Real = window.WebSocket
    window.early = []
    window.WebSocket = class extends Real {
        constructor(...given) {
            super(...given)
            this.addEventListener("message", () => { this.greeted = true })
            this.addEventListener("open", () => setTimeout(() => {
                const [root] = window.hidvizPage?.connection?.session?.document.roots() ?? []
                if (root && !this.greeted) { root.tags = ["before the greeting"] }
                window.changed = Boolean(root)
            }))
        }
        send(message) {
            if (!this.greeted) { window.early.push(String(message)) }
            super.send(message)
        }
    }
})()"""


def test_what_changes_before_the_server_has_greeted_is_not_sent(visit, line):
    tab = visit(line.port, before=CHANGED_AT_ONCE)
    rest_at(tab, 2)
    cut_and_mend(tab, line)
    assert tab.evaluate("[window.changed, window.early]") == [True, []]
    press(tab, "Step")
    wait_for(tab, lambda now: now["step"] == 3, "one more step")


CUT_ONCE = """(() => {
  const Real = window.WebSocket
  window.WebSocket = class extends Real {
    constructor(...given) {
      super(...given)
      if (!sessionStorage.cut) { this.addEventListener("message", () => { sessionStorage.cut = 1; this.close() }) }
    }
  }
})()"""


def test_a_page_whose_line_is_cut_before_it_is_there_offers_to_reload(browser, line):
    context = browser.new_context()
    try:
        tab = context.new_page()
        tab.add_init_script(CUT_ONCE)
        tab.goto(f"http://localhost:{line.port}/hidviz{QUERY}")
        says = tab.locator("#loader-says")
        until(tab, lambda: "was lost before the page was there" in says.inner_text(), "the sentence", 60)
        tab.get_by_role("button", name="Reload").click()
        wait_for(tab, lambda now: now["ready"], "the page", 120)
        says.wait_for(state="hidden", timeout=60_000)
        assert "nv=8" in tab.url
    finally:
        context.close()
