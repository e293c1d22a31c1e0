// The page's nerve: the status line for people, screen readers and tests, acknowledgement of frames, and the keyboard.

export function render({ model }) {
  const status = make("div", { id: "hidviz-status", role: "status" })
  const acknowledge = () => {
    const frame = model.frame
    const answer = () => model.send_msg({ drawn: frame })
    document.hidden ? answer() : requestAnimationFrame(answer)
  }
  const copy = () => { if (model.copied) { navigator.clipboard?.writeText(location.origin + model.copied).catch(() => {}) } }
  model.on("copied", copy)
  model.on("frame", acknowledge)
  follow(model, ["sentence"], () => say(status, model.sentence))
  follow(model, ["state"], () => { status.dataset.state = model.state })

  const typing = (event) => event.composedPath().some((node) =>
    node.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(node.tagName) ||
    node.getAttribute?.("role") === "combobox" || node.getAttribute?.("role") === "listbox")
  const press = (event) => event.composedPath().some((node) => ["BUTTON", "A"].includes(node.tagName))
  const listen = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || typing(event)) { return }
    if (event.key === " " && press(event)) { return }
    if (!model.keys.includes(event.key)) { return }
    event.preventDefault()
    model.send_msg({ key: event.key })
  }
  window.addEventListener("keydown", listen)
  model.on("remove", () => window.removeEventListener("keydown", listen))
  return themed(model, status)
}
