// What the page owes to those who hear it or use no mouse: a way past the head of the page, names for what the libraries
// leave nameless, and every figure as one picture with a name and, in words, what it shows.

// Of the libraries' own elements, those that need more: what matches, and what it is given.
const MENDS = [
  [".MuiAppBar-root .MuiLinearProgress-root", () => ({ "aria-hidden": true })], // always full: an ornament here
  [".MuiLinearProgress-root", () => ({ "aria-label": _("Progress") })],
  ["[aria-label='Resize sidebar']", () => ({ role: "separator", "aria-orientation": "vertical" })],
  [".MuiToolbar-root h5", (it) => it.textContent.trim() ? {} : { "aria-hidden": true }], // keeps room under the head
  [".MuiAppBar-root .title", () => ({ role: "heading", "aria-level": 1 })],
  [".MuiDrawer-paper[role=dialog]", () => ({ "aria-label": _("Settings") })],
  ["label span[aria-label]", () => ({ role: "img" })], // the mark after a label, with a description
  [".MuiInputAdornment-positionStart > button", (it) => ({ "aria-label": _("Decrease {label}", { label: labelOf(it) }) })],
  [".MuiInputAdornment-positionEnd > button", (it) => ({ "aria-label": _("Increase {label}", { label: labelOf(it) }) })],
]
const labelOf = (inside) => {
  const label = inside.closest(".MuiFormControl-root")?.querySelector("label")
  return label?.firstChild?.textContent.trim() ?? ""
}
const mend = (element) => {
  for (const [selector, more] of MENDS) {
    if (element.matches(selector)) {
      for (const [name, value] of Object.entries(more(element))) {
        if (!element.hasAttribute(name)) { element.setAttribute(name, value) }
      }
      return
    }
  }
}

function* figures(view) {
  if (view.model?.type === "Figure") { yield view }
  for (const child of view.child_views ?? []) { yield* figures(child) }
}
const shown = () => [...(window.Bokeh?.index.roots ?? window.Bokeh?.index ?? [])].flatMap((root) => [...figures(root)])

const few = (number) => Number(number.toPrecision(3)).toLocaleString("en").replace("-", "−")
const column = (renderer, name) => renderer.data_source?.data[renderer.glyph?.[name]?.field]

// What a figure shows, in words: its axes, what its curves carry at their ends, how its cells range, how many points.
const words = (model) => {
  const said = []
  const across = model.below.concat(model.above).map((axis) => axis.axis_label).find(Boolean)
  const up = model.left.concat(model.right).map((axis) => axis.axis_label).find(Boolean)
  if (across) { said.push(_("across: {label}", { label: across })) }
  if (up) { said.push(_("up: {label}", { label: up })) }
  for (const renderer of model.renderers) {
    if (renderer.visible === false) { continue }
    const kind = renderer.glyph?.type
    if (kind === "Text") {
      const ends = [...column(renderer, "text") ?? []].filter(Boolean)
      if (ends.length) { said.push(_("labels: {list}", { list: ends.join(", ") })) }
    } else if (kind === "Image") {
      const image = column(renderer, "image")?.[0]
      const values = [...(image?.data ?? image ?? [])].flat().filter(Number.isFinite)
      if (values.length > 1) {
        const least = values.reduce((a, b) => Math.min(a, b)), most = values.reduce((a, b) => Math.max(a, b))
        said.push(_("{n} cells from {least} to {most}",
          { n: values.length.toLocaleString("en"), least: few(least), most: few(most) }))
      }
    } else if (kind === "Scatter" || kind === "VBar" || kind === "Quad") {
      const n = column(renderer, "x")?.length ?? column(renderer, "left")?.length ?? 0
      const many = { n: n.toLocaleString("en") }
      if (n) { said.push(kind === "Scatter" ? _("{n} points", many) : _("{n} bars", many)) }
    }
  }
  return said.join("; ")
}
const tell = (view) => set(view.el, { "aria-description": words(view.model) })

export function render({ model }) {
  const told = new WeakSet()
  let due = 0
  const name = () => {
    due = 0
    for (const view of shown()) {
      if (told.has(view.el)) { continue }
      told.add(view.el)
      set(view.el, { role: "img", tabindex: 0, "aria-label": view.model.title?.text || view.model.name || _("Figure") })
      tell(view)
      view.el.addEventListener("focus", () => tell(view))
    }
  }
  const retell = () => { for (const view of shown()) { if (told.has(view.el)) { tell(view) } } }

  const end = watchShadows((element) => {
    mend(element)
    if (element.classList.contains("bk-Figure")) { due ||= setTimeout(name, 300) }
  }, { opens: (it) => !it.classList.contains("bk-panel-models-esm-ReactiveESM") }) // the page's own need nothing

  // The way past the head and the knobs: the first stop of the Tab key, seen only there.
  const skip = document.createElement("nav")
  skip.setAttribute("aria-label", _("Skip"))
  const way = document.createElement("button")
  way.type = "button"
  way.textContent = _("Skip to the run")
  const seen = { position: "fixed", top: "8px", left: "8px", zIndex: 10_000, padding: "8px 16px", borderRadius: "6px",
    border: "2px solid #5b4fcf", background: "#ffffff", color: "#4a3fb5", font: "600 16px system-ui, sans-serif" }
  Object.assign(way.style, seen, { transform: "translateY(-200%)" })
  way.addEventListener("focus", () => { way.style.transform = "" })
  way.addEventListener("blur", () => { way.style.transform = "translateY(-200%)" })
  way.addEventListener("click", () => inside(document, ".of-run button")?.focus())
  skip.append(way)
  document.body.prepend(skip)

  follow(model, ["event"], retell)
  model.on("remove", () => {
    end()
    clearTimeout(due)
    skip.remove()
  })
  return make("span")
}
