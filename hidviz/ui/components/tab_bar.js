// The row of tabs, by the rules of the tab pattern: one stop for the Tab key, arrows to move, Home and End.

export function render({ model }) {
  const bar = document.createElement("div")
  bar.setAttribute("role", "tablist")
  bar.setAttribute("aria-label", "Views")
  const tabs = model.titles.map((title, k) => {
    const tab = document.createElement("button")
    tab.type = "button"
    tab.setAttribute("role", "tab")
    tab.textContent = title
    tab.addEventListener("click", () => { model.active = k })
    bar.append(tab)
    return tab
  })
  const show = () => tabs.forEach((tab, k) => {
    tab.setAttribute("aria-selected", String(k === model.active))
    tab.tabIndex = k === model.active ? 0 : -1
  })
  bar.addEventListener("keydown", (event) => {
    const last = tabs.length - 1
    const next = { ArrowRight: model.active + 1, ArrowLeft: model.active - 1, Home: 0, End: last }[event.key]
    if (next === undefined || next < 0 || next > last) { return }
    event.preventDefault()
    model.active = next
    tabs[next].focus()
  })
  const theme = () => bar.classList.toggle("dark", model.dark)
  model.on("active", show)
  model.on("dark", theme)
  show()
  theme()
  return bar
}
