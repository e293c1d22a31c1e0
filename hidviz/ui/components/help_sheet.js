// A sheet over the page; Esc or its button puts it away.

export function render({ model }) {
  const text = make("div")
  text.innerHTML = model.html // the page's own words, and nobody else's
  const sheet = make("dialog", { "aria-label": _("Help") }, text, button({ autofocus: "" }, () => sheet.close(), _("Close")))
  sheet.addEventListener("close", () => { model.open = false })
  sheet.addEventListener("click", (event) => { if (event.target === sheet) { sheet.close() } })
  model.on("open", () => { model.open === sheet.open || (model.open ? sheet.showModal() : sheet.close()) })
  return themed(model, sheet)
}
