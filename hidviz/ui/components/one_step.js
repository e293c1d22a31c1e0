// The phases of one learning step, each with the numbers of one coupling.

// A text in which X_{a,b} stands for a letter with a place below it.
const written = (text) => text.split(/_\{([^}]*)\}/).map((part, k) => k % 2 ? make("sub", {}, part) : part)

export function render({ model }) {
  const title = make("h3"), list = make("ol")
  const hint = make("p", {}, _("Another coupling: choose its row in Inspect, or another hidden unit in the drawing."))
  const root = make("section", { class: "step", "aria-label": _("One step in numbers") }, title, list, hint)
  follow(model, ["title"], () => title.replaceChildren(...written(model.title)))
  follow(model, ["phases"], () => {
    list.replaceChildren(...model.phases.map(([name, says, lit], k) => {
      const item = make("li", { style: `--place: ${k}` }, make("b", {}, name), make("span", {}, ...written(says)))
      item.classList.toggle("lit", lit)
      return item
    }))
  })
  return themed(model, root)
}
