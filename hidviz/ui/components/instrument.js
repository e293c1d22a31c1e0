// The page's nerve: the status line for people, screen readers and tests, acknowledgement of frames, and the keyboard.

const NARROW = "(max-width: 899px)"  // where the knobs would cover the picture

export function render({ model }) {
  const status = make("div", { id: "hidviz-status", role: "status" })
  const narrow = window.matchMedia(NARROW)
  const tell = () => { if (narrow.matches) { model.send_msg({ narrow: true }) } }
  // The server listens once it says that it is ready, with the first frame after it has heard that the page is there.
  // What it does before is lost, since the document that the browser has got knows nothing of it: so it is asked then.
  const listens = () => JSON.parse(model.state || "{}").ready === true
  let told = listens(), waiting = false
  const early = [] // keys
  const acknowledge = () => {
    const frame = model.frame
    if (!told && listens()) {
      told = true
      tell()
      if (waiting) { report() }
      for (const key of early.splice(0)) { model.send_msg({ key }) }
    }
    if (!document.hidden) { requestAnimationFrame(() => model.send_msg({ drawn: frame })) }
  }
  // A tab that nobody sees answers for its last frame as soon as somebody does: until then it is sent next to nothing.
  const seen = () => { if (!document.hidden) { model.send_msg({ drawn: model.frame }) } }
  // Only a page that came over https, or from this machine, may write to the clipboard: the answer says if it did.
  const share = (query) => {
    const link = location.origin + location.pathname + query
    const answer = (copied) => model.send_msg({ shared: link, copied })
    if (navigator.clipboard) {
      navigator.clipboard.writeText(link).then(() => answer(true), () => answer(false))
    } else {
      answer(false)
    }
  }
  model.on("msg:custom", ({ share: query }) => { if (query !== undefined) { share(query) } })
  // Addresses cross each other on the way: one from before the browser's last journey says nothing of where it is now,
  // the first one after it is where it arrives, and any other is a step ahead.
  let journeys = model.address[1], arrived = journeys
  const go = () => {
    const [query, heard] = model.address
    if (heard < journeys) { return }
    const way = arrived < heard ? "replaceState" : "pushState"
    arrived = heard
    if (query !== location.search) { history[way]({}, "", location.pathname + query) }
  }
  const report = () => {
    waiting = !told
    if (told) { model.send_msg({ address: [location.search, journeys] }) }
  }
  const setOut = () => {
    journeys += 1
    report()
  }
  // Where the browser goes while there is no line it says when this is drawn again, with the line.
  const page = () => window.hidvizPage ?? {}
  const travel = () => {
    if (page().lost && !page().silent) { page().strayed = true } else { setOut() }
  }
  if (page().strayed) {
    page().strayed = false
    setOut()
  }
  model.on("address", go)
  window.addEventListener("popstate", travel)
  model.on("frame", acknowledge)
  follow(model, ["sentence"], () => say(status, model.sentence))
  follow(model, ["state"], () => { status.dataset.state = model.state })

  const typing = (event) => event.composedPath().some((node) =>
    node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName) ||
    node.getAttribute?.("role") === "combobox" || node.getAttribute?.("role") === "listbox")
  const press = (event) => event.composedPath().some((node) => ["BUTTON", "A"].includes(node.tagName))
  const listen = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented || typing(event)) { return }
    if (event.key === " " && press(event)) { return }
    if (!model.keys.includes(event.key)) { return }
    event.preventDefault()
    if (told) { model.send_msg({ key: event.key }) } else { early.push(event.key) }
  }
  window.addEventListener("keydown", listen)
  document.addEventListener("visibilitychange", seen)
  narrow.addEventListener("change", tell)
  model.on("remove", () => {
    window.removeEventListener("keydown", listen)
    document.removeEventListener("visibilitychange", seen)
    narrow.removeEventListener("change", tell)
    window.removeEventListener("popstate", travel)
  })
  return themed(model, status)
}
