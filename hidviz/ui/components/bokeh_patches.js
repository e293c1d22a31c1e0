// Amendments of Bokeh's private methods, made once, before the first figure is drawn. Each is a remedy the page can do
// without: where another version of Bokeh has no such method, that is told in the console, and nothing else happens.

const amend = (path, owner, name, change) => {
  let prototype
  try { prototype = window.Bokeh.require(path)[owner].prototype } catch { prototype = undefined }
  if (typeof prototype?.[name] !== "function") {
    console.info(`hidviz: this Bokeh has no ${owner}.${name} to amend; the page goes on without.`)
  } else if (!Object.hasOwn(prototype[name], "amended")) {
    prototype[name] = Object.assign(change(prototype[name]), { amended: true })
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

export function render() { return make("span") }
