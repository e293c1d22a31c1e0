// A switch with its label.

export function render({ model }) {
  const input = make("input", { type: "checkbox", role: "switch" })
  const text = make("span")
  input.addEventListener("change", () => { model.value = input.checked })
  follow(model, ["label"], () => say(text, model.label))
  follow(model, ["value"], () => { input.checked = model.value })
  return themed(model, make("label", { title: model.help }, input, text))
}
