// The row of tabs, by the rules of the tab pattern: one stop for the Tab key, arrows to move, Home and End.

export function render({ model }) {
  const skeleton = make("div", { class: "skeleton", role: "status" })
  const below = () => {
    const found = []
    for (let next = bar.getRootNode().host.nextElementSibling; next; next = next.nextElementSibling) { found.push(next) }
    return found
  }
  // Not by visibility, which Panel gives back to every text once its style sheets are there.
  const hide = (place, hidden) => {
    place.inert = hidden
    place.style.opacity = hidden ? "0" : ""
  }
  const go = (k) => {
    if (k === model.active) { return }
    below().forEach((place) => hide(place, true))
    say(skeleton, _("Loading {title} …", { title: model.titles[k] }))
    skeleton.hidden = false
    model.active = k
  }
  const tabs = model.titles.map((title, k) =>
    button({ role: "tab", class: k < model.n_first ? "first" : "second" }, () => go(k), title))
  const bar = make("div", { role: "tablist", "aria-label": _("Views") }, ...tabs)
  bar.addEventListener("keydown", (event) => {
    const last = tabs.length - 1
    const next = { ArrowRight: model.active + 1, ArrowLeft: model.active - 1, Home: 0, End: last }[event.key]
    if (next === undefined || next < 0 || next > last) { return }
    event.preventDefault()
    go(next)
    tabs[next].focus()
  })
  // On a phone the row is swiped: the tab in front stands in its middle, whatever letters come late, until it is swiped.
  let swiped = false
  for (const touch of ["wheel", "touchmove", "pointerdown"]) {
    bar.addEventListener(touch, () => { swiped = true }, { passive: true })
  }
  const centre = () => {
    const { offsetLeft, offsetWidth } = tabs[model.active]
    bar.scrollLeft = offsetLeft - bar.offsetLeft - (bar.clientWidth - offsetWidth) / 2
  }
  const fade = () => {
    bar.classList.toggle("more-left", bar.scrollLeft > 1)
    bar.classList.toggle("more-right", bar.scrollWidth - bar.clientWidth - bar.scrollLeft > 1)
  }
  bar.addEventListener("scroll", fade)
  const sizes = new ResizeObserver(() => {
    if (!swiped) { centre() }
    fade()
  })
  for (const each of [bar, ...tabs]) { sizes.observe(each) }
  follow(model, ["active"], () => {
    tabs.forEach((tab, k) => set(tab, { "aria-selected": k === model.active, tabindex: k === model.active ? 0 : -1 }))
    swiped = false
    requestAnimationFrame(centre)
  })
  const arrive = () => {
    if (model.shown !== model.active) { return }
    skeleton.hidden = true
    if (bar.isConnected) { below().forEach((place) => hide(place, false)) }
    join()
  }
  // Each place below is the panel of one tab; the two are in different shadows, so that an id would not do.
  const join = () => {
    if (!bar.isConnected) { return }
    below().slice(0, tabs.length).forEach((place, k) => {
      set(place, { role: "tabpanel", "aria-label": model.titles[k] })
      tabs[k].ariaControlsElements = [place]
    })
  }
  requestAnimationFrame(join)
  follow(model, ["shown", "active"], arrive)
  return themed(model, make("div", {}, bar, skeleton))
}
