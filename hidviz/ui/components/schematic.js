// A network unfolded in time: a row of units per time bin, lines between rows, words beside what is pointed out.

const GAP = 96 // pixels between rows
const EDGE = { left: 58, right: 16, top: 34, bottom: 14 }
let drawings = 0

export function render({ model }) {
  const id = `schematic-${++drawings}`
  const root = make("div", { class: "schematic" })
  const legend = make("ul", { class: "legend", "aria-label": _("Lines") })
  const svg = draw("svg", { role: "group" })
  const table = make("details")
  table.append(make("summary", {}, _("As a table")))
  root.append(legend, svg, table)
  let width = 0
  let focused = 0

  const name = (unit) => {
    const { n_visible } = model.picture
    return unit < n_visible ? _("visible {unit}", { unit: unit + 1 }) : _("hidden {unit}", { unit: unit - n_visible + 1 })
  }
  const place = () => {
    const { n_visible, n_hidden } = model.picture
    const room = width - EDGE.left - EDGE.right
    const between = n_hidden ? 36 : 0 // so that the numbers of visible and hidden units do not touch
    const pitch = Math.min(64, (room - between) / (n_visible + n_hidden))
    const begin = EDGE.left + (room - between - pitch * (n_visible + n_hidden)) / 2 + pitch / 2
    return { pitch, size: Math.max(2, Math.min(16, 0.62 * pitch)), wide: Math.max(2, Math.min(5.5, 0.4 * pitch)),
      x: (unit) => begin + pitch * unit + (unit < n_visible ? 0 : between), y: (row) => EDGE.top + GAP * row }
  }

  const line = (link, { x, y, size, wide }) => {
    const { largest, backwards } = model.picture
    const [row, sender, receiver, block, strength, text] = link
    const part = Math.min(1, Math.abs(strength) / largest)
    const path = draw("line", {
      x1: x(sender), y1: y(row) + size / 2, x2: x(receiver), y2: y(row + 1) - size / 2,
      stroke: model.blocks[block].colour, "stroke-width": (0.5 + (backwards ? 5 : wide) * part).toFixed(2),
      "stroke-opacity": strength < 0 ? 0.75 : 0.95, "data-block": block,
    })
    if (strength < 0) { path.setAttribute("stroke-dasharray", "7 5") }
    if (backwards) {
      set(path, { x1: x(receiver), y1: y(row + 1) - size / 2 - 1, x2: x(sender), y2: y(row) + size / 2 + 9,
        "marker-end": `url(#${id}-${block})` })
    }
    path.append(draw("title", {}, `${name(sender)} → ${name(receiver)}: ${block} = ${signed(strength, 3)}`))
    const drawn = [path]
    if (text) { drawn.push(beside((x(sender) + x(receiver)) / 2 + 10, y(row) + GAP / 2 + 5, text)) }
    return drawn
  }
  const beside = (x, y, text) => {
    const word = draw("text", { class: "beside", x, y }, text)
    if (x > width - EDGE.right - 8 * text.length) { set(word, { x: x - 20, "text-anchor": "end" }) }
    return word
  }
  const shape = (unit, x, y, size, marked) => {
    const hidden = unit >= model.picture.n_visible
    const kind = `unit ${hidden ? "hidden" : "visible"}${marked ? " marked" : ""}`
    return hidden ? draw("circle", { class: kind, cx: x, cy: y, r: size / 2 })
      : draw("rect", { class: kind, x: x - size / 2, y: y - size / 2, width: size, height: size })
  }

  const choose = (unit) => model.send_msg({ choose: unit === model.picture.chosen ? null : unit })
  const focus = (unit) => {
    const n = model.picture.n_visible + model.picture.n_hidden
    focused = (unit + n) % n
    for (const each of svg.querySelectorAll(".selectable")) {
      const mine = Number(each.dataset.unit) === focused
      each.setAttribute("tabindex", mine ? 0 : -1)
      if (mine) { each.focus() }
    }
  }
  const keys = (event) => {
    const acts = { ArrowRight: () => focus(focused + 1), ArrowLeft: () => focus(focused - 1), Home: () => focus(0),
      End: () => focus(-1), Enter: () => choose(focused), " ": () => choose(focused),
      Escape: () => model.send_msg({ choose: null }) }
    if (!(event.key in acts) || event.ctrlKey || event.metaKey || event.altKey) { return }
    event.preventDefault()
    event.stopPropagation() // else the page would take them for its own keys
    acts[event.key]()
  }
  svg.addEventListener("keydown", keys)

  const units = ({ x, y, size, pitch }) => {
    const { n_visible, n_hidden, rows, marks, chosen, selectable, backwards } = model.picture
    const middle = selectable ? 1 : -1
    const drawn = []
    rows.forEach((label, row) => {
      drawn.push(draw("text", { x: 0, y: y(row) + 5 }, label))
      for (let unit = 0; unit < n_visible + n_hidden; unit++) {
        const marked = marks.some(([r, u]) => r === row && u === unit)
        const figure = shape(unit, x(unit), y(row), marked ? Math.max(size, 12) : size, marked)
        if (backwards && !marked) { figure.classList.add("aside") }
        if (row !== middle) { drawn.push(figure); continue }
        const group = draw("g", { class: "selectable", role: "button", "data-unit": unit, tabindex: unit === focused ? 0 : -1,
          "aria-label": _("Couplings of {unit}", { unit: name(unit) }), "aria-pressed": chosen === unit })
        group.append(draw("circle", { class: "halo", cx: x(unit), cy: y(row), r: Math.max(0.85 * size, Math.min(14, pitch / 2)) }), figure)
        group.addEventListener("focus", () => { focused = unit })
        group.addEventListener("click", () => { focused = unit; choose(unit) })
        drawn.push(group)
      }
    })
    const stride = [1, 2, 5, 10, 20, 50, 100].find((step) => step * pitch >= 26) ?? 100
    for (let unit = 0; unit < n_visible + n_hidden; unit++) {
      const k = unit < n_visible ? unit : unit - n_visible
      if (k && (k + 1) % stride) { continue }
      drawn.push(draw("text", { x: x(unit), y: 14, "text-anchor": "middle" }, unit < n_visible ? `${k + 1}` : `h${k + 1}`))
    }
    for (const [row, unit, text] of marks) { if (text) { drawn.push(beside(x(unit) + 12, y(row) + 25, text)) } }
    return drawn
  }

  const arrows = () => {
    const defs = draw("defs")
    for (const [block, { colour }] of Object.entries(model.blocks)) {
      const arrow = draw("marker", { id: `${id}-${block}`, viewBox: "0 0 10 10", refX: 2, refY: 5, markerWidth: 11,
        markerHeight: 11, markerUnits: "userSpaceOnUse", orient: "auto" })
      arrow.append(draw("path", { d: "M0 0L10 5L0 10z", fill: colour }))
      defs.append(arrow)
    }
    return defs
  }
  const lines = () => {
    const present = new Set(model.picture.links.map((link) => link[3]))
    legend.replaceChildren()
    for (const [block, { colour, words }] of Object.entries(model.blocks)) {
      if (!present.has(block)) { continue }
      const sample = draw("svg", { width: 24, height: 8, "aria-hidden": "true" })
      sample.append(draw("line", { x1: 0, x2: 24, y1: 4, y2: 4, stroke: colour, "stroke-width": 4 }))
      const item = make("li")
      item.append(sample, `${block} ${words}`)
      legend.append(item)
    }
    if (present.size) { legend.append(make("li", {}, _("wider: stronger · dashed: negative"))) }
  }
  const rows = () => {
    if (!table.open || !model.picture.links) { return }
    table.querySelector(".scroll")?.remove()
    const body = make("table")
    const head = make("tr")
    head.append(...[_("Block"), _("From"), _("To"), _("Strength")].map((title) => make("th", { scope: "col" }, title)))
    body.append(head)
    const seen = new Set()
    for (const [, sender, receiver, block, strength] of model.picture.links) {
      const key = `${sender}>${receiver}`
      if (seen.has(key)) { continue }
      seen.add(key)
      const row = make("tr")
      row.append(make("td", {}, block), make("td", {}, name(sender)), make("td", {}, name(receiver)),
        make("td", { class: "number" }, signed(strength, 3)))
      body.append(row)
    }
    const scroll = make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": _("Couplings drawn: {name}", { name: model.name_ }) })
    scroll.append(body)
    table.append(scroll)
  }

  const update = () => {
    const { picture } = model
    if (!picture.rows || !width) { return }
    const kept = root.getRootNode().activeElement?.dataset?.unit
    const plan = place()
    const height = EDGE.top + GAP * (picture.rows.length - 1) + EDGE.bottom + (picture.backwards ? 18 : 0)
    set(svg, { width, height,
      "aria-label": `${model.name_}. ${picture.says}` })
    svg.replaceChildren(arrows(), ...picture.links.toReversed().flatMap((link) => line(link, plan)), ...units(plan))
    // Words last, so that no line crosses them.
    svg.append(...svg.querySelectorAll(".beside"))
    if (kept !== undefined) { focus(Number(kept)) }
    lines()
    rows()
  }
  table.addEventListener("toggle", rows)
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) > 1) { width = contentRect.width; update() }
  }).observe(root)
  model.on("picture", update)
  model.on("blocks", update)
  return themed(model, root)
}
