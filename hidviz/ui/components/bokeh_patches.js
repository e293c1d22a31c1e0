// Two amendments of Bokeh's views, made once, before the first figure is drawn.

const amend = (owner, name, change) => {
  const { prototype } = owner
  if (!Object.hasOwn(prototype[name], "amended")) {
    prototype[name] = Object.assign(change(prototype[name]), { amended: true })
  }
}

// A figure whose tab has just come forward is in the page before it is laid out. Measured in that moment by a resize of
// its surroundings, Bokeh fails (panel-material-ui issue 548); skipped, it is measured once it is laid out.
amend(window.Bokeh.require("models/plots/plot_canvas").PlotView, "_measure_layout", (measure) =>
  function () { if (this.layout) { measure.call(this) } })

// Every look at a line's or a letter's property asks the style sheets first, and makes the browser settle them: half a
// second of opening, an eighth of every frame. No style sheet here speaks of them.
amend(window.Bokeh.require("core/visuals/visual").VisualProperties, "_get_css_value", () => () => "")

