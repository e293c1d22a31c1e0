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
// passed over, it is measured and placed with its first layout. So is one of a tab that is not in front: it is placed
// when it comes forward, and until then costs whatever is in front nothing.
const away = (figure) => !figure.layout || (!figure.is_displayed && figure.has_finished())
amend("models/plots/plot_canvas", "PlotView", "_measure_layout", (method) => function () {
  if (this.layout && !this.is_displayed) { this.update_bbox() } // it may have come forward just now
  if (!away(this)) { method.call(this) }
})
amend("models/plots/plot_canvas", "PlotView", "_after_layout", (method) => function () {
  if (!away(this)) { method.call(this) }
})

// What is hidden, has noted so, and was laid out once has no layout to keep: of nine tabs one is gone through.
amend("models/layouts/layout_dom", "LayoutDOMView", "layoutable_views", (inside) => function () {
  return this.model.visible || this.is_displayed || !this.has_finished() ? inside.call(this) : []
})

// Every look at a line's or a letter's property asks the style sheets first, and makes the browser settle them: half a
// second of opening, an eighth of every frame. No style sheet here speaks of them.
amend("core/visuals/visual", "VisualProperties", "_get_css_value", () => () => "")

// So does every look at the size of a letter, which is in pixels everywhere here; Bokeh asks what an em would be.
amend("models/plots/plot_canvas", "PlotView", "base_font_size", () => () => 13)

// A canvas is wiped after it was shifted by half a pixel, so that of what touched its upper or left edge half would stay.
amend("core/util/canvas", "CanvasLayer", "clear", () => function () {
  const { x, y, width, height } = this.bbox
  this.ctx.clearRect(x - 1, y - 1, width + 2, height + 2)
})

// Whatever changes its size, is shown or is hidden has the whole page laid out anew at once, forty times while it opens.
// Once before the next picture is enough.
const due = new Map() // roots, and whether their styles are due too
const layOut = () => {
  const roots = [...due]
  due.clear()
  for (const [root, styles] of roots) {
    if (!root.el.isConnected) { continue }
    if (styles) { root.update_layout() }
    root.compute_layout()
  }
}
const soon = (root, styles) => {
  if (due.size === 0) { requestAnimationFrame(layOut) }
  due.set(root, styles || due.get(root) === true)
}
const rootOf = (view) => view.is_layout_root ? view : rootOf(view.parent)
amend("models/layouts/layout_dom", "LayoutDOMView", "_after_resize", () => function () { soon(rootOf(this), false) })
amend("models/layouts/layout_dom", "LayoutDOMView", "invalidate_layout", (method) => function () {
  const root = rootOf(this)
  if (root._layout_computed) { soon(root, true) } else { method.call(this) }
})

export function render() { return make("span") }
