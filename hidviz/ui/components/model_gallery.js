// A grid of models, each a button: its couplings K over L as a small picture, its cost, its errors.

const make = (tag, name, text = "") => {
  const element = document.createElement(tag)
  element.className = name
  element.textContent = text
  return element
}

const colour = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16))

const picture = (name, rows, palette) => {
  const row = make("span", `block ${name}`)
  const canvas = document.createElement("canvas")
  canvas.width = rows[0].length
  canvas.height = rows.length
  canvas.style.height = `${Math.max(10, Math.min(16, 48 / rows.length)) * rows.length}px`
  const image = new ImageData(canvas.width, canvas.height)
  rows.flat().forEach((shade, k) => image.data.set([...palette[shade], 255], 4 * k))
  canvas.getContext("2d").putImageData(image, 0, 0)
  row.append(make("span", "letter", name), canvas)
  row.setAttribute("aria-hidden", "true")
  return row
}

export function render({ model }) {
  const list = make("ul", "models")
  list.setAttribute("aria-label", "Equivalent models")
  let buttons = []

  const build = () => {
    const palette = model.palette.map(colour)
    buttons = model.tiles.map((tile, k) => {
      const button = make("button", tile.nearest ? "tile nearest" : "tile")
      button.type = "button"
      button.title = `Load this model: hidden units ${tile.name}`
      button.dataset.cost = tile.exact_cost
      const mark = make("span", "mark", tile.nearest ? "nearest to the truth" : "")
      button.append(picture("K", tile.K, palette), picture("L", tile.L, palette), make("span", "name", tile.name),
        make("span", "cost", tile.cost), make("span", "errors", tile.errors), mark)
      button.addEventListener("click", () => model.send_msg({ load: k }))
      return button
    })
    list.replaceChildren(...buttons.map((button) => {
      const item = make("li", "")
      item.append(button)
      return item
    }))
    mark()
  }
  const mark = () => buttons.forEach((button, k) => {
    const { name, cost, errors, nearest } = model.tiles[k]
    const here = k === model.shown
    button.classList.toggle("shown", here)
    button.setAttribute("aria-pressed", here)
    button.setAttribute("aria-label", `Load equivalent model ${k + 1}: hidden units ${name}, cost ${cost}, errors ` +
      errors + (nearest ? ", nearest to the truth" : "") + (here ? ", shown on the page" : ""))
    button.querySelector(".mark").textContent = [nearest && "nearest to the truth", here && "shown"]
      .filter(Boolean).join(" · ")
  })
  const theme = () => list.classList.toggle("dark", model.dark)
  model.on("tiles", build)
  model.on("shown", mark)
  model.on("dark", theme)
  build()
  theme()
  return list
}
