// The language of the page: its own name in a menu, a globe alone where there is little room.

export function render({ model }) {
  const menu = make("select", { "aria-label": _("Language"), title: _("Language") },
    ...model.languages.map(([value, name]) => make("option", { value, lang: value }, name)))
  menu.value = model.chosen
  menu.addEventListener("change", () => model.send_msg({ choose: menu.value }))
  model.on("msg:custom", ({ go }) => { if (go !== undefined) { location.assign(location.pathname + go) } })
  return themed(model, make("label", {}, pictured("globe"), menu))
}
