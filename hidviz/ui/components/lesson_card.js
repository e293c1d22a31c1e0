// What a lesson says, its answers, and the way on and back. What is to be pressed can be pressed in the text itself, and
// what a step speaks of comes into sight.

const AT_BOTTOM = 64 // pixels of the bar of the run, where a phone has it
const SETTLED = 250 // milliseconds in which the page takes its new height
const MOVED = 1000 // milliseconds after which what has grown meanwhile is taken into account
const LOOKS = 6 // as often, where the machine is slow
const TOUCHES = ["wheel", "touchmove", "pointerdown", "keydown"] // whoever acts scrolls for themselves from then on
const TRIES = 40 // to find what a step speaks of, as long as the page opens

export function render({ model }) {
  const press = (name) => () => model.send_msg({ press: name })
  const lessons = make("select", { "aria-label": _("Lesson") },
    ...model.lessons.map(([value, title]) => make("option", { value }, title)))
  lessons.addEventListener("change", () => model.send_msg({ begin: lessons.value }))
  const count = make("span", { class: "count" }), hint = make("span", { class: "hint", role: "status" })
  const leave = button({ class: "leave", "aria-label": _("Leave the lesson"), title: _("Leave the lesson") }, press("leave"), "✕")
  const text = make("p", { "aria-live": "polite", tabindex: -1 }), room = make("p", { class: "room", "aria-hidden": "true" })
  const answers = make("div", { class: "answers", role: "group", "aria-label": _("Answers") })
  const back = button({}, () => { if (!model.first) { press("back")() } }, _("Back"))
  const next = button({ class: "next" }, press("next")) // also too early, which is answered
  const card = make("section", { class: "lesson", "aria-label": _("Lesson") },
    lessons, count, make("div", { class: "said" }, room, text), hint, answers, back, next, leave) // as it is heard
  const root = make("div", { class: "under" }, card)

  const accent = () => getComputedStyle(root).getPropertyValue("--accent")
  const pointed = (name) => {
    const control = controlNamed(name)
    if (control) { pointAt(control, accent()) }
    return control
  }
  // What the page has under this name is pressed; a setting, there or not, gets the value that the step asks for.
  const act = (name) => {
    const control = pointed(name)
    if (control?.matches("button, [role=tab], input[type=checkbox]")) { control.click() } else { model.send_msg({ set: true }) }
  }
  const pressed = (name) => {
    const it = button({ class: "named", "aria-label": _("{name}, from here", { name }) }, () => act(name), name)
    it.addEventListener("pointerenter", () => pointed(name))
    return it
  }
  let due = 0, looked = 0, acted = false
  const touched = () => {
    acted = true
    if (looked) { clearTimeout(due) }
  }
  const look = (tries) => {
    if (!model.key || !model.look.length) { return }
    const parts = model.look.map((name) => named(name, "[role=heading]")).map((heading) => heading && titledBy(heading))
    if (!parts.every(Boolean) || !card.isConnected) { // not there yet, or on another tab
      if (tries > 1) { due = setTimeout(look, SETTLED, tries - 1) }
      return
    }
    const bar = window.matchMedia("(max-width: 700px)").matches ? AT_BOTTOM : 0
    const tabs = inside(document, "[role=tablist]")
    bringIntoSight(parts, { top: onScreen(root).bottom, bottom: innerHeight - bar, whole: tabs?.checkVisibility() && tabs })
    looked += 1
    if (looked < LOOKS && !acted) { due = setTimeout(look, MOVED, TRIES) }
  }

  follow(model, ["key"], () => {
    root.hidden = !model.key
    if (model.key) { lessons.value = model.key }
  })
  follow(model, ["count"], () => say(count, model.count))
  follow(model, ["hint"], () => say(hint, model.hint))
  follow(model, ["longest"], () => set(room, { "data-text": model.longest }))
  follow(model, ["text"], () => {
    text.replaceChildren(...model.text.split("**").map((part, k) => k % 2 ? pressed(part) : part))
  })
  const answered = () => {
    for (const each of answers.children) {
      set(each, { "aria-disabled": Boolean(model.answer) })
      const its = each.dataset.answer
      each.setAttribute("aria-pressed", String(its === model.answer))
      say(each, model.right && its === model.right ? `✓ ${its}` : its)
    }
  }
  follow(model, ["options"], () => {
    answers.replaceChildren(...model.options.map((option, k) => button(
      { "data-answer": option, "aria-keyshortcuts": k + 1, title: _("Key {key}", { key: k + 1 }) },
      () => model.send_msg({ answer: option }), option)))
    answered()
  })
  for (const name of ["answer", "right"]) { model.on(name, answered) }
  follow(model, ["can_go_on", "last", "first", "following"], () => {
    set(next, { "aria-disabled": !model.can_go_on }) // and not disabled, which would lose whoever is there by keyboard
    next.classList.toggle("primary", model.can_go_on)
    say(next, !model.last ? _("Next") : model.following ? _("Next lesson") : _("Finish"))
    next.title = model.last ? model.following : ""
    set(back, { "aria-disabled": model.first })
  })
  follow(model, ["count", "key", "look"], () => {
    clearTimeout(due)
    looked = 0
    acted = false
    due = setTimeout(look, SETTLED, TRIES)
  })
  for (const touch of TOUCHES) { document.addEventListener(touch, touched, { passive: true, capture: true }) }
  model.on("remove", () => {
    clearTimeout(due)
    for (const touch of TOUCHES) { document.removeEventListener(touch, touched, { capture: true }) }
  })
  return themed(model, root)
}
