// Terms of the page say what they mean: the first of each in a text is underlined with dots, a stop of the Tab key, and
// shows its sentence when it is pointed at, reached or tapped. A text is what one component or pane shows.

// Where nothing is marked: what can be pressed or filled in, what changes by itself, numbers, drawings and equations.
const LEAVE = `button, a, label, legend, select, textarea, summary, tbody, dl, svg, math, pre, code, kbd, style, script, nav,
  [role=status], [role=tab], [role=button], [role=option], [role=tooltip], [aria-hidden=true], .MuiFormControl-root`
const OWN = ["bk-panel-models-markup-HTML", "bk-panel-models-esm-ReactiveESM"] // hosts whose texts nobody else holds
const HELD = ".MuiTypography-root" // the only one of the library's that are set as a whole

const LOOK = `.term { text-decoration: underline dotted color-mix(in srgb, currentColor 55%, transparent) 1px;
    text-underline-offset: 3px; cursor: help; border-radius: 2px; }
  .term:hover { text-decoration-color: currentColor; }
  .term:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }`
const GRACE = 120 // milliseconds in which the pointer may go from a term to its sentence

export function render({ model }) {
  const says = new Map(model.terms.map(([name, , sentence]) => [name, sentence]))
  const names = model.terms.map(([name]) => name)
  const letter = "[\\w\\u00c0-\\u024f-]" // those of other languages too
  const any = new RegExp(`(?<!${letter})(?:${model.terms.map(([, written]) => `(${written})`).join("|")})(?!${letter})`, "g")
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(LOOK)

  // The sentence, above everything else
  const bubble = make("div", { class: "bubble", role: "tooltip" })
  bubble.popover = "manual"
  const root = themed(model, make("div", { class: "glossary" }, bubble))
  let told = null, held = null, at = null, hiding = 0
  const hide = () => {
    clearTimeout(hiding)
    told = null
    if (bubble.matches(":popover-open")) { bubble.hidePopover() }
  }
  const soon = () => { hiding = setTimeout(hide, GRACE) }
  const show = (term) => {
    clearTimeout(hiding)
    told = term
    at = term.getRootNode()
    bubble.replaceChildren(make("b", {}, term.dataset.term), ` ${says.get(term.dataset.term)}`)
    if (!bubble.matches(":popover-open")) { bubble.showPopover() }
    const by = bubble.currentCSSZoom ?? 1, { left, top, bottom } = term.getBoundingClientRect()
    const { width, height } = bubble.getBoundingClientRect()
    const x = Math.max(8, Math.min(left, innerWidth - width - 8))
    const y = bottom + 6 + height > innerHeight ? top - 6 - height : bottom + 6
    Object.assign(bubble.style, { left: `${x / by}px`, top: `${y / by}px` })
  }
  bubble.addEventListener("pointerenter", () => clearTimeout(hiding))
  bubble.addEventListener("pointerleave", soon)
  const keys = (event) => {
    if (!told || ["Shift", "Control", "Alt", "Meta"].includes(event.key)) { return }
    if (event.key === "Escape") {
      event.stopPropagation() // of this, not of what lies below
      event.preventDefault()
    } else if (told === held) { return } // it stays as long as its term has the focus
    hide() // any other key is for what lies below, and what that shows may be left by Escape
  }
  const elsewhere = (event) => { if (told && !event.composedPath().some((node) => node === told || node === bubble)) { hide() } }
  const scrolled = () => { if (told) { hide() } }
  window.addEventListener("keydown", keys, true)
  window.addEventListener("pointerdown", elsewhere, true)
  window.addEventListener("scroll", scrolled, true)

  const marked = (name, text) => {
    const term = make("span", { class: "term", role: "button", tabindex: 0, "data-term": name,
      "aria-description": says.get(name) }, text)
    term.addEventListener("pointerenter", ({ pointerType }) => { if (pointerType !== "touch") { show(term) } })
    term.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType !== "touch") { soon() } })
    term.addEventListener("focus", () => {
      held = term
      show(term)
    })
    term.addEventListener("blur", () => setTimeout(() => { // later, since a text that is written anew takes it away too
      if (held === term) { held = null }
      if (told === term) { hide() }
    }))
    term.addEventListener("click", () => show(term))
    term.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") { return }
      event.preventDefault()
      event.stopPropagation() // else the page would take them for its own keys
      show(term)
    })
    return term
  }

  // Marking
  const taken = { acceptNode: (node) => node.nodeType === Node.TEXT_NODE ? NodeFilter.FILTER_ACCEPT
    : node.matches(LEAVE) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_SKIP }
  const texts = (start) => {
    const walker = document.createTreeWalker(start, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, taken)
    const found = []
    while (walker.nextNode()) { found.push(walker.currentNode) }
    return found
  }
  const split = (text, seen) => {
    const pieces = []
    let from = 0
    for (const match of text.data.matchAll(any)) {
      const name = names[match.slice(1).findIndex((part) => part !== undefined)]
      if (seen.has(name)) { continue }
      seen.add(name)
      pieces.push(text.data.slice(from, match.index), marked(name, match[0]))
      from = match.index + match[0].length
    }
    if (pieces.length) { text.replaceWith(...pieces.filter((piece) => piece !== ""), text.data.slice(from)) }
  }
  const mark = (text) => {
    const own = OWN.some((name) => text.host?.classList.contains(name))
    const starts = own ? [text] : text.host ? text.querySelectorAll(HELD) : []
    for (const start of starts) {
      const seen = new Set([...start.querySelectorAll(".term")].map((term) => term.dataset.term))
      const before = seen.size
      for (const each of texts(start)) { split(each, seen) }
      if (seen.size > before && !text.adoptedStyleSheets.includes(sheet)) { text.adoptedStyleSheets.push(sheet) }
    }
    const lost = [held, told].find((term) => term && !term.isConnected)
    if (lost && text === at) { // the text was written anew while its term was read
      const again = text.querySelector(`.term[data-term="${lost.dataset.term}"]`), read = told === lost
      if (again && held === lost) { again.focus({ preventScroll: true }) } else if (again) { show(again) }
      if (!again || !read) { hide() }
    }
  }
  const end = watchShadows(() => {}, { change: mark })

  model.on("remove", () => {
    end()
    window.removeEventListener("keydown", keys, true)
    window.removeEventListener("pointerdown", elsewhere, true)
    window.removeEventListener("scroll", scrolled, true)
  })
  return root
}
