// One card per hidden unit: which true unit it matches, with which sign, how well, and a button that flips it.

export function render({ model }) {
  const list = make("ul", { class: "units", "aria-label": _("Hidden units") })
  let cards = []

  const build = (n) => {
    list.replaceChildren()
    cards = Array.from({ length: n }, (none, unit) => {
      const match = make("span", { class: "match", title: _("How alike their couplings are: the cosine between them is 1 if they are the same, and 0 if they have nothing in common.") })
      const bar = make("span", { class: "bar" })
      const its = { unit: unit + 1 }
      const title = _("Change the sign of hidden unit {unit}: its column of K and its row of L. The cost stays.", its)
      const card = make("li", { class: "unit" },
        make("div", { class: "words" }, make("span", { class: "name" }, `h${unit + 1} `), match),
        make("span", { class: "track", "aria-hidden": "true" }, bar),
        button({ "aria-label": _("Flip hidden unit {unit}", its), title }, () => model.send_msg({ flip: unit }), _("Flip")))
      list.append(card)
      return { card, match, bar }
    })
  }

  follow(model, ["units"], () => {
    const units = model.units
    if (units.length !== cards.length) { build(units.length) }
    units.forEach(({ match, overlap, flipped }, unit) => {
      const { card, match: text, bar } = cards[unit]
      say(text, match)
      card.classList.toggle("flipped", flipped)
      bar.style.width = `${Math.round(100 * Math.abs(overlap))}%`
    })
  })
  return themed(model, make("div", { class: "cards" }, list))
}
