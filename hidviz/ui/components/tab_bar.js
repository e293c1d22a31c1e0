// The row of tabs, by the rules of the tab pattern: one stop for the Tab key, arrows to move, Home and End.

export function render({ model }) {
  const tabs = model.titles.map((title, k) => button({ role: "tab" }, () => { model.active = k }, title))
  const bar = make("div", { role: "tablist", "aria-label": "Views" }, ...tabs)
  bar.addEventListener("keydown", (event) => {
    const last = tabs.length - 1
    const next = { ArrowRight: model.active + 1, ArrowLeft: model.active - 1, Home: 0, End: last }[event.key]
    if (next === undefined || next < 0 || next > last) { return }
    event.preventDefault()
    model.active = next
    tabs[next].focus()
  })
  follow(model, ["active"], () => tabs.forEach((tab, k) =>
    set(tab, { "aria-selected": k === model.active, tabindex: k === model.active ? 0 : -1 })))
  return themed(model, bar)
}
