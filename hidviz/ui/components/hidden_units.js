// One card per hidden unit: which true unit it matches, with which sign, how well, and a button that flips it.

const make = (tag, attributes = {}, text = "") => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) { element.setAttribute(name, value) }
  element.textContent = text
  return element
}

export function render({ model }) {
  const list = make("ul", { class: "units", "aria-label": "Hidden units" })
  const tools = make("div", { class: "tools" })
  const first = make("select", { "aria-label": "First unit to swap" })
  const second = make("select", { "aria-label": "Second unit to swap" })
  const swap = make("button", { type: "button" }, "Swap hidden units")
  tools.append(swap, first, make("span", { "aria-hidden": "true" }, "↔"), second)
  swap.addEventListener("click", () =>
    model.send_msg({ swap: [Number(first.value), Number(second.value)] }))
  const broken = make("span", { class: "broken" })
  const which = make("select", { "aria-label": "Unit to break" })
  for (const block of ["K", "L"]) {
    const button = make("button", { type: "button", title: `Flip ${block} alone: not a symmetry, the cost jumps` },
      `Flip ${block} only`)
    button.addEventListener("click", () => model.send_msg({ broken: [Number(which.value), block] }))
    broken.append(button)
  }
  broken.prepend(make("span", {}, "Not a symmetry: of unit"), which)
  tools.append(broken)
  let cards = []

  const build = (n) => {
    list.replaceChildren()
    cards = Array.from({ length: n }, (_, unit) => {
      const card = make("li", { class: "unit" })
      const name = make("span", { class: "name" }, `Hidden ${unit + 1} `)
      const match = make("span", { class: "match" })
      const track = make("span", { class: "track", "aria-hidden": "true" })
      const bar = make("span", { class: "bar" })
      track.append(bar)
      const flip = make("button", { type: "button", "aria-label": `Flip hidden unit ${unit + 1}` }, "Flip")
      flip.title = `Change the sign of hidden unit ${unit + 1}: its column of K and its row of L. The cost stays.`
      flip.addEventListener("click", () => model.send_msg({ flip: unit }))
      const words = make("div", { class: "words" })
      words.append(name, match)
      card.append(words, track, flip)
      list.append(card)
      return { card, match, bar }
    })
    for (const choice of [first, second, which]) {
      choice.replaceChildren(...cards.map((_, unit) => make("option", { value: unit }, String(unit + 1))))
    }
    second.value = String(Math.min(1, n - 1))
    tools.hidden = n < 1
    for (const item of [swap, first, second, tools.querySelector("span")]) { item.hidden = n < 2 }
  }

  const update = () => {
    const units = model.units
    if (units.length !== cards.length) { build(units.length) }
    units.forEach(({ match, overlap, flipped }, unit) => {
      const { card, match: text, bar } = cards[unit]
      if (text.textContent !== match) { text.textContent = match }
      card.classList.toggle("flipped", flipped)
      bar.style.width = `${Math.round(100 * Math.abs(overlap))}%`
    })
  }
  model.on("units", update)
  const root = make("div", { class: "bench" })
  root.append(list, tools)
  build(model.units.length)
  update()
  const theme = () => root.classList.toggle("dark", model.dark)
  model.on("dark", theme)
  theme()
  return root
}
