// Buttons that save what the tab shows: pictures are drawn here, from the figures on the screen; tables come from the server.

const save = (name, blob) => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

export function render({ model }) {
  const root = document.createElement("div")
  root.className = "buttons inline"
  const draw = {
    SVG: async (figures) => new Blob([await svg(figures, model)], { type: "image/svg+xml" }),
    PNG: async (figures) => (await fetch(await png(figures, model))).blob(),
  }
  for (const format of ["CSV", "PNG", "SVG", "HTML"]) {
    const button = document.createElement("button")
    button.type = "button"
    button.textContent = `Export ${format}`
    button.title = model.help[format] ?? ""
    button.addEventListener("click", async () => {
      const figures = shown(model.figures)
      if (!(format in draw)) { model.send_msg({ want: format }) }
      else if (figures.length) { save(`${model.name_of_files}.${format.toLowerCase()}`, await draw[format](figures)) }
    })
    root.append(button)
  }
  model.on("file", () => {
    const { name, type, text } = model.file
    if (text) { save(name, new Blob([text], { type })) }
  })
  const theme = () => root.classList.toggle("dark", model.dark)
  model.on("dark", theme)
  theme()
  return root
}
