// The connection to the server: taken up again where it was when it is lost, and when the run there is gone, a way back.
//
// Bokeh tries five times at growing intervals, never notices a line that has gone silent, reads the first message of a
// new connection as the rest of a torn one, gives up when an update overtakes the greeting, sends before the server has
// greeted, forgets the arrays of the document that it asks for again, applies to the old one what changes meanwhile and
// not to the new one, says only once that the page is there, which is lost with the line, and shows the beginning of a
// new session in the place of one that has ended. All of that is private to Bokeh, and amended where it is found.

const PERIOD = 2_000 // milliseconds between looks
const SILENT = 7_000 // without an answer, beyond what the last one took, until the page says so; and until Reload does
const DEAD = 3 // times as long until the line is taken up anew, which costs a busy server more than waiting does
const SLOWEST = 30_000 // milliseconds; an answer that took longer counts as this
const AGAIN = 1_500 // between attempts
const MAX_STEP = 100_000 // that a link may ask for

const page = window.hidvizPage ??=
  { born: "", heard: 0, asked: 0, lost: 0, took: 0, silent: false, strayed: false, gone: false, amended: false }

const status = () => {
  const found = (root) => root.querySelector("#hidviz-status") ??
    [...root.querySelectorAll("*")].map((each) => each.shadowRoot && found(each.shadowRoot)).find(Boolean)
  try { return JSON.parse(found(document).dataset.state) } catch { return {} }
}

// A line over the page, which belongs to no model and so outlives them.
const bar = () => {
  const known = document.getElementById("hidviz-connection")
  if (known) { return known }
  const made = document.createElement("div")
  made.id = "hidviz-connection"
  made.setAttribute("role", "alert")
  Object.assign(made.style, {
    position: "fixed", inset: "0 0 auto 0", zIndex: 10_000, padding: "12px 24px", display: "flex", gap: "16px",
    alignItems: "center", justifyContent: "center", background: "#b00020", color: "#ffffff",
    font: "16px/1.4 system-ui, sans-serif",
  })
  const text = document.createElement("span")
  const reload = document.createElement("button")
  reload.type = "button"
  reload.textContent = _("Reload")
  Object.assign(reload.style, {
    font: "inherit", padding: "4px 16px", borderRadius: "6px", border: "1px solid #ffffff", background: "#ffffff",
    color: "#b00020", cursor: "pointer",
  })
  reload.addEventListener("click", () => reopen(text))
  made.append(text, reload)
  document.body.append(made)
  return made
}

const tell = (sentence) => {
  bar().firstChild.textContent = sentence
  for (const each of document.body.children) { each.inert = each !== bar() }
}

const lose = (sentence) => {
  page.lost = performance.now()
  tell(sentence)
}

const unsay = () => {
  page.lost = 0
  page.silent = false
  document.getElementById("hidviz-connection")?.remove()
  for (const each of document.body.children) { each.inert = false }
}

const link = () => {
  const { step } = status()
  const query = new URLSearchParams(location.search)
  if (step > 0 && step <= MAX_STEP) { query.set("step", step) }
  return `${location.pathname}?${query}`
}

// Only to a server that answers: else the browser's own page of errors would take the place of this one. It is asked for
// a script of the page, since for the page itself it would begin a session, or refuse.
const reopen = async (text) => {
  text.textContent = _("Asking the server …")
  try {
    const one = document.querySelector("script[src]")?.src ?? location.pathname
    await fetch(one, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(SILENT) })
  } catch {
    text.textContent = _("The server does not answer yet. This page tries again by itself.")
    return
  }
  location.assign(link())
}

const amend = (owner, name, change) => {
  const method = owner.prototype?.[name]
  if (typeof method !== "function") {
    console.info(`hidviz: this Bokeh has no connection.${name} to amend; the page goes on without.`)
    return
  }
  owner.prototype[name] = change(method)
}

const drop = (connection) => {
  const { socket } = connection
  if (socket) {
    socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null
    socket.close()
  }
  connection._on_close({ code: 4000, reason: "no answer" }, () => {})
}

const retry = (connection) => setTimeout(async () => {
  if (connection.closed_permanently || connection.socket) { return }
  page.asked = page.heard = performance.now()
  try {
    await connection.connect()
  } catch {
    return // its end has been announced to _schedule_reconnect, which tries again
  }
  unsay()
}, performance.now() - page.lost < 100 ? 0 : AGAIN)

const end = (connection) => {
  page.gone = true
  connection.closed_permanently = true
  connection.socket?.close(1000)
  const { step } = status()
  tell(`${_("The connection was lost, and the run on the server has ended.")} ${step > 0
    ? _("Reload opens it again from its link, at step {step}; flips and values set by hand are not in it.",
      { step: step.toLocaleString("en") })
    : _("Reload opens it again from its link.")}`)
}

// As Bokeh does it, but without sending the server what has just come from it, and with menus closed that were open when
// the line was lost: they would lie over the page and, without the focus, not hear of Escape.
const replace = (shown, replacement) => {
  const { config } = replacement
  for (const each of replacement._all_models?.values() ?? []) {
    if (each.dropdown_open) { each.setv({ dropdown_open: false }, { sync: false }) }
  }
  const roots = [...replacement.roots()]
  shown.clear({ sync: false })
  replacement.clear({ sync: false })
  shown.config = config
  for (const root of roots) { shown.add_root(root, { sync: false }) }
}

// The server numbers what it says. An update made before a document is in it, and one made after it is not, whichever of
// the two comes first. Where its numbers are none (BOKEH_SIMPLE_IDS=no), updates that come before the document are passed
// over, and later ones are applied.
const numberOf = (message) => Number(message.msgid().slice(1))

const pullAgain = async (connection, resolve, reject) => {
  const { Document } = window.Bokeh.require("document")
  const { DocumentReady } = window.Bokeh.require("core/bokeh_events")
  try {
    const { doc_json, buffers } = await connection._pull_doc_json()
    const shown = connection.session.document
    if (JSON.stringify(doc_json).includes(page.born)) {
      replace(shown, Document.from_json(doc_json, [], buffers))
      shown.event_manager.send_event(new DocumentReady()) // the first may have gone with the line
      resolve(connection.session)
    } else {
      end(connection)
      reject(new Error("The session has ended"))
    }
  } catch (error) {
    reject(error)
    if (connection.socket) { drop(connection) } // the line is there, and what came over it is of no use
  }
}

const improve = () => {
  const { ClientConnection } = window.Bokeh.require("client/connection")
  const { Message } = window.Bokeh.require("protocol/message")
  page.amended = true
  amend(ClientConnection, "connect", (connect) => function () {
    this._receiver = new this._receiver.constructor()
    this.greeted = false
    page.connection = this
    return connect.call(this)
  })
  amend(ClientConnection, "_on_message", (take) => function (event) {
    page.connection = this
    page.heard = performance.now()
    if (page.silent) { unsay() }
    take.call(this, event)
  })
  amend(ClientConnection, "_awaiting_ack_handler", (handle) => function (message, resolve, reject) {
    if (message.msgtype() !== "ACK") { return } // an update before it is in the document that is asked for then
    this.greeted = true
    handle.call(this, message, resolve, reject)
  })
  amend(ClientConnection, "send", (send) => function (message) {
    // Without a line, or before the server has greeted, nothing can be done, as the one over the page says.
    if (this.greeted !== false && this.socket?.readyState === WebSocket.OPEN) { send.call(this, message) }
  })
  amend(ClientConnection, "_close_bad_protocol", () => function () { drop(this) })
  amend(ClientConnection, "_repull_session_doc", () => async function (resolve, reject) {
    const early = this.early = [] // updates that come before the document
    this.asOf = Infinity
    await pullAgain(this, resolve, reject)
    this.early = null
    if (page.gone) { return }
    for (const message of early) {
      if (numberOf(message) > this.asOf) { this._steady_state_handler(message) }
    }
  })
  amend(ClientConnection, "_steady_state_handler", (handle) => function (message) {
    if (message.msgtype() === "PULL-DOC-REPLY") { this.asOf = numberOf(message) }
    const update = message.msgtype() === "PATCH-DOC"
    if (update && this.early) {
      this.early.push(message)
    } else if (!(update && numberOf(message) < this.asOf)) {
      handle.call(this, message)
    }
  })
  amend(ClientConnection, "_schedule_reconnect", () => function () {
    if (!this.session || page.gone) { return }
    if (!page.lost || page.silent) { // else it has been said, or what came of a press of Reload
      lose(_("The connection to the server is lost. This page is taking it up again …"))
    }
    page.silent = false // on a new line that stays over the page until the document has come
    retry(this)
  })
  setInterval(() => {
    const connection = page.connection
    if (!connection || page.gone || connection.closed_permanently) { return }
    const now = performance.now(), patience = SILENT + page.took
    const silence = connection.socket && page.asked > page.heard ? now - page.asked : 0
    if (silence > DEAD * patience) {
      page.took = Math.min(2 * page.took + SILENT, SLOWEST) // else a server that needs longer would never be done
      drop(connection)
    } else if (silence > patience && !page.lost) {
      lose(_("The server does not answer yet. This page tries again by itself."))
      page.silent = true
    } else if (connection.socket?.readyState === WebSocket.OPEN && page.asked <= page.heard) {
      page.asked = now
      const answered = () => { page.took = Math.min(performance.now() - now, SLOWEST) }
      connection.send_with_reply(Message.create("SERVER-INFO-REQ", {}, {})).then(answered, () => {})
    }
  }, PERIOD)
  window.addEventListener("pagehide", () => { if (!page.lost || page.silent) { page.leave?.() } })
}

export function render({ model }) {
  page.born = model.born
  page.leave = () => model.send_msg({ leave: true })
  try {
    if (!page.amended) { improve() }
  } catch (error) { console.info(`hidviz: a lost connection is left to Bokeh (${error}).`) }
  return document.createElement("span")
}
