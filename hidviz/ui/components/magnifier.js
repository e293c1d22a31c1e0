// The page for the back row: all but the settings is as large as if the window were 1,120 pixels wide.
//
// A browser that magnifies an element tells the places and sizes of what is in it as they are on the screen, while
// Bokeh lays out by the element's own pixels. So Bokeh's elements are told their own here, and so are its events.

const WIDTH = 1120
const HEAD = 44 / 52 // of its usual height that the head has before it is magnified
const OURS = /(^|\s)bk-/ // classes of the elements that Bokeh and Panel lay out

const zoomed = window.hidvizZoom ??= { by: 1, amended: false }
const zoomOf = (element) => element.currentCSSZoom ?? 1

const amendAll = () => {
  if (zoomed.amended) { return }
  zoomed.amended = true
  const onScreen = Element.prototype.getBoundingClientRect
  Element.prototype.getBoundingClientRect = function () {
    const there = onScreen.call(this), by = zoomOf(this)
    if (by === 1 || !OURS.test(this.getAttribute("class") ?? "")) { return there }
    return new DOMRect(there.x / by, there.y / by, there.width / by, there.height / by)
  }
  const sharp = devicePixelRatio
  Object.defineProperty(window, "devicePixelRatio", { get: () => sharp * zoomed.by, configurable: true })
  for (const [path, owner] of [["core/ui_events", "UIEventBus"], ["core/ui_gestures", "UIGestures"]]) {
    let prototype
    try { prototype = window.Bokeh.require(path)[owner].prototype } catch { prototype = undefined }
    if (typeof prototype?._get_sxy !== "function") {
      console.info(`hidviz: this Bokeh has no ${owner}._get_sxy to amend; tips of magnified figures stand aside.`)
      continue
    }
    prototype._get_sxy = function (event) {
      const there = onScreen.call(this.hit_area), by = zoomOf(this.hit_area)
      return { sx: (event.pageX - there.left - scrollX) / by, sy: (event.pageY - there.top - scrollY) / by }
    }
  }
}

export function render({ model, el }) {
  const fit = () => {
    const column = el.getRootNode().host?.getRootNode().host
    if (!column) {
      requestAnimationFrame(fit)
      return
    }
    zoomed.by = Math.min(3, Math.max(1, innerWidth / WIDTH))
    column.style.zoom = String(zoomed.by)
    const head = inside(document, "header")
    if (head) { set(head, { style: `zoom: ${zoomed.by}; --head: ${HEAD}` }) }
    document.documentElement.style.setProperty("--head", HEAD * zoomed.by) // room for it elsewhere
  }
  if (model.lecture) {
    amendAll()
    fit()
    window.addEventListener("resize", fit)
    model.on("remove", () => window.removeEventListener("resize", fit))
  }
  return make("span")
}
