// One card per hidden unit: which true unit it matches, with which sign, how well, and a button that flips it.


export function render({ model }) {
  const list = make("ul", { class: "units", "aria-label": "Hidden units" })
  const tools = make("div", { class: "tools" })
  const first = make("select", { "aria-label": "First unit to swap" })
  const second = make("select", { "aria-label": "Second unit to swap" })
  const exchange = () => model.send_msg({ swap: [Number(first.value), Number(second.value)] })
  const swap = button({}, exchange, "Swap hidden units")
  tools.append(swap, first, make("span", { "aria-hidden": "true" }, "↔"), second)
  const broken = make("span", { class: "broken" })
  const which = make("select", { "aria-label": "Unit to break" })
  for (const block of ["K", "L"]) {
    broken.append(button({ title: `Flip ${block} alone: not a symmetry, the cost jumps` },
      () => model.send_msg({ broken: [Number(which.value), block] }), `Flip ${block} only`))
  }
  broken.prepend(make("span", {}, "Not a symmetry: of unit"), which)
  tools.append(broken)
  let cards = []

  const build = (n) => {
    list.replaceChildren()
    cards = Array.from({ length: n }, (_, unit) => {
      const match = make("span", { class: "match" })
      const bar = make("span", { class: "bar" })
      const title = `Change the sign of hidden unit ${unit + 1}: its column of K and its row of L. The cost stays.`
      const card = make("li", { class: "unit" },
        make("div", { class: "words" }, make("span", { class: "name" }, `Hidden ${unit + 1} `), match),
        make("span", { class: "track", "aria-hidden": "true" }, bar),
        button({ "aria-label": `Flip hidden unit ${unit + 1}`, title }, () => model.send_msg({ flip: unit }), "Flip"))
      list.append(card)
      return { card, match, bar }
    })
    for (const choice of [first, second, which]) {
      choice.replaceChildren(...cards.map((_, unit) => make("option", { value: unit }, unit + 1)))
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
      say(text, match)
      card.classList.toggle("flipped", flipped)
      bar.style.width = `${Math.round(100 * Math.abs(overlap))}%`
    })
  }
  build(model.units.length)
  follow(model, ["units"], update)
  return themed(model, make("div", { class: "units-and-tools" }, list, tools))
}
