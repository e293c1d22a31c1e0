// A sheet over the page; Esc or its button puts it away.

export function render({ model }) {
  const sheet = document.createElement("dialog")
  sheet.setAttribute("aria-label", "Help")
  const close = document.createElement("button")
  close.type = "button"
  close.textContent = "Close"
  close.addEventListener("click", () => sheet.close())
  const text = document.createElement("div")
  text.innerHTML = model.html
  sheet.append(text, close)
  sheet.addEventListener("close", () => { model.open = false })
  sheet.addEventListener("click", (event) => { if (event.target === sheet) { sheet.close() } })
  const show = () => { model.open === sheet.open || (model.open ? sheet.showModal() : sheet.close()) }
  const theme = () => sheet.classList.toggle("dark", model.dark)
  model.on("open", show)
  model.on("dark", theme)
  theme()
  return sheet
}
