// Still pictures of Bokeh figures: all that are shown, in one row or more, as SVG text or as a PNG.

function* views(view) {
  if (view.model?.type === "Figure" || view.model?.type === "figure") { yield view }
  for (const child of view.child_views ?? []) { yield* views(child) }
}

export function shown(names) {
  const found = []
  for (const root of window.Bokeh.index.roots ?? [...window.Bokeh.index]) {
    for (const view of views(root)) {
      const visible = view.model.visible && view.el?.getClientRects().length
      if (visible && (!names || names.includes(view.model.name))) { found.push(view) }
    }
  }
  return [...new Set(found)]
}

const GAP = 8
const place = (figures, caption, columns = 2) => {
  const width = Math.max(...figures.map((view) => view.bbox.width)) + 2 * GAP
  const height = Math.max(...figures.map((view) => view.bbox.height)) + 2 * GAP
  const rows = Math.ceil(figures.length / columns)
  const at = figures.map((_, k) => [GAP + (k % columns) * width, GAP + Math.floor(k / columns) * height])
  return { at, width: Math.min(columns, figures.length) * width, height: rows * height + (caption ? 32 : 0) }
}

const FONT = "14px Roboto, Helvetica, Arial, sans-serif"
const escaped = (text) => text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)

export async function svg(figures, { paper, ink = "#000000", caption = "" }) {
  const { at, width, height } = place(figures, caption)
  const parts = await Promise.all(figures.map(async (view, k) => {
    const text = await (await view.export("svg").to_blob()).text()
    return `<g transform="translate(${at[k][0]} ${at[k][1]})">${text.slice(text.indexOf("<svg"))}</g>`
  }))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`
    + `<rect width="100%" height="100%" fill="${paper}"/>${parts.join("")}`
    + `<text x="${GAP}" y="${height - 12}" fill="${ink}" style="font: ${FONT}">${escaped(caption)}</text></svg>\n`
}

export async function png(figures, { paper, ink = "#000000", caption = "" }, scale = 2) {
  const { at, width, height } = place(figures, caption)
  const canvas = document.createElement("canvas")
  canvas.width = scale * width
  canvas.height = scale * height
  const pen = canvas.getContext("2d")
  pen.scale(scale, scale)
  pen.fillStyle = paper
  pen.fillRect(0, 0, width, height)
  figures.forEach((view, k) => {
    pen.drawImage(view.export("png", true).canvas, at[k][0], at[k][1], view.bbox.width, view.bbox.height)
  })
  pen.fillStyle = ink
  pen.font = FONT
  pen.fillText(caption, GAP, height - 12)
  return canvas.toDataURL("image/png")
}
