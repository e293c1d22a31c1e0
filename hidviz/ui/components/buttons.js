// A row of buttons whose name is what they show and whose tooltip is what they do.

export function render({ model }) {
  const root = make("div", { class: "buttons" })
  const built = new Map()

  const build = () => {
    root.style.setProperty("--columns", model.columns)
    root.classList.toggle("inline", model.columns === 0)
    root.classList.toggle("compact", model.compact)
    built.clear()
    for (const { name, icon, help, primary } of model.items) {
      const press = () => model.send_msg({ press: name })
      const label = [pictured(icon), make("span", {}, name)]
      built.set(name, button({ title: help, "data-primary": Boolean(primary) }, press, ...label))
    }
    root.replaceChildren(...built.values())
    update()
  }
  const update = () => {
    for (const [name, item] of built) {
      const disabled = model.disabled.includes(name)
      if (item.disabled !== disabled) { item.disabled = disabled }
      item.classList.toggle("primary", item.dataset.primary === "true" && !disabled)
    }
  }
  model.on("disabled", update)
  follow(model, ["items"], build)
  return themed(model, root)
}
