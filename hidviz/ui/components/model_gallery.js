// A grid of models, each a button: its couplings K over L as a small picture, its cost, its errors.

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16))

const picture = (name, rows, palette) => {
  const canvas = make("canvas", { width: rows[0].length, height: rows.length })
  canvas.style.height = `${Math.max(10, Math.min(16, 48 / rows.length)) * rows.length}px`
  const image = new ImageData(canvas.width, canvas.height)
  rows.flat().forEach((shade, k) => image.data.set([...palette[shade], 255], 4 * k))
  canvas.getContext("2d").putImageData(image, 0, 0)
  return make("span", { class: `block ${name}`, "aria-hidden": "true" }, make("span", { class: "letter" }, name), canvas)
}

export function render({ model }) {
  const list = make("ul", { class: "models", "aria-label": _("Equivalent models") })
  let buttons = []

  const build = () => {
    const palette = model.palette.map(rgb)
    buttons = model.tiles.map((tile, k) => button(
      { class: tile.nearest ? "tile nearest" : "tile", title: _("Load this model: hidden units {name}", { name: tile.name }),
        "data-cost": tile.exact_cost },
      () => model.send_msg({ load: k }),
      picture("K", tile.K, palette), picture("L", tile.L, palette), make("span", { class: "name" }, tile.name),
      make("span", { class: "cost" }, tile.cost), make("span", { class: "errors" }, tile.errors),
      make("span", { class: "mark" })))
    list.replaceChildren(...buttons.map((each) => make("li", {}, each)))
    mark()
  }
  const mark = () => buttons.forEach((each, k) => {
    const { name, cost, errors, nearest } = model.tiles[k]
    const here = k === model.shown
    each.classList.toggle("shown", here)
    set(each, { "aria-pressed": here, "aria-label": [
      _("Load equivalent model {k}: hidden units {name}, cost {cost}, errors {errors}", { k: k + 1, name, cost, errors }),
      ...nearest ? [_("nearest to the truth")] : [], ...here ? [_("shown on the page")] : [],
    ].join(", ") })
    const marks = [nearest && _("nearest to the truth"), here && _("shown")].filter(Boolean)
    say(each.querySelector(".mark"), marks.join(" · "))
  })
  model.on("shown", mark)
  model.on("palette", build)
  follow(model, ["tiles"], build)
  return themed(model, list)
}
