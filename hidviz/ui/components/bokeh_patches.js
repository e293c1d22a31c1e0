// Amendments of Bokeh's private methods, made once, before the first figure is drawn. Each is a remedy the page can do
// without: where another version of Bokeh has no such method, that is told in the console, and nothing else happens.

const amend = (path, owner, name, change) => {
  let prototype
  try { prototype = window.Bokeh.require(path)[owner].prototype } catch { prototype = undefined }
  const present = prototype && Object.getOwnPropertyDescriptor(prototype, name)
  const kind = present?.get ? "get" : "value"
  if (typeof present?.[kind] !== "function") {
    console.info(`hidviz: this Bokeh has no ${owner}.${name} to amend; the page goes on without.`)
  } else if (!Object.hasOwn(present[kind], "amended")) {
    const amended = Object.assign(change(present[kind]), { amended: true })
    Object.defineProperty(prototype, name, { ...present, [kind]: amended })
  }
}

// A figure is among the children of its surroundings as soon as it is built, a while before it is laid out for the first
// time. If its surroundings are resized in between, Bokeh measures and places it without its having a layout, and fails;
// passed over, it is measured and placed with its first layout.
for (const name of ["_measure_layout", "_after_layout"]) {
  amend("models/plots/plot_canvas", "PlotView", name, (method) => function () { if (this.layout) { method.call(this) } })
}

// Every look at a line's or a letter's property asks the style sheets first, and makes the browser settle them: half a
// second of opening, an eighth of every frame. No style sheet here speaks of them.
amend("core/visuals/visual", "VisualProperties", "_get_css_value", () => () => "")

// So does every look at the size of a letter, which is in pixels everywhere here; Bokeh asks what an em would be.
amend("models/plots/plot_canvas", "PlotView", "base_font_size", () => () => 13)

// Whatever changes its size has the whole page laid out anew at once, forty times while it opens. Once before the next
// picture is enough.
const due = new Set()
const layOut = () => {
  const roots = [...due]
  due.clear()
  for (const root of roots) { if (root.el.isConnected) { root.compute_layout() } }
}
const rootOf = (view) => view.is_layout_root ? view : rootOf(view.parent)
amend("models/layouts/layout_dom", "LayoutDOMView", "_after_resize", () => function () {
  if (due.size === 0) { requestAnimationFrame(layOut) }
  due.add(rootOf(this))
})

export function render() { return make("span") }
