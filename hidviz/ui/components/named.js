// What stands on the page under a name, in whatever shadow: found, brought into sight, pointed at, pressed.

// Every element below this one that matches.
function* everyInside(root, selector) {
  for (const each of root.querySelectorAll("*")) {
    if (each.matches(selector)) { yield each }
    if (each.shadowRoot) { yield* everyInside(each.shadowRoot, selector) }
  }
}
const inside = (root, selector) => everyInside(root, selector).next().value

const nameOf = (it) => (it.getAttribute("aria-label") ?? it.labels?.[0]?.textContent ?? it.textContent).trim()
const named = (name, selector) => {
  for (const each of everyInside(document, selector)) {
    if (nameOf(each) === name && each.checkVisibility({ visibilityProperty: true })) { return each }
  }
  return undefined
}
const controlNamed = (name) => named(name, "button, select, input, [role=tab]")

const above = (it) => it.parentElement ?? it.getRootNode().host
// The smallest part of the page that has both this heading and the figure under it; none before that is drawn.
const NEAR = 6 // elements and shadows from a heading to that
const titledBy = (heading) => {
  for (let it = heading, k = 0; it && k < NEAR; it = above(it), k += 1) {
    if (inside(it.shadowRoot ?? it, ".bk-Figure")) { return it }
  }
  return undefined
}

const onScreen = (it) => it.getClientRects()[0] // also where the page is magnified, and Bokeh is told its own pixels
const still = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches
const scrollerOf = (it, axis) => {
  const [overflow, inner, outer] = axis === "x" ? ["overflowX", "scrollWidth", "clientWidth"] : ["overflowY", "scrollHeight", "clientHeight"]
  while (it && !(/auto|scroll/.test(getComputedStyle(it)[overflow]) && it[inner] > it[outer])) { it = above(it) }
  return it ?? document.scrollingElement
}
const scrollBy = (it, axis, pixels) => {
  const scroller = scrollerOf(it, axis), by = scroller.currentCSSZoom ?? 1
  scroller.scrollBy({ [axis === "x" ? "left" : "top"]: pixels / by, behavior: still() ? "auto" : "smooth" })
}

// Bring these parts of the page into sight, between two heights of the screen: as many as find room there together, the
// first ones first. Nothing moves if they are there already. What is `whole` is not left half covered.
const bringIntoSight = (parts, { top, bottom, whole }) => {
  const boxes = parts.map(onScreen)
  const highest = (n) => Math.min(...boxes.slice(0, n).map((box) => box.top))
  const lowest = (n) => Math.max(...boxes.slice(0, n).map((box) => box.bottom))
  let n = parts.length
  while (n > 1 && lowest(n) - highest(n) > bottom - top) { n -= 1 }
  const most = highest(n) - top // and no farther than it must, so that what stands above stays in sight
  const least = most < 0 ? most : Math.min(most, Math.max(0, lowest(n) - bottom))
  const covered = whole && onScreen(whole), cut = covered && covered.top - least < top && covered.bottom - least > top
  const by = cut ? Math.min(most, covered.bottom - top) : least
  if (Math.abs(by) > 1) { scrollBy(parts[0], "y", by) }
  const swiped = scrollerOf(parts[0], "x")
  const aside = swiped === document.scrollingElement ? 0 : boxes[0].left - onScreen(swiped).left
  if (Math.abs(aside) > 1) { scrollBy(parts[0], "x", aside) }
}

// A ring of light around something, for a moment.
const pointAt = (it, colour) => {
  const ring = (width) => ({ outline: `${width}px solid ${colour}`, outlineOffset: "3px" })
  it.animate([ring(4), ring(4), ring(0)], { duration: 1600, easing: "ease-out" })
}
