// Buttons that save what the tab shows: pictures are drawn here, from the figures on the screen; tables come from the server.

const save = (name, blob) => {
  const link = make("a", { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000)
}

export function render({ model }) {
  const make_picture = {
    SVG: async (figures) => new Blob([await svg(figures, model)], { type: "image/svg+xml" }),
    PNG: async (figures) => (await fetch(await png(figures, model))).blob(),
  }
  const hand_out = async (format) => {
    const figures = shown(model.figures)
    if (!(format in make_picture)) { model.send_msg({ want: format }) }
    else if (figures.length) { save(`${model.name_of_files}.${format.toLowerCase()}`, await make_picture[format](figures)) }
  }
  model.on("file", () => {
    const { name, type, text } = model.file
    if (text) { save(name, new Blob([text], { type })) }
  })
  const root = make("div", { class: "buttons inline" }, ...["CSV", "PNG", "SVG", "HTML"].map((format) =>
    button({ title: model.help[format] ?? "" }, () => hand_out(format), _("Export {format}", { format }))))
  return themed(model, root)
}
