// Something a person should know, with its cure beside it; it can be put away.

export function render({ model }) {
  const box = document.createElement("div")
  box.className = "box"
  const text = document.createElement("span")
  text.setAttribute("role", "alert")
  const cure = document.createElement("button")
  const close = document.createElement("button")
  cure.type = close.type = "button"
  cure.className = "cure"
  close.setAttribute("aria-label", "Close")
  close.textContent = "×"
  cure.addEventListener("click", () => model.send_msg({ press: "cure" }))
  close.addEventListener("click", () => model.send_msg({ press: "close" }))
  box.append(text, cure, close)
  const show = () => {
    box.hidden = !model.text
    text.textContent = model.text
    cure.textContent = model.cure
    cure.hidden = !model.cure
  }
  const theme = () => box.classList.toggle("dark", model.dark)
  for (const name of ["text", "cure"]) { model.on(name, show) }
  model.on("dark", theme)
  show()
  theme()
  return box
}
