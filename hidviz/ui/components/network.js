// The network, alive: visible units on a ring, hidden ones inside it, the couplings of the chosen hidden unit in the
// colours of their blocks. Units light up as the data have them; a change of sign turns through zero.

const TURN = 320 // milliseconds in which couplings move to their new values
const BEAT = 240 // milliseconds a bin of the data is shown for
const SIZE = 420 // of the drawing, in its own units
const CENTRE = SIZE / 2
const MOST = 24 // couplings drawn of a block, the strongest
const FEW = 40 // visible units up to which lighting up is gradual: of many it would keep a slow browser from all else

const calm = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches

// Where units are: visible ones on a ring from the top, clockwise; hidden ones on a line, or a smaller ring, inside.
const places = (n_visible, n_hidden, large) => {
  const on = (radius, k, n) => {
    const angle = 2 * Math.PI * k / n - Math.PI / 2
    return [CENTRE + radius * Math.cos(angle), CENTRE + radius * Math.sin(angle)]
  }
  const ring = large ? 154 : 172 // with room around it for the numbers
  const visible = Array.from({ length: n_visible }, (_, k) => on(ring, k, n_visible))
  const hidden = Array.from({ length: n_hidden }, (_, k) =>
    n_hidden === 1 ? [CENTRE, CENTRE] : n_hidden === 2 ? [CENTRE + (2 * k - 1) * 62, CENTRE] : on(78, k, n_hidden))
  const numbers = Array.from({ length: n_visible }, (_, k) => on(large ? 192 : 197, k, n_visible))
  return { visible, hidden, numbers, square: Math.min(22, 700 / n_visible), radius: Math.min(23, 190 / Math.max(n_hidden, 1)),
    widest: Math.min(7, 1.5 + 90 / n_visible) }
}

// A line bent to its right, so that the ways there and back lie beside each other.
const bent = ([x1, y1], [x2, y2], by) => {
  const dx = x2 - x1, dy = y2 - y1
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${((x1 + x2) / 2 - by * dy).toFixed(1)} ` +
    `${((y1 + y2) / 2 + by * dx).toFixed(1)} ${x2.toFixed(1)} ${y2.toFixed(1)}`
}
// A line between two units of the ring, drawn in towards its middle.
const chord = ([x1, y1], [x2, y2]) => {
  const inward = (a, b) => CENTRE + 0.35 * ((a + b) / 2 - CENTRE)
  return `M${x1.toFixed(1)} ${y1.toFixed(1)}Q${inward(x1, x2).toFixed(1)} ${inward(y1, y2).toFixed(1)} ` +
    `${x2.toFixed(1)} ${y2.toFixed(1)}`
}

export function render({ model }) {
  const root = make("figure")
  const svg = draw("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group" })
  const faint = draw("g", { class: "faint" }), strong = draw("g", { class: "strong" }), units = draw("g")
  svg.append(faint, strong, units)
  const caption = make("figcaption")
  root.append(svg, caption)
  let place = places(1, 0), squares = [], circles = [], edges = { K: [], L: [] }
  let given = { J: [], K: [], L: [] }, shown = { K: [], L: [] }, moving = 0, bin = 0, beat = 0

  const build = () => {
    const { n_visible, n_hidden } = model
    place = places(n_visible, n_hidden, model.large)
    root.classList.toggle("large", model.large)
    units.replaceChildren()
    units.classList.toggle("gradual", n_visible <= FEW)
    const every = n_visible > 120 ? 20 : n_visible > 40 ? 10 : n_visible > 24 ? 5 : 1
    squares = place.visible.map(([x, y], k) => {
      const square = draw("rect", { class: "visible", x: x - place.square / 2, y: y - place.square / 2,
        width: place.square, height: place.square, rx: 3 })
      square.append(draw("title", {}, _("visible {unit}", { unit: k + 1 })))
      units.append(square)
      if (k === 0 || (k + 1) % every === 0) {
        const [beside, above] = place.numbers[k]
        units.append(draw("text", { class: "number", x: beside, y: above }, String(k + 1)))
      }
      return square
    })
    circles = place.hidden.map(([x, y], k) => {
      const group = draw("g", { class: "hidden", role: "button", tabindex: k === model.chosen ? 0 : -1 })
      group.append(draw("circle", { cx: x, cy: y, r: place.radius }))
      if (place.radius > 13) { group.append(draw("text", { x, y }, `h${k + 1}`)) }
      group.addEventListener("click", () => model.send_msg({ choose: k }))
      group.addEventListener("keydown", (event) => keys(event, k))
      units.append(group)
      return group
    })
    for (const block of ["K", "L"]) {
      edges[block] = place.visible.map(() => draw("path", { "data-block": block }))
    }
    strong.replaceChildren(...edges.L, ...edges.K)
    shown = { K: [], L: [] }
  }
  const keys = (event, k) => {
    const n = circles.length
    const to = { ArrowRight: k + 1, ArrowDown: k + 1, ArrowLeft: k - 1, ArrowUp: k - 1, Home: 0, End: n - 1 }[event.key]
    if (to !== undefined) {
      circles[(to + n) % n].focus()
      model.send_msg({ choose: (to + n) % n })
    } else if (event.key === "Enter" || event.key === " ") {
      model.send_msg({ choose: k })
    } else { return }
    event.preventDefault()
    event.stopPropagation()
  }

  const sizes = (values) => values.map((value) => Math.min(1, Math.abs(value) / model.largest)).sort((a, b) => b - a)
  // The couplings of the chosen unit at these values.
  const put = ({ K, L }) => {
    const from = place.hidden[model.chosen]
    for (const [block, values] of [["K", K], ["L", L]]) {
      const least = Math.max(0.02, sizes(values)[MOST] || 0) // of many units only the strongest couplings
      edges[block].forEach((path, k) => {
        const value = from ? values[k] || 0 : 0, part = Math.min(1, Math.abs(value) / model.largest)
        const hide = part < least
        const display = hide ? "none" : ""
        if (path.style.display !== display) { path.style.display = display }
        if (hide) { return }
        const [one, other] = block === "K" ? [from, place.visible[k]] : [place.visible[k], from]
        set(path, { d: bent(one, other, 0.08), "stroke-width": (0.6 + place.widest * part).toFixed(2),
          "stroke-dasharray": value < 0 ? "6 5" : "none" })
      })
    }
    shown = { K: [...K], L: [...L] }
  }
  // Towards new values: at once while a run draws frame after frame, through the values between after a press.
  const move = () => {
    cancelAnimationFrame(moving)
    const { K, L } = given, old = shown
    const far = old.K.length === K.length && K.some((value, k) => value * old.K[k] < 0 &&
      Math.abs(value - old.K[k]) > 0.2 * model.largest)
    if (!far || model.running || calm()) { put({ K, L }); return }
    const began = performance.now()
    const step = (now) => {
      const done = Math.min(1, (now - began) / TURN), ease = done * done * (3 - 2 * done)
      const between = (from, to) => to.map((value, k) => from[k] + ease * (value - from[k]))
      put(done < 1 ? { K: between(old.K, K), L: between(old.L, L) } : { K, L })
      if (done < 1) { moving = requestAnimationFrame(step) }
    }
    moving = requestAnimationFrame(step)
  }
  const others = () => {
    while (faint.children.length > given.J.length) { faint.lastChild.remove() }
    given.J.forEach(([receiver, sender, value], k) => {
      const part = Math.min(1, Math.abs(value) / model.largest)
      const path = faint.children[k] ?? faint.appendChild(draw("path"))
      set(path, { d: chord(place.visible[sender], place.visible[receiver]),
        "stroke-width": (0.4 + 3 * part).toFixed(2), "stroke-dasharray": value < 0 ? "5 4" : "none" })
    })
  }
  const mark = () => {
    circles.forEach((group, k) => {
      const chosen = k === model.chosen
      group.classList.toggle("chosen", chosen)
      set(group, { tabindex: chosen ? 0 : -1, "aria-pressed": chosen,
        "aria-label": _("Hidden unit {unit}", { unit: k + 1 }) })
    })
    set(svg, { "aria-label": model.caption })
    say(caption, model.caption)
  }
  // The data as they were recorded: one bin after the other, while the run is under way.
  const flicker = () => {
    const lively = model.running && model.flicker && !calm() && model.states.length > 0
    if (lively === Boolean(beat)) { return }
    clearInterval(beat)
    beat = 0
    for (const square of squares) { square.classList.remove("on") }
    if (!lively) { return }
    beat = setInterval(() => {
      if (document.hidden) { return }
      const row = model.states[bin++ % model.states.length]
      squares.forEach((square, k) => square.classList.toggle("on", row[k] === "1"))
    }, BEAT)
  }
  // Everything that one message brought is drawn at once: in between, sizes and what has them need not agree.
  const drawn = { n_visible: -1, n_hidden: -1, chosen: -1, couplings: "", largest: 0 }
  const redraw = () => {
    due = 0
    const { n_visible, n_hidden, chosen, couplings, largest } = model
    if (couplings !== drawn.couplings) { given = JSON.parse(couplings) }
    const another = n_visible !== drawn.n_visible || n_hidden !== drawn.n_hidden
    if (another) { build() }
    if (another || chosen !== drawn.chosen) { shown = { K: [], L: [] } }
    if (another || couplings !== drawn.couplings || largest !== drawn.largest) { others() }
    Object.assign(drawn, { n_visible, n_hidden, chosen, couplings, largest })
    move()
    mark()
    flicker()
  }
  let due = 0
  const changed = () => { due ||= requestAnimationFrame(redraw) }
  const watched = ["n_visible", "n_hidden", "chosen", "couplings", "largest", "states", "running", "flicker", "caption"]
  for (const name of watched) { model.on(name, changed) }
  redraw()
  model.on("remove", () => { clearInterval(beat); cancelAnimationFrame(moving); cancelAnimationFrame(due) })
  return themed(model, root)
}
