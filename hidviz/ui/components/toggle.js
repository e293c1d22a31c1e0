// A switch with its label.

export function render({ model }) {
  const label = document.createElement("label")
  const input = document.createElement("input")
  input.type = "checkbox"
  input.setAttribute("role", "switch")
  const text = document.createElement("span")
  label.title = model.help
  label.append(input, text)
  input.addEventListener("change", () => { model.value = input.checked })
  const show = () => {
    text.textContent = model.label
    input.checked = model.value
  }
  const theme = () => label.classList.toggle("dark", model.dark)
  for (const name of ["label", "value"]) { model.on(name, show) }
  model.on("dark", theme)
  show()
  theme()
  return label
}
