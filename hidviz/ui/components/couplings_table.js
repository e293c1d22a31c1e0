// Couplings in numbers, one row each, changed in place while they are learned; sorted by a press on a heading.

const bar = (value) => value === null ? "–" : value < 0 ? _("not told") : `±${value.toFixed(4)}`

export function render({ model }) {
  const head = make("tr")
  const body = make("tbody")
  const frame = make("div", { class: "frame", role: "region" }, make("table", {}, make("thead", {}, head), body))
  const sorting = { column: -1, down: true } // column -1: in the order of the units
  let rows = []
  let order = []

  const key = (k) => {
    const value = model.values[k][sorting.column]
    const sizes = sorting.column >= 3 // errors by their size
    return value === null || (sorting.column === 4 && value < 0) ? Infinity : sizes ? Math.abs(value) : value
  }
  const sort = () => {
    order = rows.map((_, k) => k)
    if (sorting.column >= 0) { order.sort((a, b) => (sorting.down ? key(b) - key(a) : key(a) - key(b)) || a - b) }
    const focused = frame.getRootNode().activeElement
    if (order.some((k, place) => body.children[place] !== rows[k].row)) {
      body.append(...order.map((k) => rows[k].row))
      if (focused && body.contains(focused)) { focused.focus({ preventScroll: true }) }
    }
  }
  const headings = [_("Coupling"), ...model.columns].map((name, k) => {
    const by = { name: name.toLowerCase() }
    const title = k === 0 ? _("In the order of the units") : k >= 4 ? _("Sort by size of the {name}", by) : _("Sort by {name}", by)
    const sort_by = () => {
      sorting.down = sorting.column === k - 1 ? !sorting.down : true
      sorting.column = k - 1
      mark()
      sort()
    }
    const arrow = make("span", { class: "arrow", "aria-hidden": "true" }) // said by aria-sort
    return make("th", { scope: "col" }, button({ title }, sort_by, name, arrow))
  })
  head.append(...headings)
  const mark = () => headings.forEach((cell, k) => {
    const here = k && sorting.column === k - 1
    cell.ariaSort = here ? (sorting.down ? "descending" : "ascending") : null
  })

  let asked = model.chosen // where the answer is still on its way, the last one counts
  const choose = (k) => { if (k !== asked) { model.send_msg({ choose: asked = k }) } }
  const go = (place) => {
    const k = order[Math.max(0, Math.min(order.length - 1, place))]
    rows[k].head.focus()
    choose(k)
  }
  body.addEventListener("keydown", (event) => {
    const at = order.findIndex((k) => rows[k].head === event.target)
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: order.length - 1, PageDown: at + 10, PageUp: at - 10 }
    if (at < 0 || !(event.key in places) || event.ctrlKey || event.metaKey || event.altKey) { return }
    event.preventDefault()
    event.stopPropagation()
    go(places[event.key])
  })

  const build = () => {
    rows = model.heads.map(([block, name, spoken], k) => {
      const head = button({ class: block, "aria-label": spoken }, () => choose(k), name)
      const cells = model.columns.map(() => make("td"))
      const row = make("tr", {}, make("th", { scope: "row" }, head), ...cells)
      row.addEventListener("click", () => choose(k))
      return { row, head, cells }
    })
    body.replaceChildren(...rows.map(({ row }) => row))
    frame.setAttribute("aria-label", model.title)
    frame.scrollTop = 0
  }
  const update = () => {
    if (model.heads.length !== model.values.length) { return } // the other half is on its way
    rows.forEach(({ row, cells }, k) => {
      model.values[k].forEach((value, c) => {
        say(cells[c], c === 4 ? bar(value) : signed(value, 4))
      })
      row.dataset.exact = JSON.stringify(model.values[k])
    })
    if (!model.running || order.length !== rows.length) { sort() }
    point()
  }
  const point = () => rows.forEach(({ row, head }, k) => {
    const here = k === model.chosen
    row.classList.toggle("chosen", here)
    row.ariaCurrent = here ? "true" : null
    head.tabIndex = here || (model.chosen < 0 && k === order[0]) ? 0 : -1
  })
  model.on("heads", () => { order = []; build(); update() })
  model.on("values", update)
  model.on("running", update)
  model.on("chosen", () => { asked = model.chosen; point() })
  build()
  update()
  return themed(model, frame)
}
